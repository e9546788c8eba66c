//! Where files are dropped. What happens there is in the module `uploads`.

use leptos::{either::Either, prelude::*};
use polymnemo_types::limits;

use crate::{
    WebContext,
    i18n::{self, size},
};

/// The place for files on a page of our own: a form for browsers without a script, and the place where files are dropped for
/// the others.
#[component]
pub(crate) fn Uploader(
    /// The sizes that are taken, in bytes.
    least: u64,
    most: u64,
    /// What to say of files of other sizes.
    wrong_size: String,
    /// The secret of a link to an upload and the upload's id, where it is not the person's own page.
    #[prop(optional)]
    link: Option<(String, String)>,
    /// Where files go unless the person says something else.
    #[prop(optional)]
    namespace: String,
    /// What to do here.
    drop: &'static str,
    /// The form for browsers without a script.
    children: Children,
) -> impl IntoView {
    let text = &i18n::messages().on_server.media.upload;
    let is_of_link = link.is_some();
    let (token, id) = link.unzip();
    let plain = children();
    let (plain, zone) = if expect_context::<WebContext>().site.hydrates() {
        let limit = (!is_of_link).then(|| view! { <p class="hint">{(text.most)(&size(most))}</p> });
        let zone = view! {
            <div class="drop-zone">
                <p>{drop}</p>
                <label class="button-main">
                    {if is_of_link { text.choose_one } else { text.choose }}
                    <input class="visually-hidden" type="file" multiple=!is_of_link />
                </label>
                {limit}
            </div>
            <form class="upload-queue" method="post">
                {is_of_link.then(|| view! { <h2 class="visually-hidden">{text.rows}</h2> })}
                <ol class="uploads" data-uploads="" aria-label=text.rows></ol>
                <p class="buttons" data-start="" hidden>
                    <button class="button-main">{text.send}</button>
                </p>
            </form>
            <template data-upload-row="">
                <UploadRow described=!is_of_link namespace />
            </template>
        };
        (Either::Left(view! { <noscript>{plain}</noscript> }), Some(zone))
    } else {
        (Either::Right(plain), None)
    };
    view! {
        <div
            class="uploader"
            data-uploader=""
            data-token=token
            data-id=id
            data-least=least.to_string()
            data-most=most.to_string()
            data-wrong-size=wrong_size
        >
            {plain}
            {zone}
        </div>
    }
    .into_any()
}

/// The row of a file, as it is before there is one.
#[component]
fn UploadRow(
    /// Whether the person says what it is and where it goes.
    described: bool,
    namespace: String,
) -> impl IntoView {
    let text = &i18n::messages().on_server.media.upload;
    let fields = described.then(|| {
        view! {
            <div class="upload-fields" data-when="chosen">
                <label class="field">
                    <span class="label">{text.description}</span>
                    <input class="input" name="description" autocomplete="off" />
                </label>
                <label class="field">
                    <span class="label">{text.namespace}</span>
                    <input
                        class="input"
                        name="namespace"
                        value=namespace
                        list="media-namespaces"
                        maxlength=limits::NAMESPACE_CHARS
                        placeholder=text.namespace_hint
                        autocomplete="off"
                    />
                </label>
            </div>
        }
    });
    view! {
        <li class="upload" data-state="chosen" tabindex="-1">
            <h3 data-name=""></h3>
            <p class="meta">
                <span data-size=""></span>
                <span
                    class="upload-status"
                    role="status"
                    data-status=""
                    data-chosen=text.chosen
                    data-waiting=text.waiting
                    data-sending=text.sending
                    data-checking=text.checking
                    data-broken=text.broken
                    data-failed=text.failed
                    data-refused=text.refused
                    data-done=text.done
                ></span>
            </p>
            {fields}
            <div class="upload-bar" data-when="waiting sending checking broken" hidden>
                <progress aria-label=text.progress value="0"></progress>
                <span class="quiet" data-amount=text.amount></span>
            </div>
            <p class="fault" role="alert" data-fault="" data-refused=text.storage_refused></p>
            <div class="upload-actions">
                <button type="button" class="button-plain" data-do="again" data-when="broken" hidden>
                    {text.go_on}
                </button>
                <button type="button" class="button-plain" data-do="again" data-when="failed" hidden>
                    {text.again}
                </button>
                <a class="button-quiet" href="/media" rel="external" data-when=described.then_some("done") hidden>
                    {text.open}
                </a>
                <button type="button" class="button-quiet" data-do="cancel" data-when="waiting sending broken" hidden>
                    {text.cancel}
                </button>
                <button type="button" class="button-quiet" data-do="cancel" data-when="chosen failed refused done">
                    {text.remove}
                </button>
            </div>
        </li>
    }
}

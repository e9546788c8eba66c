use leptos::{either::Either, prelude::*, server_fn::ServerFn};
use leptos_router::hooks::use_query_map;
use polymnemo_types::{LanguageSetting, NamespaceDetails, Theme, UserSettings};

use crate::{
    api::{
        namespaces::own_namespaces,
        settings::{ChangeSettings, current_settings, time_zones},
    },
    components::{CallForm, TextField, TextPage, Trouble, on_server},
    form::SentForm,
    i18n::{self, Language},
};

const PATH: &str = "/settings";
/// Where the page says that all is saved.
const SAVED: &str = "/settings?saved";

/// What the person has chosen for themselves.
#[component]
pub(crate) fn Settings() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.settings;
    let settings = Resource::new(|| (), |()| current_settings());
    let namespaces = Resource::new(|| (), |()| own_namespaces(None));
    let zones = Resource::new(|| (), |()| time_zones());

    view! {
        <TextPage title=text.title>
            <Suspense>
                {move || Suspend::new(async move {
                    match (settings.await, namespaces.await, zones.await) {
                        (Ok(settings), Ok(namespaces), Ok(zones)) => {
                            let account = settings.name.clone();
                            Either::Left(
                                view! {
                                    <SettingsForm settings namespaces=namespaces.items zones />
                                    <Account name=account />
                                },
                            )
                        }
                        (Err(error), ..) | (_, Err(error), _) | (_, _, Err(error)) => {
                            Either::Right(view! { <Trouble error=error.0 /> })
                        }
                    }
                })}
            </Suspense>
        </TextPage>
    }
    .into_any()
}

#[component]
fn SettingsForm(settings: UserSettings, namespaces: Vec<NamespaceDetails>, zones: Vec<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.settings;
    let sent = SentForm::calling::<ChangeSettings>();
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, text.refused));
    let saved = use_query_map().with_untracked(|query| query.get_str("saved").is_some()) && fault.is_none();
    // What was just sent and refused stands in the fields, else what is kept.
    let kept = |name: &str, kept: &str| sent.as_ref().and_then(|sent| sent.text(name)).unwrap_or(kept).to_owned();
    let language = kept("language", language_code(settings.language));
    let theme = kept("theme", theme_code(settings.theme));
    let time_zone = kept("time_zone", &settings.time_zone);
    let default_namespace = kept("default_namespace", &settings.default_namespace);

    view! {
        <CallForm page=PATH call=ChangeSettings::PATH then=SAVED class="fields">
            <Choice
                name="language"
                label=text.language
                chosen=language
                options=vec![
                    ("browser", text.language_of_browser),
                    ("en", Language::English.name()),
                    ("zh", Language::Chinese.name()),
                ]
            />
            <Choice
                name="theme"
                label=text.theme
                chosen=theme
                options=vec![("system", text.theme_system), ("light", text.theme_light), ("dark", text.theme_dark)]
            />
            <div class="field-group">
                <TextField
                    id="time-zone"
                    name="time_zone"
                    label=text.time_zone
                    value=time_zone
                    hint=text.time_zone_hint
                    fault
                    max=64
                    list="time-zones"
                />
                <datalist id="time-zones">
                    {zones.into_iter().map(|zone| view! { <option value=zone></option> }).collect_view()}
                </datalist>
                <button type="button" class="button-quiet" hidden data-time-zone-for="time-zone">
                    {text.time_zone_of_browser}
                </button>
            </div>
            <div class="field">
                <label for="default-namespace">{text.default_namespace}</label>
                <select class="input" id="default-namespace" name="default_namespace" aria-describedby="default-namespace-hint">
                    {namespaces
                        .into_iter()
                        .filter(|namespace| namespace.default || !namespace.shared())
                        .map(|namespace| {
                            let selected = namespace.name == default_namespace;
                            view! { <option selected=selected>{namespace.name}</option> }
                        })
                        .collect_view()}
                </select>
                <span class="hint" id="default-namespace-hint">{text.default_namespace_hint}</span>
            </div>
            <p class="buttons">
                <button class="button-main">{text.save}</button>
                <span role="status">{saved.then_some(text.saved)}</span>
            </p>
        </CallForm>
    }
    .into_any()
}

/// One of a few.
#[component]
fn Choice(
    name: &'static str,
    label: &'static str,
    /// The value that is chosen.
    chosen: String,
    /// Values with their labels.
    options: Vec<(&'static str, &'static str)>,
) -> impl IntoView {
    view! {
        <fieldset class="choice is-row">
            <legend>{label}</legend>
            {options
                .into_iter()
                .map(|(value, label)| {
                    view! {
                        <label>
                            <input type="radio" name=name value=value checked=value == chosen />
                            <span>{label}</span>
                        </label>
                    }
                })
                .collect_view()}
        </fieldset>
    }
    .into_any()
}

fn language_code(language: LanguageSetting) -> &'static str {
    match language {
        LanguageSetting::Browser => "browser",
        LanguageSetting::English => "en",
        LanguageSetting::Chinese => "zh",
    }
}

fn theme_code(theme: Theme) -> &'static str {
    match theme {
        Theme::System => "system",
        Theme::Light => "light",
        Theme::Dark => "dark",
    }
}

/// Who is signed in, and the way out.
#[component]
fn Account(name: String) -> impl IntoView {
    let text = &i18n::messages().on_server.settings;
    view! {
        <section class="action" aria-labelledby="account">
            <h2 id="account">{text.account}</h2>
            <p>{text.signed_in_as} " " <strong>{name}</strong></p>
            <form method="post" action="/sign-out">
                <button class="button-plain">{text.sign_out}</button>
            </form>
            <form method="post" action="/sign-out/everywhere">
                <button class="button-danger">{text.sign_out_everywhere}</button>
            </form>
            <p class="hint">{text.sign_out_everywhere_means}</p>
        </section>
    }
    .into_any()
}

use leptos::prelude::*;
use polymnemo_types::{ApiError, ErrorCode, limits};

use crate::{
    api::signed_in,
    components::{Sending, in_textarea},
    i18n,
};

/// What the fields of a memory hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryValues {
    pub(crate) content: String,
    pub(crate) namespace: String,
    /// With commas between them.
    pub(crate) tags: String,
    pub(crate) source: String,
}

/// The fields of a memory, each with what is wrong with it below it, and what is wrong with none of
/// them at the end.
#[component]
pub(crate) fn MemoryFields(
    values: MemoryValues,
    /// How the form went that they are in. What was typed into it wins over `values`.
    sending: Sending,
    /// The name under which the browser keeps what is typed.
    #[prop(into)]
    draft: String,
    /// What it says where the browser kept a text, and how that is taken back.
    #[prop(optional)]
    restored: Option<[&'static str; 2]>,
    /// Further fields, beside the short ones.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let text = &i18n::messages().on_server.edit;
    let [restored, discard] = restored.unwrap_or([text.draft_restored, text.draft_discard]);
    let typed = move |name, value: String| sending.typed(name).unwrap_or(value);
    let content = typed("content", values.content);
    let elsewhere = sending.error().filter(|error| error.code != ErrorCode::Conflict && at_fault(error).is_none());
    view! {
        <p class="note" role="status" data-draft-note hidden>
            {restored}
            " "
            <button type="button" class="button-quiet" data-draft-discard>
                {discard}
            </button>
        </p>
        <div class="field">
            <label for="memory-content">{text.content}</label>
            <textarea
                class="input memory-input"
                id="memory-content"
                name="content"
                required
                autofocus
                data-draft=draft_of(&draft)
                aria-invalid=fault(sending, "content").map(|_| "true")
                aria-describedby="content-fault"
            >
                {in_textarea(&content)}
            </textarea>
            {fault_of(sending, "content")}
        </div>
        <div class="memory-fields">
            {line(
                sending,
                Line {
                    name: "namespace",
                    label: text.namespace,
                    hint: text.namespace_hint,
                    value: typed("namespace", values.namespace),
                    max: limits::NAMESPACE_CHARS,
                    list: Some("known-namespaces"),
                },
            )}
            {line(
                sending,
                Line {
                    name: "tags",
                    label: text.tags,
                    hint: text.tags_hint,
                    value: typed("tags", values.tags),
                    max: limits::TAGS * (limits::TAG_CHARS + 2),
                    list: Some("known-tags"),
                },
            )}
            {line(
                sending,
                Line {
                    name: "source",
                    label: text.source,
                    hint: text.source_hint,
                    value: typed("source", values.source),
                    max: limits::SOURCE_CHARS,
                    list: None,
                },
            )}
            {children.map(|children| children())}
        </div>
        <p class="fault" role="alert" data-trouble>
            {elsewhere.map(|error| i18n::explain(&error, text.refused))}
        </p>
    }
}

/// The name of a draft: one's own, should someone else sign in next in the same tab.
fn draft_of(name: &str) -> String {
    let user = signed_in().map(|ctx| ctx.user.id.to_string());
    format!("{}:{name}", user.unwrap_or_default())
}

struct Line {
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    value: String,
    max: usize,
    list: Option<&'static str>,
}

fn line(sending: Sending, line: Line) -> impl IntoView {
    let Line { name, label, hint, value, max, list } = line;
    view! {
        <div class="field">
            <label for=name>{label}</label>
            <input
                class="input"
                id=name
                name=name
                value=value
                maxlength=max
                list=list
                autocomplete="off"
                aria-invalid=fault(sending, name).map(|_| "true")
                aria-describedby=format!("{name}-hint {name}-fault")
            />
            <span class="hint" id=format!("{name}-hint")>
                {hint}
            </span>
            {fault_of(sending, name)}
        </div>
    }
}

/// What is wrong with a field, below it.
fn fault_of(sending: Sending, name: &str) -> impl IntoView + use<> {
    view! {
        <span class="fault" id=format!("{name}-fault")>
            {fault(sending, name)}
        </span>
    }
}

fn fault(sending: Sending, name: &str) -> Option<&'static str> {
    let error = sending.error()?;
    let rules = &i18n::messages().on_server.edit.rules;
    (at_fault(&error) == Some(name)).then(|| match name {
        "content" if error.code == ErrorCode::TooLarge => rules.content_too_large,
        "content" => rules.content,
        "namespace" => rules.namespace,
        "tags" => rules.tags,
        _ => rules.source,
    })
}

/// The field that an error is about: the service's messages begin with it.
fn at_fault(error: &ApiError) -> Option<&'static str> {
    match error.code {
        ErrorCode::TooLarge => Some("content"),
        ErrorCode::InvalidInput => {
            let named = error.message.strip_prefix('`')?.split('`').next();
            ["content", "namespace", "tags", "source"].into_iter().find(|name| named == Some(*name))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use polymnemo_types::{ApiError, ErrorCode};

    use super::at_fault;

    #[test]
    fn the_field_at_fault_is_named_first() {
        let error = |code, message: &str| ApiError { code, message: message.to_owned() };
        let invalid = |message| error(ErrorCode::InvalidInput, message);
        assert_eq!(at_fault(&invalid("`tags`: at most 32 tags, you gave 40.")), Some("tags"));
        assert_eq!(at_fault(&invalid("`content` is empty. Give the text to remember.")), Some("content"));
        assert_eq!(at_fault(&error(ErrorCode::TooLarge, "The text is too long.")), Some("content"));
        assert_eq!(at_fault(&invalid("`cursor` is not one that this request gave.")), None);
        assert_eq!(at_fault(&invalid("The memory has this text already.")), None);
        assert_eq!(at_fault(&error(ErrorCode::Internal, "`tags`")), None);
    }
}

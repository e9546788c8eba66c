use leptos::{either::Either, prelude::*};

use super::Now;
use crate::{
    api::memories::{Moment, Row, Selection, Why},
    form::SentForm,
    i18n,
};

/// The id of the form that acts on the selected rows.
pub(crate) const BULK: &str = "bulk";

/// A memory in a list: its beginning, or what a search found of it, and one quiet line about it.
#[component]
pub(crate) fn MemoryRow(
    row: Row,
    /// What the list shows.
    selection: Memo<Selection>,
    /// The id of the memory that is open beside the list.
    open: Memo<Option<String>>,
    /// How many others the search left out.
    below_threshold: u32,
) -> impl IntoView {
    let text = &i18n::messages().memories;
    let Row { id, page, title, text: pieces, namespace, author, tags, corrected, from, stored, why, .. } = row;
    let beginning: String = pieces.iter().flat_map(|piece| piece.text.chars()).take(60).collect();
    // A form that failed without a script comes back with its boxes as they were.
    let selected = SentForm::any().is_some_and(|sent| sent.error().is_some() && sent.has("ids[]", &id));
    let path = format!("/memories/{id}");
    // What has a page of its own is not read beside the list.
    let rel = page.is_some().then_some("external");
    let is_open = {
        let id = id.clone();
        Memo::new(move |_| open.with(|open| open.as_ref() == Some(&id)))
    };
    let tags = tags.into_iter().map(|tag| view! { <span class="tag">{tag}</span> });
    view! {
        <li class="memory-row" class:is-open=is_open>
            <input
                type="checkbox"
                name="ids[]"
                value=id
                form=BULK
                checked=selected
                aria-label=format!("{} {beginning}", text.select)
            />
            <h3>
                <a
                    href=move || page.clone().unwrap_or_else(|| selection.with(|selection| selection.at(&path)))
                    rel=rel
                    aria-current=move || is_open.get().then_some("true")
                >
                    {pieces
                        .into_iter()
                        .map(|piece| {
                            if piece.matched {
                                Either::Left(view! { <mark>{piece.text}</mark> })
                            } else {
                                Either::Right(piece.text)
                            }
                        })
                        .collect_view()}
                </a>
            </h3>
            <p class="meta">
                <span class="namespace">{namespace}</span>
                {author.map(|author| view! { <span>{(text.by)(&author)}</span> })}
                {title.map(|title| view! { <span>{title}</span> })}
                {tags.collect_view()}
                {corrected.then_some(view! { <span class="corrected">{text.corrected}</span> })}
                {from.map(|from| view! { <span>{from}</span> })}
                {ago(stored)}
            </p>
            {why.map(|why| why_found(why, below_threshold))}
        </li>
    }
    .into_any()
}

/// How long ago something was, with the exact time under the pointer.
fn ago(moment: Moment) -> impl IntoView {
    let Moment { seconds, rfc3339, exact } = moment;
    view! {
        <time datetime=rfc3339 title=exact>
            {move || i18n::since(Now::seconds() - seconds)}
        </time>
    }
}

/// Why a search found a memory, for who wants to know.
fn why_found(why: Why, below_threshold: u32) -> impl IntoView {
    let text = &i18n::messages().why;
    let by_word = if why.words.is_empty() { text.no_words.to_owned() } else { why.keyword };
    let words = why.words.into_iter().map(|word| view! { <code>{word}</code> }).collect_view();
    view! {
        <details class="why">
            <summary>{text.title}</summary>
            <dl>
                <dt>{text.meaning}</dt>
                <dd>{why.similarity.unwrap_or_else(|| text.not_embedded.to_owned())}</dd>
                <dt>{text.words}</dt>
                <dd>
                    {by_word}
                    <span class="words">{words}</span>
                </dd>
                <dt>{text.score}</dt>
                <dd>{why.score}</dd>
                <dt>{text.below}</dt>
                <dd>{(text.below_count)(below_threshold.into())}</dd>
            </dl>
        </details>
    }
    .into_any()
}

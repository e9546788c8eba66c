use leptos::{html::iframe, prelude::*};

use crate::{
    api::{
        media::{FoundFile, Glimpse, media_path},
        memories::preview,
    },
    components::{Foreign, Time, harmless},
    i18n::{self, size},
};

/// A file in the grid: what is to be seen of it, and a line about it. All of it leads to the page of the file, but for what
/// can be played.
#[component]
pub(super) fn MediaCard(file: FoundFile) -> impl IntoView {
    let text = &i18n::messages().on_server.media;
    let FoundFile { media, glimpse } = file;
    let href = media_path(&media.memory.id.to_string());
    let name = harmless(&media.file.filename);
    let title = preview(&media.memory).lines().next().unwrap_or_default().trim().to_owned();
    let title = if title.is_empty() { name.clone() } else { title };
    let about = (title != name).then(|| view! { <span class="media-name"><Foreign text=name.clone() /></span> });
    let label = if matches!(glimpse, Glimpse::Audio(_)) { (text.play)(&name) } else { name.clone() };
    let seen = match glimpse {
        Glimpse::Image(url) => view! { <img src=url alt="" loading="lazy" decoding="async" /> }.into_any(),
        // A moment after the beginning, which is often black.
        Glimpse::Video(url) => {
            let url = format!("{url}#t=0.5");
            view! {
                <video src=url preload="metadata" muted playsinline tabindex="-1"></video>
                <span class="media-play"></span>
            }
            .into_any()
        }
        Glimpse::Audio(url) => view! { <audio src=url controls preload="none" aria-label=label></audio> }.into_any(),
        Glimpse::Pdf(url) => {
            // Without what a reader needs around it: it is looked at, and the link above it opens it.
            let url = format!("{url}#page=1&toolbar=0&navpanes=0&scrollbar=0&view=FitH");
            let frame = iframe().attr("src", url).attr("title", label);
            frame.attr("loading", "lazy").attr("tabindex", "-1").into_any()
        }
        Glimpse::Text(text) => view! { <pre class="media-text">{text}</pre> }.into_any(),
        Glimpse::Nothing => view! { <FileSign name=name.clone() /> }.into_any(),
    };
    view! {
        <li class="media-card">
            <div class="media-glimpse">{seen}</div>
            <h3>
                <a href=href rel="external">
                    {title}
                </a>
            </h3>
            <p class="meta">
                {about}
                <span>{size(media.file.size)}</span>
                {(!media.memory.own).then_some(media.memory.author)}
                <Time at=media.memory.created_at />
            </p>
        </li>
    }
}

/// Stands for a file of which there is nothing to see: a sheet with the end of its name.
#[component]
pub(super) fn FileSign(name: String) -> impl IntoView {
    let end = name.rsplit_once('.').map(|(_, end)| end).unwrap_or_default();
    let is_short = (1..=5).contains(&end.len()) && end.chars().all(|character| character.is_ascii_alphanumeric());
    let end = is_short.then(|| end.to_ascii_uppercase());
    view! {
        <svg class="file-sign" viewBox="0 0 48 60" aria-hidden="true">
            <path d="M4 1h28l12 12v46H4Z M32 1v12h12" />
            <text x="24" y="42" text-anchor="middle">
                {end}
            </text>
        </svg>
    }
}

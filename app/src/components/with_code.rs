use leptos::{either::Either, prelude::*};

/// A message in which the parts between backticks are code.
pub(crate) fn with_code(message: &str) -> impl IntoView + use<> {
    message
        .split('`')
        .enumerate()
        .map(|(index, part)| {
            let part = part.to_owned();
            if index % 2 == 1 { Either::Left(view! { <code>{part}</code> }) } else { Either::Right(part) }
        })
        .collect_view()
}

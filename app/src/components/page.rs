use leptos::prelude::*;
use leptos_meta::Title;

/// A page that is text and forms: its title, a sentence on what it is for, and what is on it.
#[component]
pub(crate) fn TextPage(
    title: &'static str,
    #[prop(optional)] lead: Option<&'static str>,
    /// Whether it is as wide as there is room, as for a grid.
    #[prop(optional)]
    wide: bool,
    children: Children,
) -> impl IntoView {
    view! {
        <Title text=title />
        <div class="page" class:is-wide=wide>
            <header>
                <h1>{title}</h1>
                {lead.map(|lead| view! { <p>{lead}</p> })}
            </header>
            {children()}
        </div>
    }
    .into_any()
}

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::i18n;

/// The paths of the pages on which a person brings in, takes out and erases what is theirs; the first one stands for all.
pub(crate) const YOUR_DATA: [&str; 3] = ["/import", "/export", "/erase"];

/// Leads from one of these pages to the others.
#[component]
pub(crate) fn YourDataTabs() -> impl IntoView {
    let text = &i18n::messages().on_server.your_data;
    let path = use_location().pathname;
    let names = [text.import, text.export, text.erase];
    let tabs = YOUR_DATA.into_iter().zip(names).map(|(to, name)| {
        let current = path.with(|path| is_below(path, to)).then_some("page");
        view! {
            <li>
                <a href=to rel="external" aria-current=current>
                    {name}
                </a>
            </li>
        }
    });
    view! {
        <nav class="tabs" aria-label=text.label>
            <ul>{tabs.collect_view()}</ul>
        </nav>
    }
    .into_any()
}

/// Whether a path is that of a page or of one below it.
pub(super) fn is_below(path: &str, page: &str) -> bool {
    path.strip_prefix(page).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_below_itself_and_not_below_one_of_a_similar_name() {
        assert!(is_below("/import", "/import") && is_below("/import/", "/import") && is_below("/import/1", "/import"));
        assert!(!is_below("/important", "/import") && !is_below("/", "/import"));
    }
}

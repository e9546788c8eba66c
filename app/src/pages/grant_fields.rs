use leptos::prelude::*;
use polymnemo_types::{AppGrants, NamespaceChoice, NamespaceSummary};

use crate::{components::Fault, form::SentForm, i18n};

/// What the fields hold that say what an app may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GrantValues {
    pub(crate) can_write: bool,
    /// Whether some namespaces are meant, not all.
    pub(crate) some: bool,
    /// Which ones: their boxes are ticked.
    pub(crate) names: Vec<String>,
    /// Besides them, those that are made later.
    pub(crate) later: bool,
}

impl GrantValues {
    /// What was decided before, among all the namespaces that there are.
    pub(crate) fn of_grants(grants: &AppGrants, all: &[String]) -> Self {
        let can_write = grants.can_write;
        match &grants.namespaces {
            NamespaceChoice::All => Self { can_write, ..Self::default() },
            NamespaceChoice::Only(names) => Self { can_write, some: true, names: names.clone(), later: false },
            NamespaceChoice::AllBut(others) => {
                let names = all.iter().filter(|name| !others.contains(name)).cloned().collect();
                Self { can_write, some: true, names, later: true }
            }
        }
    }

    /// What was just sent.
    pub(crate) fn of_sent(sent: &SentForm) -> Self {
        let names = sent.fields.iter().filter(|(name, _)| name == "names[]").map(|(_, value)| value.clone());
        Self {
            can_write: sent.has("can_write", "true"),
            some: sent.has("namespaces", "chosen"),
            names: names.collect(),
            later: sent.has("later", "true"),
        }
    }
}

/// The names of namespaces, each once: others may share one under a name that the person has, too.
pub(crate) fn names_of(namespaces: Vec<NamespaceSummary>) -> Vec<String> {
    let mut names: Vec<String> = namespaces.into_iter().map(|namespace| namespace.name).collect();
    names.dedup();
    names
}

/// The fields that say what an app may do, and where.
#[component]
pub(crate) fn GrantFields(
    values: GrantValues,
    /// The namespaces to choose among.
    names: Vec<String>,
    /// The name under which the boxes are sent that are ticked.
    names_field: &'static str,
    /// What it says in place of the choice where writing is no choice.
    reads_only: Option<&'static str>,
    /// What is wrong with the namespaces.
    fault: Option<String>,
) -> impl IntoView {
    let text = &i18n::messages().on_server.tokens;
    let later_too = i18n::messages().on_server.apps.later_too;
    // One that is not there any more, or not yet, stays chosen until it is taken out here.
    let mut all = values.names.clone();
    all.retain(|name| !names.contains(name));
    let all: Vec<String> = names.into_iter().chain(all).collect();
    let fault_id = "namespaces-fault";
    let faulty = fault.is_some();
    let access = match reads_only {
        Some(reads_only) => view! {
            <input type="hidden" name="can_write" value="false" />
            <p>{reads_only}</p>
        }
        .into_any(),
        None => view! {
            <label>
                <input type="radio" name="can_write" value="false" checked=!values.can_write />
                <span>{text.read}</span>
                <span class="hint">{text.read_hint}</span>
            </label>
            <label>
                <input type="radio" name="can_write" value="true" checked=values.can_write />
                <span>{text.write}</span>
                <span class="hint">{text.write_hint}</span>
            </label>
        }
        .into_any(),
    };

    view! {
        <fieldset class="choice">
            <legend>{text.access}</legend>
            {access}
        </fieldset>
        <fieldset class="choice" aria-describedby=faulty.then_some(fault_id)>
            <legend>{text.namespaces}</legend>
            <label>
                <input type="radio" name="namespaces" value="all" checked=!values.some />
                <span>{text.all_namespaces}</span>
            </label>
            <label>
                <input class="opens" type="radio" name="namespaces" value="chosen" checked=values.some />
                <span>{text.some_namespaces}</span>
            </label>
            <div class="opened" role="group" aria-label=text.some_namespaces>
                {all
                    .into_iter()
                    .map(|name| {
                        let checked = values.names.contains(&name);
                        view! {
                            <label>
                                <input type="checkbox" name=names_field value=name.clone() checked=checked />
                                <span>{name}</span>
                            </label>
                        }
                    })
                    .collect_view()}
                <label class="is-apart">
                    <input type="checkbox" name="later" value="true" checked=values.later />
                    <span>{later_too}</span>
                </label>
            </div>
            {fault.map(|fault| view! { <Fault id=fault_id fault /> })}
        </fieldset>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_decided_before_ticks_its_boxes() {
        let all = ["finance", "home", "work"].map(str::to_owned);
        let values =
            |namespaces| GrantValues::of_grants(&AppGrants { can_read: true, can_write: true, namespaces }, &all);
        let everywhere = values(NamespaceChoice::All);
        assert!(!everywhere.some && everywhere.names.is_empty());
        let only = values(NamespaceChoice::Only(vec!["work".into(), "gone".into()]));
        assert!(only.some && !only.later);
        assert_eq!(only.names, ["work", "gone"]);
        let all_but = values(NamespaceChoice::AllBut(vec!["finance".into()]));
        assert!(all_but.some && all_but.later);
        assert_eq!(all_but.names, ["home", "work"]);
    }
}

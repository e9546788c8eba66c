use std::fmt;

use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};

use crate::paths::encoded;

/// Which sessions a list shows: the query of the URL of the sessions' page, field by field. What is empty narrows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionSelection {
    /// Words of the title.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub q: String,
    /// The namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The client that stored it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The code of a [`Period`](crate::api::memories::Period).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub time: String,
    /// The place in the list, from the page before.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cursor: String,
}

impl SessionSelection {
    /// Reads the query of a URL.
    #[must_use]
    pub fn of_query(query: &ParamsMap) -> Self {
        let field = |name| query.get_str(name).unwrap_or_default().to_owned();
        Self {
            q: field("q"),
            namespace: field("namespace"),
            client: field("client"),
            time: field("time"),
            cursor: field("cursor"),
        }
    }

    /// The same at another place in it.
    #[must_use]
    pub fn page(&self, cursor: String) -> Self {
        Self { cursor, ..self.clone() }
    }

    /// Whether it leaves anything out.
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        [&self.q, &self.namespace, &self.client, &self.time].into_iter().any(|value| !value.trim().is_empty())
    }
}

/// As the URL of the list.
impl fmt::Display for SessionSelection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("/sessions")?;
        let fields = [
            ("q", &self.q),
            ("namespace", &self.namespace),
            ("client", &self.client),
            ("time", &self.time),
            ("cursor", &self.cursor),
        ];
        let mut mark = '?';
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            write!(formatter, "{mark}{name}={}", encoded(value))?;
            mark = '&';
        }
        Ok(())
    }
}

#[cfg(feature = "ssr")]
pub(crate) use on_server::{SessionPlace, message_path, session_path};

#[cfg(feature = "ssr")]
mod on_server {
    use jiff::tz::TimeZone;
    use leptos_router::params::ParamsMap;
    use polymnemo_types::{ApiError, ListSessionsRequest, MemoryId, limits};

    use super::{super::PART, SessionSelection};
    use crate::api::memories::since;

    impl SessionSelection {
        /// The list of it. Days are those of the zone.
        pub(crate) fn request(&self, zone: &TimeZone) -> Result<ListSessionsRequest, ApiError> {
            let given = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            Ok(ListSessionsRequest {
                query: given(&self.q),
                namespace: given(&self.namespace),
                client: given(&self.client),
                after: since(&self.time, zone),
                before: None,
                limit: Some(limits::PAGE_MAX),
                cursor: given(&self.cursor),
            })
        }
    }

    /// The path of a session's page.
    pub(crate) fn session_path(id: MemoryId) -> String {
        format!("/sessions/{id}")
    }

    /// The address of a message in its session.
    pub(crate) fn message_path(id: MemoryId, number: u32) -> String {
        format!("/sessions/{id}?message={number}#message-{number}")
    }

    /// Where in a session a page is: the query of its URL.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct SessionPlace {
        /// The number of the first message on it.
        pub(crate) from: u32,
        /// The message that it is about.
        pub(crate) marked: Option<u32>,
        /// The message that is shown whole.
        pub(crate) whole: Option<u32>,
    }

    impl SessionPlace {
        /// Reads the query of a URL: `?from=41`, or `?message=57` for the page with that message, with `&show=all` for all
        /// of it.
        pub(crate) fn of_query(query: &ParamsMap) -> Self {
            let number = |name| query.get_str(name).and_then(|number| number.parse().ok()).filter(|number| *number > 0);
            let marked = number("message");
            let place = marked.or_else(|| number("from")).unwrap_or(1);
            // Pages begin at the same places whatever leads to them.
            let from = (place - 1) / PART * PART + 1;
            Self { from, marked, whole: marked.filter(|_| query.get_str("show") == Some("all")) }
        }
    }

    #[cfg(test)]
    mod tests {
        use leptos_router::params::ParamsMap;

        use super::SessionPlace;

        #[test]
        fn a_message_is_on_the_page_that_the_pager_leads_to() {
            let place = |query: &[(&'static str, &str)]| {
                let mut map = ParamsMap::new();
                for (name, value) in query {
                    map.insert(*name, (*value).to_owned());
                }
                let SessionPlace { from, marked, whole } = SessionPlace::of_query(&map);
                (from, marked, whole)
            };
            assert_eq!(place(&[]), (1, None, None));
            assert_eq!(place(&[("from", "41")]), (41, None, None));
            assert_eq!(place(&[("from", "57")]), (41, None, None));
            assert_eq!(place(&[("message", "40")]), (1, Some(40), None));
            assert_eq!(place(&[("message", "57"), ("show", "all")]), (41, Some(57), Some(57)));
            for nonsense in ["0", "-1", "x", "99999999999", ""] {
                assert_eq!(place(&[("message", nonsense), ("show", "all")]), (1, None, None), "{nonsense}");
            }
        }
    }
}

use std::{fmt, str::FromStr};

use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};

use crate::paths::encoded;

/// The memories on a page of a list.
#[cfg(feature = "ssr")]
pub(super) const LISTED: u32 = polymnemo_types::limits::PAGE_MAX;
/// The memories on a page of a search.
#[cfg(feature = "ssr")]
const SEARCHED: u32 = 20;

/// Which memories a list shows: the query of the URL of the memories page, field by field. What is
/// empty narrows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// What to search for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub q: String,
    /// The namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// A label.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tag: String,
    /// The kind: `memory`, `session` or `media`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Where it comes from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The client that stored it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The code of a [`Period`].
    #[serde(skip_serializing_if = "String::is_empty")]
    pub time: String,
    /// The first day, as `2026-11-30`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// The last day, as `2026-11-30`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub to: String,
    /// `yes` where memories that others correct are shown too.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub corrected: String,
    /// The place in the list, from the page before.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cursor: String,
}

/// A span of time that ends now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// Since midnight.
    Today,
    /// Today and the six days before.
    Week,
    /// Today and the 29 days before.
    Month,
    /// Today and the 364 days before.
    Year,
}

impl Period {
    /// All of them, the shortest first.
    pub const ALL: [Self; 4] = [Self::Today, Self::Week, Self::Month, Self::Year];

    /// The word for it in URLs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Today => "today",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    #[cfg(feature = "ssr")]
    fn days_before_today(self) -> i64 {
        match self {
            Self::Today => 0,
            Self::Week => 6,
            Self::Month => 29,
            Self::Year => 364,
        }
    }
}

impl FromStr for Period {
    type Err = ();

    fn from_str(code: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|period| period.code() == code).ok_or(())
    }
}

impl Selection {
    /// The fields with their names in URLs, the cursor last.
    pub(crate) fn fields(&self) -> [(&'static str, &String); 11] {
        [
            ("q", &self.q),
            ("namespace", &self.namespace),
            ("tag", &self.tag),
            ("kind", &self.kind),
            ("source", &self.source),
            ("client", &self.client),
            ("time", &self.time),
            ("from", &self.from),
            ("to", &self.to),
            ("corrected", &self.corrected),
            ("cursor", &self.cursor),
        ]
    }

    /// Whether a field of a URL's query is one of these.
    #[must_use]
    pub fn has_field(name: &str) -> bool {
        Self::default().fields().into_iter().any(|(field, _)| field == name)
    }

    /// Reads the query of a URL.
    #[must_use]
    pub fn of_query(query: &ParamsMap) -> Self {
        let field = |name| query.get_str(name).unwrap_or_default().to_owned();
        Self {
            q: field("q"),
            namespace: field("namespace"),
            tag: field("tag"),
            kind: field("kind"),
            source: field("source"),
            client: field("client"),
            time: field("time"),
            from: field("from"),
            to: field("to"),
            corrected: field("corrected"),
            cursor: field("cursor"),
        }
    }

    /// A path with this selection as its query.
    #[must_use]
    pub fn at(&self, path: &str) -> String {
        format!("{path}{self}")
    }

    /// The same without a place in it: its first page.
    #[must_use]
    pub fn first_page(&self) -> Self {
        Self { cursor: String::new(), ..self.clone() }
    }

    /// The same at another place in it.
    #[must_use]
    pub fn page(&self, cursor: String) -> Self {
        Self { cursor, ..self.clone() }
    }

    /// Whether something is searched for.
    #[must_use]
    pub fn is_search(&self) -> bool {
        !self.q.trim().is_empty()
    }

    /// Whether it narrows by what few people narrow by.
    #[must_use]
    pub fn narrows_more(&self) -> bool {
        [&self.kind, &self.source, &self.client, &self.from, &self.to, &self.corrected]
            .into_iter()
            .any(|value| !value.is_empty())
    }

    /// Whether it leaves anything out.
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        self.fields().into_iter().any(|(name, value)| !value.is_empty() && !matches!(name, "cursor" | "corrected"))
    }
}

/// As the query of a URL, question mark included; nothing where all is empty.
impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut mark = '?';
        for (name, value) in self.fields().into_iter().filter(|(_, value)| !value.is_empty()) {
            write!(formatter, "{mark}{name}={}", encoded(value))?;
            mark = '&';
        }
        Ok(())
    }
}

#[cfg(feature = "ssr")]
pub(crate) use requests::since;

#[cfg(feature = "ssr")]
mod requests {
    use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
    use polymnemo_types::{ApiError, ErrorCode, Kind, ListRequest, RecallRequest};

    use super::{LISTED, Period, SEARCHED, Selection};

    impl Selection {
        /// The recall that finds it, where something is searched for. Days are those of the zone.
        pub(crate) fn recall_request(&self, zone: &TimeZone) -> Result<Option<RecallRequest>, ApiError> {
            if !self.is_search() {
                return Ok(None);
            }
            let ListRequest {
                namespace, tags, kind, source, client, after, before, include_superseded, cursor, ..
            } = self.list_request(zone)?;
            Ok(Some(RecallRequest {
                query: self.q.clone(),
                namespace,
                tags,
                kind,
                source,
                client,
                after,
                before,
                include_superseded,
                limit: Some(SEARCHED),
                cursor,
            }))
        }

        /// The list of it. Days are those of the zone.
        pub(crate) fn list_request(&self, zone: &TimeZone) -> Result<ListRequest, ApiError> {
            let given = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            Ok(ListRequest {
                namespace: given(&self.namespace),
                tags: given(&self.tag).into_iter().collect(),
                kind: given(&self.kind).map(|kind| read_kind(&kind)).transpose()?,
                source: given(&self.source),
                client: given(&self.client),
                after: given(&self.from).or_else(|| since(&self.time, zone)),
                // The person names the last day, the service the day after it.
                before: given(&self.to).map(|day| read_day(&day)).transpose()?,
                include_superseded: !self.corrected.is_empty(),
                trash: false,
                limit: Some(LISTED),
                cursor: given(&self.cursor),
            })
        }
    }

    /// The first day of the period of this code, if there is one, in a zone.
    pub(crate) fn since(period: &str, zone: &TimeZone) -> Option<String> {
        let period: Period = period.parse().ok()?;
        let today = Timestamp::now().to_zoned_datetime(zone.clone()).date();
        Some(today.saturating_sub(period.days_before_today().days()).to_string())
    }

    fn read_kind(kind: &str) -> Result<Kind, ApiError> {
        match kind {
            "memory" => Ok(Kind::Memory),
            "session" => Ok(Kind::Session),
            "media" => Ok(Kind::Media),
            _ => Err(invalid("`kind` is one of memory, session and media.")),
        }
    }

    /// The day after a day.
    fn read_day(day: &str) -> Result<String, ApiError> {
        let day: Date = day.parse().map_err(|_| invalid("`to` is not a day. Write it like 2026-03-01."))?;
        Ok(day.saturating_add(1.day()).to_string())
    }

    fn invalid(message: &str) -> ApiError {
        ApiError { code: ErrorCode::InvalidInput, message: message.to_owned() }
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use jiff::tz::TimeZone;
    use leptos_router::params::ParamsMap;

    use super::Selection;

    fn selection(query: &[(&'static str, &str)]) -> Selection {
        let mut map = ParamsMap::new();
        for (name, value) in query {
            map.insert(*name, (*value).to_owned());
        }
        Selection::of_query(&map)
    }

    #[test]
    fn a_selection_is_the_query_of_its_url() {
        let selection = selection(&[("q", "tea & 茶"), ("tag", "a+b"), ("cursor", "x"), ("other", "1")]);
        assert_eq!(selection.at("/memories"), "/memories?q=tea%20%26%20%E8%8C%B6&tag=a%2Bb&cursor=x");
        assert_eq!(selection.first_page().at("/memories"), "/memories?q=tea%20%26%20%E8%8C%B6&tag=a%2Bb");
        assert_eq!(Selection::default().at("/memories"), "/memories");
    }

    #[test]
    fn the_last_day_is_part_of_what_is_listed() {
        let request = selection(&[("from", "2026-02-01"), ("to", "2026-02-28")])
            .list_request(&TimeZone::UTC)
            .expect("a valid selection");
        assert_eq!(request.after.as_deref(), Some("2026-02-01"));
        assert_eq!(request.before.as_deref(), Some("2026-03-01"));
    }

    #[test]
    fn a_day_that_is_none_is_refused() {
        let error = selection(&[("to", "tomorrow")]).list_request(&TimeZone::UTC).expect_err("no day");
        assert!(error.message.contains("`to`"), "{error}");
        selection(&[("kind", "dream")]).list_request(&TimeZone::UTC).expect_err("no kind");
    }

    #[test]
    fn only_a_query_makes_a_search() {
        assert!(selection(&[("q", "  "), ("tag", "a")]).recall_request(&TimeZone::UTC).expect("valid").is_none());
        assert!(selection(&[("q", "tea")]).recall_request(&TimeZone::UTC).expect("valid").is_some());
    }

    #[test]
    fn a_place_in_the_list_narrows_nothing() {
        assert!(!selection(&[("cursor", "x"), ("corrected", "yes")]).is_narrowed());
        assert!(selection(&[("time", "today")]).is_narrowed());
    }
}

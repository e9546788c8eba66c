//! Reading the times that callers give: RFC 3339, or a date in the user's time zone.

use jiff::{Timestamp, Unit, civil, fmt::temporal::Pieces, tz::TimeZone};

use crate::{Error, Result};

/// Reads a time; a date stands for its beginning in the given zone. `field` names the input in the message.
///
/// # Errors
///
/// [`Error::Invalid`] with examples of what can be read.
pub(crate) fn parse(field: &str, text: &str, zone: &TimeZone) -> Result<Timestamp> {
    let text = text.trim();
    let time = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| in_zone(text.parse::<civil::DateTime>().ok()?, zone))
        .or_else(|| in_zone(text.parse::<civil::Date>().ok()?.to_datetime(civil::Time::midnight()), zone))
        .or_else(|| is_in_the_last_year(text).then_some(Timestamp::MAX));
    // RFC 3339 has no years before 0001 in every zone.
    let time = time.filter(|time| *time >= FIRST);
    time.map(to_microseconds).ok_or_else(|| {
        Error::Invalid(format!(
            "`{field}` is not a time that can be read. Give RFC 3339 such as 2026-03-01T09:30:00Z, or a date such as 2026-03-01."
        ))
    })
}

/// The beginning of the year 0001, and a day, so that it is a year of RFC 3339 in every zone.
const FIRST: Timestamp = Timestamp::constant(-62_135_510_400, 0);

/// Whether it is a time of the year 9999. The last of them lie behind the end of what can be reckoned with in every zone,
/// and stand for that: those who mean "for ever" write them.
fn is_in_the_last_year(text: &str) -> bool {
    Pieces::parse(text).is_ok_and(|pieces| pieces.date().year() == 9999)
}

fn in_zone(time: civil::DateTime, zone: &TimeZone) -> Option<Timestamp> {
    time.to_zoned_datetime(zone.clone()).ok().map(|zoned| zoned.timestamp())
}

/// The database counts in microseconds; a time that is compared with one it gave must too.
pub(crate) fn to_microseconds(time: Timestamp) -> Timestamp {
    time.round(jiff::TimestampRound::new().smallest(Unit::Microsecond).mode(jiff::RoundMode::Trunc)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shanghai() -> TimeZone {
        TimeZone::get("Asia/Shanghai").expect("the time zone database knows it")
    }

    #[test]
    fn a_date_is_the_beginning_of_the_users_day() {
        let time = parse("after", "2026-03-01", &shanghai()).expect("a date");
        assert_eq!(time.to_string(), "2026-02-28T16:00:00Z");
    }

    #[test]
    fn an_offset_wins_over_the_users_zone() {
        let time = parse("after", "2026-03-01T09:30:00+01:00", &shanghai()).expect("RFC 3339");
        assert_eq!(time.to_string(), "2026-03-01T08:30:00Z");
    }

    #[test]
    fn a_time_without_offset_is_the_users() {
        let time = parse("after", "2026-03-01T08:00", &shanghai()).expect("a local time");
        assert_eq!(time.to_string(), "2026-03-01T00:00:00Z");
    }

    #[test]
    fn the_end_of_the_last_year_is_the_end_of_time() {
        for text in ["9999-12-31", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999+00:00"] {
            let time = parse("before", text, &TimeZone::UTC).expect(text);
            assert!(time >= to_microseconds(Timestamp::MAX), "{time}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_name_of_the_field() {
        for text in [
            "",
            "yesterday",
            "0000-01-01T00:00:00+14:00",
            "9999-02-30",
            "2026-02-30",
            "01/02/2026",
            "2026-03-01T25:00:00Z",
        ] {
            let error = parse("before", text, &shanghai()).expect_err(text);
            assert!(error.to_string().contains("`before`"), "{error}");
        }
    }
}

//! Times as products write them.

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use serde_json::Value;

/// A number greater than this counts milliseconds: as seconds it would be in the year 5138.
const MILLISECONDS: f64 = 1e11;

/// The time that a value stands for: ISO 8601 with or without a zone (which is UTC then), a date, or seconds or milliseconds
/// since 1970, also as text. Nothing for null, for what is no time, and for 1970 and the year 1, which stand for "unknown".
pub(crate) fn time(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::Number(number) => number.as_f64().and_then(since_1970),
        Value::String(text) => parse(text),
        _ => None,
    }
}

pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let utc = |time: DateTime| TimeZone::UTC.to_timestamp(time).ok();
    // A time with a zone also reads as one without, so the order matters.
    let time = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(utc))
        .or_else(|| text.parse::<Date>().ok().and_then(|date| utc(date.to_datetime(jiff::civil::Time::midnight()))))
        .or_else(|| text.parse::<f64>().ok().and_then(since_1970));
    // Some products write the first moment of the calendar where they know none.
    time.filter(|time| time.to_zoned_datetime(TimeZone::UTC).year() > 1)
}

/// Fractions are kept to the microsecond: more than that a float doesn't hold.
fn since_1970(number: f64) -> Option<Timestamp> {
    if !number.is_finite() || number <= 0.0 {
        return None;
    }
    let seconds = if number > MILLISECONDS { number / 1000.0 } else { number };
    let microseconds = (seconds * 1e6).round();
    if microseconds > 2.5e17 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is within the range, and whole")]
    let microseconds = microseconds as i64;
    Timestamp::from_microsecond(microseconds).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_read_however_they_are_written() {
        let read = |value: Value| time(Some(&value)).map(|time| time.to_string());
        let noon = Some("2026-02-03T12:00:00Z".to_owned());
        for value in [
            json!("2026-02-03T12:00:00Z"),
            json!("2026-02-03T12:00:00.0Z"),
            json!("2026-02-03T12:00:00.000000+00:00"),
            json!("2026-02-03T13:00:00+01:00"),
            json!("2026-02-03 12:00:00"),
            json!("2026-02-03T12:00:00"),
            json!(" 2026-02-03T12:00:00.000000 "),
            json!(1_770_120_000),
            json!(1_770_120_000.0),
            json!(1_770_120_000_000_i64),
            json!("1770120000"),
        ] {
            assert_eq!(read(value.clone()), noon, "{value}");
        }
        assert_eq!(read(json!("2026-02-03")).as_deref(), Some("2026-02-03T00:00:00Z"));
        assert_eq!(read(json!(1_767_583_930.285_031)).as_deref(), Some("2026-01-05T03:32:10.285031Z"));
        for value in [
            json!(null),
            json!("0001-01-01T00:00:00Z"),
            json!("0000-01-01T00:00:00Z"),
            json!("0001-12-31"),
            json!(0),
            json!(-5),
            json!(1e300),
            json!(""),
            json!("soon"),
            json!([]),
            json!({}),
            json!(true),
        ] {
            assert_eq!(read(value.clone()), None, "{value}");
        }
    }
}

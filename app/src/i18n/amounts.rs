//! Numbers and spans of time, as people say them.

use super::{Language, language};

/// A number with its digits in groups of three: `1,284`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes as people say it: `1.2 MB`, with a space that does not break.
pub(crate) fn size(bytes: u64) -> String {
    let (mut unit, mut name) = (1, "B");
    for larger in ["kB", "MB", "GB", "TB"] {
        if bytes / unit < 1_000 {
            break;
        }
        (unit, name) = (unit * 1_000, larger);
    }
    let tenths = bytes / (unit / 10).max(1);
    // Below ten, the tenths matter.
    let number =
        if unit > 1 && tenths < 100 { format!("{}.{}", tenths / 10, tenths % 10) } else { (bytes / unit).to_string() };
    format!("{number}\u{a0}{name}")
}

/// How long ago something was, in the language of the page; a negative number of seconds is a time
/// to come.
pub(crate) fn since(seconds: i64) -> String {
    since_in(language(), seconds)
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const MONTH: u64 = 30 * DAY;
const YEAR: u64 = 365 * DAY;

/// Units with their names in English and Chinese, the longest first. A month is vague, so up to two
/// of them are told in days.
const UNITS: [(u64, &str, &str); 5] = [
    (YEAR, "year", "年"),
    (MONTH, "month", "个月"),
    (DAY, "day", "天"),
    (HOUR, "hour", "小时"),
    (MINUTE, "minute", "分钟"),
];

/// [`since`] in a language.
pub(crate) fn since_in(language: Language, seconds: i64) -> String {
    let span = seconds.unsigned_abs();
    let least = |length| if length == MONTH { 2 * MONTH } else { length };
    let unit = UNITS.into_iter().find(|(length, ..)| span >= least(*length));
    let Some((length, english, chinese)) = unit else {
        return match (language, seconds >= 0) {
            (Language::English, true) => "just now",
            (Language::English, false) => "in a moment",
            (Language::Chinese, true) => "刚刚",
            (Language::Chinese, false) => "马上",
        }
        .to_owned();
    };
    // What lies behind is over in full units; what is to come is told as it was set, a moment ago.
    let count = if seconds >= 0 { span / length } else { (span + length / 2) / length };
    let plural = if count == 1 { "" } else { "s" };
    match (language, seconds >= 0) {
        (Language::English, true) => format!("{count} {english}{plural} ago"),
        (Language::English, false) => format!("in {count} {english}{plural}"),
        (Language::Chinese, true) => format!("{count} {chinese}前"),
        (Language::Chinese, false) => format!("{count} {chinese}后"),
    }
}

#[cfg(test)]
mod tests {
    use super::{DAY, HOUR, grouped, since_in, size};
    use crate::i18n::Language::{Chinese, English};

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [
            (0, "0"),
            (7, "7"),
            (999, "999"),
            (1_000, "1,000"),
            (1_284, "1,284"),
            (100_000, "100,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn sizes_are_said_in_the_largest_unit_that_fits() {
        for (bytes, text) in [
            (0, "0 B"),
            (1, "1 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (9_999, "9.9 kB"),
            (10_000, "10 kB"),
            (999_999, "999 kB"),
            (5_000_001, "5.0 MB"),
            (8 << 20, "8.3 MB"),
            (200_000_000, "200 MB"),
            (2_345_000_000, "2.3 GB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(size(bytes).replace('\u{a0}', " "), text);
        }
    }

    #[test]
    fn times_are_said_in_the_longest_unit_that_fits() {
        let days = |count: u64| i64::try_from(count * DAY).expect("a small number");
        for (seconds, english, chinese) in [
            (0, "just now", "刚刚"),
            (59, "just now", "刚刚"),
            (60, "1 minute ago", "1 分钟前"),
            (7 * 60 + 59, "7 minutes ago", "7 分钟前"),
            (i64::try_from(HOUR).expect("a small number"), "1 hour ago", "1 小时前"),
            (days(29), "29 days ago", "29 天前"),
            (days(59), "59 days ago", "59 天前"),
            (days(64), "2 months ago", "2 个月前"),
            (days(364), "12 months ago", "12 个月前"),
            (days(800), "2 years ago", "2 年前"),
            (-30, "in a moment", "马上"),
            (-days(30), "in 30 days", "30 天后"),
            (20 - days(30), "in 30 days", "30 天后"),
            (-days(90), "in 3 months", "3 个月后"),
        ] {
            assert_eq!(since_in(English, seconds), english);
            assert_eq!(since_in(Chinese, seconds), chinese);
        }
    }
}

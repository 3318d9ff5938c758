//! Points in time as foreign formats write them, to and from milliseconds of Unix time.

use crate::time::{days, parts};

/// Reads RFC 3339 (`2025-10-16T20:46:15.29-07:00`) and the compact form of Taskwarrior (`20251016T204615Z`).
pub(super) fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let compact = bytes.get(4)? != &b'-';
    let (date, clock) = text.split_once(['T', 't', ' '])?;
    let (year, month, day) = if compact {
        (number(date, 0, 4)?, number(date, 4, 2)?, number(date, 6, 2)?)
    } else {
        (number(date, 0, 4)?, number(date, 5, 2)?, number(date, 8, 2)?)
    };
    if date.len() != if compact { 8 } else { 10 } || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let step = if compact { 2 } else { 3 };
    let (hour, minute, second) = (number(clock, 0, 2)?, number(clock, step, 2)?, number(clock, 2 * step, 2)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut rest = clock.get(2 * step + 2..)?;
    let mut millis = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let shown: String = fraction[..digits].chars().chain("000".chars()).take(3).collect();
        millis = shown.parse::<i64>().ok()?;
        rest = &fraction[digits..];
    }
    let shift = match rest {
        "" | "Z" | "z" => 0,
        _ => {
            let sign = if rest.starts_with('-') { -1 } else { 1 };
            let zone = rest.strip_prefix(['+', '-'])?;
            let minutes = number(zone, 0, 2)? * 60 + number(zone, if zone.contains(':') { 3 } else { 2 }, 2)?;
            sign * minutes * 60
        }
    };
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - shift;
    Some(seconds * 1000 + millis)
}

/// `2025-10-16T20:46:15Z`, with milliseconds if there are any.
pub(super) fn rfc3339(at: i64) -> String {
    let [y, mo, d, h, mi, s] = written(at);
    let fraction = match at.rem_euclid(1000) {
        0 => String::new(),
        millis => format!(".{millis:03}"),
    };
    format!("{y:04}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}{fraction}Z")
}

/// `20251016T204615Z`.
pub(super) fn compact(at: i64) -> String {
    let [y, mo, d, h, mi, s] = written(at);
    format!("{y:04}{mo:02}{d:02}T{h:02}{mi:02}{s:02}Z")
}

fn number(text: &str, at: usize, len: usize) -> Option<i64> {
    let digits = text.get(at..at + len)?;
    if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// The parts of a moment. Years with four digits are all that the formats can write.
fn written(at: i64) -> [i64; 6] {
    parts(at.clamp(-62_167_219_200_000, 253_402_300_799_999))
}

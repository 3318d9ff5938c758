//! Clock times in messages, such as `resets 3:30pm (UTC+2)`. There is no time-zone database here: offsets and a few fixed
//! abbreviations are known, names such as `Europe/Berlin` are not.

use super::digits;

const DAY_MS: i64 = 86_400_000;

/// How long ago a clock time may be and still mean that moment instead of the same time tomorrow: clocks differ, and a message
/// may be old.
const JUST_PASSED_MS: i64 = 3_600_000;

/// Words before a clock time.
const LEADS: [&str; 6] = ["resets at ", "resets ", "reset at ", "try again at ", "retry at ", "available again at "];

/// Abbreviations with one common meaning, and their minutes east of UTC.
const ZONES: [(&str, i32); 15] = [
    ("utc", 0),
    ("gmt", 0),
    ("z", 0),
    ("est", -5 * 60),
    ("edt", -4 * 60),
    ("cst", -6 * 60),
    ("cdt", -5 * 60),
    ("mst", -7 * 60),
    ("mdt", -6 * 60),
    ("pst", -8 * 60),
    ("pdt", -7 * 60),
    ("cet", 60),
    ("cest", 2 * 60),
    ("bst", 60),
    ("jst", 9 * 60),
];

/// A clock time that a message gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockTime {
    /// Minutes after midnight in UTC.
    Utc(u32),
    /// In a time zone that is missing or unknown.
    UnknownZone,
}

/// Returns the first clock time after one of the known words in a text in lower case.
pub(super) fn find(plain: &str) -> Option<ClockTime> {
    LEADS.iter().find_map(|lead| plain.match_indices(lead).find_map(|(at, _)| read(&plain[at + lead.len()..])))
}

/// The next moment after `now` at which clocks in UTC show that many minutes after midnight. A moment that has just passed is
/// returned as it is.
pub(super) fn next(minutes: u32, now: i64) -> i64 {
    let today = now.div_euclid(DAY_MS).saturating_mul(DAY_MS).saturating_add(i64::from(minutes) * 60_000);
    let ago = now.saturating_sub(today);
    match ago {
        0.. if ago > JUST_PASSED_MS => today.saturating_add(DAY_MS),
        // Yesterday's, shortly before midnight.
        ..0 if ago <= JUST_PASSED_MS - DAY_MS => today.saturating_sub(DAY_MS),
        _ => today,
    }
}

/// Reads `3pm`, `3:30 pm`, `15:00` or `15:00:30`, and the time zone after it.
fn read(text: &str) -> Option<ClockTime> {
    let (hour, text) = number(text)?;
    let (minute, text) = match text.strip_prefix(':') {
        Some(rest) => number(rest).map(|(minute, rest)| (Some(minute), rest))?,
        None => (None, text),
    };
    // Seconds do not matter.
    let text = text.strip_prefix(':').map_or(text, |rest| &rest[digits(rest).len()..]);
    let (half, text) = half_of_day(text);
    let hour = match (half, hour) {
        (Some(noon), 1..=12) => hour % 12 + noon,
        (None, 0..=23) if minute.is_some() => hour,
        _ => return None,
    };
    let minutes = hour * 60 + minute.filter(|minute| *minute < 60).or(Some(0).filter(|_| minute.is_none()))?;
    Some(zone(text).map_or(ClockTime::UnknownZone, |east| {
        let utc = (i32::try_from(minutes).unwrap_or_default() - east).rem_euclid(24 * 60);
        ClockTime::Utc(utc.unsigned_abs())
    }))
}

fn number(text: &str) -> Option<(u32, &str)> {
    let number = digits(text);
    let value = number.parse().ok().filter(|_| number.len() <= 2)?;
    Some((value, &text[number.len()..]))
}

/// Reads `am` or `pm`, and returns the hours that it adds.
fn half_of_day(text: &str) -> (Option<u32>, &str) {
    let start = text.trim_start_matches(' ');
    let forms = [("am", 0), ("a.m.", 0), ("pm", 12), ("p.m.", 12)];
    let found = forms.into_iter().find_map(|(word, hours)| Some((hours, start.strip_prefix(word)?)));
    match found.filter(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_alphanumeric())) {
        Some((hours, rest)) => (Some(hours), rest),
        None => (None, text),
    }
}

/// Reads `utc`, `(pst)`, `gmt+5:30` or `+0200` at the beginning of a text. Returns minutes east of UTC.
fn zone(text: &str) -> Option<i32> {
    let text = text.trim_start_matches([' ', '(', '[']);
    let word = &text[..text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len())];
    let rest = &text[word.len()..];
    // Part of a longer name, such as `est/cdt` or `gmt_x`.
    if rest.starts_with(['/', '_']) {
        return None;
    }
    match word {
        "" => offset(rest),
        "utc" | "gmt" if rest.starts_with(['+', '-', '\u{2212}']) => offset(rest),
        _ => ZONES.iter().find(|(name, _)| *name == word).map(|(_, east)| *east),
    }
}

/// Reads `+2`, `+02:00` or `-0530`. Returns minutes east of UTC.
fn offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, text.strip_prefix(['-', '\u{2212}'])?),
    };
    let hours = digits(rest);
    let minutes = rest[hours.len()..].strip_prefix(':').map_or("", digits);
    let (hours, minutes) = match (hours.len(), minutes.len()) {
        (1 | 2, 0 | 2) => (hours, minutes),
        (4, 0) => hours.split_at(2),
        _ => return None,
    };
    let minutes = if minutes.is_empty() { 0 } else { minutes.parse::<i32>().ok().filter(|minutes| *minutes < 60)? };
    let hours = hours.parse::<i32>().ok().filter(|hours| *hours <= 14)?;
    Some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn utc(hour: u32, minute: u32) -> Option<ClockTime> {
        Some(ClockTime::Utc(hour * 60 + minute))
    }

    #[test]
    fn clock_times_are_read_with_offsets_and_abbreviations() {
        for (said, wanted) in [
            ("resets at 15:00 utc", utc(15, 0)),
            ("resets 3pm (utc)", utc(15, 0)),
            ("resets 3:30pm pst", utc(23, 30)),
            ("resets 3:30 p.m. pst.", utc(23, 30)),
            ("resets 12am (gmt)", utc(0, 0)),
            ("resets 12:05pm gmt", utc(12, 5)),
            ("try again at 1:15 am (utc+2)", utc(23, 15)),
            ("try again at 11:15 pm (utc-5:30)", utc(4, 45)),
            ("resets at 23:59:59 +0100", utc(22, 59)),
            ("resets at 00:10 gmt\u{2212}03:00", utc(3, 10)),
            ("resets at 08:00z", utc(8, 0)),
            ("limit reached, which resets. it resets 9am cest", utc(7, 0)),
        ] {
            assert_eq!(find(said), wanted, "{said}");
        }
    }

    #[test]
    fn zones_that_are_missing_or_unknown_are_named_as_such() {
        for said in [
            "resets 3pm (europe/berlin)",
            "resets 8:20pm (asia/singapore)",
            "try again at 3:28 pm.",
            "resets at 15:00",
            "resets at 15:00 ist",
            "resets 3pm (est/something)",
            "resets at 15:00 utc+99",
            "resets at 15:00 +1:5",
        ] {
            assert_eq!(find(said), Some(ClockTime::UnknownZone), "{said}");
        }
    }

    #[test]
    fn what_is_not_a_clock_time_is_nothing() {
        for said in [
            "",
            "resets soon",
            "resets in 3h",
            "resets 5 hours after that",
            "resets oct 9 at 10:30am (utc)",
            "resets 13pm utc",
            "resets 25:00 utc",
            "resets 10:75 utc",
            "resets 2026-01-01",
            "resets 3pmish utc",
        ] {
            assert_eq!(find(said), None, "{said}");
        }
    }

    #[test]
    fn the_next_moment_may_be_after_midnight_and_one_that_has_just_passed_stays() {
        const HOUR: i64 = 3_600_000;
        let day = 20_000 * DAY_MS;
        for (minutes, now, wanted) in [
            (15 * 60, day + 14 * HOUR, day + 15 * HOUR),
            (60, day + 23 * HOUR, day + DAY_MS + HOUR),
            (0, day + 22 * HOUR, day + DAY_MS),
            (15 * 60, day + 15 * HOUR + 5_000, day + 15 * HOUR),
            (15 * 60, day + 17 * HOUR, day + DAY_MS + 15 * HOUR),
            (23 * 60 + 59, day + 60_000, day - 60_000),
            (23 * 60 + 59, day + 2 * HOUR, day + 24 * HOUR - 60_000),
        ] {
            assert_eq!(next(minutes, now), wanted, "{minutes} {now}");
        }
        assert_eq!(next(60, -2 * HOUR), HOUR, "before the epoch");
        for now in [i64::MIN, i64::MAX] {
            next(24 * 60 - 1, now);
        }
    }
}

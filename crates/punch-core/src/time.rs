//! Times in UTC, and the calendar behind them.

/// Milliseconds since the epoch as `2026-08-01 10:20:30Z`.
pub fn utc(ms: i64) -> String {
    let [year, month, day, hour, minute, second] = parts(ms);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// Milliseconds since the epoch as RFC 3339 writes them: `2026-08-01T10:20:30.005Z`.
pub fn rfc3339(ms: i64) -> String {
    let [year, month, day, hour, minute, second] = parts(ms);
    let milli = ms.rem_euclid(1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Milliseconds since the epoch as `20260801-102030`, for names.
pub fn stamp(ms: i64) -> String {
    let [year, month, day, hour, minute, second] = parts(ms);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

/// A span of milliseconds that has passed, in its largest unit: "3 minutes ago".
pub fn ago(ms: i64) -> String {
    format!("{} ago", largest_unit(ms))
}

/// A span of milliseconds that has still to pass, in its largest unit: "3 minutes from now".
pub fn ahead(ms: i64) -> String {
    format!("{} from now", largest_unit(ms))
}

fn largest_unit(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let (count, unit) = match seconds {
        0..60 => return "a moment".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// A span of milliseconds in its largest unit, short: "4 min", "2 h", "3 d".
pub fn span(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// Year, month, day, hour, minute and second of a moment in milliseconds since the epoch, in UTC.
pub(crate) fn parts(ms: i64) -> [i64; 6] {
    let seconds = ms.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    [year, month, day, second / 3600, second / 60 % 60, second % 60]
}

/// The date of a day since the epoch in the Gregorian calendar. Years are counted from March, so that the leap day is
/// the last of its year, in eras of 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, date)
}

/// The day since the epoch of a date in the Gregorian calendar: the inverse of [`civil`].
pub(crate) const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{ago, ahead, stamp, utc};

    #[test]
    fn spans_are_told_in_their_largest_unit() {
        for (seconds, text) in [
            (-5, "a moment ago"),
            (59, "a moment ago"),
            (60, "1 minute ago"),
            (7_300, "2 hours ago"),
            (86_400 * 3, "3 days ago"),
        ] {
            assert_eq!(ago(seconds * 1000), text);
        }
        assert_eq!(ahead(7_300_000), "2 hours from now");
        assert_eq!(ahead(59_000), "a moment from now");
    }

    #[test]
    fn known_moments() {
        for (ms, text) in [
            (0, "1970-01-01 00:00:00Z"),
            (-1, "1969-12-31 23:59:59Z"),
            (951_782_400_000, "2000-02-29 00:00:00Z"),
            (1_709_251_199_999, "2024-02-29 23:59:59Z"),
            (1_709_251_200_000, "2024-03-01 00:00:00Z"),
            (4_102_444_800_000, "2100-01-01 00:00:00Z"),
            (-62_135_596_800_000, "0001-01-01 00:00:00Z"),
        ] {
            assert_eq!(utc(ms), text);
        }
        assert_eq!(stamp(1_709_251_199_999), "20240229-235959");
        assert!(!utc(i64::MAX).is_empty() && !utc(i64::MIN).is_empty());
    }
}

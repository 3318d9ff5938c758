//! Durations as users write them: `15m`, `1h30m`, `250ms`.

use std::time::Duration;

/// Units from long to short, in milliseconds.
const UNITS: &[(&str, u64)] = &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads numbers with units, long units before short ones, each at most once. `None` for anything else.
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0_u64;
    let mut units = UNITS.iter();
    while !rest.is_empty() || rest.len() == text.len() {
        let number = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
        rest = &rest[number.len()..];
        let unit = &rest[..rest.bytes().take_while(u8::is_ascii_lowercase).count()];
        rest = &rest[unit.len()..];
        let (_, size) = units.find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(*size)?)?;
    }
    Some(Duration::from_millis(total))
}

/// Writes a duration so that [`parse`] reads it back; what is below a millisecond is left out.
pub fn print(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut out = String::new();
    for (name, size) in UNITS {
        if rest >= *size {
            out.push_str(&format!("{}{name}", rest / size));
            rest %= size;
        }
    }
    if out.is_empty() { "0s".into() } else { out }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_printed_reads_back(milliseconds: u64) {
            let duration = Duration::from_millis(milliseconds);
            prop_assert_eq!(parse(&print(duration)), Some(duration));
        }

        #[test]
        fn any_text_is_read_or_not_and_never_panics(text in "[0-9smhd é-]{0,12}") {
            if let Some(duration) = parse(&text) {
                prop_assert_eq!(parse(&print(duration)), Some(duration));
            }
        }
    }

    #[test]
    fn units_and_their_sums() {
        let table = [
            ("0s", 0),
            ("250ms", 250),
            ("90s", 90_000),
            ("15m", 900_000),
            ("1h30m", 5_400_000),
            ("2d", 172_800_000),
            ("1d2h3m4s5ms", 93_784_005),
        ];
        for (text, milliseconds) in table {
            assert_eq!(parse(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!(print(Duration::from_secs(90)), "1m30s");
        assert_eq!(print(Duration::ZERO), "0s");
    }

    #[test]
    fn everything_else_is_none() {
        let bad = [
            "",
            " ",
            "15",
            "m",
            "15 m",
            "-1s",
            "+1s",
            "1.5h",
            "1m1h",
            "1m1m",
            "1w",
            "1M",
            "1s ",
            "1µs",
            "99999999999999999999s",
        ];
        for text in bad.into_iter().chain(["18446744073709551615d"]) {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}

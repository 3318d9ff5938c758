//! Lenient parsing of numbers, priorities and ids that users type.

use punch_core::HoldKind;
use punch_core::filter::FilterState;

use crate::failure::Failure;

/// Reads a priority: 1 to 5, `p1` to `p5`, or a word.
pub fn priority(given: &str) -> Result<u64, String> {
    let lower = given.to_lowercase();
    let words = [("urgent", 1), ("highest", 1), ("high", 2), ("medium", 3), ("normal", 3), ("low", 4), ("lowest", 5)];
    if let Some((_, priority)) = words.iter().find(|(word, _)| *word == lower) {
        return Ok(*priority);
    }
    let number = lower.strip_prefix('p').unwrap_or(&lower).parse().ok().filter(|number| (1..=5).contains(number));
    number.ok_or_else(|| "use a number from 1 to 5, or urgent, high, medium, low, lowest".to_owned())
}

/// Reads the size of a todo.
pub fn complexity(given: &str) -> Result<String, String> {
    let lower = given.to_lowercase();
    let known = ["trivial", "small", "medium", "large", "epic"].contains(&lower.as_str());
    known.then_some(lower).ok_or_else(|| "use trivial, small, medium, large or epic".to_owned())
}

/// Reads a number of tokens: `20000`, `20k`, `1.5m`, `20_000`.
pub fn tokens(given: &str) -> Result<u64, String> {
    punch_core::text::tokens(given).ok_or_else(|| "use a number such as 20000, 20k or 1.5m".to_owned())
}

/// Reads the kind of a hold.
pub fn hold_kind(given: &str) -> Result<HoldKind, String> {
    let names = || HoldKind::ALL.map(HoldKind::name).join(", ");
    HoldKind::parse(&given.to_lowercase()).ok_or_else(|| format!("use one of {}", names()))
}

/// Reads a state that lists can be filtered by.
pub fn state(given: &str) -> Result<FilterState, String> {
    let names = || FilterState::ALL.map(FilterState::name).join(", ");
    FilterState::named(&given.to_lowercase()).ok_or_else(|| format!("use one of {}", names()))
}

/// Refuses the value of a flag that is an id and could not be typed again: with blanks or control characters.
pub fn check_id(flag: &str, id: &str) -> Result<(), Failure> {
    let between = |c: char| c.is_whitespace() || c.is_control() || c == ',';
    if !id.is_empty() && !id.starts_with('-') && !id.contains(between) {
        return Ok(());
    }
    let message = format!(
        "invalid id `{}`: an id cannot contain spaces or commas, or begin with `-`",
        punch_core::text::neutral(id)
    );
    let words: Vec<&str> = id.split(between).filter(|word| !word.is_empty()).collect();
    Err(Failure::usage(
        &message,
        &format!("try `{flag} {}`", punch_core::text::shell(words.join("-").trim_start_matches('-'))),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_cannot_be_typed_again_is_refused_with_one_that_can() {
        for (given, hint) in [("a b", "try `--id a-b`"), ("x\ny", "try `--id x-y`"), ("-f,g", "try `--id f-g`")] {
            assert!(
                matches!(check_id("--id", given), Err(Failure::Usage { hint: said, .. }) if said == hint),
                "{given:?}"
            );
        }
        assert!(check_id("--id", "T-1").is_ok() && check_id("--id", "área/1").is_ok());
    }

    #[test]
    fn priorities_and_tokens_are_read_as_users_write_them() {
        for (given, wanted) in [("1", 1), ("p2", 2), ("P5", 5), ("high", 2), ("Urgent", 1), ("low", 4)] {
            assert_eq!(priority(given), Ok(wanted), "{given}");
        }
        for given in ["soon", "", "-1", "0", "9", "p6"] {
            assert!(priority(given).is_err(), "{given}");
        }
        for (given, wanted) in [("30k", 30_000), ("1.5m", 1_500_000), ("0.5k", 500), ("20_000", 20_000), ("7", 7)] {
            assert_eq!(tokens(given), Ok(wanted), "{given}");
        }
        for given in ["", "k", "1.5", "-3", "1.2345678k", "99999999999999999999", "99999999999999999m"] {
            assert!(tokens(given).is_err(), "{given}");
        }
    }
}

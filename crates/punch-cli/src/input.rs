//! What users type for numbers, priorities and ids, read leniently.

use crate::failure::Failure;

/// Reads a priority: 1 to 5, `p1` to `p5`, or a word.
pub fn priority(given: &str) -> Result<u64, String> {
    let lower = given.to_lowercase();
    let words = [("urgent", 1), ("highest", 1), ("high", 2), ("medium", 3), ("normal", 3), ("low", 4), ("lowest", 5)];
    if let Some((_, priority)) = words.iter().find(|(word, _)| *word == lower) {
        return Ok(*priority);
    }
    // A number out of range is refused where every priority is judged.
    let number = lower.strip_prefix('p').unwrap_or(&lower).parse().ok();
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
    let wrong = || "use a number such as 20000, 20k or 1.5m".to_owned();
    let lower = given.trim().to_lowercase().replace(['_', ','], "");
    let (digits, unit) = match lower.strip_suffix(['k', 'm']) {
        Some(digits) if lower.ends_with('k') => (digits, 1_000),
        Some(digits) => (digits, 1_000_000),
        None => (lower.as_str(), 1),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if unit == 1 && !part.is_empty() || part.len() > 6 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let scale = 10_u64.pow(u32::try_from(part.len()).unwrap_or(0));
    let part: u64 = if part.is_empty() { 0 } else { part.parse().map_err(|_| wrong())? };
    let all = whole.checked_mul(unit).and_then(|whole| whole.checked_add(part * unit / scale));
    all.ok_or_else(wrong)
}

/// Refuses an id that could not be typed again: with blanks or control characters.
pub fn check_id(id: &str) -> Result<(), Failure> {
    let between = |c: char| c.is_whitespace() || c.is_control() || c == ',';
    if !id.is_empty() && !id.starts_with('-') && !id.contains(between) {
        return Ok(());
    }
    let message =
        format!("invalid id `{}`: an id has no blanks, no commas and no `-` in front", punch_core::text::neutral(id));
    let words: Vec<&str> = id.split(between).filter(|word| !word.is_empty()).collect();
    Err(Failure::usage(
        &message,
        &format!("try `--id {}`", punch_core::text::shell(words.join("-").trim_start_matches('-'))),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_cannot_be_typed_again_is_refused_with_one_that_can() {
        for (given, hint) in [("a b", "try `--id a-b`"), ("x\ny", "try `--id x-y`"), ("-f,g", "try `--id f-g`")] {
            assert!(matches!(check_id(given), Err(Failure::Usage { hint: said, .. }) if said == hint), "{given:?}");
        }
        assert!(check_id("T-1").is_ok() && check_id("área/1").is_ok());
    }

    #[test]
    fn priorities_and_tokens_are_read_as_users_write_them() {
        for (given, wanted) in [("1", 1), ("p2", 2), ("P5", 5), ("high", 2), ("Urgent", 1), ("low", 4)] {
            assert_eq!(priority(given), Ok(wanted), "{given}");
        }
        assert!(priority("soon").is_err() && priority("").is_err() && priority("-1").is_err());
        for (given, wanted) in [("30k", 30_000), ("1.5m", 1_500_000), ("0.5k", 500), ("20_000", 20_000), ("7", 7)] {
            assert_eq!(tokens(given), Ok(wanted), "{given}");
        }
        for given in ["", "k", "1.5", "-3", "1.2345678k", "99999999999999999999", "99999999999999999m"] {
            assert!(tokens(given).is_err(), "{given}");
        }
    }
}

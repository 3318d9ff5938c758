//! Reads JSON from programs whose strings are UTF-16. A text that was cut in the middle of a character contains half of it,
//! written `\ud83d`, which strict readers refuse; a whole report must not be lost over half an emoji.

use serde_json::Value;

/// Reads JSON. Halves of characters and bytes that are not UTF-8 become `U+FFFD`; every other mistake is an error.
pub fn read(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).or_else(|error| match repaired(bytes) {
        Some(text) => serde_json::from_str(&text).map_err(|_| error),
        None => Err(error),
    })
}

/// Replaces halves of characters and bytes that are not UTF-8; `None` if there are none.
fn repaired(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let taken = match (half(escape), escape.get(6..).and_then(half)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => &escape[..12],
            (Some(_), _) => {
                out.push('\u{fffd}');
                rest = &escape[6..];
                continue;
            }
            // Whatever is escaped is passed over with its backslash.
            (None, _) => &escape[..1 + escape[1..].chars().next().map_or(0, char::len_utf8)],
        };
        out.push_str(taken);
        rest = &escape[taken.len()..];
    }
    out.push_str(rest);
    (out.as_bytes() != bytes).then_some(out)
}

/// The half of a character that is written here.
fn half(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xd800..=0xdfff).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn halves_of_characters_are_replaced_and_whole_ones_stay() {
        let cases = [
            (r#"["a \ud83d"]"#, "a \u{fffd}"),
            (r#"["\ude00 b"]"#, "\u{fffd} b"),
            (r#"["\ud83d\ud83d\ude00"]"#, "\u{fffd}\u{1f600}"),
            (r#"["\ud83d\n\uDE00"]"#, "\u{fffd}\n\u{fffd}"),
            (r#"["\ud83d\\ud83d"]"#, "\u{fffd}\\ud83d"),
            (r#"["\ud83d\\"]"#, "\u{fffd}\\"),
        ];
        for (given, wanted) in cases {
            assert_eq!(read(given.as_bytes()).unwrap(), json!([wanted]), "{given}");
        }
        assert_eq!(read(b"[\"x\xff\xed\xa0\x80\"]").unwrap(), json!(["x\u{fffd}\u{fffd}\u{fffd}\u{fffd}"]));
    }

    #[test]
    fn what_is_wrong_otherwise_stays_wrong() {
        for given in ["", "{", r#"["\ud83d""#, r#"["\x"]"#, r#"["\ud8"]"#, "\"\\", "[\u{1}]"] {
            assert!(read(given.as_bytes()).is_err(), "{given}");
        }
    }

    proptest! {
        #[test]
        fn any_text_cut_anywhere_in_utf_16_is_read(text in "\\PC{1,20}", from in 0_usize..20, to in 0_usize..20) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let (from, to) = (from.min(units.len()), to.min(units.len()));
            let cut = units.get(from..to).unwrap_or_default();
            let written: String = cut.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let read = read(format!("[\"{written}\"]").as_bytes()).unwrap();
            prop_assert_eq!(read, json!([String::from_utf16_lossy(cut)]));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40), tail in "[\\\\ud83\"\\[\\]]{0,30}") {
            let mut given = bytes;
            given.extend_from_slice(tail.as_bytes());
            let _ = read(&given);
        }
    }
}

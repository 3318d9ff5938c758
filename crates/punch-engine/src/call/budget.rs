//! Limits the size of every answer, whatever was asked for.

use punch_core::text::{neutral_lines, without_tags};
use serde_json::{Value, json};

use super::ToolAnswer;

/// Room for the receipt and the remark that something is left out.
const TAIL: usize = 160;

/// The text with its receipt as last line, at most [`ToolAnswer::CAP`] bytes.
pub fn text(text: &str, revision: Option<u64>) -> String {
    let receipt = revision.map(|revision| format!("\nrev {revision}")).unwrap_or_default();
    let text = text.trim_end_matches('\n');
    if text.len() + receipt.len() <= ToolAnswer::CAP {
        return format!("{text}{receipt}");
    }
    let room = ToolAnswer::CAP - TAIL;
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let cut = text[..end].rfind('\n').filter(|at| *at > room / 2).unwrap_or(end);
    let left = text[cut..].lines().filter(|line| !line.is_empty()).count();
    format!("{}\n… lines left out: {left}; ask for a smaller part.{receipt}", &text[..cut])
}

/// Makes every text of a value safe for a model, as the text of an answer is: nothing hidden, and nothing that could end
/// the part of a context it stands in.
pub fn neutral(mut value: Value) -> Value {
    let safe = |given: &str| without_tags(&neutral_lines(given)).into_owned();
    let mut open = vec![&mut value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(given) => *given = safe(given),
            Value::Array(items) => open.extend(items),
            Value::Object(map) => {
                if map.keys().any(|key| safe(key) != *key) {
                    *map = std::mem::take(map).into_iter().map(|(key, value)| (safe(&key), value)).collect();
                }
                open.extend(map.values_mut());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    value
}

/// Structured content with the rendering inside, because some clients show nothing but this.
pub fn structured(value: Value, text: &str) -> Value {
    let mut value = neutral(value);
    let size = serde_json::to_string(&value).map_or(usize::MAX, |json| json.len());
    if size > ToolAnswer::CAP || !value.is_object() {
        value = json!({"truncated": true});
    }
    value["text"] = json!(text);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receipt_is_the_last_line() {
        assert_eq!(text("done\n", Some(7)), "done\nrev 7");
        assert_eq!(text("done", None), "done");
    }

    #[test]
    fn long_texts_are_cut_at_a_line_and_keep_their_receipt() {
        let long = "zwölf Boxkämpfer\n".repeat(2_000);
        let cut = text(&long, Some(3));
        assert!(cut.len() <= ToolAnswer::CAP, "{}", cut.len());
        assert!(cut.ends_with("ask for a smaller part.\nrev 3"), "{}", &cut[cut.len() - 80..]);
        let one_line = "ß".repeat(20_000);
        assert!(text(&one_line, Some(3)).len() <= ToolAnswer::CAP);
    }

    #[test]
    fn structured_content_too_large_is_replaced_by_the_text() {
        let large = json!({"todos": vec!["x".repeat(100); 200]});
        assert_eq!(structured(large, "short"), json!({"truncated": true, "text": "short"}));
        assert_eq!(structured(json!({"a": 1}), "t"), json!({"a": 1, "text": "t"}));
    }
}

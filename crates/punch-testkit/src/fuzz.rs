//! What must hold for any bytes, in every dialect: one body for the fuzzer and for the short run on stable.

use serde_json::Value;

use crate::calls;
use crate::seeds;
use crate::source::ByteSource;

/// Judges what `answer` says to some bytes: taken as a line, and taken as the choices of well-formed calls.
/// Panics with the reason if the answer is not one.
pub fn body(dialect: &str, bytes: &[u8], answer: &dyn Fn(&[u8]) -> Value) {
    judged(bytes, answer);
    let line = calls::line(dialect, &mut ByteSource::new(bytes));
    let reply = judged(line.to_string().as_bytes(), answer);
    let results = reply["results"].as_array().unwrap_or_else(|| panic!("{line} was not read: {reply}"));
    let key = ["calls", "batches", "commands"].into_iter().find(|key| line.get(key).is_some());
    let calls = key.and_then(|key| line[key].as_array());
    assert_eq!(results.len(), calls.map_or(1, Vec::len), "{line} gives {reply}");
    if dialect == "todowrite" {
        let mut list = Vec::new();
        for (call, result) in calls.into_iter().flatten().zip(results) {
            let done = seeds::todowrite::call(&mut list, call).is_ok();
            assert_eq!(result["success"], done, "{call} gives {result}");
            assert_eq!(result["items"], Value::from(list.clone()), "{call} gives {result}");
        }
    }
}

/// The answer is an object with results or a presentable error, and the same bytes give the same answer.
fn judged(line: &[u8], answer: &dyn Fn(&[u8]) -> Value) -> Value {
    let reply = answer(line);
    assert_eq!(reply, answer(line), "two answers to one line");
    match (reply.get("results"), reply.get("error")) {
        (Some(Value::Array(results)), None) => {
            for result in results {
                assert!(result.is_object(), "{result}");
                if result["success"] == false {
                    for error in result["errors"].as_array().into_iter().flatten() {
                        presentable(error);
                    }
                }
                if result["error"].is_object() {
                    presentable(&result["error"]);
                }
            }
        }
        (None, Some(error)) => presentable(error),
        _ => panic!("neither results nor an error: {reply}"),
    }
    reply
}

/// Code, message and hint are there, and short.
pub fn presentable(error: &Value) {
    for (key, most) in [("code", 40), ("message", 600), ("hint", 600)] {
        let length = error[key].as_str().map_or(0, |text| text.chars().count());
        assert!((1..=most).contains(&length), "{key} has {length} characters: {error}");
    }
}

/// Changes some bytes of a line, so that most of it stays well formed.
pub fn mutated(line: &[u8], choices: &[u8]) -> Vec<u8> {
    const PIECES: [&[u8]; 12] =
        [b"\"", b"{", b"]", b"null", b"-1", b"\\ud800", b"\xff", b"[[[[", b"\"id\":", b"1e999", b"\\u0000", b",,"];
    let mut out = line.to_vec();
    let mut source = ByteSource::new(choices);
    while !source.is_empty() && !out.is_empty() {
        let at = (source.below(256) * 256 + source.below(256)) % out.len();
        match source.below(5) {
            0 => out[at] = source.byte(),
            1 => drop(out.remove(at)),
            2 => drop(out.splice(at..at, source.pick(&PIECES).iter().copied())),
            3 => {
                let end = (at + source.below(40)).min(out.len());
                let piece = out[at..end].to_vec();
                out.splice(at..at, piece);
            }
            _ => out.truncate(out.len() - source.below(4).min(out.len())),
        }
    }
    out
}

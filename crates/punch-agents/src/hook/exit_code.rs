//! The exit code of a command, as agents report it: as a field, as a separate event for failures, or as words around
//! the output. If there is any doubt, the code is unknown: the words must be where the agent writes them, not in the
//! output itself.

use serde_json::Value;

use super::field::{string, truth};
use super::todos::texts;
use crate::Meaning;

/// Reads a field that holds the code. Most agents have none.
pub(crate) fn from_field(_meaning: Meaning, _report: &Value, output: &Value) -> Option<i32> {
    let places = [Some(output), output.get("metadata"), output.get("data")];
    let number = |value: &Value| ["exit_code", "exitCode", "exit"].iter().find_map(|name| value.get(name)?.as_i64());
    places.into_iter().flatten().find_map(number).and_then(|code| i32::try_from(code).ok())
}

/// A tool that answers has ended with 0, and one that failed says with which code. A command that continues in the
/// background has not ended.
pub(crate) fn from_event(meaning: Meaning, report: &Value, output: &Value) -> Option<i32> {
    if let Some(code) = from_field(meaning, report, output) {
        return Some(code);
    }
    if meaning == Meaning::ToolFailure {
        let error = string(report, &["error", "error_message"])?;
        return after(error.lines().next()?, "exit code ");
    }
    let known = output.get("stdout").is_some() || output.is_string();
    let runs_on = output.get("backgroundTaskId").is_some_and(|id| !id.is_null()) || truth(output, "interrupted");
    // Some codes other than 0 are not errors, such as that of a search without a match.
    let interpreted = output.get("returnCodeInterpretation").is_some_and(|text| !text.is_null());
    (known && !runs_on && !interpreted).then_some(0)
}

/// Reads the lines that Gemini CLI and Qwen Code write below the output. Gemini CLI leaves out a code of 0 and may frame the
/// whole as untrusted; Qwen Code reports a command that failed as the error of its tool, with the same text.
pub(crate) fn from_trailer(meaning: Meaning, report: &Value, output: &Value) -> Option<i32> {
    let text = match output.get("llmContent") {
        Some(content) => texts(content).into_iter().next()?,
        None if meaning == Meaning::ToolFailure => string(report, &["error"])?,
        None => return None,
    };
    let text = unframed(text.trim());
    if !["Output:", "Command:", "Directory:", "Stdout:"].iter().any(|start| text.starts_with(start)) {
        return None;
    }
    for line in text.trim_end().lines().rev() {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        match name {
            "Exit Code" => return value.trim().parse().ok(),
            "Signal" if value.trim() != "(none)" => return None,
            "Error" if value.trim() != "(none)" => return None,
            "Signal" | "Error" | "Background PIDs" | "Process Group PGID" => {}
            _ => break,
        }
    }
    Some(0)
}

/// Without the tags that Gemini CLI puts around what tools return; it escapes them inside.
fn unframed(text: &str) -> &str {
    let inner = text.strip_prefix("<untrusted_context>").and_then(|text| text.strip_suffix("</untrusted_context>"));
    inner.map_or(text, str::trim)
}

/// Reads the last line of the output, which the agent adds: `<shellId: 1 completed with exit code 0>`,
/// `[Process exited with code 0]`.
pub(crate) fn from_last_line(_meaning: Meaning, _report: &Value, output: &Value) -> Option<i32> {
    let text = string(output, &["text_result_for_llm"]).or_else(|| output.as_str())?;
    let last = text.trim_end().lines().next_back()?;
    let framed =
        (last.starts_with("<shellId:") && last.ends_with('>')) || (last.starts_with('[') && last.ends_with(']'));
    framed.then(|| after(last, "with exit code ").or_else(|| after(last, "exited with code "))).flatten()
}

/// Reads the lines that Codex writes above the output in some of its modes. Its current versions report the bare output,
/// and nothing is known then.
pub(crate) fn from_header(meaning: Meaning, report: &Value, output: &Value) -> Option<i32> {
    if let Some(code) = from_field(meaning, report, output) {
        return Some(code);
    }
    let text = string(output, &["output"]).or_else(|| output.as_str())?;
    let mut lines = text.lines();
    match lines.next()? {
        first if first.starts_with("Exit code: ") => {
            let code = after(first, "Exit code: ");
            lines.next()?.starts_with("Wall time: ").then_some(code).flatten()
        }
        first if first.starts_with("Chunk ID: ") => {
            let head = lines.take_while(|line| !line.starts_with("Output:") && !line.starts_with("Final output:"));
            head.take(6).find_map(|line| line.strip_prefix("Process exited with code ")?.trim().parse().ok())
        }
        _ => None,
    }
}

/// The number after some words, whatever their case.
fn after(line: &str, words: &str) -> Option<i32> {
    let at = line.to_ascii_lowercase().find(&words.to_ascii_lowercase())? + words.len();
    let digits: String = line[at..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agents_report_codes_in_their_own_ways() {
        let end = Meaning::ToolEnd;
        let none = Value::Null;
        assert_eq!(from_field(end, &none, &json!({"metadata": {"exit": 2}})), Some(2));
        assert_eq!(from_field(end, &none, &json!({"exitCode": 0, "stdout": "ok"})), Some(0));
        assert_eq!(from_field(end, &none, &json!("exit code 0")), None);

        let bash = |more: Value| {
            let mut answer = json!({"stdout": "ok", "stderr": "", "interrupted": false, "isImage": false});
            answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            answer
        };
        assert_eq!(from_event(end, &none, &bash(json!({}))), Some(0));
        assert_eq!(from_event(end, &none, &bash(json!({"interrupted": true}))), None);
        assert_eq!(from_event(end, &none, &bash(json!({"backgroundTaskId": "b1"}))), None);
        assert_eq!(from_event(end, &none, &bash(json!({"returnCodeInterpretation": "No matches found"}))), None);
        let failed = |error: &str| from_event(Meaning::ToolFailure, &json!({"error": error}), &none);
        assert_eq!(failed("Exit code 101\ntest failed"), Some(101));
        assert_eq!(failed("Command failed with exit code 1"), Some(1));
        assert_eq!(failed("tests say: done\nExit code 0"), None);

        let gemini = |text: &str| from_trailer(end, &none, &json!({"llmContent": text}));
        assert_eq!(gemini("Output: ok\nProcess Group PGID: 7"), Some(0));
        assert_eq!(gemini("Output: Exit Code: 0\nbad\nExit Code: 1\nProcess Group PGID: 7"), Some(1));
        assert_eq!(gemini("Output: x\nSignal: 9"), None);
        assert_eq!(gemini("Command moved to background (PID: 7)"), None);
        let framed = |text: &str| gemini(&format!("<untrusted_context>\n{text}\n</untrusted_context>"));
        assert_eq!(framed("Output: no such target\nExit Code: 2\nProcess Group PGID: 7"), Some(2));
        assert_eq!(framed("Output: (empty)\nProcess Group PGID: 7"), Some(0));
        assert_eq!(framed("A summary of the output."), None);
        let qwen = "Command: cargo test\nDirectory: (root)\nOutput: ok\nError: (none)\nExit Code: 101\nSignal: (none)\n\
                    Background PIDs: (none)\nProcess Group PGID: 7";
        assert_eq!(gemini(qwen), Some(101));
        let error = |text: &str| from_trailer(Meaning::ToolFailure, &json!({"error": text}), &none);
        assert_eq!(error(qwen), Some(101));
        assert_eq!(error("Command timed out after 120000ms"), None);

        let copilot = |text: &str| from_last_line(end, &none, &json!({"text_result_for_llm": text}));
        assert_eq!(copilot("ok\n<shellId: 1 completed with exit code 101>"), Some(101));
        assert_eq!(copilot("completed with exit code 0"), None);
        assert_eq!(from_last_line(end, &none, &json!("\n\n[Process exited with code 0]")), Some(0));

        let codex = |text: &str| from_header(end, &none, &json!(text));
        assert_eq!(codex("test result: ok"), None);
        assert_eq!(codex("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx"), Some(1));
        assert_eq!(codex("Exit code: 0\nall good"), None);
        assert_eq!(codex("Chunk ID: a\nWall time: 1\nProcess exited with code 7\nOutput:\n"), Some(7));
        assert_eq!(codex("Chunk ID: a\nOutput:\nProcess exited with code 0"), None);
        assert_eq!(from_header(end, &none, &json!({"output": "x", "metadata": {"exit_code": 3}})), Some(3));
    }
}

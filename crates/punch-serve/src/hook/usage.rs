//! How full the model's context is: what the host says, else what its transcript says, else nobody knows. A transcript
//! is only ever read at its end, and any damage in it means that nothing is known.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use punch_core::drive::ContextUse;
use serde_json::Value;

use super::field::{number, string};
use super::{Heard, Host};

/// Bytes at the end of a transcript that are read.
const TAIL: u64 = 256 * 1024;

/// What is known about the context at this report.
pub fn context_use(heard: &Heard) -> Option<ContextUse> {
    if heard.context.is_some() {
        return heard.context;
    }
    let text = tail(heard.transcript.as_deref()?)?;
    let of_line: fn(&Value, Option<&str>) -> Option<ContextUse> = match heard.host {
        Host::Claude => claude,
        Host::Codex => codex,
        Host::Gemini | Host::Qwen => gemini,
        Host::Cursor | Host::Opencode => return None,
    };
    let model = heard.model.as_deref();
    // From the end: the last answer knows best. Its parts repeat one message with one usage, so one line is enough.
    text.lines().rev().find_map(|line| {
        let worth = line.contains("\"usage\"") || line.contains("token_count") || line.contains("\"tokens\"");
        of_line(&serde_json::from_str(line).ok().filter(|_| worth)?, model)
    })
}

/// What the report itself says.
pub(super) fn reported(report: &Value) -> Option<ContextUse> {
    if let Some(limit) = number(report, &["context_limit", "context_window_size"]).filter(|limit| *limit > 0) {
        let share = report.get("context_usage").and_then(Value::as_f64).filter(|share| (0.0..=10.0).contains(share));
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let by_share = share.map(|share| (share * limit as f64) as u64);
        let used = by_share.or_else(|| number(report, &["context_tokens", "input_tokens"]))?;
        return Some(ContextUse { used, limit });
    }
    let used = number(report, &["context_tokens"])?;
    Some(ContextUse { used, limit: window(string(report, &["model"])?, used)? })
}

/// The window of models whose size does not change with the plan of whoever pays; the others are not known.
fn window(model: &str, used: u64) -> Option<u64> {
    let model = model.rsplit('/').next().unwrap_or(model);
    let limit = if model.contains("[1m]") {
        1_000_000
    } else if ["claude-sonnet-4", "claude-opus-4", "claude-haiku-4", "claude-3"].iter().any(|p| model.starts_with(p)) {
        200_000
    } else if model.starts_with("gemini-2") || model.starts_with("gemini-3") {
        1_048_576
    } else {
        return None;
    };
    // More than it can hold: the guess was wrong.
    (used <= limit).then_some(limit)
}

fn claude(line: &Value, _: Option<&str>) -> Option<ContextUse> {
    // A subagent's messages stand in the same file and have a context of their own.
    if line.get("isSidechain").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let message = line.get("message").filter(|_| line.get("type").and_then(Value::as_str) == Some("assistant"))?;
    let usage = message.get("usage")?;
    let count = |name: &str| number(usage, &[name]).unwrap_or_default();
    let used = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]
        .iter()
        .fold(0_u64, |sum, name| sum.saturating_add(count(name)));
    let limit = window(string(message, &["model"])?, used)?;
    (used > 0).then_some(ContextUse { used, limit })
}

fn codex(line: &Value, _: Option<&str>) -> Option<ContextUse> {
    let payload = line.get("payload").filter(|p| p.get("type").and_then(Value::as_str) == Some("token_count"))?;
    let info = payload.get("info")?;
    let used = number(info.get("last_token_usage")?, &["total_tokens"])?;
    let limit = number(info, &["model_context_window"]).filter(|limit| *limit > 0)?;
    Some(ContextUse { used, limit })
}

fn gemini(line: &Value, model: Option<&str>) -> Option<ContextUse> {
    let used = number(line.get("tokens")?, &["total"])?;
    let limit = window(string(line, &["model"]).or(model)?, used)?;
    Some(ContextUse { used, limit })
}

/// The last lines of a regular file. Whatever else stands there is not opened: a pipe would never answer.
fn tail(path: &Path) -> Option<String> {
    if !path.is_absolute() || !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let found = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let from = found.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // The first line was cut, unless it is the file's first.
    Some(match (from, text.split_once('\n')) {
        (0, _) => text,
        (_, Some((_, rest))) => rest.to_owned(),
        (_, None) => String::new(),
    })
}

//! How full the model's context is: what the host says, else what its transcript says, else nobody knows. Any damage in
//! a transcript means that nothing is known.

use punch_core::drive::ContextUse;
use serde_json::Value;

use super::field::{number, string, truth};
use super::{Heard, Host, transcript};

/// What is known about the context at this report.
pub fn context_use(heard: &Heard) -> Option<ContextUse> {
    if heard.context.is_some() {
        return heard.context;
    }
    let text = transcript::tail(heard.transcript.as_deref()?)?;
    // From the end: the last answer knows best. Its parts repeat one message with one usage, so one line is enough.
    text.lines().rev().find_map(|line| {
        let said = said(heard, line)?;
        let limit = said.limit.or_else(|| window(said.model.as_deref().or(heard.model.as_deref())?, said.used))?;
        Some(ContextUse { used: said.used, limit })
    })
}

/// What a line of a transcript says about the context.
pub(super) struct Said {
    /// Tokens in it.
    pub used: u64,
    limit: Option<u64>,
    model: Option<String>,
}

/// Reads a line of a transcript.
pub(super) fn said(heard: &Heard, line: &str) -> Option<Said> {
    // Most lines are long and say nothing about it.
    if !["\"usage\"", "token_count", "\"tokens\"", "\"usageMetadata\""].iter().any(|word| line.contains(word)) {
        return None;
    }
    let line = crate::lenient_json::read(line.as_bytes()).ok()?;
    let said = match heard.host {
        // In the file of the main agent a subagent's messages may stand too, and have a context of their own.
        Host::Claude if heard.key.subagent().is_none() && truth(&line, "isSidechain") => None,
        Host::Claude => claude(&line),
        Host::Codex => codex(&line),
        Host::Gemini => gemini(&line),
        Host::Qwen => qwen(&line),
        Host::Cursor | Host::Opencode => None,
    };
    said.filter(|said| said.used > 0)
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

fn claude(line: &Value) -> Option<Said> {
    let message = line.get("message").filter(|_| line.get("type").and_then(Value::as_str) == Some("assistant"))?;
    let usage = message.get("usage")?;
    let count = |name: &str| number(usage, &[name]).unwrap_or_default();
    let used = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]
        .iter()
        .fold(0_u64, |sum, name| sum.saturating_add(count(name)));
    Some(Said { used, limit: None, model: string(message, &["model"]).map(str::to_owned) })
}

fn codex(line: &Value) -> Option<Said> {
    let payload = line.get("payload").filter(|p| p.get("type").and_then(Value::as_str) == Some("token_count"))?;
    let info = payload.get("info")?;
    let used = number(info.get("last_token_usage")?, &["total_tokens"])?;
    Some(Said { used, limit: number(info, &["model_context_window"]).filter(|limit| *limit > 0), model: None })
}

fn gemini(line: &Value) -> Option<Said> {
    let used = number(line.get("tokens")?, &["total"])?;
    Some(Said { used, limit: None, model: string(line, &["model"]).map(str::to_owned) })
}

fn qwen(line: &Value) -> Option<Said> {
    let used = number(line.get("usageMetadata")?, &["totalTokenCount"])?;
    Some(Said { used, limit: None, model: string(line, &["model"]).map(str::to_owned) })
}

//! How full the model's context is: as the agent reports it, or else as its transcript shows it, or else unknown. A damaged
//! transcript counts as unknown.

use punch_core::drive::ContextUse;
use serde_json::Value;

use super::HookReport;
use super::field::{number, string};
use crate::{lenient_json, transcript};

/// What is known about the context at this report.
pub fn context_use(report: &HookReport) -> Option<ContextUse> {
    if report.context.is_some() {
        return report.context;
    }
    let text = transcript::tail(report.transcript.as_deref()?)?;
    // From the end: the last answer knows best. Its parts repeat one message with one usage, so one line is enough.
    text.lines().rev().find_map(|line| {
        let read = context_reading(report, line)?;
        let limit = read.limit.or_else(|| window(read.model.as_deref().or(report.model.as_deref())?, read.used))?;
        Some(ContextUse { used: read.used, limit })
    })
}

/// What a line of a transcript says about the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextReading {
    /// Tokens in it.
    pub used: u64,
    /// Tokens that fit, where the line says so.
    pub limit: Option<u64>,
    /// The model, where the line names it.
    pub model: Option<String>,
}

/// Reads a line of a transcript.
pub fn context_reading(report: &HookReport, line: &str) -> Option<ContextReading> {
    let read = report.agent.context?;
    // Most lines are long and say nothing about it.
    if !["\"usage\"", "token_count", "\"tokens\"", "\"usageMetadata\""].iter().any(|word| line.contains(word)) {
        return None;
    }
    let line = lenient_json::read(line.as_bytes()).ok()?;
    read(report, &line).filter(|read| read.used > 0)
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

/// Returns the context window of a model, or `None` if it depends on the user's subscription.
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

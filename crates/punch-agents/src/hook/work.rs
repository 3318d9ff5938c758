//! What a tool did outside the todo list: the files that it changed, and the command that it ran with its exit code.

use punch_core::drive::{CommandRun, ToolKind};
use punch_core::text;
use serde_json::Value;

use super::field::{string, truth};
use crate::{Adapter, Meaning};

/// Characters of a command line that are read.
const LINE: usize = 8_000;
/// Files of one call.
const FILES: usize = 50;
/// Characters of a path.
const PATH: usize = 1_000;

/// Where tools are given the file that they change.
const FILE_FIELDS: &[&str] =
    &["file_path", "filePath", "path", "notebook_path", "notebookPath", "absolute_path", "target_file", "file"];
/// Where tools are given a patch.
const PATCH_FIELDS: &[&str] = &["patch", "patchText", "input", "command"];
/// Where tools are given a command line.
const LINE_FIELDS: &[&str] = &["command", "cmd", "script"];

/// The files that a call of a tool changed, as the agent names them.
pub(super) fn files(kind: ToolKind, input: &Value) -> Vec<String> {
    if kind != ToolKind::Edit {
        return Vec::new();
    }
    let patch = PATCH_FIELDS.iter().find_map(|field| string(input, &[field]).filter(|text| is_patch(text)));
    let patch = patch.or_else(|| input.as_str().filter(|text| is_patch(text)));
    match patch {
        Some(patch) => patched(patch),
        None => string(input, FILE_FIELDS).and_then(path).into_iter().collect(),
    }
}

/// The command that a call of a tool ran, and how it ended.
pub(super) fn command(
    agent: &Adapter,
    meaning: Meaning,
    kind: ToolKind,
    report: &Value,
    (input, output): (&Value, &Value),
) -> Option<CommandRun> {
    if kind != ToolKind::Command {
        return None;
    }
    let line = LINE_FIELDS.iter().find_map(|field| line(input.get(field)?))?;
    let detached = truth(input, "run_in_background") || truth(input, "is_background") || truth(input, "background");
    let code = || (agent.hooks.exit_code)(meaning, report, output);
    let exit_code = if detached || truth(report, "is_interrupt") { None } else { code() };
    let files = if is_patch(&line) { patched(&line) } else { Vec::new() };
    let mut ran = CommandRun::new(line, exit_code);
    ran.files = files;
    Some(ran)
}

/// A line for a shell; some agents send the words, and most of those the words of a shell that runs a line.
fn line(value: &Value) -> Option<String> {
    let line = match value {
        Value::String(line) => line.clone(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().take(1_000).map(Value::as_str).collect::<Option<_>>()?;
            match words[..] {
                ["bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh" | "/bin/zsh", flag, line] if flag.ends_with('c') => {
                    line.to_owned()
                }
                _ => words.iter().map(|word| text::shell(word).to_string()).collect::<Vec<_>>().join(" "),
            }
        }
        _ => return None,
    };
    (!line.trim().is_empty()).then(|| text::clip(&line, LINE).into_owned())
}

fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch")
}

/// The files that a patch of Codex names.
fn patched(patch: &str) -> Vec<String> {
    let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let named = patch.lines().filter_map(|line| marks.iter().find_map(|mark| line.trim_end().strip_prefix(mark)));
    named.filter_map(path).take(FILES).collect()
}

fn path(given: &str) -> Option<String> {
    let given = given.trim();
    (!given.is_empty() && given.len() <= PATH && !given.chars().any(char::is_control)).then(|| given.to_owned())
}

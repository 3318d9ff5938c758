//! A folder of Claude Code's tasks, `1.json`, `2.json`, …, as one text from file names to tasks, and back.

use std::fs;
use std::io;
use std::path::Path;

use punch_core::Refusal;
use punch_engine::EngineError;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::files;

/// More files than any list has.
const FILES: usize = 10_000;

/// Reads every task file of a folder.
pub fn read(folder: &Path) -> Result<String, Failure> {
    let mut names = task_files(folder)?;
    if names.is_empty() {
        let message = format!("the folder `{}` has no task files (1.json, 2.json, …)", folder.display());
        return Err(Failure::refused("no_tasks", message, "choose a file, or a folder inside ~/.claude/tasks"));
    }
    if names.len() > FILES {
        let message = format!("the folder `{}` has more than {FILES} task files", folder.display());
        return Err(Failure::refused(
            "too_large",
            message,
            "move some of the files to another folder and import them from there",
        ));
    }
    names.sort();
    let mut left = files::LIMIT;
    let mut tasks = Map::new();
    for name in names {
        let text = files::read_up_to(&folder.join(&name), left)?;
        left = left.saturating_sub(text.len() as u64);
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
            EngineError::from(Refusal::Invalid { at: name.clone(), what: format!("not JSON: {error}") })
        })?;
        // The reader could not distinguish a bare value from a task.
        if !value.is_object() {
            return Err(EngineError::from(Refusal::Invalid { at: name, what: "must be an object".to_owned() }).into());
        }
        tasks.insert(name, value);
    }
    Ok(Value::Object(tasks).to_string())
}

/// Writes every task of a text into a folder that has none.
pub fn write(folder: &Path, text: &str) -> Result<(), Failure> {
    if !task_files(folder)?.is_empty() {
        let message = format!("the folder `{}` already has tasks", folder.display());
        return Err(Failure::refused("not_empty", message, "choose an empty folder; nothing was written"));
    }
    let tasks: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    for (name, task) in tasks {
        let text = serde_json::to_string_pretty(&task).unwrap_or_default();
        files::replace(&folder.join(name), &punch_core::text::escaped_json(&text))?;
    }
    Ok(())
}

fn task_files(folder: &Path) -> Result<Vec<String>, Failure> {
    let fail = |cause: io::Error| files::failed(folder, cause);
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name();
        let digits = name.to_str().and_then(|name| name.strip_suffix(".json"));
        if digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            && let Some(name) = name.to_str()
        {
            out.push(name.to_owned());
        }
    }
    Ok(out)
}

//! One todo in the editor: its text, a line for each field, and the description below.

use std::collections::HashMap;

use punch_core::{Record, Refusal, text};
use punch_engine::EngineError;

use crate::failure::Failure;

/// The fields of the text, by their names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoText {
    /// What to do.
    pub content: String,
    /// Field lines in their order: name and value.
    pub fields: Vec<(String, String)>,
    /// The text below the fields.
    pub description: String,
    /// The lines that the fields were read from, by name; also those of the content and the description.
    lines: HashMap<String, usize>,
}

/// Every field, in the order of the text.
pub const FIELDS: [&str; 9] = ["phase", "priority", "needs", "labels", "size", "tokens", "criteria", "verify", "files"];

/// Fields that have another name elsewhere.
const NAMES: [(&str, &str); 5] = [
    ("content", "text"),
    ("size", "complexity"),
    ("tokens", "estimatedTokens"),
    ("criteria", "verificationCriteria"),
    ("verify", "verifyCommand"),
];

/// The field of the text that a failure is about.
fn field_of(failure: &Failure) -> Option<&'static str> {
    let named = |key: &str| NAMES.iter().find(|(_, other)| *other == key).map(|(name, _)| *name);
    match failure {
        // The todo itself was found before, so the name is one that it needs.
        Failure::Engine(EngineError::NotFound { .. } | EngineError::Ambiguous { .. }) => Some("needs"),
        Failure::Engine(EngineError::Refused(refusals)) => match refusals.first()? {
            Refusal::Cycle { .. } | Refusal::UnknownTodo { .. } | Refusal::UnknownDependency { .. } => Some("needs"),
            Refusal::InvalidLabel { .. } | Refusal::TooManyLabels { .. } => Some("labels"),
            Refusal::TooLong { field: key, .. } => named(key).or(Some(*key)),
            Refusal::Invalid { at: key, .. } => named(key)
                .or_else(|| ["content", "description"].into_iter().chain(FIELDS).find(|name| *name == key.as_str())),
            _ => None,
        },
        _ => None,
    }
}

const HEADER: &str = "<!-- Change what you like, then save and close. Text below the fields is the description. -->";

impl TodoText {
    /// The text of a todo as it is.
    pub fn of(record: &Record) -> Self {
        let labels: Vec<&str> = record.labels.iter().map(|label| label.as_str()).collect();
        let value = |name: &str| match name {
            "phase" => record.phase.clone().unwrap_or_default(),
            "priority" => record.priority.unwrap_or(3).to_string(),
            "needs" => record.depends_on.join(", "),
            "labels" => labels.join(", "),
            "size" => record.complexity.map(|size| size.name().to_owned()).unwrap_or_default(),
            "tokens" => record.estimated_tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
            "criteria" => record.verification_criteria.clone().unwrap_or_default(),
            "verify" => record.verify_command.as_ref().map(punch_core::Verify::line).unwrap_or_default(),
            _ => record.files.join(", "),
        };
        let one_line = |value: String| value.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            content: one_line(record.content.clone()),
            fields: FIELDS.iter().map(|name| ((*name).to_owned(), one_line(value(name)))).collect(),
            description: record.description.clone().unwrap_or_default().trim().to_owned(),
            lines: HashMap::new(),
        }
    }

    /// What the editor shows.
    pub fn write(&self) -> String {
        let mut out = format!("{HEADER}\n\n# {}\n\n", text::neutral(&self.content));
        for (name, value) in &self.fields {
            out.push_str(format!("{name}: {}", text::neutral(value)).trim_end());
            out.push('\n');
        }
        out.push_str(&format!("\n{}\n", self.description));
        out
    }

    /// Reads what the user left. The error names the line.
    pub fn read(written: &str) -> Result<Self, String> {
        let out = Self::parse(written)?;
        match out.content.is_empty() {
            true => Err(format!("line {}: the text of the todo is empty", out.lines.get("content").unwrap_or(&1))),
            false => Ok(out),
        }
    }

    /// Reads a text that was written for the editor.
    pub fn parse(written: &str) -> Result<Self, String> {
        let mut out = Self::default();
        let mut lines = written.lines().enumerate().map(|(at, line)| (at + 1, line)).peekable();
        while lines.next_if(|(_, line)| line.trim().is_empty() || line.starts_with("<!--")).is_some() {}
        match lines.next() {
            Some((number, line)) if line.trim_start().starts_with('#') => {
                out.lines.insert("content".to_owned(), number);
                out.content = line.trim_start().trim_start_matches('#').trim().to_owned();
            }
            Some((number, _)) => {
                return Err(format!("line {number}: the text of the todo must come first, as `# text`"));
            }
            None => return Err("the text is empty".to_owned()),
        }
        while lines.next_if(|(_, line)| line.trim().is_empty()).is_some() {}
        while let Some((number, line)) = lines.next_if(|(_, line)| !line.trim().is_empty()) {
            let Some((name, value)) = line.split_once(':') else {
                return Err(format!("line {number}: write `field: value`; the description comes after a blank line"));
            };
            let name = name.trim().to_lowercase();
            if !FIELDS.contains(&name.as_str()) {
                let fields = FIELDS.join(", ");
                return Err(format!("line {number}: unknown field `{}`; fields are {fields}", text::neutral(&name)));
            }
            if out.fields.iter().any(|(known, _)| *known == name) {
                return Err(format!("line {number}: `{name}` occurs twice"));
            }
            out.lines.insert(name.clone(), number);
            out.fields.push((name, value.trim().to_owned()));
        }
        while lines.next_if(|(_, line)| line.trim().is_empty()).is_some() {}
        out.lines.extend(lines.peek().map(|(number, _)| ("description".to_owned(), *number)));
        let rest: Vec<&str> = lines.map(|(_, line)| line).collect();
        out.description = rest.join("\n").trim().to_owned();
        Ok(out)
    }

    /// The failure with the line and the name of the field that it is about.
    pub fn placed(&self, failure: Failure) -> Failure {
        let Some(field) = field_of(&failure) else { return failure };
        let (Some(line), Some((message, hint))) = (self.lines.get(field), failure.text()) else { return failure };
        let key = NAMES.iter().find(|(name, _)| *name == field).map_or(field, |(_, key)| *key);
        let name = if field == "content" { "text" } else { field };
        let what = match message.strip_prefix(&format!("{key}: ")) {
            Some(what) => format!("{name}: {what}"),
            None if message.starts_with(name) => message,
            None => format!("{name}: {message}"),
        };
        Failure::refused(failure.code(), format!("line {line}: {what}"), &hint)
    }

    /// The value of a field; `None` if it was deleted.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

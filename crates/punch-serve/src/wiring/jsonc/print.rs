//! Prints new values in the style of the file they go into.

use punch_core::splice::newline;
use serde_json::Value;

/// What fits into this many columns stays on one line.
const WIDTH: usize = 160;

/// How a file is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// One step of indentation.
    pub indent: String,
    /// The end of a line.
    pub newline: &'static str,
}

impl Style {
    /// The manner of a text; two spaces and `\n` where it shows none.
    pub fn of(text: &str) -> Self {
        // The first member of the outermost object shows one step.
        let mut lines = text.lines().skip(1);
        let step = lines.find_map(|line| {
            let rest = line.trim_start_matches([' ', '\t']);
            let blank = &line[..line.len() - rest.len()];
            (rest.starts_with('"') && !blank.is_empty()).then(|| blank.to_owned())
        });
        Self { newline: newline(text), indent: step.filter(|step| step.len() <= 16).unwrap_or_else(|| "  ".to_owned()) }
    }

    /// A value at an indentation, `taken` columns of its first line being in use already.
    pub fn print(&self, value: &Value, indent: &str, taken: usize) -> String {
        let one = one_line(value);
        let columns = indent.len() + taken + one.chars().count();
        let (open, close, parts): (_, _, Vec<(String, &Value)>) = match value {
            Value::Object(map) if !map.is_empty() && columns > WIDTH => {
                ('{', '}', map.iter().map(|(key, value)| (format!("{}: ", Value::from(key.as_str())), value)).collect())
            }
            Value::Array(items) if !items.is_empty() && columns > WIDTH => {
                ('[', ']', items.iter().map(|item| (String::new(), item)).collect())
            }
            _ => return one,
        };
        let inner = format!("{indent}{}", self.indent);
        let lines: Vec<String> = parts
            .iter()
            .map(|(name, value)| format!("{inner}{name}{}", self.print(value, &inner, name.len() + 1)))
            .collect();
        let newline = self.newline;
        format!("{open}{newline}{}{newline}{indent}{close}", lines.join(&format!(",{newline}")))
    }
}

/// `{ "a": [1, 2] }`
pub fn one_line(value: &Value) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let parts = map.iter().map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), one_line(value)));
            format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

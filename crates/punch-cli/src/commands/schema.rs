//! `punch schema`: the JSON Schemas of what punch reads and writes.

use clap::Args;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::reply::VerbReply;
use crate::schema::{ALL, FormatSchema};

const EXAMPLES: &str = "\
Examples:
  punch schema                              # list the schemas
  punch schema answer-list > list.schema.json
  punch schema tools-native | jq '.\"$defs\".todo_write'

Newer versions may add fields; ignore unknown ones.";

/// The arguments of `punch schema`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArgs {
    /// Schema to print; lists all names if omitted
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl SchemaArgs {
    /// Runs the verb.
    pub fn run(self) -> Result<VerbReply, Failure> {
        let Some(name) = self.name else { return Ok(names()) };
        let found = FormatSchema::find(&name).ok_or_else(|| {
            let near = punch_core::text::nearest(&name, ALL.iter().map(|known| known.name), 3);
            let message = format!("no schema `{}`", punch_core::text::clip(&punch_core::text::neutral(&name), 80));
            let hint = match near.as_slice() {
                [] => "`punch schema` lists them".to_owned(),
                near => format!("did you mean {}? `punch schema` lists them", near.join(", ")),
            };
            Failure::refused("unknown_schema", message, &hint)
        })?;
        let schema = found.make();
        let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
        Ok(VerbReply::new(text, json!({"name": found.name, "document": schema})))
    }
}

fn names() -> VerbReply {
    let width = ALL.iter().map(|known| known.name.len()).max().unwrap_or(0);
    let lines: Vec<String> = ALL.iter().map(|known| format!("{:width$}  {}", known.name, known.about)).collect();
    let all: Vec<Value> = ALL.iter().map(|known| json!({"name": known.name, "about": known.about})).collect();
    VerbReply::new(lines.join("\n"), json!({"schemas": all}))
}

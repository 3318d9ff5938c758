//! Runs the tool calls of a model. Whatever a model sends gets an answer that it can act on.

use punch_core::drive::{HostEvent, ToolKind, ToolUse};
use punch_core::text;
use punch_engine::call::{CallError, CompletionSupport, ToolCaller, budget};
use punch_engine::{Embedding, WorkTree};
use serde_json::{Value, json};

use crate::wording::Occasion;
use crate::{Answer, Error, Session};

impl Session {
    /// Runs a call. Arguments are the object that the model sent, or the string of JSON that OpenAI's form has. Names
    /// and arguments that make no sense are answered like refusals; an error is a store that could not be used.
    ///
    /// ```
    /// # use punchlist::{Options, Session};
    /// # use serde_json::json;
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// let answer = session.call("todo_write", &json!(r#"{"ops": [{"op": "done", "id": "nothing"}]}"#))?;
    /// assert!(answer.is_error);
    /// assert!(answer.text.starts_with("Error unknown_todo:"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn call(&self, name: &str, arguments: &Value) -> Result<Answer, Error> {
        self.run(name, arguments, None)
    }

    /// Runs a call that may come again, after a crash or a lost connection: a second one with the same id, name and
    /// arguments changes nothing and gets the first answer.
    pub fn call_once(&self, call: &str, name: &str, arguments: &Value) -> Result<Answer, Error> {
        // The content of the call is part of the key, because some providers count their calls from the start in every
        // message.
        let asked = punch_engine::fingerprint(&json!([name, arguments]));
        let key = format!("lib:{}:{}:{call}:{asked}", self.key.session_id(), self.key.subagent().unwrap_or_default());
        self.run(name, arguments, Some(&key))
    }

    fn run(&self, name: &str, arguments: &Value, key: Option<&str>) -> Result<Answer, Error> {
        let Some(offered) = self.offer.find(name) else { return self.invalid(&self.unknown(name)) };
        let parsed: Value;
        let arguments = match arguments {
            Value::String(json) => match serde_json::from_str(json) {
                Ok(value) => {
                    parsed = value;
                    &parsed
                }
                Err(cause) => return self.invalid(&format!("the arguments are not JSON: {cause}")),
            },
            other => other,
        };
        let answer = self.proving(offered, arguments, key)?;
        let tool = ToolUse::new(name, ToolKind::Ours);
        let event = match answer.is_error {
            false => HostEvent::ToolEnded { tool },
            true => {
                HostEvent::ToolFailed { tool, error: text::clip(&answer.text, 300).into_owned(), interrupted: false }
            }
        };
        let reminder = self.worded(Occasion::Called, self.observe(event)?.context);
        Ok(Answer { text: budget::text(&answer.text, None), reminder, ..answer.into() })
    }

    pub(crate) fn caller(&self, arguments: &Value) -> ToolCaller<'_> {
        let tree = self.tree.as_ref();
        ToolCaller {
            role: self.role,
            structured: true,
            work: CompletionSupport {
                commit: tree.filter(|_| CompletionSupport::finishes(arguments)).and_then(WorkTree::commit),
                tree: tree.cloned(),
                ..CompletionSupport::default()
            },
            embedding: Embedding { ids: self.ids.as_deref(), in_memory: !self.is_lasting() },
            ..ToolCaller::under(&self.settings, self.key.clone(), self.agent.clone())
        }
    }

    fn unknown(&self, name: &str) -> String {
        let name = text::clip(&text::neutral(name), 80).into_owned();
        let names: Vec<&str> = self.offer.tools.iter().map(|tool| tool.name.as_str()).collect();
        match names.is_empty() {
            true => format!("there is no tool `{name}` here"),
            false => format!("there is no tool `{name}`; the todo tools are {}", names.join(", ")),
        }
    }

    /// The answer to a call that cannot be run at all.
    fn invalid(&self, message: &str) -> Result<Answer, Error> {
        let revision = self.engine.read(self.plan, |snapshot| Ok(snapshot.row()?.revision))?;
        Ok(Answer {
            text: format!("Error invalid: {}\nNothing was changed.", text::clip(&text::neutral(message), 500)),
            structured: json!({"error": {"code": "invalid", "message": message}}),
            is_error: true,
            errors: vec![CallError::new("invalid", message)],
            revision,
            ..Answer::default()
        })
    }
}

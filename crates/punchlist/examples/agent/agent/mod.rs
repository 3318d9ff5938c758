//! The loop: ask the model, run its tools, and let the list decide when it is over.

mod http;
mod model;
mod tools;

use std::path::Path;

use punchlist::{Ending, Next, Reason, Session, Shape, ToolUse};
use serde_json::{Value, json};

/// Anything that ends a run early.
pub type Problem = Box<dyn std::error::Error>;

/// Messages that are sent at most.
const HISTORY: usize = 50;
/// Requests of one run: a model in a loop must end.
const REQUESTS: usize = 200;
/// Failed requests in a row.
const FAILURES: u32 = 3;

const SYSTEM: &str = "You are a coding agent. Work in the current folder with the tools `shell` and `edit`.";

/// A model with tools, a folder and a list.
pub struct Agent<'a> {
    /// The list.
    pub session: &'a Session,
    /// An OpenAI-compatible endpoint, such as `http://127.0.0.1:8080/v1`.
    pub url: &'a str,
    /// The name of the model.
    pub model: &'a str,
    /// Where it works.
    pub folder: &'a Path,
    /// Takes the words of the model as they come.
    pub say: &'a mut dyn FnMut(&str),
}

impl Agent<'_> {
    /// Works on a task until there is nothing more to do, or no sense in going on.
    pub fn work(&mut self, task: &str) -> Result<Reason, Problem> {
        let session = self.session;
        let mut tools = session.tools(Shape::OpenAi);
        tools.extend(tools::definitions());
        let mut messages =
            vec![json!({"role": "system", "content": format!("{SYSTEM}\n\n{}", session.instructions())})];
        // The list of an earlier run, and what people changed meanwhile.
        if let Some(told) = session.turn_started()? {
            messages.push(json!({"role": "user", "content": told}));
        }
        messages.push(json!({"role": "user", "content": task}));
        let mut failures = 0;
        for _ in 0..REQUESTS {
            messages = session.trim_history(&messages, HISTORY)?;
            let body = json!({"model": self.model, "messages": messages, "tools": tools, "stream": true});
            let message = match model::ask(self.url, &body, self.say) {
                Ok(message) => message,
                Err(problem) => {
                    session.turn_failed(&problem.to_string())?;
                    failures += 1;
                    if failures >= FAILURES { return Err(problem) } else { continue }
                }
            };
            failures = 0;
            messages.push(message.to_json());
            for call in &message.calls {
                messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": self.run(call)?}));
            }
            if !message.calls.is_empty() {
                continue;
            }
            match session.turn_ended(Ending::from(message.finish))? {
                Next::Continue { text, .. } => messages.push(json!({"role": "user", "content": text})),
                Next::Wait(time) => std::thread::sleep(time),
                Next::Stop(reason) => return Ok(reason),
                _ => return Err("this version of punchlist knows more than this agent".into()),
            }
        }
        Err(format!("not finished after {REQUESTS} requests").into())
    }

    /// Runs one call; what it gives, with a reminder behind it where one is due.
    fn run(&self, call: &model::Call) -> Result<String, Problem> {
        let session = self.session;
        let (text, reminder) = if session.has_tool(&call.name) {
            let answer = session.call_once(&call.id, &call.name, &Value::String(call.arguments.clone()))?;
            (answer.text, answer.reminder)
        } else {
            let kind = tools::kind(&call.name);
            match tools::run(self.folder, &call.name, &call.arguments) {
                Ok(text) => (text, session.tool_ended(&call.name, kind)?),
                Err(error) => {
                    let advice = session.tool_failed(ToolUse::new(&call.name, kind), &error)?;
                    (format!("Error: {error}"), advice)
                }
            }
        };
        Ok(match reminder {
            Some(reminder) => format!("{text}\n\n{reminder}"),
            None => text,
        })
    }
}

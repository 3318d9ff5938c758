//! The agents of the demo. They follow a script and report to `punch hook` as a host would; what the hook answers
//! decides whether they continue.

use std::path::Path;

use serde_json::{Value, json};

use super::demo::DemoResult;
use crate::failure::Failure;

/// The host whose form the reports have.
pub const HOST: &str = "claude";

/// An agent with everything that it will do.
pub struct DemoAgent {
    /// Its conversation.
    pub session: &'static str,
    /// What the user asks of it.
    pub prompt: &'static str,
    /// What punch says to it first is shown in full.
    pub in_full: bool,
    /// A check decides about its work, which needs a shell.
    pub is_checked: bool,
    /// What it does, in order.
    pub moves: &'static [AgentMove],
}

/// Something that an agent does.
pub enum AgentMove {
    /// It writes its own list: content and status.
    Writes(&'static [(&'static str, &'static str)]),
    /// It writes a file.
    Creates(&'static str),
    /// The agent says this and wants to stop, and must be continued.
    StopsEarly(&'static str),
    /// The agent says this and wants to stop, and must be allowed to.
    Stops(&'static str),
}

use AgentMove::{Creates, Stops, StopsEarly, Writes};

/// Stops three times too early.
pub const HASTY: DemoAgent = DemoAgent {
    session: "demo-hasty",
    prompt: "Please build the parser.",
    in_full: true,
    is_checked: false,
    moves: &[
        Writes(&[("Write the parser", "in_progress"), ("Test the parser", "pending"), ("Document it", "pending")]),
        StopsEarly("A good start. Shall I continue?"),
        Writes(&[("Write the parser", "completed"), ("Test the parser", "in_progress"), ("Document it", "pending")]),
        StopsEarly("The parser is written."),
        Writes(&[("Write the parser", "completed"), ("Test the parser", "completed"), ("Document it", "in_progress")]),
        StopsEarly("Nearly everything works now."),
        Writes(&[("Write the parser", "completed"), ("Test the parser", "completed"), ("Document it", "completed")]),
        Stops("The parser is built, tested and documented."),
    ],
};

/// Never gets anywhere.
pub const STUCK: DemoAgent = DemoAgent {
    session: "demo-stuck",
    prompt: "Please fix the flaky test.",
    in_full: false,
    is_checked: false,
    moves: &[
        Writes(&[("Fix the flaky test", "in_progress")]),
        StopsEarly("It passes on my machine."),
        StopsEarly("It still passes on my machine."),
        StopsEarly("I have looked at it once more."),
        Stops("I do not know what else to do."),
    ],
};

/// Calls a todo done that is not, and learns it from the check.
pub const OPTIMIST: DemoAgent = DemoAgent {
    session: "demo-optimist",
    prompt: "Please write the changelog.",
    in_full: true,
    is_checked: true,
    moves: &[
        Writes(&[("Write the changelog", "in_progress")]),
        Writes(&[("Write the changelog", "completed")]),
        StopsEarly("The changelog is written."),
        Creates("CHANGES.md"),
        Stops("Now the changelog is there."),
    ],
};

/// Plays an agent: what is to be shown, what was run, and what went otherwise than it should.
pub fn play(
    actor: &DemoAgent,
    folder: &Path,
    mut hook: impl FnMut(&str, &Value) -> Result<DemoResult, Failure>,
    mut say: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<Vec<(DemoResult, Option<String>)>, Failure> {
    let mut out = Vec::new();
    let mut report = |event: &str, mut about: Value| {
        about["session_id"] = json!(actor.session);
        about["hook_event_name"] = json!(event);
        hook(event, &about)
    };
    out.push((report("SessionStart", json!({"source": "startup"}))?, None));
    out.push((report("UserPromptSubmit", json!({"prompt": actor.prompt}))?, None));
    say(&format!("you:    {}\n", actor.prompt))?;
    let mut continued = false;
    for (n, part) in actor.moves.iter().enumerate() {
        let (words, early) = match part {
            Writes(todos) => {
                let input = json!({"todos": todos.iter().map(row).collect::<Vec<_>>()});
                let call = format!("{}-{n}", actor.session);
                let used =
                    json!({"tool_name": "TodoWrite", "tool_use_id": call, "tool_input": input, "tool_response": {}});
                let done = report("PostToolUse", used)?;
                let answer: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
                out.push((done, None));
                let list: Vec<String> =
                    todos.iter().map(|(content, status)| format!("{} {content}", mark(status))).collect();
                say(&format!("agent:  {}\n", list.join("  ")))?;
                let check = answer["hookSpecificOutput"]["additionalContext"].as_str();
                if let Some(text) = check.filter(|text| text.contains("its check")) {
                    say(&shown(text, true))?;
                }
                continue;
            }
            Creates(name) => {
                let file = folder.join(name);
                std::fs::write(&file, "done\n").map_err(|cause| Failure::File(file.display().to_string(), cause))?;
                say(&format!("agent:  writes {name}\n"))?;
                continue;
            }
            StopsEarly(words) => (words, true),
            Stops(words) => (words, false),
        };
        say(&format!("agent:  \"{words}\" It wants to stop.\n"))?;
        let stop = json!({"stop_hook_active": continued, "last_assistant_message": words, "background_tasks": []});
        let done = report("Stop", stop)?;
        let answer: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        let pushed = answer["hookSpecificOutput"]["additionalContext"].as_str().or_else(|| answer["reason"].as_str());
        match (pushed, answer["systemMessage"].as_str()) {
            (Some(text), _) => say(&shown(text, continued || !actor.in_full))?,
            (None, Some(text)) => say(&shown(text.trim_start_matches("punch: "), false))?,
            (None, None) => say("punch:  nothing is left; it may stop.\n")?,
        }
        let wrong = (pushed.is_some() != early).then(|| {
            format!("{} was {}", actor.session, if early { "allowed to stop too early" } else { "not allowed to stop" })
        });
        continued |= pushed.is_some();
        out.push((done, wrong));
    }
    out.push((report("SessionEnd", json!({"reason": "other"}))?, None));
    Ok(out)
}

/// What the hook says, set off from the rest: all of it, or the first line.
fn shown(text: &str, briefly: bool) -> String {
    let mut lines = text.lines();
    let mut out = format!("punch:  {}\n", lines.next().unwrap_or_default());
    if !briefly {
        lines.for_each(|line| out += &format!("        {line}\n"));
    }
    out
}

fn row((content, status): &(&str, &str)) -> Value {
    json!({"content": content, "status": status, "activeForm": content})
}

fn mark(status: &str) -> &'static str {
    match status {
        "completed" => "[x]",
        "in_progress" => "[>]",
        _ => "[ ]",
    }
}

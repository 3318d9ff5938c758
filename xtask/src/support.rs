//! The table of supported agents, from their adapters and from what scenarios run: what is known about each, and how.

use std::fmt::Write;

use punch_agents::{AGENTS, Adapter, Meaning};

use crate::agents::measured;

/// The table for `docs/agents.md`.
pub fn table() -> Result<String, String> {
    let mut out = String::from(
        "| agent | name | own todo list copied | auto-continue | hook events | in a run | known from |\n|---|---|---|---|---|---|---|\n",
    );
    for agent in AGENTS {
        let todo_tools: Vec<String> = agent.todo_tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
        let measured = measured(agent.name);
        let run = match (&agent.headless, measured.as_ref().and_then(|measured| measured.acp)) {
            (Some(_), _) => format!("`{}`", agent.name),
            (None, Some(arguments)) => format!("`acp:{} {arguments}`", agent.program),
            (None, None) => "–".to_owned(),
        };
        let _ = writeln!(
            out,
            "| {} | `{}` | {} | {} | {} | {run} | {} |",
            agent.title,
            agent.name,
            if todo_tools.is_empty() { "–".to_owned() } else { todo_tools.join(", ") },
            continues(agent),
            events(agent),
            measured
                .map_or_else(|| "its documentation".to_owned(), |measured| format!("measured, {}", measured.version)),
        );
    }
    out.push_str("| any other | – | – | with hooks of your own | – | `acp:COMMAND`, `exec:COMMAND` | untried: [Other agents](other-agents.md) |\n");
    Ok(out)
}

/// How many events it reports; an agent without hooks has a plugin that reports them.
fn events(agent: &Adapter) -> String {
    match agent.hooks.events.len() {
        0 => "by a plugin".to_owned(),
        count => count.to_string(),
    }
}

fn continues(agent: &Adapter) -> String {
    let can_stop = agent.hooks.meanings.iter().any(|(_, meaning)| *meaning == Meaning::Stop);
    match (can_stop, agent.hooks.stop_cap) {
        (false, _) => "no".to_owned(),
        (true, None) => "yes".to_owned(),
        (true, Some(cap)) => format!("yes, at most {cap} in a row"),
    }
}

//! What agents leave on disk for a todo: the worktree of a run, and a log. Boards look for both.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use punch_agents::headless::{AgentEvent, AgentListener, HeadlessStart};
use punch_core::Todo;
use punch_engine::locate::Location;
use punch_engine::{Engine, RunRecord, SessionFile, copies};
use punch_run::of_run;
use punch_run::worktree::LaneDiff;
use punch_store::PlanId;

use crate::assigned_agents;

/// Where runs of a project leave their files.
#[derive(Clone)]
pub struct RunFiles {
    /// Where the store is.
    pub location: Location,
    /// The user's state folder.
    pub state: Option<PathBuf>,
}

impl RunFiles {
    fn last_run(engine: &Engine, plan: PlanId) -> Option<RunRecord> {
        engine.runs(plan, 1).ok()?.into_iter().next()
    }

    /// The worktree in which the last run works on a todo.
    pub fn lane(&self, engine: &Engine, (plan, name): (PlanId, &str), todo: &Todo) -> Option<LaneDiff> {
        let run = Self::last_run(engine, plan).filter(RunRecord::has_worktrees)?;
        let identity = engine.store().identity().ok()?;
        let trees = copies::trees_of(self.state.as_ref()?, &self.location.database, &identity);
        LaneDiff::find(&self.location.project_root, &trees, name, &run, &todo.id)
    }

    /// The log of the last start of an agent on a todo, by a run or by the web board.
    pub fn log(&self, engine: &Engine, plan: PlanId, todo: &Todo) -> Option<PathBuf> {
        let logs = [self.run_log(engine, plan, todo), assigned_agents::log(&self.location, engine, todo)];
        logs.into_iter().flatten().max_by_key(|path| written(path))
    }

    /// The log of the last start in the last run: the session file beside it names the todo.
    fn run_log(&self, engine: &Engine, plan: PlanId, todo: &Todo) -> Option<PathBuf> {
        let run = Self::last_run(engine, plan)?;
        let folder = of_run(&self.location.database, plan, run.id);
        let log = |entry: fs::DirEntry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?.strip_prefix("session-")?.strip_suffix(".json")?.to_owned();
            let session = SessionFile::read(&path).ok()?;
            session.todos.contains(&todo.id).then(|| folder.join(format!("agent-{name}.log")))
        };
        let logs = fs::read_dir(&folder).ok()?.flatten().filter_map(log);
        logs.filter(|path| path.is_file()).max_by_key(|path| written(path))
    }
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// What a log says to people. Agents that print an event on each line are read as a run reads them; lines that are not JSON are
/// kept as they are. If nothing remains, all lines are returned: a log in an unknown form is better than none.
pub fn log_lines(log: &str) -> Vec<String> {
    let mut listeners = listeners();
    let lines = || log.lines().filter(|line| !line.trim().is_empty());
    let is_event = |line: &str| line.starts_with('{') && serde_json::from_str::<serde_json::Value>(line).is_ok();
    let said = lines().flat_map(|line| match is_event(line) {
        true => said_in(&mut listeners, line),
        false => vec![line.to_owned()],
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() { lines().map(str::to_owned).collect() } else { said }
}

/// What understands the output of each agent that can be driven.
fn listeners() -> Vec<Box<dyn AgentListener>> {
    let start = HeadlessStart { prompt: "", server: &[], resume: None, is_customized: false };
    punch_agents::AGENTS.iter().filter_map(|agent| Some(agent.headless?().listener(&start))).collect()
}

/// What the first listener that understands an event makes of it.
fn said_in(listeners: &mut [Box<dyn AgentListener>], line: &str) -> Vec<String> {
    let said = |listener: &mut Box<dyn AgentListener>| {
        let events = listener.hear(line).events;
        let said = events.into_iter().filter_map(|event| match event {
            AgentEvent::Text(text) => Some(text),
            AgentEvent::ToolUsed { name } => Some(format!("[{name}]")),
            _ => None,
        });
        Some(said.collect::<Vec<_>>()).filter(|said| !said.is_empty())
    };
    listeners.iter_mut().find_map(said).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::log_lines;

    #[test]
    fn events_are_read_and_everything_else_is_kept() {
        let claude = concat!(
            r#"{"type":"system","subtype":"init","session_id":"s"}"#,
            "\n",
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I run the tests"}]}}"#,
            "\n",
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"make"}}]}}"#,
            "\nwarning: no network\n\n",
        );
        assert_eq!(log_lines(claude), ["I run the tests", "[Bash]", "warning: no network"]);
        let codex = r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Done with it"}}"#;
        assert_eq!(log_lines(codex), ["Done with it"]);
        let unknown = "{\"a\":1}\n{\"b\":2}\n";
        assert_eq!(log_lines(unknown), ["{\"a\":1}", "{\"b\":2}"], "nothing is known about it");
        assert_eq!(log_lines("plain\n{not json"), ["plain", "{not json"]);
        assert!(log_lines("").is_empty());
    }
}

//! The real program around the model: `punch install`, then the hooks and tools that it connects, as Claude Code would
//! call them. The model reads what a model would read there: context of hooks, answers of tools, output of commands.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::harness::{Harness, ModelCall, written};
use super::model::{Belief, SimulatedModel};
use super::world;
use crate::bench::tokenizer::tokens;
use crate::bench::tool_server::ToolServer;

/// Why a todo is on hold.
const HELD: &str = "only the user can do this";

/// How the agent is connected and what the user has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PunchSetup {
    /// `punch install`, nothing set. The agent writes the plan with punch's tools.
    Default,
    /// The user's plan has a check for each todo; `policy.verify = "command"`. The agent writes its own list.
    Checks,
    /// No check commands; `policy.verify = "evidence"`. The agent writes its own list.
    Evidence,
}

/// `punch` in a project and a home of its own.
pub struct PunchProject {
    pub punch: PathBuf,
    pub folder: PathBuf,
    pub home: PathBuf,
}

impl PunchProject {
    /// A project in git, with a commit.
    pub fn new(punch: &Path, folder: &Path, home: PathBuf) -> Result<Self, String> {
        let place = Self { punch: punch.to_owned(), folder: folder.to_owned(), home };
        for folder in [&place.folder, &place.home] {
            fs::create_dir_all(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
        }
        let git = |words: &[&str]| output(place.command(Path::new("git")).args(words), "").map(drop);
        git(&["init", "--quiet"])?;
        let who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
        git(&[&who[..], &["commit", "--quiet", "--allow-empty", "--message", "begin"]].concat())?;
        Ok(place)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env_clear().env("HOME", &self.home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    /// A command of the user.
    pub fn user(&self, words: &[&str]) -> Result<String, String> {
        output(self.command(&self.punch).args(words), "")
    }

    /// A program that the agent starts.
    pub fn agent(&self, session: &str) -> Command {
        let mut command = self.command(&self.punch);
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        command
    }

    /// Writes the user's plan with a check for each todo, and approves the checks.
    pub fn plan_with_checks(&self, todos: usize) -> Result<(), String> {
        let todo = |todo: usize| {
            json!({"id": format!("T-{}", todo + 1), "content": world::content(todo),
            "verifyCommand": world::check(todo)})
        };
        let plan = json!({"todos": (0..todos).map(todo).collect::<Vec<_>>()});
        let file = self.home.join("plan.json");
        world::write(&file, &plan.to_string())?;
        self.user(&["import", &file.display().to_string()])?;
        let ids: Vec<String> = (1..=todos).map(|n| format!("T-{n}")).collect();
        self.user(&[&["verify", "--allow"][..], &ids.iter().map(String::as_str).collect::<Vec<_>>()].concat())?;
        Ok(())
    }

    /// Which todos the plan calls completed.
    pub fn completed(&self, todos: usize) -> Result<Vec<bool>, String> {
        let list = self.user(&["list", "--all", "--json"])?;
        let list: Value = serde_json::from_str(&list).map_err(|cause| format!("punch list: {cause}"))?;
        let mut done = vec![false; todos];
        for row in list["todos"].as_array().into_iter().flatten() {
            let content = row["content"].as_str().unwrap_or_default();
            if let Some(todo) = (0..todos).find(|todo| content.contains(&world::name(*todo))) {
                done[todo] |= row["status"] == "completed";
            }
        }
        Ok(done)
    }
}

/// A conversation of Claude Code with punch connected.
pub struct ConnectedConversation {
    pub place: PunchProject,
    setup: PunchSetup,
    session: String,
    /// The events that `punch install` subscribed to.
    events: Vec<String>,
    server: Option<ToolServer>,
    calls: u32,
    own: usize,
}

impl ConnectedConversation {
    pub fn new(place: PunchProject, setup: PunchSetup, todos: usize) -> Result<Self, String> {
        match setup {
            PunchSetup::Default => {}
            PunchSetup::Checks => {
                place.user(&["config", "set", "policy.verify", "command"])?;
                place.plan_with_checks(todos)?;
            }
            PunchSetup::Evidence => {
                place.user(&["config", "set", "policy.verify", "evidence"])?;
            }
        }
        let tools = if setup == PunchSetup::Default { "punch" } else { "own" };
        place.user(&["install", "claude", "--tools", tools, "--yes"])?;
        let settings = place.folder.join(".claude/settings.local.json");
        let settings = fs::read_to_string(&settings).map_err(|cause| cause.to_string())?;
        let settings: Value = serde_json::from_str(&settings).map_err(|cause| cause.to_string())?;
        let events = settings["hooks"].as_object().map(|hooks| hooks.keys().cloned().collect());
        let session = "first".to_owned();
        Ok(Self { place, setup, session, events: events.unwrap_or_default(), server: None, calls: 0, own: 0 })
    }

    /// Another conversation in the same place, as after a crash.
    pub fn again(mut self, session: &str) -> Self {
        session.clone_into(&mut self.session);
        (self.server, self.own) = (None, 0);
        self
    }

    /// Reports an event, and returns what the model gets to read.
    pub fn hook(&mut self, event: &str, more: &Value) -> Result<String, String> {
        if !self.events.iter().any(|known| known == event) {
            return Ok(String::new());
        }
        let mut report = json!({"session_id": self.session, "cwd": self.place.folder, "hook_event_name": event,
            "transcript_path": self.place.home.join("no-transcript")});
        merge(&mut report, more);
        let mut command = self.place.agent(&self.session);
        let answer = output(command.args(["hook", "--agent", "claude", event]), &report.to_string())?;
        if answer.trim().is_empty() {
            return Ok(String::new());
        }
        let answer: Value = serde_json::from_str(&answer).map_err(|cause| format!("{event}: {cause}: {answer}"))?;
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
        let text = context.or_else(|| answer["reason"].as_str()).unwrap_or_default().to_owned();
        self.own += tokens(&text);
        Ok(text)
    }

    /// A tool of the agent, reported before and after.
    fn tool(&mut self, name: &str, input: &Value, response: &Value) -> Result<String, String> {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let report = json!({"tool_name": name, "tool_use_id": id, "tool_input": input, "tool_response": response});
        self.hook("PostToolUse", &report)
    }

    /// A call of punch's own tool.
    fn write(&mut self, ops: &Value) -> ModelCall {
        let Some(server) = &mut self.server else { return Err("punch's tools are not connected".to_owned()) };
        let call = json!({"ops": ops});
        let answer = server.call("todo_write", &call)?;
        self.own += tokens(&answer);
        let more = self.tool("mcp__punch__todo_write", &call, &json!([{"type": "text", "text": answer}]))?;
        Ok((tokens(&call.to_string()) + tokens(&answer), format!("{answer}\n{more}")))
    }

    /// A call that starts a todo. If another one is still in progress, the model says first what became of that one, as the
    /// refusal asks, and repeats the call.
    fn write_start(&mut self, model: &SimulatedModel<'_>, ops: &Value) -> ModelCall {
        let (spent, text) = self.write(ops)?;
        if !text.starts_with("Error in_progress_limit") {
            return Ok((spent, text));
        }
        let running = in_the_way(&text).ok_or_else(|| format!("a refusal that does not say what to do: {text}"))?;
        let todo = (0..model.beliefs.len()).find(|todo| world::name(*todo) == running);
        let first = match todo.map(|todo| model.beliefs[todo]) {
            Some(Belief::Done { .. }) => json!({"op": "done", "id": running}),
            Some(Belief::Waiting) => json!({"op": "hold", "id": running, "text": HELD}),
            Some(Belief::Open | Belief::Forgotten) | None => json!({"op": "reopen", "id": running}),
        };
        let mut all = vec![first];
        all.extend(ops.as_array().into_iter().flatten().cloned());
        let (more, text) = self.write(&Value::Array(all))?;
        Ok((spent + more, text))
    }

    /// The agent writes its own list.
    fn list(&mut self, model: &SimulatedModel<'_>) -> ModelCall {
        let list = written(&model.list());
        let text = self.tool("TodoWrite", &list, &json!({}))?;
        Ok((tokens(&list.to_string()) + tokens(&text), text))
    }

    /// Starts the conversation: its texts, and punch's server where it is connected.
    pub fn open(&mut self, prompt: &str) -> Result<String, String> {
        let mut text = self.hook("SessionStart", &json!({"source": "startup"}))?;
        if self.setup == PunchSetup::Default {
            let server = ToolServer::start(self.place.agent(&self.session), &[])?;
            self.own += server.definitions + server.instructions;
            self.server = Some(server);
        }
        text += &self.hook("UserPromptSubmit", &json!({"prompt": prompt}))?;
        Ok(text)
    }
}

impl Harness for ConnectedConversation {
    fn begin(&mut self, model: &SimulatedModel<'_>) -> Result<String, String> {
        let mut text = self.open("Work through the whole plan.")?;
        if self.setup == PunchSetup::Default {
            let add = |todo| json!({"op": "add", "id": world::name(todo), "content": world::content(todo)});
            text += &self.write(&(0..model.beliefs.len()).map(add).collect())?.1;
        }
        Ok(text)
    }

    fn start(&mut self, model: &SimulatedModel<'_>, todo: usize) -> ModelCall {
        match self.setup {
            PunchSetup::Default => self.write_start(model, &json!([{"op": "start", "id": world::name(todo)}])),
            PunchSetup::Checks | PunchSetup::Evidence => self.list(model),
        }
    }

    fn edited(&mut self, file: &Path) -> Result<String, String> {
        self.tool("Edit", &json!({"file_path": file}), &json!({}))
    }

    fn tick(&mut self, model: &SimulatedModel<'_>, todo: usize) -> ModelCall {
        match self.setup {
            PunchSetup::Default => {
                let mut ops = vec![json!({"op": "done", "id": world::name(todo)})];
                ops.extend(model.current.map(|next| json!({"op": "start", "id": world::name(next)})));
                self.write_start(model, &Value::Array(ops))
            }
            PunchSetup::Checks | PunchSetup::Evidence => self.list(model),
        }
    }

    fn compacted(&mut self, _model: &SimulatedModel<'_>) -> Result<String, String> {
        let before = self.hook("PreCompact", &json!({"trigger": "auto"}))?;
        Ok(before + &self.hook("SessionStart", &json!({"source": "compact"}))?)
    }

    fn shell(&mut self, words: &[&str]) -> Result<String, String> {
        let mut command = self.place.agent(&self.session);
        let done = command.args(words).stdin(Stdio::null()).output().map_err(|cause| cause.to_string())?;
        let text = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
        self.own += tokens(&text);
        let input = json!({"command": format!("punch {}", words.join(" "))});
        let more = self.tool("Bash", &input, &json!({"stdout": text, "stderr": ""}))?;
        Ok(format!("{text}\n{more}"))
    }

    fn hold(&mut self, id: &str, todo: usize) -> Result<String, String> {
        match self.setup {
            PunchSetup::Default => Ok(self.write(&json!([{"op": "hold", "id": world::name(todo), "text": HELD}]))?.1),
            PunchSetup::Checks | PunchSetup::Evidence => self.shell(&["hold", id, HELD]),
        }
    }

    fn ran_check(&mut self, todo: usize, passes: bool) -> Result<String, String> {
        let input = json!({"command": format!("cargo test -p part{todo:02}")});
        match passes {
            true => self.tool("Bash", &input, &json!({"stdout": "test result: ok. 3 passed; 0 failed", "stderr": ""})),
            false => {
                self.calls += 1;
                let error = "Exit code 101\ntest result: FAILED. 2 passed; 1 failed";
                let id = format!("toolu_{}", self.calls);
                let report = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input, "error": error});
                self.hook("PostToolUseFailure", &report)
            }
        }
    }

    fn stop(&mut self, _model: &SimulatedModel<'_>) -> Result<Option<String>, String> {
        let text = self.hook("Stop", &json!({"stop_hook_active": false, "background_tasks": []}))?;
        Ok((!text.is_empty()).then_some(text))
    }

    fn called_done(&mut self, model: &SimulatedModel<'_>) -> Result<Vec<bool>, String> {
        self.place.completed(model.beliefs.len())
    }

    fn end_reason(&self) -> Option<String> {
        let why: Value = serde_json::from_str(&self.place.user(&["keep-going", "why", "--json"]).ok()?).ok()?;
        find_reason(&why)
    }

    fn own_tokens(&self) -> usize {
        self.own
    }
}

/// The todo that a refused start asks to be dealt with first: the last that its hint names.
fn in_the_way(refusal: &str) -> Option<&str> {
    let hint = refusal.lines().find_map(|line| line.strip_prefix("Hint: "))?;
    hint.rsplit('`').nth(1)
}

/// The first `reason` with a code, wherever the record has it.
fn find_reason(value: &Value) -> Option<String> {
    let map = value.as_object()?;
    let code = |value: &Value| value.as_str().or_else(|| value["code"].as_str()).map(str::to_owned);
    ["reason", "why", "code"].iter().find_map(|key| code(map.get(*key)?)).or_else(|| map.values().find_map(find_reason))
}

fn merge(into: &mut Value, more: &Value) {
    if let (Some(into), Some(more)) = (into.as_object_mut(), more.as_object()) {
        into.extend(more.clone());
    }
}

/// Runs a command with an input, and returns its output.
pub fn output(command: &mut Command, input: &str) -> Result<String, String> {
    let program = command.get_program().to_owned();
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().map_err(|cause| format!("{}: {cause}", program.display()))?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(input.as_bytes()).map_err(|cause| cause.to_string())?;
    }
    let done = child.wait_with_output().map_err(|cause| cause.to_string())?;
    if !done.status.success() {
        let words: Vec<_> = command.get_args().collect();
        return Err(format!("{words:?} ended with {}: {}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_start_names_the_todo_that_is_in_the_way() {
        let refusal = "Error in_progress_limit: cannot start `ok06`: only one todo may be in progress, and `ok05` is\n\
                       Hint: send the call again, beginning with done, hold or reopen of `ok05`\nNothing was changed.";
        assert_eq!(in_the_way(refusal), Some("ok05"));
        assert_eq!(in_the_way("Error in_progress_limit: no hint"), None);
    }
}

//! Todo tools with a command line: how each gets a plan, and which of its commands does the same work as ours.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::LIMIT;
use super::install::{ComparedTools, OWN};
use crate::bench::cli::shape;
use crate::process;

/// What is asked of each tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolWork {
    /// What can be started.
    Ready,
    /// One todo from the middle of the plan.
    Show,
    /// A new todo that depends on another one.
    Add,
    /// Beginning of work on a ready todo.
    Start,
    /// Its completion.
    Done,
}

impl ToolWork {
    /// In the order of a working day.
    pub const ALL: [Self; 5] = [Self::Ready, Self::Show, Self::Add, Self::Start, Self::Done];

    /// For the table.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ready => "what can be started",
            Self::Show => "show one todo",
            Self::Add => "add a todo with a dependency",
            Self::Start => "start a todo",
            Self::Done => "finish a todo",
        }
    }
}

/// A tool with a command line.
pub struct CommandLineTool {
    /// For the table.
    pub name: &'static str,
    program: PathBuf,
    path: PathBuf,
    kind: ClientKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClientKind {
    Punch,
    Taskwarrior,
    TaskMaster,
    Backlog,
    BeadsRust,
}

/// The tools that are there, ours first.
pub fn all(installed: &ComparedTools) -> Vec<CommandLineTool> {
    let client = |name, program: PathBuf, kind| CommandLineTool { name, program, path: installed.programs(name), kind };
    let mut out = vec![client(OWN, installed.punch.clone(), ClientKind::Punch)];
    if installed.has("Taskwarrior") {
        out.push(client("Taskwarrior", "task".into(), ClientKind::Taskwarrior));
    }
    if let Some(program) = &installed.beads_rust {
        out.push(client("beads_rust", program.clone(), ClientKind::BeadsRust));
    }
    if installed.has("Backlog.md") {
        out.push(client("Backlog.md", installed.programs("Backlog.md").join("backlog"), ClientKind::Backlog));
    }
    if installed.has("Task Master") {
        out.push(client("Task Master", installed.programs("Task Master").join("task-master"), ClientKind::TaskMaster));
    }
    out
}

impl CommandLineTool {
    /// A command in a project, with nothing of ours in its environment.
    pub fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(folder).env_clear().env("HOME", folder);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.path.display());
        command.env("PATH", path).env("NO_COLOR", "1").env("TASKRC", folder.join(".taskrc"));
        command
    }

    /// Returns true if the tool has a command that reads a whole plan.
    pub fn imports(&self) -> bool {
        matches!(self.kind, ClientKind::Punch | ClientKind::Taskwarrior | ClientKind::BeadsRust)
    }

    /// Makes a project with a plan of that many todos, each with dependencies. Returns the command that imports the plan,
    /// where the tool has one; otherwise the files of the tool itself are written.
    pub fn prepare(&self, folder: &Path, size: u32) -> Result<Option<Command>, String> {
        fs::create_dir_all(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
        let git = |arguments: &[&str]| process::read(Command::new("git").args(arguments).current_dir(folder));
        git(&["init", "--quiet"])?;
        git(&["config", "user.name", "compare"])?;
        git(&["config", "user.email", "compare@localhost"])?;
        let file = |name: &str| {
            File::create(folder.join(name)).map(BufWriter::new).map_err(|cause| format!("{name}: {cause}"))
        };
        let wrong = |cause: std::io::Error| format!("cannot write a plan: {cause}");
        match self.kind {
            ClientKind::Punch => {
                shape::extended(size, &mut file("plan.json")?).map_err(wrong)?;
                Ok(Some(self.command(folder, &["import", "plan.json"])))
            }
            ClientKind::Taskwarrior => {
                let settings = "data.location=data\nconfirmation=off\nnews.version=2.6.0\n";
                fs::create_dir_all(folder.join("data")).map_err(wrong)?;
                fs::write(folder.join(".taskrc"), settings).map_err(wrong)?;
                shape::tasks(size, &mut file("tasks.json")?).map_err(wrong)?;
                Ok(Some(self.command(folder, &["import", "tasks.json"])))
            }
            ClientKind::TaskMaster => {
                let tasks = folder.join(".taskmaster/tasks");
                fs::create_dir_all(&tasks).map_err(wrong)?;
                process::read_within(LIMIT, &mut self.command(folder, &["init", "--yes"]))?;
                shape::task_master(
                    size,
                    &mut File::create(tasks.join("tasks.json")).map(BufWriter::new).map_err(wrong)?,
                )
                .map_err(wrong)?;
                Ok(None)
            }
            ClientKind::Backlog => {
                process::read_within(
                    LIMIT,
                    &mut self.command(folder, &["init", "plan", "--defaults", "--agent-instructions", "none"]),
                )?;
                process::read_within(
                    LIMIT,
                    &mut self.command(folder, &["config", "set", "remoteOperations", "false"]),
                )?;
                shape::backlog(size, &folder.join("backlog/tasks")).map_err(wrong)?;
                Ok(None)
            }
            ClientKind::BeadsRust => {
                process::read_within(LIMIT, &mut self.command(folder, &["init", "--prefix", "b"]))?;
                shape::beads(size, &mut file("plan.jsonl")?).map_err(wrong)?;
                fs::copy(folder.join("plan.jsonl"), folder.join(".beads/issues.jsonl")).map_err(wrong)?;
                Ok(Some(self.command(folder, &["sync", "--import-only", "--force"])))
            }
        }
    }

    /// The command that does a piece of work, for the time `turn` from 0 on.
    pub fn work(&self, folder: &Path, work: ToolWork, size: u32, turn: u32) -> Command {
        let (middle, text) = (size / 2, format!("Something that came up, number {turn}"));
        let mine = |n: u32| self.id(n);
        let run = |words: &[&str]| self.command(folder, words);
        match (self.kind, work) {
            (ClientKind::Punch, ToolWork::Ready) => run(&["list", "--ready", "-n", "10"]),
            (ClientKind::Punch, ToolWork::Show) => run(&["show", &mine(middle)]),
            (ClientKind::Punch, ToolWork::Add) => run(&["add", &text, "--needs", &mine(middle)]),
            (ClientKind::Punch, ToolWork::Start) => run(&["start", &mine(turn)]),
            (ClientKind::Punch, ToolWork::Done) => run(&["done", &mine(turn)]),
            (ClientKind::Taskwarrior, ToolWork::Ready) => run(&["ready"]),
            (ClientKind::Taskwarrior, ToolWork::Show) => run(&[&mine(middle), "info"]),
            (ClientKind::Taskwarrior, ToolWork::Add) => run(&["add", &text, &format!("depends:{}", mine(middle))]),
            (ClientKind::Taskwarrior, ToolWork::Start) => run(&[&mine(turn), "start"]),
            (ClientKind::Taskwarrior, ToolWork::Done) => run(&[&mine(turn), "done"]),
            (ClientKind::TaskMaster, ToolWork::Ready) => run(&["next"]),
            (ClientKind::TaskMaster, ToolWork::Show) => run(&["show", &mine(middle)]),
            (ClientKind::TaskMaster, ToolWork::Add) => {
                run(&["add-task", "--title", &text, "--description", &text, "--dependencies", &mine(middle)])
            }
            (ClientKind::TaskMaster, ToolWork::Start) => {
                run(&["set-status", "--id", &mine(turn), "--status", "in-progress"])
            }
            (ClientKind::TaskMaster, ToolWork::Done) => run(&["set-status", "--id", &mine(turn), "--status", "done"]),
            (ClientKind::Backlog, ToolWork::Ready) => run(&["task", "list", "--ready", "--limit", "10", "--plain"]),
            (ClientKind::Backlog, ToolWork::Show) => run(&["task", "view", &mine(middle), "--plain"]),
            (ClientKind::Backlog, ToolWork::Add) => run(&["task", "create", &text, "--dep", &mine(middle), "--plain"]),
            (ClientKind::Backlog, ToolWork::Start) => {
                run(&["task", "edit", &mine(turn), "-s", "In Progress", "--plain"])
            }
            (ClientKind::Backlog, ToolWork::Done) => run(&["task", "edit", &mine(turn), "-s", "Done", "--plain"]),
            (ClientKind::BeadsRust, ToolWork::Ready) => run(&["ready", "--limit", "10"]),
            (ClientKind::BeadsRust, ToolWork::Show) => run(&["show", &mine(middle)]),
            (ClientKind::BeadsRust, ToolWork::Add) => run(&["create", &text, "--deps", &mine(middle)]),
            (ClientKind::BeadsRust, ToolWork::Start) => run(&["update", &mine(turn), "--status", "in_progress"]),
            (ClientKind::BeadsRust, ToolWork::Done) => run(&["close", &mine(turn)]),
        }
    }

    /// The command that adds a todo.
    pub fn add(&self, folder: &Path, text: &str) -> Command {
        match self.kind {
            ClientKind::Punch | ClientKind::Taskwarrior => self.command(folder, &["add", text]),
            ClientKind::TaskMaster => self.command(folder, &["add-task", "--title", text, "--description", text]),
            ClientKind::Backlog => self.command(folder, &["task", "create", text, "--plain"]),
            ClientKind::BeadsRust => self.command(folder, &["create", text]),
        }
    }

    /// All texts of the plan, as the tool itself reports them; an error if it cannot read its plan any more.
    pub fn texts(&self, folder: &Path) -> Result<Vec<String>, String> {
        let fields = |said: &str, list: &str, field: &str| -> Result<Vec<String>, String> {
            let json: Value = serde_json::from_str(said).map_err(|cause| format!("{}: {cause}", self.name))?;
            let todos = if list.is_empty() { &json } else { json.pointer(list).unwrap_or(&Value::Null) };
            let todos = todos.as_array().ok_or_else(|| format!("{}: no list of todos", self.name))?;
            Ok(todos.iter().filter_map(|todo| Some(todo[field].as_str()?.to_owned())).collect())
        };
        let ask = |words: &[&str]| process::read_within(LIMIT, &mut self.command(folder, words));
        match self.kind {
            ClientKind::Punch => fields(&ask(&["export"])?, "/todos", "content"),
            ClientKind::Taskwarrior => fields(&ask(&["export"])?, "", "description"),
            ClientKind::TaskMaster => {
                ask(&["list"])?;
                let path = folder.join(".taskmaster/tasks/tasks.json");
                let text = fs::read_to_string(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
                fields(&text, "/master/tasks", "title")
            }
            ClientKind::Backlog => fields(&ask(&["task", "list", "--json"])?, "/tasks", "title"),
            ClientKind::BeadsRust => fields(&ask(&["list", "--json", "--limit", "0"])?, "", "title"),
        }
    }

    fn id(&self, n: u32) -> String {
        match self.kind {
            ClientKind::Punch => shape::id(n),
            ClientKind::Taskwarrior => shape::uuid(n),
            ClientKind::TaskMaster => (n + 1).to_string(),
            ClientKind::Backlog => format!("task-{}", n + 1),
            ClientKind::BeadsRust => shape::bead(n),
        }
    }
}

//! `punch demo`: shows what punch does, in a temporary project. Every step runs this very program and prints the
//! command as the user would type it, with its output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use punch_core::text;
use punch_core::view::SpanRole;
use serde_json::{Value, json};

use super::demo_agent::{self, DemoAgent};
use super::demo_run;
use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::reply::with_schema;
use crate::style::{OutputStream, Painter};
use crate::{environment, output};

const EXAMPLES: &str = "\
Examples:
  punch demo
  punch demo --all       # without pauses between the chapters
  punch demo --keep      # leaves the project for you to look around";

const NEXT: &str = "\
Try next, in a project of yours:
  punch install              connect your coding agents
  punch add 'First thing'    or write the plan yourself
  punch                      see the plan";

/// The arguments of `punch demo`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DemoArgs {
    /// Keep the temporary project
    #[arg(long)]
    keep: bool,
    /// Show all chapters without a pause
    #[arg(long, short)]
    all: bool,
}

/// A part of the story.
enum DemoStep {
    /// The beginning of a chapter.
    Chapter(&'static str),
    /// A line for the reader.
    Say(&'static str),
    /// A command that must succeed.
    Run(&'static [&'static str]),
    /// A command that must succeed, whose answer is of no interest.
    Quiet(&'static [&'static str]),
    /// A command that must be refused.
    Refused(&'static [&'static str]),
    /// A command of git, where there is one.
    Git(&'static [&'static str]),
    /// An agent that reports to hooks.
    Watch(&'static DemoAgent),
    /// Agents that work a plan to its end, where there is a shell; in worktrees where there is git.
    Work(&'static [&'static str]),
}

use DemoStep::{Chapter, Git, Quiet, Refused, Run, Say, Watch, Work};

const STORY: &[DemoStep] = &[
    Chapter("A plan with dependencies"),
    Quiet(&["init", "--no-agents"]),
    Run(&["add", "Choose the schema", "--id", "schema", "--phase", "Core"]),
    Run(&["add", "Write the parser", "--id", "parser", "--phase", "Core", "--needs", "schema"]),
    Run(&["add", "Write the guide", "--id", "guide", "--phase", "Docs", "--needs", "schema", "--priority", "low"]),
    Run(&["add", "Set up CI", "--id", "ci", "--phase", "Core"]),
    Run(&["add", "Release", "--id", "release", "--needs", "parser,ci", "--priority", "urgent"]),
    Say("What can be started now?"),
    Run(&["list", "--ready"]),
    Say("Finishing something too early is refused, and the answer says why."),
    Refused(&["done", "release"]),
    Say("A slip, undone. The history keeps both."),
    Run(&["cancel", "guide"]),
    Run(&["undo"]),
    Say("The plan at a glance."),
    Run(&["status"]),
    Chapter("Several workers, no todo handed out twice"),
    Say("Two workers claim, and get different todos."),
    Run(&["claim", "--owner", "alice"]),
    Run(&["claim", "--owner", "bob"]),
    Run(&["claim", "--owner", "carol"]),
    Say("Alice finishes her todo; the todos waiting for it become ready."),
    Run(&["done", "schema", "--owner", "alice", "--evidence", "reviewed"]),
    Run(&["list", "--tree"]),
    Run(&["log", "-n", "5"]),
    Chapter("Agents that stop too early"),
    Say(
        "An agent works on a plan of its own. Whenever it wants to stop, its hook asks Punchlist. Progress resets the count.",
    ),
    Quiet(&["plan", "new", "parser"]),
    Watch(&demo_agent::HASTY),
    Run(&["list", "--all"]),
    Say("Another one gets nowhere. After three continuations without progress it may stop, and you see why."),
    Quiet(&["plan", "new", "flaky"]),
    Watch(&demo_agent::STUCK),
    Run(&["keep-going", "why"]),
    Chapter("An agent that calls unfinished work done"),
    Quiet(&["plan", "new", "changelog"]),
    Say("A check decides, once you have approved it."),
    Run(&["add", "Write the changelog", "--verify", "cat CHANGES.md"]),
    Run(&["verify", "--allow", "T-1"]),
    Run(&["config", "set", "policy.verify", "command"]),
    Say("The agent ticks the todo off too early. The check fails, the agent learns why, and fixes it."),
    Watch(&demo_agent::OPTIMIST),
    Run(&["show", "T-1"]),
    Quiet(&["config", "set", "policy.verify", "claim"]),
    Chapter("git goes back, and the plan follows"),
    Quiet(&["plan", "new", "exchange"]),
    Run(&["add", "Write the importer", "--id", "importer"]),
    Run(&["add", "Write the exporter", "--id", "exporter", "--needs", "importer"]),
    Git(&["commit", "--quiet", "--allow-empty", "-m", "Importer"]),
    Run(&["done", "importer"]),
    Say("A checkpoint stores the plan and the git state."),
    Run(&["checkpoint", "save", "--note", "imports work"]),
    Git(&["commit", "--quiet", "--allow-empty", "-m", "Exporter"]),
    Run(&["done", "exporter"]),
    Say("The last commit was a mistake. Only the lost work is reopened."),
    Git(&["reset", "--quiet", "--hard", "HEAD~1"]),
    Run(&["checkpoint", "restore", "latest"]),
    Run(&["list", "--all"]),
    Chapter("A larger plan"),
    Quiet(&["plan", "new", "site"]),
    Quiet(&["add", "Lay out the page", "Write the text", "Draw the logo"]),
    Quiet(&["add", "Build the header", "Build the footer", "Build the menu", "--needs", "T-1"]),
    Quiet(&["add", "Check the links", "Check the colors", "--needs", "T-4,T-5"]),
    Quiet(&["add", "Fix the spelling", "Shrink the images", "--needs", "T-2,T-3"]),
    Quiet(&["add", "Publish it", "--needs", "T-7,T-8,T-10"]),
    Run(&["graph"]),
    Say("A check decides whether T-7 is done, once you have approved it."),
    Run(&["edit", "T-7", "--verify", "test -e T-7.txt"]),
    Run(&["verify", "--allow", "T-7"]),
    Chapter("Three agents finish the plan"),
    Say("Each has its own worktree. One crashes, one reports work it did not do."),
    Work(demo_run::RUN),
    Quiet(&["plan", "use", "main"]),
    Say("Programs get JSON from every command."),
    Run(&["status", "--json"]),
];

impl DemoArgs {
    /// Runs the story.
    pub fn run(self, global: &Global) -> Result<Exit, Failure> {
        let place = DemoFolder::make(self.keep)?;
        let mut steps = Vec::new();
        let mut exit = Exit::Ok;
        let mut note = |wrong: Option<String>| {
            if let Some(wrong) = wrong {
                output::remark(&format!("note: {wrong}"));
                exit = Exit::Bug;
            }
        };
        let painter = OutputStream::Out.painter();
        let say = |text: &str| if global.json { Ok(()) } else { output::prose(text) };
        let told = |role: SpanRole, text: &str| {
            let lines = comment(text, output::terminal_width());
            let lines: Vec<String> = lines.iter().map(|line| painter.words(role, line)).collect();
            say(&format!("\n{}\n", lines.join("\n")))
        };
        let chapters: Vec<&str> =
            STORY.iter().filter_map(|s| if let Chapter(title) = s { Some(*title) } else { None }).collect();
        let mut chapter = 0;
        let (has_git, has_shell) = (place.git(), environment::find_program("sh").is_some());
        for step in STORY {
            let (arguments, expected) = match step {
                Chapter(title) => {
                    chapter += 1;
                    if chapter > 1 && !self.all && !global.json && !next_chapter(title)? {
                        return Ok(exit);
                    }
                    told(SpanRole::Heading, &format!("Chapter {chapter} of {}: {title}", chapters.len()))?;
                    continue;
                }
                Say(text) => {
                    told(SpanRole::Detail, text)?;
                    continue;
                }
                Watch(actor) if actor.is_checked && !has_shell => continue,
                Watch(actor) => {
                    let hook = |event: &str, report: &Value| place.hook(event, report, global);
                    for (done, wrong) in demo_agent::play(actor, &place.project, hook, say)? {
                        note(wrong.or_else(|| done.unexpected(0)));
                        steps.push(done);
                    }
                    continue;
                }
                Git(arguments) => {
                    if has_git {
                        let done = place.ask_git(arguments)?;
                        say(&done.transcript(painter))?;
                        note(done.unexpected(0));
                        steps.push(done);
                    }
                    continue;
                }
                // Without a shell nothing can be checked or run; the plan stays as it is.
                Run(arguments) if arguments[0] == "verify" && !has_shell => continue,
                Run(arguments) | Quiet(arguments) => (arguments.to_vec(), 0),
                Work(_) if !has_shell => continue,
                Work(arguments) if has_git => ([arguments, &["--worktrees"][..]].concat(), 0),
                Work(arguments) => (arguments.to_vec(), 0),
                Refused(arguments) => (arguments.to_vec(), 1),
            };
            let done = place.punch(&arguments, None, global)?;
            match step {
                Quiet(_) => say(&done.command(painter))?,
                // What a run reports comes before its result.
                Work(_) => say(&format!("{}{}{}", done.command(painter), done.stderr, done.stdout))?,
                _ => say(&done.transcript(painter))?,
            }
            note(done.unexpected(expected));
            steps.push(done);
        }
        if self.keep {
            told(SpanRole::Detail, &format!("The project stays in {}", place.project.display()))?;
        }
        say(&format!("\n{NEXT}\n"))?;
        if global.json {
            let steps: Vec<Value> = steps.iter().map(DemoResult::as_json).collect();
            let folder = self.keep.then(|| place.root.display().to_string());
            let all = with_schema(json!({"steps": steps, "folder": folder}));
            output::document(&format!("{all}\n"))?;
        }
        Ok(exit)
    }
}

/// A text as comments of a shell, each short enough for a line of the terminal, if there is one.
fn comment(text: &str, columns: Option<usize>) -> Vec<String> {
    let room = columns.unwrap_or(usize::MAX).max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= room) {
            Some(line) => line.push_str(&format!(" {word}")),
            None => lines.push(format!("# {word}")),
        }
    }
    lines
}

/// Waits for the user, where one is there; false if they have seen enough.
fn next_chapter(title: &str) -> Result<bool, Failure> {
    if !environment::has_reader() {
        return Ok(true);
    }
    output::pause(&format!("\nNext: {title}\nPress Enter to continue, or q and Enter to end the demo: "))
}

/// A step that was run.
pub(super) struct DemoResult {
    line: String,
    /// What it was given on standard input.
    stdin: Option<String>,
    exit: Option<i32>,
    pub(super) stdout: String,
    stderr: String,
}

impl DemoResult {
    /// The line as it is typed.
    fn command(&self, painter: Painter) -> String {
        format!("{}\n", painter.words(SpanRole::Command, &format!("$ {}", self.line)))
    }

    fn transcript(&self, painter: Painter) -> String {
        format!("{}{}{}", self.command(painter), self.stdout, self.stderr)
    }

    fn unexpected(&self, expected: i32) -> Option<String> {
        let ended = self.exit.map_or_else(|| "was killed".to_owned(), |code| format!("ended with exit code {code}"));
        (self.exit != Some(expected)).then(|| format!("`{}` {ended} instead of {expected}", self.line))
    }

    fn as_json(&self) -> Value {
        let mut out = json!({"command": self.line, "exit": self.exit, "stdout": self.stdout, "stderr": self.stderr});
        if let Some(stdin) = &self.stdin {
            out["stdin"] = json!(stdin);
        }
        out
    }
}

/// A temporary folder with a project and a home, deleted with this value unless it should be kept.
struct DemoFolder {
    root: PathBuf,
    project: PathBuf,
    keep: bool,
}

impl DemoFolder {
    fn make(keep: bool) -> Result<Self, Failure> {
        let failed = |path: &Path, cause| Failure::File(path.display().to_string(), cause);
        let base = environment::temporary();
        let taken = |error: &std::io::Error| error.kind() == std::io::ErrorKind::AlreadyExists;
        for n in 0..1_000 {
            let root = base.join(format!("punch-demo-{}-{n}", std::process::id()));
            match std::fs::create_dir(&root) {
                Err(error) if taken(&error) => {}
                Err(error) => return Err(failed(&root, error)),
                Ok(()) => {
                    let place = Self { project: root.join("project"), root, keep };
                    std::fs::create_dir(&place.project).map_err(|error| failed(&place.project, error))?;
                    demo_run::put_agent(&place.root.join("home")).map_err(|error| failed(&place.root, error))?;
                    return Ok(place);
                }
            }
        }
        Err(failed(&base, std::io::ErrorKind::AlreadyExists.into()))
    }

    /// Makes it a git repository, if there is a git.
    fn git(&self) -> bool {
        let mut git = self.command(Path::new("git"));
        git.args(["init", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::null());
        git.status().is_ok_and(|status| status.success())
    }

    fn ask_git(&self, arguments: &[&str]) -> Result<DemoResult, Failure> {
        let mut command = self.command(Path::new("git"));
        command.args(arguments);
        finish(command, "git", arguments, None)
    }

    /// Runs this program, with a text on its standard input if there is one.
    fn punch(&self, arguments: &[&str], stdin: Option<String>, global: &Global) -> Result<DemoResult, Failure> {
        let mut command = self.command(&environment::program()?);
        command.args(arguments).args(global.ascii.then_some("--ascii"));
        if OutputStream::Out.is_terminal() && !global.json {
            let color = if OutputStream::Out.painter().has_colors() { "always" } else { "never" };
            command.env("PUNCH_VIEW_COLOR", color);
            if !global.ascii {
                command.env("PUNCH_VIEW_ASCII", "false");
            }
        }
        finish(command, "punch", arguments, stdin)
    }

    /// Reports to the hook.
    fn hook(&self, event: &str, report: &Value, global: &Global) -> Result<DemoResult, Failure> {
        self.punch(&["hook", "--agent", demo_agent::HOST, event], Some(report.to_string()), global)
    }

    /// A program that sees the demo's project and nothing of the caller's settings.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.project).stdin(Stdio::null());
        for name in environment::steering_variables() {
            command.env_remove(name);
        }
        // A demo inside an agent is still the user's.
        for mark in punch_agents::marks() {
            command.env_remove(mark.variable);
        }
        for (name, folder) in [("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "settings")] {
            command.env(name, self.root.join(folder));
        }
        for (role, what) in [("AUTHOR", "NAME"), ("AUTHOR", "EMAIL"), ("COMMITTER", "NAME"), ("COMMITTER", "EMAIL")] {
            command.env(format!("GIT_{role}_{what}"), "demo");
        }
        // Folders above the temporary one are none of the demo's business.
        command.env("GIT_CEILING_DIRECTORIES", &self.root).env("COLUMNS", environment::width().to_string());
        command
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}

/// Runs a command to its end. `name` and `arguments` are what the transcript shows.
fn finish(mut command: Command, name: &str, arguments: &[&str], stdin: Option<String>) -> Result<DemoResult, Failure> {
    let failed = |cause| Failure::File(name.to_owned(), cause);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if stdin.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().map_err(failed)?;
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), &stdin) {
        // One that does not read what it is given has its reasons.
        let _ = pipe.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed)?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let words: Vec<_> = [name].iter().chain(arguments).map(|word| text::shell(word)).collect();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    Ok(DemoResult { line: words.join(" "), stdin, exit: output.status.code(), stdout, stderr })
}

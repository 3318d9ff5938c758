//! `punch demo`: what punch does, in a temporary project. Every step is a real run of this very program, printed as a
//! person would type it with what it answered.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, CommandFactory};
use punch_core::text;
use serde_json::{Value, json};

use super::demo_agent::{self, Actor};
use super::demo_run;
use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::reply::with_schema;
use crate::{environment, output};

const EXAMPLES: &str = "\
Examples:
  punch demo
  punch demo --keep      # leaves the project for you to look around";

const NEXT: &str = "\
# What to try next, in a project of yours:
  punch init
  punch add 'First thing' 'Second thing'
  punch next
  punch --help";

/// The arguments of `punch demo`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Demo {
    /// Leave the temporary project where it is
    #[arg(long)]
    keep: bool,
}

/// A part of the story.
enum Step {
    /// A line for the reader.
    Say(&'static str),
    /// A command that must succeed.
    Run(&'static [&'static str]),
    /// A command that must be refused.
    Refused(&'static [&'static str]),
    /// A command of git, where there is one.
    Git(&'static [&'static str]),
    /// An agent that reports to hooks.
    Watch(&'static Actor),
    /// Agents that work a plan to its end, where there is a shell; in worktrees where there is git.
    Work(&'static [&'static str]),
}

use Step::{Git, Refused, Run, Say, Watch, Work};

const STORY: &[Step] = &[
    Say("A plan with dependencies."),
    Run(&["init"]),
    Run(&["add", "Choose the schema", "--id", "schema", "--phase", "Core"]),
    Run(&["add", "Write the parser", "--id", "parser", "--phase", "Core", "--needs", "schema"]),
    Run(&["add", "Write the guide", "--id", "guide", "--phase", "Docs", "--needs", "schema", "--priority", "4"]),
    Run(&["add", "Set up CI", "--id", "ci", "--phase", "Core"]),
    Run(&["add", "Release", "--id", "release", "--needs", "parser", "--needs", "ci", "--priority", "1"]),
    Say("What can be started now? The urgent release lends its priority to what it waits for."),
    Run(&["ready"]),
    Say("Finishing something too early is refused, and the answer says why."),
    Refused(&["done", "release"]),
    Say("Two workers claim. Nobody gets the same todo twice, also when they ask at the same moment."),
    Run(&["claim", "--owner", "alice"]),
    Run(&["claim", "--owner", "bob"]),
    Run(&["claim", "--owner", "carol"]),
    Say("Alice finishes; what waited for it becomes ready."),
    Run(&["done", "schema", "--owner", "alice", "--evidence", "reviewed"]),
    Run(&["ready"]),
    Say("A slip, taken back. The history keeps both."),
    Run(&["drop", "guide"]),
    Run(&["undo"]),
    Run(&["show", "guide"]),
    Say("The plan as it stands."),
    Run(&["tree"]),
    Run(&["log"]),
    Run(&["status"]),
    Say("An agent works on a plan of its own. Whenever it wants to stop its host asks `punch hook`."),
    Run(&["plan", "new", "parser"]),
    Watch(&demo_agent::HASTY),
    Run(&["list", "--all"]),
    Say("Another one gets nowhere: after three continuations that change nothing it is stopped, with the reason."),
    Run(&["plan", "new", "flaky"]),
    Watch(&demo_agent::STUCK),
    Run(&["why-stop"]),
    Say("A checkpoint keeps where the work and the code stand."),
    Run(&["plan", "new", "exchange"]),
    Run(&["add", "Write the importer", "--id", "importer"]),
    Run(&["add", "Write the exporter", "--id", "exporter", "--needs", "importer"]),
    Git(&["commit", "--quiet", "--allow-empty", "-m", "Importer"]),
    Run(&["done", "importer"]),
    Run(&["checkpoint", "save", "--note", "imports work"]),
    Git(&["commit", "--quiet", "--allow-empty", "-m", "Exporter"]),
    Run(&["done", "exporter"]),
    Say("The last commit was a mistake. git goes back, and the plan follows: what was lost is open again, only that."),
    Git(&["reset", "--quiet", "--hard", "HEAD~1"]),
    Run(&["checkpoint", "restore", "latest"]),
    Run(&["list", "--all"]),
    Say("Three agents work a plan to its end, each in a work tree of its own. One crashes, one claims too much."),
    Run(&["plan", "new", "site"]),
    Run(&["add", "Lay out the page", "Write the text", "Draw the logo"]),
    Run(&["add", "Build the header", "Build the footer", "Build the menu", "--needs", "T-1"]),
    Run(&["add", "Check the links", "Check the colours", "--needs", "T-4", "--needs", "T-5"]),
    Run(&["add", "Fix the spelling", "Shrink the images", "--needs", "T-2", "--needs", "T-3"]),
    Run(&["add", "Publish it", "--needs", "T-7", "--needs", "T-8", "--needs", "T-10"]),
    Run(&["add", "Tell everybody", "--needs", "T-11"]),
    Run(&["edit", "T-7", "--verify", "test -e T-7.txt"]),
    Say("What agents call done is checked by a command, once you have approved it."),
    Run(&["verify", "--allow", "T-7"]),
    Work(demo_run::RUN),
    Run(&["runs"]),
    Run(&["plan", "use", "main"]),
    Say("Programs get JSON from every command."),
    Run(&["status", "--json"]),
];

impl Demo {
    /// Runs the story.
    pub fn run(self, global: &Global) -> Result<Exit, Failure> {
        let place = DemoFolder::make(self.keep)?;
        let mut steps = Vec::new();
        let mut exit = Exit::Ok;
        let say = |text: &str| if global.json { Ok(()) } else { output::document(text) };
        say(&format!("# A temporary project: {}\n", place.project.display()))?;
        let (has_git, has_shell) = (place.git(), environment::find_program("sh").is_some());
        if has_git {
            say("$ git init\n")?;
        }
        for step in STORY {
            let (arguments, expected) = match step {
                Say(text) => {
                    say(&format!("\n# {text}\n"))?;
                    continue;
                }
                Watch(actor) => {
                    let hook = |event: &str, report: &Value| place.hook(event, report, global);
                    for (done, wrong) in demo_agent::play(actor, hook, say)? {
                        if let Some(wrong) = wrong.or_else(|| done.unexpected(0)) {
                            output::remark(&format!("note: {wrong}"));
                            exit = Exit::Bug;
                        }
                        steps.push(done);
                    }
                    continue;
                }
                Git(arguments) => {
                    if has_git {
                        let done = place.ask_git(arguments)?;
                        say(&done.transcript())?;
                        if let Some(wrong) = done.unexpected(0) {
                            output::remark(&format!("note: {wrong}"));
                            exit = Exit::Bug;
                        }
                        steps.push(done);
                    }
                    continue;
                }
                // Without a shell nothing can be checked or run; the plan stays as it is.
                Run(arguments) if arguments[0] == "verify" && !has_shell => continue,
                Run(arguments) => (arguments.to_vec(), 0),
                Work(_) if !has_shell => continue,
                Work(arguments) if has_git => ([arguments, &["--worktrees"][..]].concat(), 0),
                Work(arguments) => (arguments.to_vec(), 0),
                Refused(arguments) => (arguments.to_vec(), 1),
            };
            // A verb that this build does not have is no part of its story.
            if arguments.first().is_none_or(|verb| crate::Arguments::command().find_subcommand(verb).is_none()) {
                continue;
            }
            let done = place.punch(&arguments, global)?;
            say(&done.transcript())?;
            if let Some(wrong) = done.unexpected(expected) {
                output::remark(&format!("note: {wrong}"));
                exit = Exit::Bug;
            }
            steps.push(done);
        }
        let last = if self.keep { "The project stays where it is." } else { "The temporary project is gone again." };
        say(&format!("\n# {last}\n{NEXT}\n"))?;
        if global.json {
            let steps: Vec<Value> = steps.iter().map(Done::as_json).collect();
            let folder = self.keep.then(|| place.root.display().to_string());
            let all = with_schema(json!({"steps": steps, "folder": folder}));
            output::document(&format!("{all}\n"))?;
        }
        Ok(exit)
    }
}

/// A step that was run.
pub(super) struct Done {
    line: String,
    /// What it was given on standard input.
    stdin: Option<String>,
    exit: Option<i32>,
    pub(super) stdout: String,
    stderr: String,
}

impl Done {
    fn transcript(&self) -> String {
        format!("$ {}\n{}{}", self.line, self.stdout, self.stderr)
    }

    fn unexpected(&self, expected: i32) -> Option<String> {
        let wrong = self.exit != Some(expected);
        wrong.then(|| format!("`{}`: exit code {:?} where {expected} was expected", self.line, self.exit))
    }

    fn as_json(&self) -> Value {
        let mut out = json!({"command": self.line, "exit": self.exit, "stdout": self.stdout, "stderr": self.stderr});
        if let Some(stdin) = &self.stdin {
            out["stdin"] = json!(stdin);
        }
        out
    }
}

/// A folder with a project and a home of its own, gone with this value unless it is to be kept.
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

    fn ask_git(&self, arguments: &[&str]) -> Result<Done, Failure> {
        let output = self.command(Path::new("git")).args(arguments).output();
        let output = output.map_err(|cause| Failure::File("git".to_owned(), cause))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let words: Vec<String> = ["git"].iter().chain(arguments).map(|word| text::shell(word).into_owned()).collect();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Ok(Done { line: words.join(" "), stdin: None, exit: output.status.code(), stdout, stderr })
    }

    fn punch(&self, arguments: &[&str], global: &Global) -> Result<Done, Failure> {
        self.run(arguments, None, global)
    }

    /// Reports to the hook.
    fn hook(&self, event: &str, report: &Value, global: &Global) -> Result<Done, Failure> {
        self.run(&["hook", "--agent", demo_agent::HOST, event], Some(report.to_string()), global)
    }

    fn run(&self, arguments: &[&str], stdin: Option<String>, global: &Global) -> Result<Done, Failure> {
        let program = environment::program()?;
        let failed = |cause| Failure::File(program.display().to_string(), cause);
        let mut command = self.command(&program);
        command.args(arguments).args(global.ascii.then_some("--ascii"));
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
        let words: Vec<String> = ["punch"].iter().chain(arguments).map(|word| text::shell(word).into_owned()).collect();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Ok(Done { line: words.join(" "), stdin, exit: output.status.code(), stdout, stderr })
    }

    /// A program that sees the demo's project and nothing of the caller's settings.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.project).stdin(Stdio::null());
        for name in environment::steering_variables() {
            command.env_remove(name);
        }
        // A demo inside an agent is still a person's.
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

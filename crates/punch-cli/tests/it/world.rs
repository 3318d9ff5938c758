//! A temporary project with a home of its own, and runs of `punch` in it that see nothing of the tester's settings.

use std::{
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::punch::Run;

pub const PUNCH: &str = env!("CARGO_BIN_EXE_punch");

pub struct World {
    pub root: PathBuf,
    pub project: PathBuf,
    /// The address of the server that has the plans; they are in a file if there is none.
    server: Option<String>,
    _temp: TempDir,
}

/// With this variable set to `postgres`, the plans of every world are on a server, in a schema of their own: the same tests
/// with another address. The step `postgres` of the gate runs those that say nothing about files.
const STORE: &str = "PUNCH_TEST_STORE";

#[cfg(all(unix, feature = "postgres"))]
fn server() -> Option<String> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    if std::env::var_os(STORE).is_none_or(|store| store != "postgres") {
        return None;
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let cluster = punch_testkit::postgres::shared().unwrap_or_else(|| panic!("{STORE} is set, and there is no server"));
    Some(format!("{}&schema=world_{number}", cluster.address("postgres")))
}

#[cfg(not(all(unix, feature = "postgres")))]
fn server() -> Option<String> {
    assert!(std::env::var_os(STORE).is_none(), "{STORE} is set, and this build knows no servers");
    None
}

impl World {
    /// A project outside git.
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let project = root.join("p");
        fs::create_dir(&project).unwrap();
        fs::create_dir(root.join("home")).unwrap();
        Self { root, project, server: server(), _temp: temp }
    }

    /// A project that is a git repository with one commit.
    pub fn with_git() -> Self {
        let world = Self::new();
        world.git(&["init", "-q"]);
        fs::write(world.project.join("a.txt"), "x\n").unwrap();
        world.git(&["add", "a.txt"]);
        world.git(&["commit", "-q", "-m", "x"]);
        world
    }

    /// A program in the project, with a clean environment.
    pub fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.project).env_clear().env("PATH", path()).env("HOME", self.root.join("home"));
        command.env("GIT_CEILING_DIRECTORIES", &self.root).env("COLUMNS", "80").stdin(Stdio::null());
        if let Some(server) = &self.server {
            command.env("PUNCH_STORE", server).env("PUNCH_PROJECT", "world");
        }
        command
    }

    /// Copies `punch` into a folder of this world. `cp` does it: a file that this process has open for writing is also
    /// open in every child that another test starts at that moment, and such a program cannot be run.
    pub fn copy_of_punch(&self, folder: &str) -> PathBuf {
        let folder = self.root.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let copy = folder.join("punch");
        assert!(Command::new("cp").arg(PUNCH).arg(&copy).status().unwrap().success());
        copy
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(PUNCH);
        command.args(arguments);
        command
    }

    /// Runs `punch` to its end.
    pub fn punch(&self, arguments: &[&str]) -> Run {
        finished(self.command(arguments).output().unwrap())
    }

    /// Runs it with something on standard input.
    pub fn feed(&self, arguments: &[&str], input: &str) -> Run {
        self.feed_command(self.command(arguments), input)
    }

    /// Runs a command with something on standard input.
    pub fn feed_command(&self, mut command: Command, input: &str) -> Run {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        finished(thread::scope(|scope| {
            scope.spawn(|| stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
            child.wait_with_output().unwrap()
        }))
    }

    /// Runs it with `--json`; it must succeed.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let run = self.punch(&[arguments, &["--json"]].concat());
        assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{arguments:?}: {}", run.stdout);
        answer(&run)
    }

    /// Runs it with these very arguments, which ask for JSON; remarks do not matter.
    pub fn json_of(&self, arguments: &[&str]) -> Value {
        let run = self.punch(arguments);
        assert_eq!(run.exit, Some(0), "{arguments:?}: {}", run.render());
        answer(&run)
    }

    /// Runs it with `--json`; it must be refused. The answer is exit code and error code.
    pub fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let run = self.punch(&[arguments, &["--json"]].concat());
        let code = answer(&run)["error"]["code"].as_str().unwrap_or_else(|| panic!("{}", run.render())).to_owned();
        (run.exit.unwrap(), code)
    }

    /// Runs it; it must succeed. What it printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let run = self.punch(arguments);
        assert_eq!(run.exit, Some(0), "{arguments:?}: {}", run.render());
        run.stdout
    }

    /// Every line of a script with what the command printed: standard output as it is, standard error behind `2>`, and
    /// the exit code unless it is 0. Words are split at spaces, `'…'` holds them together.
    pub fn script(&self, script: &str) -> String {
        let mut out = String::new();
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let run = self.punch(&words(line).iter().map(String::as_str).collect::<Vec<_>>());
            out.push_str(&format!("$ punch {line}\n{}", run.stdout));
            run.stderr.lines().for_each(|line| out.push_str(&format!("2> {line}\n")));
            match run.exit {
                Some(0) => {}
                Some(code) => out.push_str(&format!("exit {code}\n")),
                None => out.push_str("killed\n"),
            }
        }
        self.hide_paths(&out)
    }

    /// The temporary folder has another name every time.
    pub fn hide_paths(&self, text: &str) -> String {
        let text = hide_copies(&text.replace(&self.root.display().to_string(), "$ROOT"));
        text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    /// The database, wherever it is.
    pub fn store(&self) -> PathBuf {
        PathBuf::from(self.json(&["store", "info"])["store"].as_str().unwrap())
    }

    /// `doctor` finds nothing damaged.
    pub fn sound(&self) {
        let run = self.punch(&["doctor"]);
        assert_eq!(run.exit, Some(0), "{}", run.render());
        assert!(!run.stdout.contains("damaged"), "{}", run.stdout);
    }

    /// The ids of every todo, in list order.
    pub fn ids(&self) -> Vec<String> {
        ids(&self.json(&["list", "--all"]))
    }

    /// What git prints; it must succeed.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.project, arguments)
    }

    pub fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self
            .program("git")
            .args(["-c", "init.defaultBranch=main", "-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The tester's PATH without the folders that have agents in them: `doctor` would find them.
fn path() -> OsString {
    let agents = ["claude", "codex", "qwen", "gemini", "cursor-agent", "opencode", "copilot", "droid"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let bare = |folder: &PathBuf| !agents.iter().any(|agent| folder.join(agent).exists());
    std::env::join_paths(std::env::split_paths(&path).filter(bare)).unwrap()
}

/// The text with every time replaced: `2026-08-01 10:20:30Z`, and milliseconds since the epoch.
pub fn calm(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let shape: String = rest.chars().take(20).map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        if shape == "9999-99-99 99:99:99Z" {
            out.push_str("TIME");
            rest = &rest[20..];
        } else if shape.starts_with(&"9".repeat(13)) {
            out.push_str("MS");
            rest = &rest[13..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

pub fn finished(output: Output) -> Run {
    Run {
        exit: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn answer(run: &Run) -> Value {
    let json: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.render()));
    assert_eq!(json["schema"], 1);
    json
}

pub fn ids(answer: &Value) -> Vec<String> {
    let todos = answer["todos"].as_array().unwrap();
    todos.iter().map(|todo| todo["id"].as_str().unwrap().to_owned()).collect()
}

pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}

/// Waits for something that another process does.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The name of a copy is a hash of where the store is.
fn hide_copies(text: &str) -> String {
    let mut parts = text.split("/copies/");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let hash = part.chars().take_while(char::is_ascii_hexdigit).count();
        out.push_str("/copies/NAME");
        out.push_str(&part[hash..]);
    }
    out
}

//! `punch run` on a real terminal: what someone sees there, and questions that are answered there.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use punch_testkit::terminal::VirtualTerminal;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;

use super::Stage;
use super::talks::talker;

pub const SIZE: (u16, u16) = (60, 12);

/// A program on a terminal of its own. It does not descend from this process: a test may be run by an agent, and
/// questions are not answered below one.
pub struct Watched {
    /// Holds the number of the program and how it ended.
    notes: TempDir,
    keys: File,
    output: Arc<Mutex<Vec<u8>>>,
    reader: Option<thread::JoinHandle<()>>,
}

impl Watched {
    pub fn start(command: Command) -> Self {
        let notes = tempfile::tempdir().unwrap();
        let mut command = detached(&command, notes.path());
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let mut open = OpenOptions::new();
        open.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
        let slave = open.open(std::ffi::OsStr::from_bytes(name.to_bytes())).unwrap();
        let (ws_col, ws_row) = SIZE;
        tcsetwinsize(&slave, Winsize { ws_col, ws_row, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
        if !command.get_envs().any(|(name, _)| name == "TERM") {
            command.env("TERM", "xterm");
        }
        assert!(command.status().unwrap().success());
        // Its ends of the terminal are in here, and would keep the reader waiting.
        drop(command);
        let keys = File::from(master);
        let (mut screen, output) = (keys.try_clone().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&output);
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            // A terminal that nobody has open any more is an error to read.
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { notes, keys, output, reader: Some(reader) }
    }

    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.output.lock().unwrap()).into_owned()
    }

    pub fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Sends the program a signal, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(self.pid(), signal);
    }

    fn pid(&self) -> Pid {
        let path = self.notes.path().join("pid");
        loop {
            let noted = fs::read_to_string(&path).unwrap_or_default();
            if let Some(number) = noted.strip_suffix('\n') {
                return Pid::from_raw(number.parse().unwrap()).unwrap();
            }
            thread::yield_now();
        }
    }

    /// Everything that it wrote, escapes and all, once it has ended.
    pub fn ends_raw(mut self) -> String {
        self.reader.take().unwrap().join().unwrap();
        self.printed()
    }

    /// How it ended, and everything that is or was on the screen.
    pub fn ends(mut self) -> (Option<i32>, Vec<String>) {
        // The shell that waits for the program has the terminal open as well.
        self.reader.take().unwrap().join().unwrap();
        let exit = fs::read_to_string(self.notes.path().join("exit")).ok().and_then(|code| code.trim().parse().ok());
        let mut terminal = VirtualTerminal::new(SIZE.0.into(), SIZE.1.into());
        terminal.feed(&self.printed());
        (exit, terminal.all())
    }
}

/// The command below a shell whose parent ends at once.
fn detached(command: &Command, notes: &Path) -> Command {
    // What a shell starts in the background has no input, unless it is given one.
    let script = r#"notes=$1; shift; exec 3<&0
{ "$@" <&3 3<&- & echo $! > "$notes/pid"; wait $!; echo $? > "$notes/exit"; } &"#;
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(notes).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap());
    shell
}

#[test]
fn a_question_is_answered_at_the_terminal_while_others_go_on() {
    for (keys, given, word) in [("y\n", "\"allow\"", "yes"), ("n\n", "\"deny\"", "no"), ("\n", "\"deny\"", "nothing")] {
        let stage = Stage::new();
        stage.add(&["talk ask", "talk easily"]);
        let mut run = Watched::start(talker(&stage, &["--agents", "2", "--permission", "ask"]));
        // What is typed before there is a question is not an answer.
        run.types("y\n");
        stage.wait_for("the question", || run.printed().contains("[y/N] "));
        stage.wait_for("the other todo", || stage.status("T-2") == "completed");
        let todo = stage.todo("T-1");
        assert_eq!((todo.get("hold"), &todo["status"]), (None, &"in_progress".into()), "{todo}");
        assert_eq!(stage.trace("answers").len(), 0);
        run.types(keys);
        let (exit, screen) = run.ends();
        let screen = screen.join("\n");
        assert_eq!(exit, Some(0), "{word}:\n{screen}");
        let answers = stage.trace("answers");
        assert!(answers.len() == 1 && answers[0].contains(given), "{word}: {answers:?}");
        assert_eq!(stage.status("T-1"), "completed");
        assert!(screen.contains("T-1: ls - allow it?"), "{screen}");
        assert!(!screen.contains("[y/N]") && !screen.contains("[2]"), "live lines are gone in the end:\n{screen}");
        let last = screen.lines().last().unwrap_or_default();
        assert!(last.starts_with("done: run 1, 2 completed"), "{screen}");
        assert_eq!(stage.alive(), [0; 0]);
    }
}

#[test]
fn an_interrupt_ends_a_question_and_leaves_the_terminal_at_the_beginning_of_a_line() {
    let stage = Stage::new();
    stage.add(&["talk ask"]);
    let run = Watched::start(talker(&stage, &["--permission", "ask"]));
    stage.wait_for("the question", || run.printed().contains("[y/N] "));
    run.signal(Signal::INT);
    let (exit, screen) = run.ends();
    let screen = screen.join("\n");
    assert_eq!(exit, Some(130), "{screen}");
    assert!(!screen.contains("[y/N]"), "{screen}");
    assert!(screen.lines().any(|line| line.starts_with("interrupted: run 1")), "{screen}");
    assert_eq!(stage.alive(), [0; 0]);
    // What it may have heard is that it is to end.
    assert!(stage.trace("answers").iter().all(|line| !line.contains("allow")), "{:?}", stage.trace("answers"));
    let plan = stage.world.ok(&[]);
    assert!(plan.contains("Needs you    ! run 1 was interrupted  (punch run)\n"), "{plan}");
    // Where nothing is left to do, there is nothing to resume.
    stage.world.ok(&["cancel", "T-1"]);
    assert!(!stage.world.ok(&[]).contains("interrupted"));
}

#[test]
fn every_agent_has_one_line_on_the_screen_and_none_of_it_stays() {
    let stage = Stage::new();
    stage.add(&["talk one", "talk two", "talk three", "talk four"]);
    let run = Watched::start(talker(&stage, &["--agents", "3"]));
    let (exit, screen) = run.ends();
    assert_eq!(exit, Some(0), "{screen:#?}");
    let done = screen.iter().filter(|line| line.contains(" is done: ")).count();
    assert_eq!((done, screen.iter().filter(|line| line.starts_with('[')).count()), (4, 0), "{screen:#?}");
    assert_eq!(screen[0], "run 1 begins with 3 agents");
}

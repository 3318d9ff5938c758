//! `cargo xtask boards`: the real board in a real terminal, driven by keys while other processes work.

mod pictures;
pub mod stage;
pub mod tmux;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::{TaskResult, process};
use stage::BoardProject;

/// One scenario.
struct BoardScenario {
    name: &'static str,
    run: fn(&Path) -> TaskResult,
}

const SCENARIOS: &[BoardScenario] = &[
    BoardScenario { name: "a change of another process appears", run: change_appears },
    BoardScenario { name: "a question is answered and the agent continues", run: question },
    BoardScenario { name: "a check command is approved and counts", run: approved_check },
    BoardScenario { name: "a failed write of an agent marks the board as stale", run: failed_write },
    BoardScenario { name: "auto-continue of a session is paused and resumed", run: paused_session },
    BoardScenario { name: "two boards at once: the first answer counts", run: two_boards },
    BoardScenario { name: "keys change the plan and undo it", run: keys_change },
    BoardScenario { name: "every size is drawn, and resizing works", run: sizes },
    BoardScenario { name: "the terminal is given back after a kill", run: killed },
    BoardScenario { name: "the terminal is given back after a panic", run: panicked },
    BoardScenario { name: "several todos are given to a new agent in a window", run: given_away },
    BoardScenario { name: "suspending and continuing", run: suspended },
    BoardScenario { name: "a store that vanishes and returns", run: vanishing_store },
    BoardScenario { name: "a store that cannot be read and then can", run: damaged_store },
    BoardScenario { name: "a board before the first todo", run: no_plan },
    BoardScenario { name: "a hold is answered and ends", run: answered_hold },
    BoardScenario { name: "a run is paused and resumed", run: paused_run },
    BoardScenario { name: "a run is stopped", run: stopped_run },
    BoardScenario { name: "the panel follows the plan and says when it is stale", run: panel },
    BoardScenario { name: "a board in ASCII", run: ascii },
    BoardScenario { name: "a command that has the terminal is interrupted, and the board returns", run: interrupted },
];

/// Scenarios that run at the same time: they wait more than they work.
const AT_ONCE: usize = 4;

/// Runs every scenario, or those whose name contains a word.
pub fn run(arguments: &[&str]) -> TaskResult {
    if !tmux::is_available() {
        return process::skip("the terminal board", "tmux is missing and cannot be installed");
    }
    let punch = process::build_punch()?;
    if arguments == ["--pictures"] {
        return pictures::make(&punch);
    }
    let chosen = SCENARIOS.iter().filter(|one| arguments.iter().all(|word| one.name.contains(word)));
    let queue = Mutex::new(chosen.collect::<Vec<_>>().into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(scenario) = next() {
            match (scenario.run)(&punch) {
                Ok(()) => println!("    ok      {}", scenario.name),
                Err(why) => {
                    println!("    FAILED  {}\n{why}", scenario.name);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).push(scenario.name);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn change_appears(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First", "Second"])?;
    let board = stage.board((120, 40))?;
    board.wait_for("First")?;
    stage.punch(&["add", "Added elsewhere"])?;
    board.wait_for("Added elsewhere")?;
    stage.punch(&["done", "T-1"])?;
    board.wait_for("T-1 completed")?;
    Ok(())
}

/// Two todos, one of which makes its agent ask.
fn asking(punch: &Path) -> Result<BoardProject, String> {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "Migrate schema (ask)", "Write the docs"])?;
    Ok(stage)
}

fn question(punch: &Path) -> TaskResult {
    let stage = asking(punch)?;
    let board = stage.board((120, 40))?;
    let mut run = stage.run(3, "0.3")?;
    board.wait_for("sqlx migrate run")?;
    board.wait_for("y allow once")?;
    // A key that comes at once answers nothing.
    thread::sleep(Duration::from_millis(600));
    board.key("y")?;
    board.wait_for("Allowed.")?;
    run.wait()?;
    let answers = fs::read_to_string(stage.path("traces/answers")).map_err(|cause| cause.to_string())?;
    if !answers.contains("allow") {
        return Err(format!("the agent heard: {answers}"));
    }
    board.wait_for("2/2 (100%)").map(drop)
}

fn approved_check(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "Build it", "--verify", "echo checked it"])?;
    if stage.punch(&["verify", "T-1"]).is_ok() {
        return Err("a check ran that nobody approved".to_owned());
    }
    let board = stage.board((120, 40))?;
    board.key("!")?;
    board.wait_for("May this command check")?;
    board.wait_for("y approve")?;
    // A key that comes at once approves nothing.
    thread::sleep(Duration::from_millis(600));
    board.key("y")?;
    board.wait_for("Approved: echo checked it")?;
    stage.punch(&["verify", "T-1"])?;
    board.wait_for("1/1 (100%)").map(drop)
}

fn failed_write(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First"])?;
    let board = stage.board((120, 40))?;
    board.wait_for("First")?;
    stage.call(r#"{"ops":[{"op":"done","id":"T-99"}]}"#)?;
    board.wait_for("STALE: the last write failed")?;
    board.wait_for("could not change the plan")?;
    stage.call(r#"{"ops":[{"op":"start","id":"T-1"}]}"#)?;
    board.wait_until_gone("STALE")?;
    Ok(())
}

fn paused_session(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    let board = stage.board((120, 40))?;
    stage.report("UserPromptSubmit", r#""prompt":"go""#)?;
    let todos = r#"[{"content":"First","status":"in_progress","activeForm":"Working on it"}]"#;
    let list = format!(r#""tool_name":"TodoWrite","tool_input":{{"todos":{todos}}},"tool_response":{{}}"#);
    stage.report("PostToolUse", &list)?;
    board.wait_for("Working on it")?;
    stage.report("Stop", r#""stop_hook_active":false"#)?;
    board.key("5")?;
    board.wait_for("sent back to work (1 of ")?;
    board.key("P")?;
    board.wait_for("Pause: let it stop until you resume it")?;
    board.key("p")?;
    board.wait_for("continuing: paused")?;
    stage.report("Stop", r#""stop_hook_active":true"#)?;
    board.wait_for("allowed to stop")?;
    board.key("P")?;
    board.wait_for("Resume: ")?;
    board.key("r")?;
    board.wait_for("continuing: on").map(drop)
}

fn two_boards(punch: &Path) -> TaskResult {
    let stage = asking(punch)?;
    let (first, second) = (stage.board((120, 40))?, stage.board((80, 24))?);
    let mut run = stage.run(1, "0.1")?;
    first.wait_for("sqlx migrate run")?;
    second.wait_for("asks")?;
    thread::sleep(Duration::from_millis(600));
    first.key("n")?;
    first.wait_for("Denied.")?;
    second.wait_until_gone("asks")?;
    second.key("y")?;
    run.wait()?;
    let answers = fs::read_to_string(stage.path("traces/answers")).map_err(|cause| cause.to_string())?;
    let denied = answers.lines().count() == 1 && answers.contains("deny");
    if denied { Ok(()) } else { Err(format!("the agent heard: {answers}")) }
}

fn keys_change(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First", "Second"])?;
    let board = stage.board((80, 24))?;
    board.key("2")?;
    board.wait_for("List")?;
    board.key("a")?;
    board.text("Typed 語")?;
    board.key("Enter")?;
    board.wait_for("Added T-3")?;
    board.key("s")?;
    board.wait_for("started")?;
    board.key("z")?;
    board.wait_for("Undid revision")?;
    board.key("X")?;
    board.wait_for("Archive")?;
    board.key("Escape")?;
    board.wait_for("Nothing was changed")?;
    board.key(":")?;
    board.text("show T-2")?;
    board.key("Enter")?;
    board.wait_for("punch show T-2")?;
    board.key("Escape")?;
    // Escape and a letter right after it are a key of their own.
    board.wait_until_gone("punch show T-2")?;
    board.key("q")?;
    board.wait_for("$ ")?;
    let listed = stage.punch(&["list"])?;
    if listed.contains("Typed 語") { Ok(()) } else { Err(listed) }
}

fn sizes(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First", "Second", "Third"])?;
    let board = stage.board((120, 40))?;
    board.wait_for("Nothing is selected.").or_else(|_| board.wait_for("T-1"))?;
    board.resize(80, 24)?;
    board.wait("the narrower board", |screen| screen.lines().next().is_some_and(|line| line.chars().count() <= 80))?;
    board.wait_for("? all keys")?;
    board.resize(40, 12)?;
    board.wait_for("NEEDS YOU")?;
    board.resize(20, 5)?;
    board.wait_for("0/3")?;
    board.resize(120, 40)?;
    board.wait_for("Needs you")?;
    Ok(())
}

/// Whether the shell of a terminal works as it should: the main screen is back, and typed text is echoed.
fn is_given_back(board: &tmux::Tmux) -> TaskResult {
    board.wait_until_gone("Needs you")?;
    board.line("stty -a | tr ';' '\\n' | grep -c ' icanon\\| echo ' ; echo en''d")?;
    board.wait_for("end")?;
    let screen = board.screen()?;
    if screen.contains("stty -a") { Ok(()) } else { Err(format!("what is typed is not shown:\n{screen}")) }
}

fn killed(punch: &Path) -> TaskResult {
    for signal in ["-TERM", "-HUP", "-INT"] {
        let stage = BoardProject::new(punch)?;
        stage.punch(&["add", "First"])?;
        let board = stage.board((80, 24))?;
        for pid in board.children()? {
            process::run(Command::new("kill").args([signal, &pid.to_string()]))?;
        }
        is_given_back(&board).map_err(|why| format!("after {signal}: {why}"))?;
    }
    Ok(())
}

/// A program with the same board whose store or worktrees panic.
fn panicked(punch: &Path) -> TaskResult {
    process::run(process::cargo().args([
        "build",
        "--locked",
        "--quiet",
        "--package",
        "punch-tui",
        "--example",
        "panicking_board",
    ]))?;
    let program = process::target()?.join("debug/examples/panicking_board");
    for thread in ["main", "worker"] {
        let stage = BoardProject::new(punch)?;
        let board = stage.terminal((120, 40))?;
        board.line(&format!("'{}' {thread}; echo \"status $?\"", program.display()))?;
        board.wait_for("status 101")?;
        board.wait_for("this board panics")?;
        is_given_back(&board).map_err(|why| format!("in the {thread} thread: {why}"))?;
    }
    Ok(())
}

fn given_away(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First", "Second", "Third"])?;
    let board = stage.board((120, 40))?;
    board.key("2")?;
    board.wait_for("E expand")?;
    board.key("Space")?;
    board.key("Space")?;
    board.key("b")?;
    board.wait_for("give to agent")?;
    board.text("claude")?;
    board.key("Enter")?;
    let asked = || fs::read_to_string(stage.path("traces/assigned")).unwrap_or_default();
    board.wait("that the agent has both todos", |_| asked().contains("T-1") && asked().contains("T-2"))?;
    if asked().contains("T-3") { Err(asked()) } else { Ok(()) }
}

fn damaged_store(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First"])?;
    let board = stage.board((120, 40))?;
    board.wait_for("First")?;
    let (here, away) = (stage.path("project/.punch"), stage.path("project/.away"));
    fs::rename(&here, &away).map_err(|cause| cause.to_string())?;
    fs::create_dir(&here).map_err(|cause| cause.to_string())?;
    for entry in fs::read_dir(&away).map_err(|cause| cause.to_string())?.flatten() {
        fs::write(here.join(entry.file_name()), "this is no database, and long enough to look at")
            .map_err(|cause| cause.to_string())?;
    }
    board.wait_for("store:")?;
    board.wait_for("First")?;
    fs::remove_dir_all(&here).map_err(|cause| cause.to_string())?;
    fs::rename(&away, &here).map_err(|cause| cause.to_string())?;
    board.wait_for("live")?;
    stage.punch(&["add", "After it returned"])?;
    board.wait_for("After it returned")?;
    Ok(())
}

fn suspended(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First"])?;
    let board = stage.board((80, 24))?;
    board.key("C-z")?;
    board.wait_until_gone("Needs you")?;
    stage.punch(&["add", "While it slept"])?;
    board.line("fg")?;
    board.wait_for("While it slept")?;
    board.key("q")?;
    is_given_back(&board)
}

fn vanishing_store(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First"])?;
    let board = stage.board((120, 40))?;
    board.wait_for("First")?;
    let (here, away) = (stage.path("project/.punch"), stage.path("project/.away"));
    fs::rename(&here, &away).map_err(|cause| cause.to_string())?;
    board.wait("that the store is gone", |screen| screen.contains("store:") || screen.contains("No plan yet"))?;
    fs::rename(&away, &here).map_err(|cause| cause.to_string())?;
    board.wait_for("live")?;
    stage.punch(&["add", "After it returned"])?;
    board.wait_for("After it returned")?;
    Ok(())
}

fn no_plan(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    let board = stage.board((80, 24))?;
    board.wait_for("No plan yet").or_else(|_| board.wait_for("0/0"))?;
    board.key("a")?;
    board.text("The first todo")?;
    board.key("Enter")?;
    board.wait_for("The first todo")?;
    Ok(())
}

fn answered_hold(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "Choose a license"])?;
    stage.punch(&["hold", "T-1", "MIT or Apache?"])?;
    let board = stage.board((120, 40))?;
    board.wait_for("MIT or Apache?")?;
    board.key("!")?;
    board.wait_for("y answer")?;
    board.key("y")?;
    board.wait_for("your answer")?;
    board.text("Apache")?;
    board.key("Enter")?;
    board.wait_until_gone("MIT or Apache?")?;
    let shown = stage.punch(&["show", "T-1"])?;
    let is_answered = shown.contains("Apache") && !shown.contains("on hold");
    if is_answered { Ok(()) } else { Err(shown) }
}

/// A run whose agent works until a file is there, with a board that shows it.
fn working(punch: &Path) -> Result<(BoardProject, tmux::Tmux, stage::BoardRun), String> {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First (wait)", "Second (wait)"])?;
    let board = stage.board((120, 40))?;
    let run = stage.run(1, "0")?;
    let started = || fs::read_to_string(stage.path("traces/started")).unwrap_or_default();
    board.wait("that the agent works", |screen| screen.contains("run 1") && started().contains("T-1"))?;
    Ok((stage, board, run))
}

fn paused_run(punch: &Path) -> TaskResult {
    let (stage, board, mut run) = working(punch)?;
    board.key("P")?;
    board.wait_for("finishes what it works on, then waits")?;
    board.wait_for("run 1 paused")?;
    fs::write(stage.path("traces/go"), "").map_err(|cause| cause.to_string())?;
    board.wait_for("1/2 (50%)")?;
    board.key("P")?;
    board.wait_for("2/2 (100%)")?;
    run.wait()
}

fn stopped_run(punch: &Path) -> TaskResult {
    let (stage, board, mut run) = working(punch)?;
    board.key("S")?;
    board.wait_for("Stop run 1?")?;
    board.key("Escape")?;
    board.wait_for("Nothing was changed")?;
    board.key("S")?;
    board.wait_for("Stop run 1?")?;
    board.key("y")?;
    run.end()?;
    board.wait_for("0/2 (0%)")?;
    let listed = stage.punch(&["run", "show", "1"])?;
    if listed.contains("interrupted") { Ok(()) } else { Err(listed) }
}

fn panel(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First", "Second"])?;
    let panel = stage.terminal((40, 12))?;
    panel.line("\"$PUNCH\" watch --panel")?;
    panel.wait_for("First")?;
    stage.punch(&["add", "Third"])?;
    panel.wait_for("Third")?;
    stage.call(r#"{"ops":[{"op":"done","id":"T-99"}]}"#)?;
    panel.wait_for("STALE")?;
    stage.call(r#"{"ops":[{"op":"start","id":"T-1"}]}"#)?;
    panel.wait_until_gone("STALE")?;
    panel.key("q")?;
    panel.wait_until_gone("Third").map(drop)
}

fn interrupted(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First"])?;
    let board = stage.terminal((80, 24))?;
    // Outside of tmux, commands that do not end by themselves take over the terminal.
    board.line("TMUX= \"$PUNCH\" watch")?;
    board.wait_for("live")?;
    board.key(":")?;
    board.text("log --follow")?;
    board.key("Enter")?;
    board.wait_until_gone("Needs you")?;
    stage.punch(&["add", "Second"])?;
    board.wait_for("T-2 added")?;
    board.key("C-c")?;
    board.wait_for("was interrupted")?;
    board.wait_for("live")?;
    board.key("q")?;
    is_given_back(&board)
}

fn ascii(punch: &Path) -> TaskResult {
    let stage = BoardProject::new(punch)?;
    stage.punch(&["add", "First", "Second"])?;
    let board = stage.terminal((120, 40))?;
    board.line("\"$PUNCH\" watch --ascii")?;
    board.wait_for("live *")?;
    for (key, shown) in [("2", "E expand"), ("3", "T-1"), ("4", "added"), ("5", "Run"), ("1", "Needs you")] {
        board.key(key)?;
        board.wait_for(shown)?;
        let screen = board.screen()?;
        if !screen.is_ascii() {
            return Err(format!("view {key} is not ASCII:\n{screen}"));
        }
    }
    Ok(())
}

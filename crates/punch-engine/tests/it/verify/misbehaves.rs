//! Checks that hang, flood, fork away, delete their folder or do not start. Nothing of them may be left.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use punch_core::Status;
use punch_engine::{EngineError, TAIL, VerifyError};

use super::{NEVER, World, code};

/// Long enough for a shell to start on a busy machine, short enough to wait for.
const SHORT: Duration = Duration::from_millis(700);

/// The process whose number the check wrote down is gone, or only waits to be counted.
fn is_gone(world: &World, file: &str) -> bool {
    let pid = fs::read_to_string(world.root.join(file)).unwrap();
    match fs::read_to_string(format!("/proc/{}/stat", pid.trim())) {
        Ok(stat) => stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'),
        Err(_) => true,
    }
}

/// Being ended takes the kernel a moment.
fn ends(world: &World, file: &str) -> bool {
    (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        is_gone(world, file)
    })
}

#[test]
fn one_that_hangs_is_ended_with_its_children() {
    let world = World::with("echo before; sleep 1000 & echo $! > pid; wait");
    let error = world.done_with(&world.checker(SHORT, NEVER)).unwrap_err();
    assert_eq!(error.code(), "verify_timeout");
    assert!(
        error.message().contains("was stopped after 700ms") && error.message().ends_with("\nbefore"),
        "{}",
        error.message()
    );
    assert!(error.hint().contains("punch verify T-1"));
    assert!(ends(&world, "pid"));
    assert_eq!(world.status(), Status::Pending);
}

#[test]
fn one_that_ignores_signals_is_ended_too() {
    let world = World::with("trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 0.1; done");
    assert_eq!(code(world.done_with(&world.checker(SHORT, NEVER))), "verify_timeout");
    assert!(ends(&world, "pid"));
}

#[test]
fn one_that_floods_costs_no_memory() {
    let world = World::with("yes 0123456789");
    match world.done_with(&world.checker(SHORT, NEVER)) {
        Err(EngineError::Verify(VerifyError::Timeout { tail, .. })) => {
            assert!(tail.len() <= TAIL && tail.len() > TAIL / 2, "{}", tail.len());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_end_of_a_long_output_is_kept() {
    let world = World::with("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last; exit 1");
    match world.done() {
        Err(EngineError::Verify(VerifyError::Failed { tail, .. })) => {
            assert_eq!(tail.len(), TAIL);
            assert!(tail.ends_with("x\nlast\n"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_that_leaves_something_in_the_background_does_not_wait_for_it() {
    let world = World::with("sleep 1000 & echo $! > pid");
    world.done().unwrap();
    assert!(ends(&world, "pid"));
}

#[cfg(target_os = "linux")]
#[test]
fn one_that_forks_away_into_another_session_leaves_nothing() {
    let away = "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while [ ! -s pid ]; do sleep 0.01; done";
    let world = World::with(away);
    world.done().unwrap();
    assert!(ends(&world, "pid"));
}

#[test]
fn one_that_deletes_its_folder_is_judged_by_its_exit_code() {
    let world = World::with("rm -rf \"$PWD\"");
    world.done().unwrap();
    assert_eq!(world.todo().evidence[0].commit, None);
    assert!(!world.root.exists());
}

#[test]
fn without_its_folder_nothing_starts() {
    let world = World::with("true");
    fs::remove_dir_all(&world.root).unwrap();
    assert_eq!(code(world.done()), "verify_not_started");
}

#[test]
fn a_program_that_does_not_exist_is_no_proof() {
    let world = World::with("no-such-program-anywhere");
    let error = world.done().unwrap_err();
    assert!(error.message().contains("exit code 127"), "{}", error.message());
}

#[test]
fn one_that_is_killed_counts_as_failed() {
    let world = World::with("kill -9 $$");
    let error = world.done().unwrap_err();
    assert!(error.message().contains("exit code 137"), "{}", error.message());
}

#[test]
fn one_that_waits_for_input_gets_none() {
    let world = World::with("cat");
    world.done().unwrap();
}

#[test]
fn output_that_is_no_text_reaches_nobody_raw() {
    let world = World::with("printf '\\033[31m\\377\\0red'; exit 1");
    let message = world.done().unwrap_err().message();
    assert!(!message.contains('\u{1b}') && !message.contains('\0'), "{message:?}");
    assert!(message.contains("red"));
}

#[test]
fn one_that_is_not_wanted_any_longer_is_ended() {
    let world = World::with("sleep 1000 & echo $! > pid; wait");
    let asked = AtomicU32::new(0);
    let stopped =
        || world.root.join("pid").metadata().is_ok_and(|f| f.len() > 0) && asked.fetch_add(1, Ordering::Relaxed) > 0;
    assert_eq!(code(world.done_with(&world.checker(Duration::from_secs(60), &stopped))), "verify_stopped");
    assert!(ends(&world, "pid"));
}

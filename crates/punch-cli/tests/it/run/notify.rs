//! `notify.command`: the text it gets, and that nothing it does harms the run.

use super::Stage;
use crate::world::finished;

#[test]
fn the_user_is_notified_of_the_inbox_and_of_the_end() {
    let stage = Stage::new();
    // Todo text is never part of a command.
    stage.add(&["refuse $(touch $TRACES/hacked) `touch $TRACES/hacked`", "slow 2"]);
    let mut command = stage.command(&["--agents", "2"]);
    command.env("PUNCH_NOTIFY_COMMAND", "cat >> $TRACES/told; echo -- >> $TRACES/told");
    let run = finished(command.output().unwrap());
    assert_eq!(run.exit, Some(1), "{}", run.render());
    let told = stage.trace("told").join("\n");
    assert!(told.contains("1 thing needs you\nfailed T-1: refuse"), "{told}");
    assert!(told.contains("run 1 ended (stalled), 1 todo completed\nT-1 failed: exit code 7"), "{told}");
    assert!(!stage.traces.join("hacked").exists());
}

#[test]
fn a_run_notifies_the_user_of_settings_that_wait_for_approval() {
    let stage = Stage::new();
    stage.add(&["work", "work"]);
    // The first look remembers what is there.
    let look = |stage: &Stage| {
        let mut command = stage.world.command(&["notify-inbox"]);
        assert!(command.env("PUNCH_NOTIFY_COMMAND", "true").output().unwrap().status.success());
    };
    look(&stage);
    let config = stage.world.store().with_file_name("config.toml");
    std::fs::write(config, "verify.plan = \"make check\"\n").unwrap();
    let mut command = stage.command(&[]);
    command.env("PUNCH_NOTIFY_COMMAND", "cat >> $TRACES/told; echo -- >> $TRACES/told");
    let run = finished(command.output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    let told = stage.trace("told").join("\n");
    assert!(told.contains("verify.plan"), "{told}");
}

#[test]
fn a_command_that_fails_hangs_or_does_not_read_does_not_harm_the_run() {
    for line in ["exit 3", "no-such-program-at-all", "exec <&-; true"] {
        let stage = Stage::new();
        stage.add(&["work"]);
        let mut command = stage.command(&[]);
        command.env("PUNCH_NOTIFY_COMMAND", line);
        let run = finished(command.output().unwrap());
        assert_eq!(run.exit, Some(0), "{line}: {}", run.render());
        assert_eq!(stage.alive(), [0; 0]);
    }
}

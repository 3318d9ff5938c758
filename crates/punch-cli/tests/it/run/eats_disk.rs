//! An agent that eats the disk on which the project and its store are. In a mount namespace of its own, so that nothing stays
//! mounted; where that is not allowed it says so and tests nothing.

use super::Stage;
use crate::world::{PUNCH, finished};

const SCRIPT: &str = r#"
    mount -t tmpfs -o size=12m tmpfs "$1" || exit 99
    cd "$1" || exit 98
    "$0" add 'disk 40; work' 'work' > /dev/null || exit 97
    ( while [ ! -s "$TRACES/done" ]; do sleep 0.01; done; sleep 0.5; rm -f eaten ) &
    "$0" run --agent "$2"
    echo "exit $?"
    "$0" list --all
    "$0" doctor > "$TRACES/doctor" 2>&1; echo "doctor $?"
"#;

#[test]
fn a_disk_that_an_agent_has_eaten_is_waited_for_until_there_is_room() {
    let stage = Stage::new();
    let mut unshare = stage.prepared(stage.world.program("unshare"));
    unshare.args(["--map-root-user", "--mount", "sh", "-c", SCRIPT, PUNCH]);
    unshare.arg(&stage.world.project).arg(&stage.spec);
    let run = finished(unshare.output().unwrap());
    if run.exit != Some(0) {
        eprintln!("SKIPPED: no tmpfs can be mounted here: {}", run.stderr);
        return;
    }
    assert!(run.stdout.contains("done: run 1, 2 completed"), "{}", run.render());
    assert!(run.stdout.contains("exit 0\n[x] T-1  disk 40; work\n[x] T-2  work\ndoctor 0\n"), "{}", run.render());
    stage.all_gone();
}

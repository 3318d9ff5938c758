//! Disks that are full and folders that cannot be written: a clear error that names the file, nothing lost.
#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::ExitStatusExt,
    },
    path::Path,
    process::Command,
};

use crate::punch::Run;
use crate::world::{PUNCH, World, answer, finished};

/// More than any limit below.
fn many() -> String {
    (0..2_000).map(|n| format!("todo {n} with a long text, so that the store must grow by some pages\n")).collect()
}

/// Adds two thousand todos in a shell that limits the size of files.
fn limited(world: &World, before: &str) -> (Run, Option<i32>) {
    fs::write(world.project.join("many.txt"), many()).unwrap();
    let script = format!("{before} ulimit -f 200; exec \"$0\" add - --json < many.txt");
    let output = world.program("sh").args(["-c", &script, PUNCH]).output().unwrap();
    let signal = output.status.signal();
    (finished(output), signal)
}

#[test]
fn a_limit_on_file_sizes_is_told_and_nothing_is_lost() {
    let world = World::new();
    world.ok(&["add", "first"]);
    let store = world.store();
    let (run, _) = limited(&world, "trap '' XFSZ;");
    assert_eq!(run.exit, Some(3), "{}", run.render());
    let error = &answer(&run)["error"];
    assert_eq!(error["code"], "store_full");
    assert!(error["message"].as_str().unwrap().contains(store.to_str().unwrap()), "{error}");
    assert_eq!(world.ids(), ["T-1"]);
    world.ok(&["add", "second"]);
    world.sound();
}

/// Without the trap the system ends the process, as kill -9 would.
#[test]
fn a_process_that_the_limit_kills_loses_nothing() {
    let world = World::new();
    world.ok(&["add", "first"]);
    let (_, signal) = limited(&world, "");
    assert_eq!(signal, Some(25), "SIGXFSZ");
    assert_eq!(world.ids(), ["T-1"]);
    world.ok(&["add", "second"]);
    world.sound();
}

/// In a mount namespace of its own, so that nothing stays mounted.
#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let world = World::new();
    fs::write(world.project.join("many.txt"), many()).unwrap();
    let disk = world.root.join("disk");
    fs::create_dir(&disk).unwrap();
    let script = r#"
        mount -t tmpfs -o size=400k tmpfs "$1" || exit 99
        PUNCH_STORE="$1/store"; export PUNCH_STORE
        "$0" add first > "$1.log" 2>&1 || exit 98
        cat /dev/zero > "$1/filler" 2>/dev/null
        "$0" add - --json < many.txt
        echo "exit $?"
        "$0" list
        rm "$1/filler"
        "$0" add second
        "$0" doctor > "$1.log" 2>&1; echo "doctor $?"
    "#;
    let mut unshare = world.program("unshare");
    let output = unshare.args(["--map-root-user", "--mount", "sh", "-c", script, PUNCH]).arg(&disk).output().unwrap();
    if !output.status.success() {
        eprintln!("SKIPPED: no tmpfs can be mounted here: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    let error: serde_json::Value = serde_json::from_str(lines[0]).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(error["error"]["code"], "store_full", "{said}");
    assert!(error["error"]["message"].as_str().unwrap().contains("disk/store/store.db"), "{said}");
    assert_eq!(lines[1..], ["exit 3", "[ ] T-1  first", "[ ] T-2  second", "doctor 0"], "{said}");
}

/// Permissions do not bind the root user: then everything runs as nobody, from a folder of theirs.
struct Nobody {
    world: World,
    root: bool,
}

impl Nobody {
    fn new() -> Self {
        let world = World::with_git();
        // Whoever owns the temporary folder is who runs the tests.
        let owner = |path: &Path| std::os::unix::fs::MetadataExt::uid(&fs::metadata(path).unwrap());
        let root = owner(&world.root) == 0;
        if root {
            world.copy_of_punch(".");
            fs::set_permissions(&world.root, fs::Permissions::from_mode(0o755)).unwrap();
            let all = Command::new("chown").args(["-R", "65534:65534"]).arg(&world.root).status().unwrap();
            assert!(all.success());
            chown(&world.root, Some(65534), Some(65534)).unwrap();
        }
        Self { world, root }
    }

    fn punch(&self, arguments: &[&str]) -> Run {
        if !self.root {
            return self.world.punch(arguments);
        }
        let mut command = self.world.program("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(self.world.root.join("punch"));
        finished(command.args(arguments).output().unwrap())
    }

    fn set(&self, path: &str, mode: u32) {
        fs::set_permissions(self.world.project.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Refused as read-only, naming a path.
    fn refused(&self, path: &str) {
        let run = self.punch(&["add", "more", "--json"]);
        let error = &answer(&run)["error"];
        assert_eq!((run.exit, error["code"].as_str()), (Some(1), Some("store_read_only")), "{}", run.render());
        assert!(error["message"].as_str().unwrap().contains(path), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("PUNCH_STORE"), "{error}");
    }

    fn list(&self) -> String {
        let run = self.punch(&["list"]);
        assert_eq!(run.exit, Some(0), "{}", run.render());
        run.stdout
    }
}

#[test]
fn a_read_only_store_can_be_read_and_says_why_it_cannot_be_written() {
    let nobody = Nobody::new();
    assert_eq!(nobody.punch(&["add", "first"]).exit, Some(0));
    nobody.set(".git/punch/store.db", 0o444);
    nobody.refused(".git/punch");
    assert_eq!(nobody.list(), "[ ] T-1  first\n");
    nobody.set(".git/punch", 0o555);
    nobody.refused(".git/punch");
    assert_eq!(nobody.list(), "[ ] T-1  first\n");
    nobody.set(".git/punch", 0o755);
    nobody.set(".git/punch/store.db", 0o644);
    assert_eq!(nobody.punch(&["add", "second"]).exit, Some(0));
    assert_eq!(nobody.list(), "[ ] T-1  first\n[ ] T-2  second\n");
}

#[test]
fn a_read_only_git_folder_is_no_reason_for_a_second_store() {
    let nobody = Nobody::new();
    nobody.set(".git", 0o555);
    nobody.refused(".git/punch");
    assert_eq!(nobody.list(), "No todos yet: `punch add 'First thing'` adds one.\n");
    assert_eq!(nobody.punch(&["init", "--in-tree"]).exit, Some(0));
    assert_eq!(nobody.punch(&["add", "first"]).exit, Some(0));
    assert_eq!(nobody.list(), "[ ] T-1  first\n");
    nobody.set(".git", 0o755);
}

/// What the system is asked for, in order: power loss after the answer must not take the folder with it.
#[test]
fn the_first_write_is_on_disk_with_its_folders_before_it_is_acknowledged() {
    let world = World::with_git();
    let log = world.root.join("calls");
    let mut strace = world.program("strace");
    strace.args(["-f", "-y", "-s", "200", "-o"]).arg(&log);
    strace.args(["-e", "trace=mkdir,mkdirat,rename,renameat,renameat2,fsync,fdatasync,write"]);
    let run = match strace.args([PUNCH, "add", "first"]).output() {
        Ok(output) => finished(output),
        Err(error) => {
            eprintln!("SKIPPED: strace cannot be started: {error}");
            return;
        }
    };
    if run.exit != Some(0) && run.stderr.contains("PTRACE") {
        eprintln!("SKIPPED: processes cannot be traced here: {}", run.stderr);
        return;
    }
    assert_eq!(run.stdout, "[ ] T-1  first\n", "{}", run.render());
    let calls = fs::read_to_string(&log).unwrap();
    let calls: Vec<&str> = calls.lines().filter(|call| call.ends_with("= 0") || call.contains("write(1<")).collect();
    let git = world.project.join(".git").display().to_string();
    let acknowledged = calls.iter().position(|call| call.contains("write(1<")).unwrap();
    let at = |what: &dyn Fn(&str) -> bool| calls[..acknowledged].iter().rposition(|call| what(call));
    let synced = |path: &str| at(&|call| call.contains("sync(") && call.contains(&format!("<{path}>)")));
    let made = at(&|call| call.contains("mkdir") && call.contains(&format!("\"{git}/punch\"")));
    let placed = at(&|call| call.contains("rename") && call.contains(&format!("\"{git}/punch/store.db\"")));
    assert!(made.is_some() && placed.is_some(), "{calls:#?}");
    assert!(synced(&git) > made, "the folder itself: {calls:#?}");
    assert!(synced(&format!("{git}/punch")) > placed, "the name of the database: {calls:#?}");
    assert!(synced(&format!("{git}/punch/store.db-wal")) > placed, "the write: {calls:#?}");
}

//! `punch worker`: several workers, each in a clone of its own, on one store and one bare git remote.

mod questions;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use punch_testkit::postgres;
use serde_json::Value;

use crate::world::{World, finished};

/// Longer than anything that is not broken, with a lease of three seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// Writes a file named after its todo. Waits as long as a file of that name is among the brakes.
const AGENT: &str = r#"cat > /dev/null
echo "$PUNCH_TODO $WORKER" >> "$TRACES/started"
while [ -e "$TRACES/brake-$PUNCH_TODO" ]; do sleep 0.05; done
echo "$PUNCH_TODO by $WORKER" > "$PUNCH_TODO.txt"
"#;

/// Machines that share a store and a git remote.
struct Fleet {
    world: World,
    store: String,
    remote: PathBuf,
}

/// A worker at work, killed when dropped.
struct Worker {
    child: Child,
    log: PathBuf,
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn ends(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end:\n{}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Fleet {
    /// A fleet whose store is a folder that all machines see.
    fn new() -> Self {
        let world = World::with_git();
        let store = world.root.join("store").display().to_string();
        Self::at(world, store)
    }

    /// A fleet whose store is a PostgreSQL server; `None` where there is none.
    fn on_postgres() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let address = format!("{}&schema=fleet_{number}", postgres::shared()?.address("postgres"));
        Some(Self::at(World::with_git(), address))
    }

    fn at(world: World, store: String) -> Self {
        let remote = world.root.join("remote.git");
        fs::create_dir(world.root.join("traces")).unwrap();
        fs::write(world.root.join("agent.sh"), AGENT).unwrap();
        world.git(&["clone", "-q", "--bare", ".", "../remote.git"]);
        let fleet = Self { world, store, remote };
        fleet.machine("a");
        fleet.ok("a", &["init", "--store", &fleet.store, "--no-agents"]);
        fleet
    }

    /// Makes a clone for a machine.
    fn machine(&self, name: &str) {
        self.world.git(&["clone", "-q", "../remote.git", &format!("../{name}")]);
    }

    fn command(&self, machine: &str, arguments: &[&str]) -> Command {
        self.on(machine, self.world.command(arguments))
    }

    /// Makes a program run on a machine.
    fn on(&self, machine: &str, mut command: Command) -> Command {
        command
            .current_dir(self.world.root.join(machine))
            .env("PUNCH_STORE", &self.store)
            .env("PUNCH_PROJECT", "shop")
            .env("PUNCH_WORKER_LEASE", "3s")
            .env("PUNCH_RUN_BACKOFF", "10ms")
            .env("PUNCH_RUN_GRACE", "300ms")
            .env("TRACES", self.world.root.join("traces"))
            .env("WORKER", machine);
        command
    }

    fn ok(&self, machine: &str, arguments: &[&str]) -> String {
        let run = finished(self.command(machine, arguments).output().unwrap());
        assert_eq!(run.exit, Some(0), "{arguments:?}: {}", run.render());
        run.stdout
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok("a", &[arguments, &["--json"]].concat())).unwrap()
    }

    fn add(&self, contents: &[&str]) {
        self.ok("a", &[&["add"], contents].concat());
    }

    /// Starts a worker on a machine, under the name of the machine.
    fn worker(&self, machine: &str, more: &[&str]) -> Worker {
        self.worker_with(machine, more, &[])
    }

    /// Starts a worker on a machine with more variables.
    fn worker_with(&self, machine: &str, more: &[&str], variables: &[(&str, &str)]) -> Worker {
        if !self.world.root.join(machine).exists() {
            self.machine(machine);
        }
        let spec = format!("exec:sh '{}'", self.world.root.join("agent.sh").display());
        let given = ["worker", "--name", machine, "--agent", &spec];
        let log = self.world.root.join(format!("{machine}.log"));
        let file = fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let mut command = self.command(machine, &[&given[..], more].concat());
        let child = command.envs(variables.iter().copied()).stdout(Stdio::null()).stderr(file).spawn().unwrap();
        Worker { child, log }
    }

    fn status(&self, id: &str) -> String {
        self.json(&["show", id])["todo"]["status"].as_str().unwrap_or_default().to_owned()
    }

    /// The lines of agents that started: a todo and a worker.
    fn started(&self) -> Vec<String> {
        let text = fs::read_to_string(self.world.root.join("traces/started")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn brake(&self, id: &str) -> PathBuf {
        let path = self.world.root.join(format!("traces/brake-{id}"));
        fs::write(&path, "").unwrap();
        path
    }

    fn wait_for(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}:\n{}", self.logs());
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn logs(&self) -> String {
        let files = fs::read_dir(&self.world.root).unwrap().flatten().map(|entry| entry.path());
        let logs = files.filter(|path| path.extension().is_some_and(|end| end == "log"));
        let text = |path: PathBuf| format!("{}:\n{}", path.display(), fs::read_to_string(&path).unwrap_or_default());
        format!("{}\n{}", self.ok("a", &["list", "--all"]), logs.map(text).collect::<String>())
    }

    fn wait_until_done(&self, todos: usize) {
        self.wait_for("the end of the plan", || {
            let list = self.json(&["list", "--all"]);
            let all = list["todos"].as_array().unwrap();
            all.len() == todos && all.iter().all(|todo| todo["status"] == "completed")
        });
    }

    fn remote_git(&self, arguments: &[&str]) -> String {
        git(&self.remote, arguments)
    }

    /// Checks that the result branch of the remote has the work on each todo exactly once, and the store is sound.
    fn has_everything_once(&self, todos: usize) {
        let result = self.remote_git(&["for-each-ref", "--format=%(refname)", "refs/heads/punch/*/result"]);
        assert_eq!(result.lines().count(), 1, "{result}");
        let files = self.remote_git(&["ls-tree", "--name-only", &result]);
        let subjects = self.remote_git(&["log", "--no-merges", "--format=%s", &result]);
        for number in 1..=todos {
            assert!(files.lines().any(|file| file == format!("T-{number}.txt")), "T-{number} in {files}");
            let commits = subjects.lines().filter(|line| line.starts_with(&format!("T-{number}: "))).count();
            assert_eq!(commits, 1, "commits of T-{number} in {subjects}");
        }
        self.ok("a", &["doctor"]);
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Ten todos, two of which wait for others.
fn plan_of_ten(fleet: &Fleet) {
    let contents: Vec<String> = (1..=8).map(|n| format!("Write file {n}")).collect();
    fleet.add(&contents.iter().map(String::as_str).collect::<Vec<_>>());
    fleet.ok("a", &["add", "After the first", "--needs", "T-1"]);
    fleet.ok("a", &["add", "After that", "--needs", "T-9"]);
}

fn two_workers_finish_a_plan(fleet: &Fleet) {
    let mut first = fleet.worker("a", &["--seats", "2"]);
    let mut second = fleet.worker("b", &["--seats", "2"]);
    // A worker that is there first may take everything before the other one has started.
    let workers = || fleet.json(&["worker", "list"])["workers"].as_array().map_or(0, Vec::len);
    fleet.wait_for("both workers", || workers() == 2);
    // One worker has two seats: the third todo is the other one's.
    let brakes: Vec<PathBuf> = (1..=8).map(|number| fleet.brake(&format!("T-{number}"))).collect();
    plan_of_ten(fleet);
    fleet.wait_for("both workers at work", || {
        let started = fleet.started();
        ["a", "b"].iter().all(|name| started.iter().any(|line| line.ends_with(&format!(" {name}"))))
    });
    brakes.iter().for_each(|brake| fs::remove_file(brake).unwrap());
    fleet.wait_until_done(10);
    fleet.has_everything_once(10);
    fleet.wait_for("two workers in the list that handed ten todos in", || {
        let list = fleet.json(&["worker", "list"]);
        let handed = list["workers"].as_array().unwrap().iter().map(|one| one["handedIn"].as_u64().unwrap());
        handed.clone().count() == 2 && handed.sum::<u64>() == 10
    });
    for worker in [&mut first, &mut second] {
        worker.signal("TERM");
        assert_eq!(worker.ends(), Some(0), "{}", worker.log());
    }
    let list = fleet.json(&["worker", "list"]);
    assert!(list["workers"].as_array().unwrap().iter().all(|worker| worker["state"] == "gone"), "{list}");
    let branches = fleet.remote_git(&["for-each-ref", "--format=%(refname)", "refs/heads/punch"]);
    assert_eq!(branches.lines().count(), 1, "only the result stays: {branches}");
}

#[test]
fn two_workers_finish_a_plan_on_one_file() {
    two_workers_finish_a_plan(&Fleet::new());
}

#[test]
fn two_workers_finish_a_plan_on_postgres() {
    if let Some(fleet) = Fleet::on_postgres() {
        two_workers_finish_a_plan(&fleet);
    }
}

#[test]
fn the_todos_of_a_worker_that_was_killed_go_to_another() {
    let fleet = Fleet::new();
    fleet.add(&["One", "Two"]);
    let brake = fleet.brake("T-1");
    let mut first = fleet.worker("a", &[]);
    fleet.wait_for("the first agent", || !fleet.started().is_empty());
    first.signal("KILL");
    first.ends();
    // It was the coordinator too.
    let _second = fleet.worker("b", &[]);
    fleet.wait_for("the second agent", || fleet.started().iter().any(|line| line == "T-1 b"));
    fs::remove_file(brake).unwrap();
    fleet.wait_until_done(2);
    fleet.has_everything_once(2);
    let attempts = fleet.json(&["show", "T-1"])["todo"]["attempts"].as_u64();
    assert_eq!(attempts.unwrap_or(0), 0, "no attempt failed");
}

#[test]
fn a_coordinator_that_was_stopped_and_replaced_changes_nothing() {
    let fleet = Fleet::new();
    fleet.add(&["One", "Two", "Three"]);
    let brake = fleet.brake("T-1");
    let first = fleet.worker("a", &[]);
    fleet.wait_for("the first agent", || fleet.started().iter().any(|line| line.ends_with(" a")));
    first.signal("STOP");
    let second = fleet.worker("b", &[]);
    fleet.wait_for("the takeover", || second.log().contains("b coordinates run 1"));
    fleet.wait_for("the todo of the stopped worker", || fleet.started().iter().any(|line| line == "T-1 b"));
    // The first one wakes up with an agent that works on what is no longer its todo.
    first.signal("CONT");
    fs::remove_file(brake).unwrap();
    fleet.wait_until_done(3);
    fleet.has_everything_once(3);
}

#[test]
fn a_worker_that_is_asked_to_end_finishes_its_todo_first() {
    let fleet = Fleet::new();
    fleet.add(&["One"]);
    fleet.ok("a", &["add", "Two", "--label", "runs-on:gpu"]);
    let brake = fleet.brake("T-1");
    let mut worker = fleet.worker("a", &["--label", "gpu"]);
    fleet.wait_for("the agent", || !fleet.started().is_empty());
    worker.signal("TERM");
    fleet.wait_for("the drain", || fleet.json(&["worker", "list"])["workers"][0]["state"] == "draining");
    let inbox = fleet.ok("a", &["inbox"]);
    assert!(inbox.contains("no worker can take it: none has the label `gpu`"), "{inbox}");
    fs::remove_file(brake).unwrap();
    assert_eq!(worker.ends(), Some(0), "{}", worker.log());
    assert_eq!(fleet.status("T-1"), "completed", "{}", worker.log());
    assert_eq!((fleet.status("T-2"), fleet.started().len()), ("pending".into(), 1), "nothing new was taken");
}

#[test]
fn todos_go_to_workers_with_their_labels() {
    let fleet = Fleet::new();
    fleet.ok("a", &["add", "Train", "--label", "runs-on:gpu"]);
    fleet.ok("a", &["add", "Anywhere"]);
    let _first = fleet.worker("a", &["--label", "linux"]);
    fleet.wait_for("the other todo", || fleet.status("T-2") == "completed");
    let inbox = fleet.ok("a", &["inbox"]);
    assert!(inbox.contains("no worker can take it: none has the label `gpu`"), "{inbox}");
    let _second = fleet.worker("b", &["--label", "runs-on:gpu"]);
    fleet.wait_until_done(2);
    assert_eq!(fleet.started(), ["T-2 a", "T-1 b"]);
}

#[test]
fn two_workers_cannot_have_one_name() {
    let fleet = Fleet::new();
    fleet.add(&["One"]);
    let brake = fleet.brake("T-1");
    let _first = fleet.worker("a", &[]);
    fleet.wait_for("the agent", || !fleet.started().is_empty());
    let same =
        finished(fleet.command("a", &["worker", "--name", "a", "--agent", "exec:true", "--json"]).output().unwrap());
    assert!(same.exit != Some(0) && same.render().contains("worker_taken"), "{}", same.render());
    let clone =
        finished(fleet.command("a", &["worker", "--name", "c", "--agent", "exec:true", "--json"]).output().unwrap());
    assert!(clone.exit != Some(0) && clone.render().contains("worker_clone_taken"), "{}", clone.render());
    fs::remove_file(brake).unwrap();
    fleet.wait_until_done(1);
    let none =
        finished(fleet.command("a", &["worker", "--agent", "exec:true", "--remote", "nowhere"]).output().unwrap());
    assert!(none.exit == Some(1) && none.stderr.contains("no remote `nowhere`"), "{}", none.render());
    let name = finished(fleet.command("a", &["worker", "--agent", "exec:true", "--name", "a b"]).output().unwrap());
    assert_eq!(name.exit, Some(2), "{}", name.render());
}

#[test]
fn checks_run_where_the_setting_says() {
    for place in ["worker", "coordinator"] {
        let fleet = Fleet::new();
        fleet.add(&["One", "Two"]);
        fleet.ok("a", &["edit", "T-1", "--verify", "echo T-1 >> \"$TRACES/checked\"; test -f T-1.txt"]);
        fleet.ok("a", &["verify", "T-1", "--allow"]);
        let _worker = fleet.worker_with("a", &[], &[("PUNCH_VERIFY_WHERE", place)]);
        fleet.wait_until_done(2);
        fleet.has_everything_once(2);
        let checked = fs::read_to_string(fleet.world.root.join("traces/checked")).unwrap_or_default();
        assert_eq!(checked.lines().count(), 1, "{place}: {checked}");
    }
}

#[test]
fn a_remote_that_refuses_puts_the_todo_on_hold() {
    let fleet = Fleet::new();
    fleet.add(&["One"]);
    let brake = fleet.brake("T-1");
    let _worker = fleet.worker("a", &[]);
    fleet.wait_for("the agent", || !fleet.started().is_empty());
    let hook = fleet.remote.join("hooks/pre-receive");
    fs::write(&hook, "#!/bin/sh\necho 'no space for you' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(brake).unwrap();
    fleet.wait_for("the hold", || fleet.json(&["show", "T-1"])["todo"]["hold"].is_object());
    let inbox = fleet.ok("a", &["inbox"]);
    assert!(inbox.contains("`origin` refused what was pushed"), "{inbox}");
    fs::remove_file(&hook).unwrap();
    fleet.ok("a", &["unhold", "T-1"]);
    fleet.wait_until_done(1);
    fleet.has_everything_once(1);
}

#[test]
fn a_result_branch_that_was_rewritten_is_noticed() {
    let fleet = Fleet::new();
    fleet.ok("a", &["add", "One", "Two"]);
    fleet.ok("a", &["edit", "T-2", "--needs", "T-1"]);
    let brake = fleet.brake("T-2");
    let _worker = fleet.worker("a", &[]);
    fleet.wait_for("the second agent", || fleet.started().len() == 2);
    let result = fleet.remote_git(&["for-each-ref", "--format=%(refname)", "refs/heads/punch/*/result"]);
    let first = fleet.remote_git(&["rev-list", "--max-parents=0", &result]);
    fleet.remote_git(&["update-ref", &result, &first]);
    fs::remove_file(brake).unwrap();
    fleet.wait_for("the hold", || fleet.json(&["show", "T-2"])["todo"]["hold"].is_object());
    let inbox = fleet.ok("a", &["inbox"]);
    assert!(inbox.contains("was rewritten or deleted"), "{inbox}");
}

#[test]
fn a_worker_coordinates_only_where_the_setting_allows_it() {
    let fleet = Fleet::new();
    fleet.add(&["One"]);
    let first = fleet.worker_with("a", &["--plans", "main,nowhere"], &[("PUNCH_WORKER_COORDINATE", "false")]);
    fleet.wait_for("the first worker", || !fleet.json(&["worker", "list"])["workers"][0].is_null());
    let second = fleet.worker_with("b", &[], &[("PUNCH_WORKER_COORDINATE", "true")]);
    fleet.wait_until_done(1);
    assert!(second.log().contains("b coordinates run 1"), "{}", second.log());
    assert!(!first.log().contains("coordinates"), "{}", first.log());
    assert_eq!(first.log().matches("unknown plan `nowhere`").count(), 1, "{}", first.log());
}

#[test]
fn a_run_that_was_stopped_waits_until_it_is_resumed() {
    let fleet = Fleet::new();
    fleet.add(&["One"]);
    let brake = fleet.brake("T-1");
    let worker = fleet.worker("a", &[]);
    fleet.wait_for("the agent", || !fleet.started().is_empty());
    fleet.ok("a", &["run", "stop"]);
    fleet.wait_for("the end of the agent", || worker.log().contains("the run is stopped; `punch run resume`"));
    assert_eq!(fleet.status("T-1"), "pending", "{}", worker.log());
    fs::remove_file(brake).unwrap();
    fleet.ok("a", &["run", "resume"]);
    fleet.wait_until_done(1);
    let log = worker.log();
    assert_eq!(
        (log.matches("the run is stopped").count(), log.matches("a coordinates run 1").count()),
        (1, 1),
        "{log}"
    );
}

#[test]
fn a_worker_that_reached_a_limit_waits_and_says_so_once() {
    let fleet = Fleet::new();
    fleet.add(&["One", "Two"]);
    let mut first = fleet.worker_with("a", &[], &[("PUNCH_RUN_MAX_TURNS", "1")]);
    fleet.wait_for("the limit", || first.log().contains("1 of 1 turns used"));
    fleet.wait_for("the first todo", || fleet.status("T-1") == "completed");
    let _second = fleet.worker("b", &[]);
    fleet.wait_until_done(2);
    let log = first.log();
    assert_eq!((log.matches("turns used").count(), log.matches("a coordinates run 1").count()), (1, 1), "{log}");
    first.signal("TERM");
    assert_eq!(first.ends(), Some(0), "{}", first.log());
}

#[test]
fn a_coordinator_waits_for_a_remote_that_cannot_be_reached() {
    let fleet = Fleet::new();
    fleet.add(&["One"]);
    let check =
        "touch \"$TRACES/checking\"; while [ -e \"$TRACES/brake-check\" ]; do sleep 0.05; done; test -f T-1.txt";
    fleet.ok("a", &["edit", "T-1", "--verify", check]);
    fleet.ok("a", &["verify", "T-1", "--allow"]);
    let brake = fleet.brake("check");
    let worker = fleet.worker_with("a", &[], &[("PUNCH_VERIFY_WHERE", "coordinator")]);
    fleet.wait_for("the check", || fleet.world.root.join("traces/checking").exists());
    let clone = fleet.world.root.join("a");
    let url = git(&clone, &["remote", "get-url", "origin"]);
    git(&clone, &["remote", "set-url", "origin", "http://127.0.0.1:1/gone"]);
    fs::remove_file(brake).unwrap();
    fleet.wait_for("patience", || worker.log().contains("the git remote does not answer, trying again"));
    git(&clone, &["remote", "set-url", "origin", &url]);
    fleet.wait_until_done(1);
    fleet.has_everything_once(1);
}

#[test]
fn a_coordinator_that_leaves_verifies_only_what_was_handed_in_before() {
    let fleet = Fleet::new();
    fleet.ok("a", &["add", "One", "Two", "--label", "runs-on:b"]);
    let first = "touch \"$TRACES/checking\"; while [ -e \"$TRACES/brake-check\" ]; do sleep 0.05; done";
    fleet.ok("a", &["edit", "T-1", "--verify", first]);
    fleet.ok("a", &["edit", "T-2", "--verify", "echo \"$WORKER\" >> \"$TRACES/checked\""]);
    fleet.machine("b");
    for (machine, id) in [("a", "T-1"), ("a", "T-2"), ("b", "T-1"), ("b", "T-2")] {
        fleet.ok(machine, &["verify", id, "--allow"]);
    }
    let (check, agent) = (fleet.brake("check"), fleet.brake("T-2"));
    let place = [("PUNCH_VERIFY_WHERE", "coordinator")];
    let mut leaving = fleet.worker_with("a", &[], &place);
    fleet.wait_for("the coordinator", || leaving.log().contains("a coordinates run 1"));
    let other = fleet.worker_with("b", &["--label", "b", "--seats", "2"], &place);
    fleet.wait_for("the first check", || fleet.world.root.join("traces/checking").exists());
    leaving.signal("TERM");
    let seen = || {
        let list = fleet.json(&["worker", "list"]);
        (list["workers"][0]["state"] == "draining", list["workers"][0]["seenAt"].as_i64().unwrap())
    };
    fleet.wait_for("the drain", || seen().0);
    let begun = seen().1;
    fleet.wait_for("signs of life for longer than the lease", || seen().0 && seen().1 > begun + 3_500);
    fs::remove_file(agent).unwrap();
    fleet.wait_for("the second todo", || fleet.json(&["worker", "list"])["workers"][1]["handedIn"] == 2);
    fs::remove_file(check).unwrap();
    assert_eq!(leaving.ends(), Some(0), "{}", leaving.log());
    fleet.wait_until_done(2);
    assert!(other.log().contains("b coordinates run 1"), "{}", other.log());
    assert_eq!(fs::read_to_string(fleet.world.root.join("traces/checked")).unwrap(), "b\n");
}

#[test]
fn a_coordinator_leaves_work_that_it_may_not_check_to_another_worker() {
    let fleet = Fleet::new();
    fleet.ok("a", &["add", "One", "--label", "runs-on:b", "--verify", "test -f T-1.txt"]);
    fleet.ok("a", &["add", "Two", "--verify", "test -f T-2.txt"]);
    fleet.machine("b");
    fleet.ok("b", &["verify", "T-1", "--allow"]);
    let first = fleet.worker("a", &[]);
    fleet.wait_for("the coordinator", || first.log().contains("a coordinates run 1"));
    let second = fleet.worker("b", &["--label", "b"]);
    fleet.wait_for("the first todo", || fleet.status("T-1") == "completed");
    assert!(first.log().contains("the check of T-1 is not approved on this machine"), "{}", first.log());
    assert!(second.log().contains("b coordinates run 1"), "{}", second.log());
    for worker in [&first, &second] {
        assert_eq!(worker.log().matches("T-2 was skipped").count(), 1, "{}", worker.log());
    }
}

#[test]
fn a_plan_that_is_archived_is_left_until_it_is_restored() {
    let fleet = Fleet::new();
    fleet.ok("a", &["plan", "new", "side"]);
    fleet.add(&["One", "Two"]);
    fleet.ok("a", &["plan", "use", "main"]);
    let brake = fleet.brake("T-1");
    let worker = fleet.worker("a", &[]);
    fleet.wait_for("the agent", || !fleet.started().is_empty());
    fleet.ok("a", &["plan", "archive", "side"]);
    fleet.wait_for("the worker to notice", || {
        worker.log().contains("plan side is archived: this worker takes no more of its todos")
    });
    fs::remove_file(brake).unwrap();
    fleet.wait_for("the end", || worker.log().contains("plan side is archived: this worker has left it"));
    assert_eq!(fleet.started(), ["T-1 a"], "its agent finished, and nothing new was taken");
    fleet.ok("a", &["plan", "archive", "side", "--undo"]);
    fleet
        .wait_for("the other todo", || fleet.json(&["show", "T-2", "--plan", "side"])["todo"]["status"] == "completed");
}

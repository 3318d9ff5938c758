//! A fleet for chaos: workers as real processes, each on a machine of its own with its own clone, that share a schema of a
//! PostgreSQL server and a bare git repository. Afterwards the history, `doctor` and git judge what they did.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use punch_testkit::postgres::Cluster;
use serde_json::Value;

use super::network::Network;
use super::server::last_lines;
use crate::{TaskResult, process, soak};

/// How long workers count as alive.
const LEASE: &str = "4s";

/// How long claims last, in milliseconds: the default.
const CLAIM: i64 = 900_000;

/// No step takes longer, unless the fleet has come to a standstill.
const PATIENCE: Duration = Duration::from_secs(240);

/// How long a worker may take to leave after it was asked to.
const LEAVING: Duration = Duration::from_secs(60);

/// Commits one file for its todo, unless an earlier agent has. Waits as long as a brake for the todo is there.
const AGENT: &str = r#"cat > /dev/null
echo "$PUNCH_TODO $WORKER" >> "$TRACES/started"
while [ -e "$TRACES/brake-$PUNCH_TODO" ]; do sleep 0.1; done
[ -e "$PUNCH_TODO.txt" ] && exit 0
echo "$PUNCH_TODO by $WORKER" > "$PUNCH_TODO.txt"
git add "$PUNCH_TODO.txt" && git commit --quiet --message "$PUNCH_TODO: by $WORKER"
"#;

/// What all fleets share.
pub(super) struct FleetStage<'a> {
    pub punch: &'a Path,
    /// Holds everything; the bare repositories are in `git` below it.
    pub root: &'a Path,
    pub network: &'a Network,
    pub cluster: &'a Cluster,
}

/// Workers on one plan.
pub(super) struct WorkerFleet<'a> {
    stage: &'a FleetStage<'a>,
    name: String,
    folder: PathBuf,
    seats: &'static str,
    begun: i64,
    pub machines: Vec<FleetMachine>,
}

/// A machine of the fleet; its index is that of its network namespace.
pub(super) struct FleetMachine {
    pub name: &'static str,
    worker: Option<Child>,
}

/// What is on the result branch.
pub(super) struct ResultBranch {
    /// How many commits there are for each todo.
    pub commits: BTreeMap<u64, usize>,
    /// The worker that wrote the file of each todo.
    pub by: BTreeMap<u64, String>,
}

impl<'a> WorkerFleet<'a> {
    /// An empty plan in a schema of this name, a repository, and a clone for each machine.
    pub fn new(
        stage: &'a FleetStage<'a>,
        name: &str,
        machines: &[&'static str],
        seats: &'static str,
    ) -> Result<Self, String> {
        let folder = stage.root.join(name);
        fs::create_dir_all(folder.join("traces")).map_err(|cause| cause.to_string())?;
        fs::write(folder.join("agent.sh"), AGENT).map_err(|cause| cause.to_string())?;
        let machines = machines.iter().map(|name| FleetMachine { name, worker: None }).collect();
        let fleet = Self { stage, name: name.to_owned(), folder, seats, begun: soak::now(), machines };
        fleet.git(&fleet.folder, &["init", "--quiet", "origin"])?;
        let origin = fleet.folder.join("origin");
        let commit = ["-c", "user.name=chaos", "-c", "user.email=chaos@localhost", "commit", "--quiet"];
        fleet.git(&origin, &[&commit[..], &["--allow-empty", "--message", "Begin"]].concat())?;
        let bare = stage.root.join("git").join(format!("{name}.git")).display().to_string();
        fleet.git(&fleet.folder, &["clone", "--quiet", "--bare", "origin", &bare])?;
        let url = format!("git://{}/{name}.git", stage.network.address());
        for clone in fleet.machines.iter().map(|machine| machine.name).chain(["control"]) {
            fs::create_dir_all(fleet.home(clone)).map_err(|cause| cause.to_string())?;
            fleet.git(&fleet.folder, &["clone", "--quiet", &url, clone])?;
            for (setting, value) in [("user.name", clone), ("user.email", "chaos@localhost")] {
                fleet.git(&fleet.folder.join(clone), &["config", setting, value])?;
            }
        }
        fleet.punch(&["init", "--store", &fleet.store(), "--no-agents"])?;
        Ok(fleet)
    }

    fn home(&self, clone: &str) -> PathBuf {
        self.folder.join(format!("{clone}.home"))
    }

    fn store(&self) -> String {
        let address = self.stage.network.address();
        format!("postgres://punch@{address}/postgres?schema={}&sslmode=disable&connect_timeout=2", self.name)
    }

    /// Sets up a program as if it ran on the machine with this clone.
    fn on(&self, clone: &str, command: &mut Command) {
        command
            .current_dir(self.folder.join(clone))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home(clone))
            .env("GIT_CEILING_DIRECTORIES", &self.folder)
            .env("PUNCH_STORE", self.store())
            .env("PUNCH_PROJECT", "shop")
            .env("PUNCH_WORKER_LEASE", LEASE)
            .env("PUNCH_RUN_BACKOFF", "10ms")
            .env("PUNCH_RUN_GRACE", "300ms")
            .env("TRACES", self.folder.join("traces"))
            .env("WORKER", clone)
            .stdin(Stdio::null());
    }

    /// Runs `punch` outside of all machines; it must succeed.
    pub fn punch(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(self.stage.punch);
        self.on("control", &mut command);
        process::read(command.args(arguments))
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> Result<String, String> {
        let mut git = Command::new("git");
        git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        process::read(git.args(arguments)).map(|text| text.trim_end().to_owned())
    }

    fn remote_git(&self, arguments: &[&str]) -> Result<String, String> {
        self.git(&self.stage.root.join("git").join(format!("{}.git", self.name)), arguments)
    }

    /// The index of a machine.
    pub fn machine(&self, name: &str) -> Result<usize, String> {
        self.machines.iter().position(|machine| machine.name == name).ok_or_else(|| format!("no machine `{name}`"))
    }

    /// Starts the worker of a machine.
    pub fn start(&mut self, machine: usize) -> TaskResult {
        let name = self.machines[machine].name;
        let agent = format!("exec:sh '{}'", self.folder.join("agent.sh").display());
        let log = fs::OpenOptions::new().create(true).append(true).open(self.log_file(name));
        let mut command = self.stage.network.program(machine, self.stage.punch);
        self.on(name, &mut command);
        command.args(["worker", "--name", name, "--seats", self.seats, "--agent", &agent]);
        let child = command.stdout(Stdio::null()).stderr(log.map_err(|cause| cause.to_string())?).spawn();
        self.machines[machine].worker = Some(child.map_err(|cause| cause.to_string())?);
        Ok(())
    }

    /// The last line that the worker of a machine has printed.
    pub fn last_line(&self, machine: usize) -> String {
        let log = fs::read_to_string(self.log_file(self.machines[machine].name)).unwrap_or_default();
        log.lines().last().unwrap_or_default().to_owned()
    }

    fn log_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    /// Sends a signal to the worker of a machine.
    pub fn signal(&self, machine: usize, name: &str) {
        if let Some(worker) = &self.machines[machine].worker {
            soak::signal(name, &worker.id().to_string());
        }
    }

    /// Kills the worker of a machine; its agents stay, as after a crash.
    pub fn kill(&mut self, machine: usize) {
        if let Some(mut worker) = self.machines[machine].worker.take() {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }

    /// Cuts a machine off, or connects it again.
    pub fn set_connected(&self, machine: usize, is_connected: bool) -> TaskResult {
        self.stage.network.set_connected(machine, is_connected)
    }

    /// Returns true if the worker of a machine runs.
    pub fn is_running(&mut self, machine: usize) -> bool {
        self.machines[machine].worker.as_mut().is_some_and(|worker| matches!(worker.try_wait(), Ok(None)))
    }

    /// The machine whose worker coordinates the plan, as far as the store knows.
    pub fn coordinator(&self) -> Option<usize> {
        let holder = self.stage.cluster.sql("postgres", &format!("SELECT holder FROM {}.runner LIMIT 1", self.name));
        let holder: Value = serde_json::from_str(holder.ok()?.trim()).ok()?;
        let process = holder["process"].as_u64()?;
        let is_holder =
            |machine: &FleetMachine| machine.worker.as_ref().is_some_and(|one| u64::from(one.id()) == process);
        self.machines.iter().position(is_holder)
    }

    /// Returns true if a worker has said that it coordinates.
    pub fn has_coordinated(&self, name: &str) -> bool {
        let log = fs::read_to_string(self.log_file(name)).unwrap_or_default();
        log.contains(&format!("{name} coordinates run"))
    }

    /// Keeps agents from finishing a todo.
    pub fn hold(&self, todo: u64) -> TaskResult {
        fs::write(self.brake(todo), "").map_err(|cause| cause.to_string())
    }

    /// Lets agents finish a todo.
    pub fn release(&self, todo: u64) -> TaskResult {
        fs::remove_file(self.brake(todo)).map_err(|cause| cause.to_string())
    }

    fn brake(&self, todo: u64) -> PathBuf {
        self.folder.join(format!("traces/brake-T-{todo}"))
    }

    /// Agents that started, in order: todo and worker.
    pub fn started(&self) -> Vec<(u64, String)> {
        let lines = fs::read_to_string(self.folder.join("traces/started")).unwrap_or_default();
        let start = |line: &str| {
            let (todo, worker) = line.strip_prefix("T-")?.split_once(' ')?;
            Some((todo.parse().ok()?, worker.to_owned()))
        };
        lines.lines().filter_map(start).collect()
    }

    /// Adds this many todos; of every eight, three wait for earlier ones.
    pub fn add_todos(&self, todos: u64) -> TaskResult {
        for first in (1..=todos).step_by(8) {
            let last = (first + 7).min(todos);
            let free: Vec<String> =
                (first..=last.min(first + 4)).map(|number| format!("Write file {number}")).collect();
            let free: Vec<&str> = free.iter().map(String::as_str).collect();
            self.punch(&[&["add"], &free[..]].concat())?;
            for number in first + 5..=last {
                let needs = format!("T-{}", number - 3);
                self.punch(&["add", &format!("Write file {number}"), "--needs", &needs])?;
            }
        }
        Ok(())
    }

    /// How many todos are completed.
    pub fn completed(&self) -> Result<u64, String> {
        let list: Value =
            serde_json::from_str(&self.punch(&["list", "--all", "--json"])?).map_err(|e| e.to_string())?;
        let todos = list["todos"].as_array().ok_or("`punch list` printed no todos")?;
        Ok(todos.iter().filter(|todo| todo["status"] == "completed").count() as u64)
    }

    /// Waits until something holds. The error says what the fleet looks like.
    pub fn wait_for(&self, what: &str, mut holds: impl FnMut(&Self) -> Result<bool, String>) -> TaskResult {
        let begun = Instant::now();
        while !holds(self)? {
            if begun.elapsed() > PATIENCE {
                return Err(format!("standstill: waited {} s for {what}\n{}", PATIENCE.as_secs(), self.state()));
            }
            thread::sleep(Duration::from_millis(300));
        }
        Ok(())
    }

    /// Everything that helps to understand a standstill.
    pub fn state(&self) -> String {
        let mut out = String::new();
        for arguments in [&["list", "--all"][..], &["worker", "list"], &["run", "show"]] {
            out += &self.punch(arguments).unwrap_or_else(|cause| cause);
        }
        for machine in &self.machines {
            let log = fs::read_to_string(self.log_file(machine.name)).unwrap_or_default();
            out += &format!("--- log of {}\n{}\n", machine.name, last_lines(&log));
        }
        out
    }

    /// Asks all workers to leave. Returns those that did not.
    pub fn end_workers(&mut self) -> Vec<String> {
        let mut wrong = Vec::new();
        (0..self.machines.len()).for_each(|machine| self.signal(machine, "TERM"));
        let begun = Instant::now();
        for machine in 0..self.machines.len() {
            while self.is_running(machine) && begun.elapsed() < LEAVING {
                thread::sleep(Duration::from_millis(50));
            }
            if self.is_running(machine) {
                wrong.push(format!("{} did not leave after SIGTERM\n{}", self.machines[machine].name, self.state()));
            }
            self.kill(machine);
        }
        wrong
    }

    /// What is on the result branch of the remote.
    pub fn merged(&self) -> Result<ResultBranch, String> {
        let result = self.remote_git(&["for-each-ref", "--format=%(refname)", "refs/heads/punch/*/result"])?;
        if result.lines().count() != 1 {
            return Err(format!("there is not one result branch: {result:?}"));
        }
        let mut merged = ResultBranch { commits: BTreeMap::new(), by: BTreeMap::new() };
        for subject in self.remote_git(&["log", "--no-merges", "--format=%s", &result])?.lines() {
            if let Some(todo) = number_of(subject.split(':').next().unwrap_or_default()) {
                *merged.commits.entry(todo).or_default() += 1;
            }
        }
        for file in self.remote_git(&["ls-tree", "--name-only", &result])?.lines() {
            if let Some(todo) = file.strip_suffix(".txt").and_then(number_of) {
                let text = self.remote_git(&["show", &format!("{result}:{file}")])?;
                merged.by.insert(todo, text.rsplit(' ').next().unwrap_or_default().to_owned());
            }
        }
        Ok(merged)
    }

    /// Judges a finished plan of this many todos: the store, its history, and the result branch. Returns the last revision
    /// and everything that is wrong.
    pub fn judge(&self, todos: u64) -> Result<(u64, Vec<String>), String> {
        let mut wrong = Vec::new();
        wrong.extend(self.punch(&["doctor", "--json"]).err().map(|cause| format!("doctor: {cause}")));
        let merged = self.merged()?;
        for todo in 1..=todos {
            let commits = merged.commits.get(&todo).copied().unwrap_or_default();
            if commits != 1 || !merged.by.contains_key(&todo) {
                wrong.push(format!("git: T-{todo} has {commits} commits on the result branch"));
            }
        }
        // Exporting everything is the only way to see whole events; the store is not needed afterwards.
        let export = self.folder.join("events.jsonl");
        let all = u64::MAX.to_string();
        self.punch(&["store", "prune", "--before", &all, "--export", &export.display().to_string()])?;
        let lines = fs::read_to_string(&export).map_err(|cause| cause.to_string())?;
        let (revisions, faults) = soak::judge_export(&lines, CLAIM, self.begun)?;
        wrong.extend(faults);
        Ok((revisions, wrong.into_iter().map(|what| format!("{}: {what}", self.name)).collect()))
    }
}

impl Drop for WorkerFleet<'_> {
    fn drop(&mut self) {
        for machine in 0..self.machines.len() {
            self.kill(machine);
            self.stage.network.kill_processes(machine);
            let _ = self.set_connected(machine, true);
        }
    }
}

fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix("T-")?.parse().ok()
}

//! Machines as network namespaces: each has an address of its own behind a bridge of this machine, and nothing else to talk
//! to. A shell cleans up when this process ends, however that happens.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{TaskResult, process};

/// Starts the git server, waits for the end of its standard input, and removes everything.
const KEEPER: &str = r#"
"$DAEMON" --reuseaddr --listen="$ADDRESS" --base-path="$REPOSITORIES" --export-all --enable=receive-pack \
    --timeout=20 --init-timeout=5 < /dev/null > /dev/null 2>&1 &
daemon=$!
echo up
cat > /dev/null
for space in $SPACES; do
    ip netns pids "$space" | xargs -r kill -KILL
    ip netns del "$space"
done
kill "$daemon"
ip link del "$BRIDGE"
"#;

/// A bridge with machines.
pub(super) struct Network {
    prefix: String,
    subnet: String,
    keeper: Option<Child>,
}

impl Network {
    /// Makes a network of machines with a git server on the bridge, which serves every repository below a folder.
    pub fn set_up(machines: usize, repositories: &Path) -> Result<Self, String> {
        require_ip()?;
        let daemon = process::read(Command::new("git").arg("--exec-path"))?;
        let number = std::process::id();
        // Names of devices have at most 15 bytes.
        let mut network = Self {
            prefix: format!("pch{}", number % 100_000),
            subnet: format!("10.213.{}", number % 250),
            keeper: None,
        };
        let spaces: Vec<String> = (0..machines).map(|machine| network.space(machine)).collect();
        let bridge = format!("{}b", network.prefix);
        ip(&["link", "add", &bridge, "type", "bridge"]).map_err(|cause| format!("machines need root: {cause}"))?;
        let address = network.address();
        let made = ip(&["address", "add", &format!("{address}/24"), "dev", &bridge])
            .and_then(|()| ip(&["link", "set", &bridge, "up"]))
            .and_then(|()| (0..machines).try_for_each(|machine| network.add_machine(machine, &bridge)));
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", KEEPER])
            .env("DAEMON", Path::new(daemon.trim()).join("git-daemon"))
            .env("ADDRESS", &address)
            .env("REPOSITORIES", repositories)
            .env("SPACES", spaces.join(" "))
            .env("BRIDGE", &bridge)
            // In a group of its own: Ctrl-C ends this process, and the end of this process ends the network.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut keeper = shell.spawn().map_err(|cause| cause.to_string())?;
        let mut line = String::new();
        if let Some(out) = keeper.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(|cause| cause.to_string())?;
        }
        network.keeper = Some(keeper);
        made.map(|()| network)
    }

    fn add_machine(&self, machine: usize, bridge: &str) -> TaskResult {
        let (space, outer, inner) = (self.space(machine), self.device(machine), format!("{}n{machine}", self.prefix));
        ip(&["netns", "add", &space])?;
        ip(&["link", "add", &outer, "type", "veth", "peer", "name", &inner])?;
        ip(&["link", "set", &inner, "netns", &space])?;
        ip(&["link", "set", &outer, "master", bridge, "up"])?;
        let within = ["netns", "exec", &space, "ip"];
        let address = format!("{}.{}/24", self.subnet, 11 + machine);
        ip(&[&within[..], &["address", "add", &address, "dev", &inner]].concat())?;
        ip(&[&within[..], &["link", "set", &inner, "up"]].concat())?;
        ip(&[&within[..], &["link", "set", "lo", "up"]].concat())
    }

    /// The address under which machines reach this one.
    pub fn address(&self) -> String {
        format!("{}.1", self.subnet)
    }

    /// The addresses of all machines.
    pub fn range(&self) -> String {
        format!("{}.0/24", self.subnet)
    }

    /// Cuts a machine off, or connects it again.
    pub fn set_connected(&self, machine: usize, is_connected: bool) -> TaskResult {
        ip(&["link", "set", &self.device(machine), if is_connected { "up" } else { "down" }])
    }

    /// A program on a machine. It is started by `ip`, whose process it becomes.
    pub fn program(&self, machine: usize, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.space(machine)]).arg(program);
        command
    }

    /// Kills everything that runs on a machine.
    pub fn kill_processes(&self, machine: usize) {
        let processes = process::read(Command::new("ip").args(["netns", "pids", &self.space(machine)]));
        for process in processes.unwrap_or_default().split_whitespace() {
            crate::soak::signal("KILL", process);
        }
    }

    fn space(&self, machine: usize) -> String {
        format!("{}-{machine}", self.prefix)
    }

    fn device(&self, machine: usize) -> String {
        format!("{}h{machine}", self.prefix)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}

fn ip(arguments: &[&str]) -> TaskResult {
    process::read(Command::new("ip").args(arguments)).map(drop)
}

/// Installs the program `ip` where it is missing.
fn require_ip() -> TaskResult {
    if process::read(Command::new("ip").arg("-V")).is_ok() {
        return Ok(());
    }
    println!("    installing iproute2");
    process::run(Command::new("apt-get").args(["install", "--yes", "--no-install-recommends", "iproute2"]))
}

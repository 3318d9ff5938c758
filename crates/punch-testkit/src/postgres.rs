//! A PostgreSQL server that lives as long as the test process: its own folder, a Unix socket, no network. It ends by itself
//! when the process ends, however that happens.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The oldest release that is supported.
const OLDEST: u32 = 14;

/// How careful the server is with what it was told to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// It does not wait for the disk: for tests that crash nothing.
    Fast,
    /// It waits, as in real life.
    Durable,
    /// A file system of its own that can be filled up. Mounting it needs root.
    Small,
}

/// How much fits on a small disk: a new cluster takes about 40 MB of it.
const SMALL: &str = "size=160m";

/// A server.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    bin: PathBuf,
    user: Option<(u32, u32)>,
    is_mounted: bool,
    /// Stops the server when this process ends.
    keeper: Option<Child>,
}

/// The one server of this test process; `None` if PostgreSQL is not installed, which a line on standard error says. Where
/// `CI` is set that is a failure.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(|| skip_or(Cluster::start(Disk::Fast))).as_ref()
}

/// What a test does about a server that did not start.
fn skip_or(started: io::Result<Cluster>) -> Option<Cluster> {
    match started {
        Ok(cluster) => Some(cluster),
        Err(error) if std::env::var_os("CI").is_none() && error.kind() == io::ErrorKind::NotFound => {
            say(&format!("SKIPPED: PostgreSQL is not tested: {error}"));
            None
        }
        Err(error) => panic!("PostgreSQL did not start: {error}"),
    }
}

#[expect(clippy::print_stderr, reason = "a test that was skipped must say so")]
fn say(line: &str) {
    eprintln!("{line}");
}

/// The folder with the programs of the newest installed release that is supported.
pub fn programs() -> Option<PathBuf> {
    let in_path =
        std::env::var_os("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let packaged = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut packaged: Vec<(u32, PathBuf)> = packaged
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(release, _)| *release >= OLDEST)
        .collect();
    packaged.sort();
    let packaged = packaged.into_iter().rev().map(|(_, folder)| folder);
    // Single programs may be linked from elsewhere: the folder that they come from has all of them.
    let folder_of = |folder: PathBuf| folder.join("initdb").canonicalize().ok()?.parent().map(Path::to_owned);
    let has_all =
        |folder: &PathBuf| ["initdb", "postgres", "pg_ctl", "psql"].iter().all(|name| folder.join(name).is_file());
    in_path.chain(packaged).filter_map(folder_of).find(has_all)
}

impl Cluster {
    /// Makes and starts a server.
    pub fn start(disk: Disk) -> io::Result<Self> {
        Self::start_with(disk, |_| Ok(String::new()))
    }

    /// Makes and starts a server with more settings, which may name files in its folder.
    pub fn start_with(disk: Disk, settings: impl FnOnce(&Path) -> io::Result<String>) -> io::Result<Self> {
        let bin = programs().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "PostgreSQL is not installed"))?;
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // A path to a socket has at most 107 bytes, so the folder has a short name.
        let folder = std::env::temp_dir().join(format!("punch-pg-{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        let user = unprivileged()?;
        if let Some((user, group)) = user {
            chown(&folder, Some(user), Some(group))?;
        }
        let mut cluster = Self { folder, bin, user, is_mounted: false, keeper: None };
        if disk == Disk::Small {
            cluster.mount()?;
        }
        let small = ["--wal-segsize=1"];
        let initdb = ["-A", "trust", "-U", "punch", "--no-sync", "-E", "UTF8", "--locale=C", "-D", "data"];
        let segments = if disk == Disk::Small { &small[..] } else { &[] };
        cluster.run("initdb", &[&initdb[..], segments].concat())?;
        let config = match disk {
            Disk::Fast => "fsync = off\nfull_page_writes = off\nsynchronous_commit = off\n",
            Disk::Durable => "",
            Disk::Small => "min_wal_size = 2MB\nmax_wal_size = 16MB\n",
        };
        let settings = settings(&cluster.folder)?;
        let config = format!(
            "{config}listen_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 200\nlogging_collector = off\n{settings}",
            cluster.folder.display()
        );
        let auto = cluster.folder.join("data").join("postgresql.auto.conf");
        fs::write(&auto, config)?;
        cluster.keeper = Some(cluster.keep()?);
        Ok(cluster)
    }

    /// Starts the server under a shell that stops it and removes the folder when its standard input ends.
    fn keep(&self) -> io::Result<Child> {
        let script = "$2 \"$0/pg_ctl\" -w -s -D data -l log start && echo up && cat > /dev/null; \
                      $2 \"$0/pg_ctl\" -s -D data -m immediate stop; umount data 2> /dev/null; cd / && rm -rf \"$1\"";
        let mut shell = self.command(Path::new("/bin/sh"));
        shell.arg("-c").arg(script).arg(&self.bin).arg(&self.folder);
        if let Some((user, group)) = self.user.filter(|_| self.is_mounted) {
            // Root unmounts the disk; the server still runs as another user.
            shell.uid(0).gid(0).arg(format!("setpriv --reuid={user} --regid={group} --clear-groups"));
        }
        // In a group of its own: Ctrl-C ends the test, and the end of the test ends the server.
        shell.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.spawn()?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        if line.trim() == "up" { Ok(child) } else { Err(io::Error::other(format!("pg_ctl: {}", self.log()))) }
    }

    /// Puts the data on a file system of its own.
    fn mount(&mut self) -> io::Result<()> {
        let data = self.folder.join("data");
        fs::create_dir(&data)?;
        let mut mount = Command::new("mount");
        let status = mount.args(["-t", "tmpfs", "-o", SMALL, "tmpfs"]).arg(&data).stderr(Stdio::null()).status()?;
        if !status.success() {
            let _ = fs::remove_dir_all(&self.folder);
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "cannot mount a disk of its own"));
        }
        self.is_mounted = true;
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700))?;
        match self.user {
            Some((user, group)) => chown(&data, Some(user), Some(group)),
            None => Ok(()),
        }
    }

    /// Fills the disk of the server up to its last byte.
    pub fn fill_disk(&self) -> io::Result<()> {
        if !self.is_mounted {
            return Err(io::Error::other("the server has no disk of its own"));
        }
        let mut file = fs::File::create(self.filler())?;
        let block = [0; 64 * 1024];
        loop {
            match io::Write::write(&mut file, &block) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Frees the disk again.
    pub fn free_disk(&self) -> io::Result<()> {
        fs::remove_file(self.filler())
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("data").join("filler")
    }

    /// The address of a database of this server.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://punch@/{database}?host={}", self.folder.display())
    }

    /// The folder with the socket.
    pub fn socket_folder(&self) -> &Path {
        &self.folder
    }

    /// The number of the main process.
    pub fn process(&self) -> Option<u32> {
        let text = fs::read_to_string(self.folder.join("data").join("postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    /// Starts the server again after it was stopped.
    pub fn resume(&self) -> io::Result<()> {
        self.run("pg_ctl", &["-w", "-s", "-D", "data", "-l", "log", "start"]).map(|_| ())
    }

    /// Stops the server in one of the modes of `pg_ctl`: `fast`, or `immediate` as in a crash.
    pub fn stop(&self, mode: &str) -> io::Result<()> {
        self.run("pg_ctl", &["-w", "-s", "-D", "data", "-m", mode, "stop"]).map(|_| ())
    }

    /// Runs SQL as the owner of the server and returns what it prints.
    pub fn sql(&self, database: &str, sql: &str) -> io::Result<String> {
        let folder = self.folder.display().to_string();
        self.run(
            "psql",
            &["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", &folder, "-U", "punch", "-d", database, "-c", sql],
        )
    }

    /// Runs a program of PostgreSQL in the folder of the server.
    pub fn run(&self, program: &str, arguments: &[&str]) -> io::Result<String> {
        let mut command = self.command(&self.bin.join(program));
        // The server inherits what it is started with; a pipe would stay open for as long as it lives.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let out = self.folder.join(format!("{program}-{number}.out"));
        let file = fs::File::create(&out)?;
        command.args(arguments).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let status = command.status()?;
        let said = fs::read_to_string(&out).unwrap_or_default();
        let _ = fs::remove_file(&out);
        if status.success() { Ok(said) } else { Err(io::Error::other(format!("{program}: {said}"))) }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    /// What the server wrote down.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}

/// Gives a file to the user that the server runs as: it refuses keys of others.
pub fn give_to_server(file: &Path) -> io::Result<()> {
    match unprivileged()? {
        Some((user, group)) => chown(file, Some(user), Some(group)),
        None => Ok(()),
    }
}

/// The user to run the server as: PostgreSQL refuses to run as root.
pub(crate) fn unprivileged() -> io::Result<Option<(u32, u32)>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let passwd = fs::read_to_string("/etc/passwd")?;
    let find = |name: &str| {
        let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(str::parse);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    };
    let found = find("postgres").or_else(|| find("nobody"));
    found.map(Some).ok_or_else(|| io::Error::other("no user to run PostgreSQL as"))
}

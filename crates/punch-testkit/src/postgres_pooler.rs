//! pgbouncer in transaction mode in front of a PostgreSQL server, on Unix sockets. It ends with the value.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::postgres::{Cluster, unprivileged};

/// A pooler.
#[derive(Debug)]
pub struct Pooler {
    folder: PathBuf,
    child: Child,
}

/// The program, if it is installed.
fn program() -> Option<PathBuf> {
    ["/usr/sbin/pgbouncer", "/usr/local/bin/pgbouncer", "/usr/bin/pgbouncer"]
        .map(PathBuf::from)
        .into_iter()
        .find(|p| p.is_file())
}

impl Pooler {
    /// Starts a pooler with few connections to the server, so that clients share them. The error is `NotFound` if pgbouncer is not
    /// installed.
    pub fn start(cluster: &Cluster) -> io::Result<Self> {
        let program = program().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "pgbouncer is not installed"))?;
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("punch-pb-{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        let config = folder.join("pgbouncer.ini");
        let (server, own) = (cluster.socket_folder().display(), folder.display());
        let newer = if is_newer(&program) { "max_prepared_statements = 200\n" } else { "" };
        let text = format!(
            "[databases]\n* = host={server} user=punch\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {own}\n\
             listen_port = 5432\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\nlogfile = {own}/log\n{newer}"
        );
        fs::write(&config, text)?;
        let user = unprivileged()?;
        let mut command = Command::new(program);
        command.arg("-q").arg(&config).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((user, group)) = user {
            chown(&folder, Some(user), Some(group))?;
            command.uid(user).gid(group);
        }
        let child = command.spawn()?;
        let pooler = Self { folder, child };
        for _ in 0..100 {
            if pooler.folder.join(".s.PGSQL.5432").exists() {
                return Ok(pooler);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(io::Error::other(fs::read_to_string(pooler.folder.join("log")).unwrap_or_default()))
    }

    /// The folder with the socket.
    pub fn socket_folder(&self) -> &Path {
        &self.folder
    }
}

/// Whether this release keeps prepared statements of clients apart.
fn is_newer(program: &Path) -> bool {
    let said = Command::new(program).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut numbers = said.split_whitespace().nth(1).unwrap_or_default().split('.').map(str::parse::<u32>);
    matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (1, 21))
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

//! Starts this program again, for work that outlives the command that asks for it.

use std::io;
use std::path::{self, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use punch_engine::locate::is_server;
use punch_engine::process::own_process_group;

use crate::project::Project;

/// How to start this program for the same project, with the store that this one uses.
pub struct OwnProcess {
    root: PathBuf,
    store: Option<PathBuf>,
}

impl OwnProcess {
    /// The processes of a project work in its root.
    pub fn of(project: &Project) -> Self {
        Self { root: project.location.project_root.clone(), store: project.global.store.clone() }
    }

    /// Returns the command that runs this program with these arguments, and with nothing to read or to print to.
    pub fn command(&self, arguments: &[&str]) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments);
        if let Some(store) = &self.store {
            command.arg("--store").arg(store_from_anywhere(store)?);
        }
        command.current_dir(&self.root).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Agents kill the process group of a hook that they no longer need.
        own_process_group(&mut command);
        Ok(command)
    }
}

/// The store as it is named from any folder: an address stays as it is.
fn store_from_anywhere(store: &Path) -> io::Result<PathBuf> {
    if is_server(store) { Ok(store.to_owned()) } else { path::absolute(store) }
}

/// Waits for a process in the background. Without this, a server would collect dead processes.
pub fn reap(mut child: Child) -> io::Result<()> {
    thread::Builder::new().name("reap".into()).spawn(move || child.wait()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers_stay_as_they_are_and_folders_become_absolute() {
        for address in ["postgres://db/plans", "postgresql://ann@[::1]:5432/a?host=/run"] {
            assert_eq!(store_from_anywhere(Path::new(address)).unwrap(), Path::new(address));
        }
        assert!(store_from_anywhere(Path::new("plans/store")).unwrap().is_absolute());
    }
}

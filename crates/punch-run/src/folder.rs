//! The files of a run: session files and logs, in one folder for each run beside the store. Old folders are deleted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use punch_store::{PlanId, create_own_folder};

/// Number of runs of a plan whose files are kept.
const KEPT: u64 = 20;

/// The folder with the files of one run.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Returns the folder that holds the folders of all runs, beside the store.
pub fn runs(store: &Path) -> PathBuf {
    store.parent().unwrap_or(Path::new(".")).join("runs")
}

/// Returns the path of the folder of one run.
pub fn of_run(store: &Path, plan: PlanId, run: u64) -> PathBuf {
    runs(store).join(format!("{}-{run}", plan.0))
}

/// Returns the prefix that the paths of all files of all runs of a plan share.
pub fn prefix(store: &Path, plan: PlanId) -> String {
    runs(store).join(format!("{}-", plan.0)).display().to_string()
}

/// Returns the folder for the files of a worker of a fleet.
pub fn of_worker(store: &Path, name: &str) -> PathBuf {
    runs(store).join(format!("worker-{name}"))
}

impl Folder {
    /// Creates the folder for the files of a worker in a run.
    pub fn make_in(folder: &Path, plan: PlanId, run: u64) -> io::Result<Self> {
        let path = folder.join(format!("{}-{run}", plan.0));
        create_own_folder(&path)?;
        Ok(Self { path })
    }

    /// Creates the folder of a run and deletes that of the run that is now too old to keep.
    pub fn make(store: &Path, plan: PlanId, run: u64) -> io::Result<Self> {
        let path = of_run(store, plan, run);
        create_own_folder(&runs(store))?;
        create_own_folder(&path)?;
        if let Some(old) = run.checked_sub(KEPT) {
            // Older ones were deleted by earlier runs.
            let _ = fs::remove_dir_all(of_run(store, plan, old));
        }
        Ok(Self { path })
    }

    /// Returns the path of the session file of one start of an agent.
    pub fn session(&self, name: &str) -> PathBuf {
        self.path.join(format!("session-{name}.json"))
    }

    /// Returns the path of the log of one start of an agent.
    pub fn log(&self, name: &str) -> PathBuf {
        self.path.join(format!("agent-{name}.log"))
    }
}

//! Where a run keeps its files: session files and logs, one folder for each run beside the store. The oldest go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use punch_store::PlanId;

/// Runs of a plan whose files are kept.
const KEPT: u64 = 20;

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// The folder of all runs beside a store.
pub fn runs(store: &Path) -> PathBuf {
    store.parent().unwrap_or(Path::new(".")).join("runs")
}

/// The folder of one run beside a store.
pub fn of_run(store: &Path, plan: PlanId, run: u64) -> PathBuf {
    runs(store).join(format!("{}-{run}", plan.0))
}

/// How the paths of all files of all runs of a plan begin.
pub fn prefix(store: &Path, plan: PlanId) -> String {
    runs(store).join(format!("{}-", plan.0)).display().to_string()
}

impl Folder {
    /// Makes it, and removes those of runs long ago.
    pub fn make(store: &Path, plan: PlanId, run: u64) -> io::Result<Self> {
        let path = of_run(store, plan, run);
        fs::create_dir_all(&path)?;
        if let Some(old) = run.checked_sub(KEPT) {
            // Those before it went when they became so old.
            let _ = fs::remove_dir_all(of_run(store, plan, old));
        }
        Ok(Self { path })
    }

    /// The session file of a start.
    pub fn session(&self, name: &str) -> PathBuf {
        self.path.join(format!("session-{name}.json"))
    }

    /// The log of a start.
    pub fn log(&self, name: &str) -> PathBuf {
        self.path.join(format!("agent-{name}.log"))
    }
}

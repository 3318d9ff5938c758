//! `punch store prune`: moves old events from the store to a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use punch_core::text;
use punch_store::platform;
use serde_json::json;

use crate::failure::Failure;
use crate::guard;
use crate::project::Project;
use crate::reply::VerbReply;
use crate::safety::count;

/// Revisions that stay by default: more than a user is likely to undo.
const KEPT: u64 = 1_000;

/// The arguments of `punch store prune`.
#[derive(Args)]
pub struct PruneArgs {
    /// Delete the events of revisions before this one; by default all but the last 1000 revisions
    #[arg(long, value_name = "REV")]
    before: Option<u64>,
    /// Where the events go, one line of JSON each; by default a new file in `backups/` beside the store
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

impl PruneArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        guard::only_user("prune the history")?;
        super::need(&project.location)?;
        let Some(open) = project.read()?.plan() else { return Ok(nothing(0, 0)) };
        let row = open.engine.read(open.plan, |snapshot| Ok(snapshot.row()?))?;
        let before = self.before.unwrap_or_else(|| row.revision.saturating_sub(KEPT)).min(row.revision + 1);
        let file = match self.export {
            Some(file) => file,
            None => super::fresh(&open.project.location, "events", "jsonl")?,
        };
        let name = file.display().to_string();
        let failed = |cause: io::Error| Failure::File(name.clone(), cause);
        super::refuse_taken(&file, "choose another name for the events")?;
        let mut export = FlushedFile(BufWriter::new(platform::create_private(&file).map_err(failed)?));
        let pruned = open.engine.prune(open.plan, before, &mut export);
        drop(export);
        if !matches!(pruned, Ok(count) if count > 0) {
            // Nothing was forgotten, so the file is not needed.
            let _ = std::fs::remove_file(&file);
        }
        let pruned = pruned?;
        if pruned == 0 {
            return Ok(nothing(before, row.revision));
        }
        let message =
            format!("Moved {} older than revision {before} to `{}`.", count(pruned, "event"), text::neutral(&name));
        Ok(VerbReply::new(message, json!({"pruned": pruned, "before": before, "file": name})))
    }
}

fn nothing(before: u64, revision: u64) -> VerbReply {
    let message = format!("No events before revision {before} of {revision}; `--before REV` sets another limit.");
    VerbReply::new(message, json!({"pruned": 0, "before": before, "file": null}))
}

/// What was flushed is on the disk: the events leave the store right after.
struct FlushedFile(BufWriter<File>);

impl Write for FlushedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()?;
        self.0.get_ref().sync_all()
    }
}

//! `sync --watch`: syncs again whenever the file or the plan changes. Editors save in many ways: a file counts once it
//! looks the same twice in a row, and one that disappears for a moment is waited for.

use std::time::Duration;

use punch_engine::plan_file::{FileError, FileStamp, SyncOptions, look};
use punch_engine::{EngineError, WriteRequest};

use super::{request, views};
use crate::failure::Failure;
use crate::output::{self, JsonLines};
use crate::progress;
use crate::project::OpenProject;
use crate::reply::{VerbReply, with_schema};

/// How often the file is looked at.
const EVERY: Duration = Duration::from_millis(150);

/// Looks after which a missing file is reported.
const AWAY: u32 = 7;

/// Syncs until the process is ended, or the plan is unlinked.
pub fn run(open: &OpenProject, how: SyncOptions) -> Result<VerbReply, Failure> {
    progress::forbid();
    let mut follower = open.engine.follow(open.plan)?;
    let mut lines = open.project.global.json.then(JsonLines::stdout);
    let request: WriteRequest<'_> = request(open);
    let mut watch = FileWatch::default();
    let mut woken = true;
    while let Some(link) = open.engine.plan_file(open.plan)? {
        let stamp = look(&link.path);
        match watch.step(stamp, woken) {
            Act::Rest => {}
            Act::Away => output::remark(&format!("note: {}", FileError::Missing { path: link.path.clone() }.message())),
            Act::Sync => {
                watch.handled = stamp;
                match open.engine.sync_plan_file(open.plan, &request, how) {
                    Ok(synced) => {
                        watch.handled = open.engine.plan_file(open.plan)?.and_then(|link| link.look);
                        if synced.took() || synced.wrote || !synced.conflicts.is_empty() || watch.first {
                            tell(lines.as_mut(), &synced)?;
                        }
                        watch.first = false;
                    }
                    // Whatever is wrong with the file may be fixed in its next version.
                    Err(error @ (EngineError::PlanFile(_) | EngineError::Refused(_))) => {
                        output::remark(&format!("note: {}", error.message()));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        woken = follower.next(&open.engine, EVERY)?.is_some();
    }
    Err(EngineError::from(FileError::NotLinked).into())
}

fn tell(lines: Option<&mut JsonLines>, synced: &punch_engine::plan_file::SyncResult) -> Result<(), Failure> {
    match lines {
        Some(lines) => {
            lines.print(&with_schema(views::as_json(synced)))?;
            lines.flush()
        }
        None => output::document(&format!("{}\n", views::synced(synced).body.plain())),
    }
}

/// What to do after a look.
#[derive(Debug, PartialEq, Eq)]
enum Act {
    Rest,
    Sync,
    /// The file has been away for a while.
    Away,
}

/// What was seen so far.
struct FileWatch {
    /// How the file looked in the last step.
    last: Option<FileStamp>,
    /// How it looked when it was last taken care of.
    handled: Option<FileStamp>,
    /// The plan changed since.
    behind: bool,
    away: u32,
    first: bool,
}

impl Default for FileWatch {
    fn default() -> Self {
        Self { last: None, handled: None, behind: false, away: 0, first: true }
    }
}

impl FileWatch {
    fn step(&mut self, stamp: Option<FileStamp>, woken: bool) -> Act {
        self.behind |= woken;
        let still = stamp == self.last;
        self.last = stamp;
        match stamp {
            None => {
                self.away = self.away.saturating_add(1);
                if self.away == AWAY { Act::Away } else { Act::Rest }
            }
            Some(_) => {
                self.away = 0;
                let due = self.behind || stamp != self.handled;
                if still && due {
                    self.behind = false;
                    Act::Sync
                } else {
                    Act::Rest
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(modified: u64) -> Option<FileStamp> {
        Some(FileStamp { modified, size: 1 })
    }

    #[test]
    fn a_file_counts_once_it_looks_the_same_twice() {
        let mut watch = FileWatch { handled: at(1), last: at(1), ..FileWatch::default() };
        assert_eq!(watch.step(at(1), false), Act::Rest);
        assert_eq!(watch.step(at(2), false), Act::Rest);
        assert_eq!(watch.step(at(3), false), Act::Rest);
        assert_eq!(watch.step(at(3), false), Act::Sync);
        watch.handled = at(3);
        assert_eq!(watch.step(at(3), false), Act::Rest);
        assert_eq!(watch.step(at(3), true), Act::Sync);
        assert_eq!(watch.step(at(3), false), Act::Rest);
    }

    #[test]
    fn a_change_of_the_plan_waits_for_a_file_that_is_being_saved() {
        let mut watch = FileWatch { handled: at(1), last: at(1), ..FileWatch::default() };
        assert_eq!(watch.step(at(2), true), Act::Rest);
        assert_eq!(watch.step(None, false), Act::Rest);
        assert_eq!(watch.step(at(4), false), Act::Rest);
        assert_eq!(watch.step(at(4), false), Act::Sync);
    }

    #[test]
    fn a_file_that_is_away_is_told_of_once() {
        let mut watch = FileWatch::default();
        let announced = (0..50).filter(|_| watch.step(None, false) == Act::Away).count();
        assert_eq!(announced, 1);
        assert_eq!(watch.step(at(1), false), Act::Rest);
        assert_eq!(watch.step(at(1), false), Act::Sync);
    }
}

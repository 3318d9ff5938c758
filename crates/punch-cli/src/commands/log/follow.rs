//! `punch log --follow`: prints revisions and activity as they happen, whichever process writes them. A store that is replaced is
//! followed at its new place, one that is gone is waited for, as `tail -F` does.

use std::thread;
use std::time::Duration;

use punch_core::time::utc;
use punch_core::view::{Glyphs, Layout};
use punch_core::{Plan, Status, Todo, Uid, text};
use punch_engine::{ActivityRecord, Cursor, EngineError, Follower, FollowerItem, Gap, Revision, RevisionEntry};
use punch_store::{StoreError, StoreObstacle};
use serde_json::{Value, json};

use super::revision;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::output::{self, JsonLines};
use crate::progress;
use crate::project::{OpenProject, Project};
use crate::reply::{VerbReply, with_schema};

/// How often a store that is gone is looked for.
const AWAY: Duration = Duration::from_millis(500);

/// How long one wait lasts; the next one follows at once.
const WAIT: Duration = Duration::from_secs(60);

/// What is followed, and how it is printed.
pub(super) struct LogFollower {
    /// The flags of the command, to find the project again.
    global: Global,
    /// The todo that is meant, as the user named it.
    todo: Option<String>,
    lines: Option<JsonLines>,
    /// How far everything is printed; `None` before the first store is open.
    cursor: Option<Cursor>,
    /// The last activity that is printed; `None` before the first store is open.
    activity: Option<u64>,
}

/// An open store with the follower of its plan.
struct FollowedStore {
    open: OpenProject,
    follower: Follower,
    /// The only todo whose revisions are printed.
    todo: Option<Uid>,
}

impl LogFollower {
    /// Follows the plan of a project, or only what happens to one todo.
    pub fn new(global: Global, todo: Option<String>) -> Self {
        let lines = global.json.then(JsonLines::stdout);
        Self { global, todo, lines, cursor: None, activity: None }
    }

    /// Prints at most the last `limit` revisions, then every new one until the process is ended.
    pub fn run(mut self, project: Project, limit: u32) -> Result<VerbReply, Failure> {
        progress::forbid();
        let mut first = Some(project);
        loop {
            let project = match first.take() {
                Some(project) => project,
                None => Project::find(self.global.clone())?,
            };
            let ended = match self.open(project, limit) {
                Ok(mut opened) => match self.print_all(&mut opened) {
                    Ok(never) => match never {},
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            };
            if !is_away(&ended) {
                return Err(ended);
            }
            let why = ended.text().map(|(message, _)| message).unwrap_or_default();
            output::remark(&format!("note: {why}; waiting for the store"));
            while !self.is_back()? {
                thread::sleep(AWAY);
            }
        }
    }

    /// Returns true if there is a plan to follow.
    fn is_back(&self) -> Result<bool, Failure> {
        let project = Project::find(self.global.clone())?;
        if !project.location.exists {
            return Ok(false);
        }
        match project.read() {
            Ok(found) => Ok(found.plan().is_some()),
            Err(failure) if is_away(&failure) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    fn open(&self, project: Project, limit: u32) -> Result<FollowedStore, Failure> {
        let missing = |why: &str| Failure::refused(NO_PLAN, why, "`punch add` creates the first todo");
        if !project.location.exists {
            return Err(missing("there is no store yet"));
        }
        let open = project.read()?.plan().ok_or_else(|| missing("there is no plan yet"))?;
        let todo = self.todo.as_deref().map(|given| open.engine.resolve(open.plan, given)).transpose()?;
        let mut follower = open.engine.follow(open.plan)?;
        let since = match (self.cursor, todo) {
            (Some(cursor), _) => cursor,
            (None, _) if limit == 0 => follower.cursor(),
            (None, None) => Cursor::at(follower.cursor().revision.saturating_sub(u64::from(limit)), open.engine.now()),
            (None, Some(uid)) => {
                let oldest = open.engine.history_of(open.plan, uid, limit as usize)?.pop();
                let oldest = oldest.map(|entry| entry.revision.saturating_sub(1));
                oldest.map_or_else(|| follower.cursor(), |since| Cursor::at(since, open.engine.now()))
            }
        };
        let activity = self.activity.map_or_else(|| open.engine.last_activity(open.plan), Ok)?;
        follower = Follower::new(&open.engine, open.plan, self.within_log(&open, since)?).with_activity(activity);
        Ok(FollowedStore { open, follower, todo })
    }

    /// What was pruned before this command began is not missing.
    fn within_log(&self, open: &OpenProject, since: Cursor) -> Result<Cursor, Failure> {
        let pruned = open.engine.read(open.plan, |snapshot| Ok(snapshot.info()?.pruned))?;
        let is_first = self.cursor.is_none();
        Ok(if is_first && since.revision < pruned { Cursor::at(pruned, open.engine.now()) } else { since })
    }

    fn print_all(&mut self, opened: &mut FollowedStore) -> Result<std::convert::Infallible, Failure> {
        loop {
            self.cursor = Some(opened.follower.cursor());
            self.activity = opened.follower.activity();
            let Some(found) = opened.follower.next(&opened.open.engine, WAIT)? else { continue };
            match found {
                FollowerItem::Revisions(page) => {
                    for one in page.revisions {
                        if opened.todo.is_none_or(|uid| one.todos().contains(&uid)) {
                            self.revision(one, &page.touched)?;
                        }
                    }
                }
                FollowerItem::TimePassed { at, todos } => {
                    for todo in todos.iter().filter(|todo| opened.todo.is_none_or(|uid| uid == todo.uid)) {
                        self.time_passed(at, todo)?;
                    }
                }
                FollowerItem::Activity(page) => {
                    for one in page.records.iter().filter(|one| opened.todo.is_none() || one.todo == opened.todo) {
                        self.happened(one)?;
                    }
                }
                FollowerItem::Gap(gap) => self.gap(gap)?,
            }
        }
    }

    fn revision(&mut self, one: Revision, names: &Plan) -> Result<(), Failure> {
        let entry = RevisionEntry::from(one);
        let text = || entry.row(names, &entry.story()).line(1, IN_A_PIPE).plain();
        self.print("revision", || revision(&entry, names), text)
    }

    fn time_passed(&mut self, at: i64, todo: &Todo) -> Result<(), Failure> {
        let ended = if todo.status == Status::InProgress { "lease" } else { "timer" };
        let json = || json!({"at": at, "todo": todo.id, "ended": ended});
        self.print("time_passed", json, || {
            let id = text::neutral(&text::clip(&todo.id, 60)).into_owned();
            format!("-  {}  {id}: its {ended} has ended", utc(at))
        })
    }

    /// Prints an activity, unless other lines say what it says.
    fn happened(&mut self, one: &ActivityRecord) -> Result<(), Failure> {
        let Some(line) = one.words() else { return Ok(()) };
        let json = || json!({"at": one.at, "number": one.seq, "source": one.source, "activity": one.kind});
        self.print("activity", json, || format!("-  {}  {line}", utc(one.at)))
    }

    fn gap(&mut self, gap: Gap) -> Result<(), Failure> {
        let json = || json!({"revision": gap.revision});
        if self.lines.is_some() {
            return self.print("gap", json, String::new);
        }
        output::remark(&format!(
            "note: revisions are missing here: they were pruned, or the store was restored from a copy; the next one is {}",
            gap.revision.saturating_add(1)
        ));
        Ok(())
    }

    /// Prints one item: a line of JSON with its kind, or a line of text.
    fn print(
        &mut self,
        kind: &str,
        json: impl FnOnce() -> Value,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        let Some(lines) = &mut self.lines else { return output::document(&format!("{}\n", text())) };
        let mut value = with_schema(json());
        value["kind"] = kind.into();
        lines.print(&value)?;
        lines.flush()
    }
}

/// Lines that stay on the screen for long need the time itself, not how long ago it was.
const IN_A_PIPE: Layout = Layout { glyphs: Glyphs::Ascii, width: None, now: 0 };

/// The code of a project that has nothing to follow yet.
const NO_PLAN: &str = "no_plan";

/// Returns true if the store may come back, or another one may take its place.
fn is_away(failure: &Failure) -> bool {
    match failure {
        Failure::Refused { code, .. } => *code == NO_PLAN,
        Failure::Engine(EngineError::Store(error)) => matches!(
            error,
            StoreError::UnknownPlan { .. }
                | StoreError::Unavailable {
                    reason: StoreObstacle::Missing | StoreObstacle::Busy | StoreObstacle::System,
                    ..
                }
        ),
        _ => false,
    }
}

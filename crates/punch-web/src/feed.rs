//! One plan in memory for every client that looks at it: its rows, the facts around them, and the stream of changes. A
//! thread waits for the store; requests update the feed themselves, so that a client reads what it has just written.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punch_core::reason::PlanReader;
use punch_core::view::{BoardDigests, BoardRow, Progress, RevisionStory, RowChanges};
use punch_core::{Plan, Uid};
use punch_engine::{
    ActivityKind, ActivityRecord, AgentQuestion, Engine, EngineError, FleetRefresher, PlanRefresher, RefreshResult,
    RevisionEntry, Revisions,
};
use punch_store::PlanInfo;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::around::{self, BoardSurroundings};
use crate::frame::{FrameKind, MissedChanges, RecentChanges, StreamFrame};
use crate::routes::EntityTag;
use crate::{WebSetup, read};

/// Frames that a slow client may be behind before it is sent the sum of what it missed.
const BEHIND: usize = 64;
/// Events of revisions that one change describes.
const EVENTS: usize = 1_000;
/// Revisions that one change describes, the newest.
const DESCRIBED: usize = 200;
/// Activities of one frame.
const ACTIVITIES: usize = 200;
/// Writes that follow a change this closely make one change. The first of them is sent at once.
const TOGETHER: Duration = Duration::from_millis(25);
/// The longest wait of the thread, after which it looks whether it is still needed.
const LOOK: Duration = Duration::from_secs(5);
/// How long a plan that nobody looks at stays in memory.
const UNUSED: i64 = 60_000;
/// How often facts beside the todos are read although nothing was written to the store: agents become quiet, and branches are
/// merged or checks approved elsewhere, without a write.
const MINUTE: i64 = 60_000;

/// One plan, followed for its clients.
pub(crate) struct PlanFeed {
    pub info: PlanInfo,
    pub engine: Arc<Engine>,
    pub setup: Arc<WebSetup>,
    state: Mutex<PlanPicture>,
    frames: broadcast::Sender<StreamFrame>,
    used_at: AtomicI64,
    ended: AtomicBool,
}

/// The plan as clients see it.
pub(crate) struct PlanPicture {
    refresher: PlanRefresher,
    loaded: Option<Plan>,
    rows: BoardDigests,
    around: BoardSurroundings,
    around_stamp: Option<u64>,
    /// What is beside the todos was read in this minute.
    around_minute: i64,
    fleet: FleetRefresher,
    failed_write: Option<String>,
    activity: Option<u64>,
    next_moment: Option<i64>,
    recent: RecentChanges,
    /// Grows with every change of the picture, whether it has a revision or not.
    version: u64,
    pub now: i64,
}

impl PlanPicture {
    fn empty() -> Self {
        // Another process may have counted before: the time of the start keeps versions apart.
        let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self {
            refresher: PlanRefresher::default(),
            loaded: None,
            rows: BoardDigests::default(),
            around: BoardSurroundings::default(),
            around_stamp: None,
            around_minute: 0,
            fleet: FleetRefresher::default(),
            failed_write: None,
            activity: None,
            next_moment: None,
            recent: RecentChanges::default(),
            version: u64::try_from(started.as_millis()).unwrap_or_default(),
            now: 0,
        }
    }

    /// The plan. A picture is handed out only after it was read.
    pub fn plan(&self) -> Option<&Plan> {
        self.loaded.as_ref()
    }

    pub fn revision(&self) -> u64 {
        self.loaded.as_ref().map_or(0, |plan| plan.row.revision)
    }

    /// What an unchanged answer is recognized by; `None` if it may change while the picture stays.
    pub fn etag(&self, tag: EntityTag) -> Option<String> {
        match tag {
            EntityTag::Revision => Some(format!("\"r{}\"", self.revision())),
            EntityTag::Picture => Some(format!("\"r{}.{}\"", self.revision(), self.version)),
            EntityTag::Nothing => None,
        }
    }

    /// The plan as it is shown.
    fn reader(&self) -> Option<PlanReader<'_>> {
        self.loaded.as_ref().map(|plan| PlanReader::new(plan, self.now))
    }

    /// The row of a todo; `None` if it has none any longer.
    pub fn row(&self, uid: Uid) -> Option<BoardRow> {
        let reader = self.reader()?;
        reader.plan.get(uid).filter(|todo| todo.is_live()).map(|todo| BoardRow::of(reader, todo))
    }

    pub fn around(&self) -> &BoardSurroundings {
        &self.around
    }

    pub fn failed_write(&self) -> Option<&str> {
        self.failed_write.as_deref()
    }

    /// All rows in list order.
    pub fn rows(&self) -> Vec<BoardRow> {
        self.reader().map(BoardRow::all).unwrap_or_default()
    }
}

/// What the plan row says, for boards and changes.
pub(crate) fn figures(plan: &Plan) -> Value {
    let counts = plan.row.counts;
    let progress = Progress::of_counts(&counts);
    json!({
        "counts": {
            "pending": counts.pending, "inProgress": counts.in_progress, "completed": counts.completed,
            "cancelled": counts.cancelled, "failed": counts.failed, "parked": counts.parked,
        },
        "progress": {"completed": progress.completed, "total": progress.total, "percent": progress.percent()},
    })
}

/// The phases in their order.
pub(crate) fn phases(plan: &Plan) -> Value {
    let phase =
        |phase: &punch_core::Phase| json!({"uid": phase.uid, "name": punch_core::view::Plain::text(&phase.name)});
    plan.row.phases.iter().map(phase).collect()
}

impl PlanFeed {
    pub fn new(engine: Arc<Engine>, info: PlanInfo, setup: Arc<WebSetup>) -> Self {
        let (frames, _) = broadcast::channel(BEHIND);
        let used_at = AtomicI64::new(engine.now());
        Self {
            info,
            engine,
            setup,
            state: Mutex::new(PlanPicture::empty()),
            frames,
            used_at,
            ended: AtomicBool::new(false),
        }
    }

    /// Records that someone looks at the plan.
    pub fn touch(&self) {
        self.used_at.store(self.engine.now(), Ordering::Relaxed);
    }

    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub fn is_unused(&self) -> bool {
        let idle = self.engine.now().saturating_sub(self.used_at.load(Ordering::Relaxed));
        self.frames.receiver_count() == 0 && idle > UNUSED
    }

    /// Follows the store until nobody looks at the plan any longer, or until it cannot be read; returns the error then.
    /// `leave` is asked before the thread ends for want of clients.
    pub fn follow(&self, leave: impl Fn() -> bool) -> Option<EngineError> {
        let mut changes = self.engine.store().changes();
        loop {
            let began = Instant::now();
            let next = match self.advance() {
                Ok(picture) => [picture.next_moment, picture.fleet.next_look()].into_iter().flatten().min(),
                Err(error) => return Some(self.end(error)),
            };
            if self.is_unused() && leave() {
                self.ended.store(true, Ordering::Release);
                return None;
            }
            let left = next.map(|at| u64::try_from(at.saturating_sub(self.engine.now())).unwrap_or(0).max(1));
            let wait = left.map_or(LOOK, |left| LOOK.min(Duration::from_millis(left)));
            match changes.wait(wait) {
                Ok(true) => std::thread::sleep(TOGETHER.saturating_sub(began.elapsed())),
                Ok(false) => {}
                Err(error) => return Some(self.end(error.into())),
            }
        }
    }

    fn end(&self, error: EngineError) -> EngineError {
        self.ended.store(true, Ordering::Release);
        let _ = self.frames.send(StreamFrame::end());
        error
    }

    /// Brings the picture up to date, sends what has changed to all streams, and returns the picture.
    pub fn advance(&self) -> Result<MutexGuard<'_, PlanPicture>, EngineError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let frames = self.refresh(&mut state)?;
        for frame in frames {
            // Nobody may be listening.
            let _ = self.frames.send(frame);
        }
        Ok(state)
    }

    fn refresh(&self, state: &mut PlanPicture) -> Result<Vec<StreamFrame>, EngineError> {
        let (engine, id, now) = (&*self.engine, self.info.id, self.engine.now());
        let before = state.loaded.as_ref().map(|plan| (plan.row.revision, plan.row.phases.clone()));
        let refreshed = {
            let PlanPicture { refresher, loaded, .. } = &mut *state;
            refresher.refresh(engine, id, loaded)?
        };
        let due = state.next_moment.is_some_and(|at| now >= at);
        let mut frames = Vec::new();
        let mut change = None;
        state.now = now;
        if refreshed != RefreshResult::Nothing || due || before.is_none() {
            let PlanPicture { loaded, rows, .. } = &mut *state;
            let Some(plan) = loaded else { return Ok(frames) };
            let reader = PlanReader::new(plan, now);
            let RowChanges { changed, gone } = match &refreshed {
                RefreshResult::Everything => rows.refresh_all(reader),
                RefreshResult::Todos(todos) => {
                    rows.refresh(reader, todos.before.iter().map(|(uid, before)| (*uid, before.as_deref())))
                }
                RefreshResult::Nothing => rows.refresh(reader, []),
            };
            let revision = plan.row.revision;
            let other_phases = before.as_ref().is_some_and(|(_, phases)| *phases != plan.row.phases);
            state.next_moment = engine.read(id, |snapshot| Ok(snapshot.next_moment(now)?))?;
            match before {
                None => state.recent = RecentChanges::begin(revision),
                // An older copy of the store is in its place.
                Some((before, _)) if revision < before => {
                    state.recent = RecentChanges::begin(revision);
                    state.version += 1;
                    frames.push(StreamFrame::new(FrameKind::Reset, "reset", &json!({"revision": revision})));
                }
                Some((before, _)) if before < revision || !changed.is_empty() || !gone.is_empty() => {
                    let touched: BTreeSet<Uid> = changed.union(&gone).copied().collect();
                    state.recent.add(revision, touched.clone(), other_phases);
                    state.version += 1;
                    change = Some((before, touched, other_phases));
                }
                Some(_) => {}
            }
        }
        let has_other_revision = before.is_some_and(|(revision, _)| revision != state.revision());
        let activity = self.refresh_around(state, due, has_other_revision)?;
        if let Some((from, touched, other_phases)) = change {
            let data = self.change(state, from, &touched, other_phases)?;
            let kind = FrameKind::Change { from, to: state.revision() };
            frames.push(StreamFrame::new(kind, "change", &data));
        }
        frames.extend(activity);
        Ok(frames)
    }

    /// Reads what is beside the todos, if anything was written or a minute has passed.
    fn refresh_around(
        &self,
        state: &mut PlanPicture,
        due: bool,
        has_other_revision: bool,
    ) -> Result<Vec<StreamFrame>, EngineError> {
        let (engine, id) = (&*self.engine, self.info.id);
        let stamp = engine.store().stamp(Some(id))?;
        let is_first = state.around_stamp.is_none();
        let minute = state.now / MINUTE;
        let due = due || has_other_revision || minute != state.around_minute || state.fleet.is_due(state.now);
        if !due && stamp.is_some() && stamp == state.around_stamp {
            return Ok(Vec::new());
        }
        let Some(plan) = &state.loaded else { return Ok(Vec::new()) };
        let fleet = state.fleet.refresh(engine, state.now)?;
        let around = BoardSurroundings::read(engine, &self.info, plan, &self.setup, fleet)?;
        let records = self.activities(&mut state.activity)?;
        (state.around_stamp, state.around_minute) = (stamp, minute);
        let failed = records.iter().rev().find_map(|record| match &record.kind {
            ActivityKind::WriteFailed { agent, error } => Some(format!("{agent} could not change the plan: {error}")),
            _ => None,
        });
        let failed_before = state.failed_write.clone();
        // A write that succeeded makes up for those that failed before it.
        if failed.is_some() || has_other_revision {
            state.failed_write = failed;
        }
        if around == state.around && records.is_empty() && state.failed_write == failed_before {
            return Ok(Vec::new());
        }
        let before = std::mem::replace(&mut state.around, around);
        state.version += 1;
        if is_first {
            return Ok(Vec::new());
        }
        let mut frames = self.question_frames(&before, state)?;
        frames.push(activity_frame(state, &records));
        Ok(frames)
    }

    /// A frame for every question that was asked, answered or closed.
    fn question_frames(
        &self,
        before: &BoardSurroundings,
        state: &PlanPicture,
    ) -> Result<Vec<StreamFrame>, EngineError> {
        let has = |list: &BoardSurroundings, id: u64| list.questions.iter().any(|question| question.id == id);
        let frame = |question: &AgentQuestion| {
            let data = json!({"now": state.now, "question": around::question(question, state.plan())});
            StreamFrame::new(FrameKind::Notice, "question", &data)
        };
        let asked = state.around.questions.iter().filter(|question| !has(before, question.id));
        let mut frames: Vec<StreamFrame> = asked.map(frame).collect();
        for gone in before.questions.iter().filter(|question| !has(&state.around, question.id)) {
            frames.extend(self.engine.question(self.info.id, gone.id)?.as_ref().map(frame));
        }
        Ok(frames)
    }

    /// The activities since the last look. The first look only finds out where they end.
    fn activities(&self, known: &mut Option<u64>) -> Result<Vec<ActivityRecord>, EngineError> {
        let Some(since) = *known else {
            *known = Some(self.engine.last_activity(self.info.id)?);
            return Ok(Vec::new());
        };
        let page = self.engine.activity(self.info.id, since, ACTIVITIES)?;
        *known = Some(page.next);
        Ok(page.records)
    }

    /// The change from a revision to the present.
    fn change(
        &self,
        state: &PlanPicture,
        from: u64,
        touched: &BTreeSet<Uid>,
        other_phases: bool,
    ) -> Result<Value, EngineError> {
        let Some(plan) = state.plan() else { return Ok(Value::Null) };
        let rows: Vec<BoardRow> = touched.iter().filter_map(|uid| state.row(*uid)).collect();
        let gone: Vec<&Uid> = touched.iter().filter(|uid| !state.rows.contains(**uid)).collect();
        let mut out = json!({
            "from": from,
            "revision": plan.row.revision,
            "now": state.now,
            "history": self.history_after(plan, from)?,
            "rows": rows,
            "gone": gone,
            "inbox": state.around.inbox,
        });
        if other_phases {
            out["phases"] = phases(plan);
        }
        read::merge(&mut out, figures(plan));
        Ok(out)
    }

    /// What happened after a revision, oldest first.
    fn history_after(&self, plan: &Plan, from: u64) -> Result<Vec<Value>, EngineError> {
        let since = from.max(plan.row.revision.saturating_sub(DESCRIBED as u64));
        if since >= plan.row.revision {
            return Ok(Vec::new());
        }
        let Revisions::Page(page) = self.engine.revisions(self.info.id, since, EVENTS)? else { return Ok(Vec::new()) };
        let known = page.revisions.into_iter().filter(|revision| revision.number <= plan.row.revision);
        let entry = |revision| {
            let entry = RevisionEntry::from(revision);
            read::history_entry(&entry.row(plan, &RevisionStory::of(&entry.events)))
        };
        Ok(known.map(entry).collect())
    }

    /// Subscribes to what happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<StreamFrame> {
        self.frames.subscribe()
    }

    /// What a client at a revision has missed: the revision it is at afterwards, and the frames that bring it there.
    pub fn catch_up(&self, after: Option<u64>) -> Result<(u64, Vec<StreamFrame>), EngineError> {
        let state = self.advance()?;
        let revision = state.revision();
        let notice = activity_frame(&state, &[]);
        let Some(after) = after else { return Ok((revision, vec![notice])) };
        let missed = if after > revision { MissedChanges::Unknown } else { state.recent.after(after) };
        Ok(match missed {
            MissedChanges::Unknown => {
                (revision, vec![StreamFrame::new(FrameKind::Reset, "reset", &json!({"revision": revision}))])
            }
            MissedChanges::Todos(todos, _) if after == revision && todos.is_empty() => (revision, vec![notice]),
            MissedChanges::Todos(todos, phases) => {
                let data = self.change(&state, after, &todos, phases)?;
                let kind = FrameKind::Change { from: after, to: revision };
                (revision, vec![StreamFrame::new(kind, "change", &data), notice])
            }
        })
    }
}

/// Everything beside the todos, and what has just happened.
fn activity_frame(state: &PlanPicture, records: &[ActivityRecord]) -> StreamFrame {
    let around = &state.around;
    let record = |record: &ActivityRecord| {
        let mut out = json!(record.kind);
        read::merge(&mut out, json!({"seq": record.seq, "at": record.at, "todo": record.todo}));
        out
    };
    let question = |question| around::question(question, state.plan());
    let data = json!({
        "now": state.now,
        "run": around.run,
        "sessions": around.sessions,
        "fleet": around.fleet,
        "inbox": around.inbox,
        "questions": around.questions.iter().map(question).collect::<Vec<_>>(),
        "seen": around.seen,
        "failedWrite": state.failed_write,
        "records": records.iter().map(record).collect::<Vec<_>>(),
    });
    StreamFrame::new(FrameKind::Notice, "activity", &data)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use punch_core::{Actor, Add, Edit, Keep, Op, Ref};
    use punch_engine::config::{Config, ConfigInputs};
    use punch_engine::{PlanChoice, WorkTree, WriteRequest};
    use punch_store::MemoryStore;

    use super::*;

    #[test]
    fn an_agent_that_becomes_quiet_is_reported_although_nobody_writes() {
        let time = Arc::new(AtomicI64::new(1_700_000_000_000));
        let clock = Arc::clone(&time);
        let engine = Engine::new(Box::new(MemoryStore::new()), Box::new(move || clock.load(Ordering::Relaxed)));
        let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
        let settings = Config::load(&ConfigInputs::default()).unwrap().settings;
        let lease = settings.lease_ms();
        let setup = WebSetup {
            open: Box::new(|_| Ok(None)),
            choice: PlanChoice::default(),
            worktree: Box::new(|_, _, _| None),
            agent_log: Box::new(|_, _, _| None),
            agents: Box::new(Vec::new),
            start_agent: Box::new(|_, _, _| Ok(())),
            settings,
            tree: WorkTree { root: "/nowhere".into(), git: None, consents: None },
            project: "test".into(),
            version: "0.0.0",
        };
        let edit = Edit { content: Keep::Set("Parser".into()), ..Edit::default() };
        let add = Op::Add(Add { id: Some("T-1".into()), edit, ..Add::default() });
        engine.submit(plan, &WriteRequest::of(Actor::user()), &[add]).unwrap();
        let claim = Op::Claim(Ref::Id("T-1".into()), lease);
        engine.submit(plan, &WriteRequest::of(Actor::agent("claude", "s-1")), &[claim]).unwrap();
        let info = engine.plans().unwrap().remove(0);
        let feed = PlanFeed::new(Arc::new(engine), info, Arc::new(setup));
        assert!(feed.advance().unwrap().around().inbox.is_empty());
        let mut stream = feed.subscribe();
        // Half of `run.idle` must pass, and the claim must still last.
        let kinds = |picture: &PlanPicture| -> Vec<Value> {
            picture.around().inbox.iter().map(|item| item["kind"].clone()).collect()
        };
        let version = feed.advance().unwrap().version;
        for _ in 0..16 {
            time.fetch_add(MINUTE, Ordering::Relaxed);
            drop(feed.advance().unwrap());
        }
        let picture = feed.advance().unwrap();
        assert_eq!(kinds(&picture), ["quiet"]);
        assert!(picture.version > version, "an answer that was sent before counts no longer");
        drop(picture);
        assert!(stream.try_recv().is_ok(), "the streams are sent what changed");
    }
}

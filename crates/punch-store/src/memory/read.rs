//! Reads from memory: every query looks at everything.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use punch_core::drive::TodoOffer;
use punch_core::{Event, Footprint, Plan, PlanRow, Status, Todo, Uid};

use super::{MemoryState, MemoryTransaction};
use crate::{
    ANSWER_LIFETIME_MS, Activity, ActivitySpan, AttemptUsage, Catalogue, CheckpointRow, CompletedFiles, ControlRecord,
    ControlScope, DecisionRow, ExpectedCall, HandOut, LedgerEntry, ListMark, PlanId, PlanInfo, Question,
    QuestionFilter, ReadMarker, ReadyMark, RunLease, SeatRecord, SessionKey, SessionRow, Snapshot, StoreError,
    StoredRun, Which, WorkerRecord,
};

impl<S: Deref<Target = MemoryState>> Catalogue for MemoryTransaction<S> {
    fn plans(&self) -> Result<Vec<PlanInfo>, StoreError> {
        Ok(self.state.plans.values().map(|kept| kept.info.clone()).collect())
    }

    fn session(&self, key: &SessionKey) -> Result<Option<SessionRow>, StoreError> {
        Ok(self.state.sessions.get(key).map(|session| (**session).clone()))
    }

    fn sessions(&self, plan: Option<PlanId>, seen_after: i64, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        let is_wanted = |session: &&Arc<SessionRow>| {
            session.seen_at > seen_after && plan.is_none_or(|plan| session.plan == Some(plan))
        };
        let mut out: Vec<&Arc<SessionRow>> = self.state.sessions.values().filter(is_wanted).collect();
        out.sort_by_key(|session| std::cmp::Reverse(session.seen_at));
        Ok(out.into_iter().take(limit).map(|session| (**session).clone()).collect())
    }

    fn decisions(&self, of: Option<&SessionKey>, limit: usize) -> Result<Vec<DecisionRow>, StoreError> {
        let all = self.state.decisions.values().filter(|decision| of.is_none_or(|key| *key == decision.key));
        let mut out: Vec<DecisionRow> = all.cloned().collect();
        out.sort_by(|a, b| (b.at, b.seq, &a.key).cmp(&(a.at, a.seq, &b.key)));
        if of.is_some() {
            out.sort_by_key(|decision| std::cmp::Reverse(decision.seq));
        }
        out.truncate(limit);
        Ok(out)
    }

    fn control(&self, scope: &ControlScope) -> Result<Option<ControlRecord>, StoreError> {
        Ok(self.state.controls.get(scope).cloned())
    }

    fn expected_calls(&self) -> Result<Vec<ExpectedCall>, StoreError> {
        Ok(self.state.expected_calls.values().cloned().collect())
    }

    fn workers(&self) -> Result<Vec<WorkerRecord>, StoreError> {
        Ok(self.state.workers.values().cloned().collect())
    }
}

impl<S: Deref<Target = MemoryState>> Snapshot for MemoryTransaction<S> {
    fn info(&self) -> Result<PlanInfo, StoreError> {
        Ok(self.state.kept(self.plan)?.info.clone())
    }

    fn row(&self) -> Result<PlanRow, StoreError> {
        Ok(self.state.kept(self.plan)?.plan.row.clone())
    }

    fn load(&self, footprint: &Footprint, into: &mut Plan) -> Result<(), StoreError> {
        let kept = self.state.kept(self.plan)?;
        for revision in &footprint.revisions {
            into.put_events(*revision, kept.events.get(revision).cloned().unwrap_or_default());
        }
        match footprint.all {
            true => share(&kept.plan, kept.plan.all(), into),
            false => load_some(&kept.plan, footprint, into),
        }
        if footprint.first {
            kept.plan.live().first().into_iter().for_each(|todo| into.put((*todo).clone()));
        }
        into.mark_loaded(footprint.clone());
        Ok(())
    }

    fn ready(&self, now: i64, after: Option<ReadyMark>, limit: usize) -> Result<Vec<Todo>, StoreError> {
        let plan = &self.state.kept(self.plan)?.plan;
        let mut out: Vec<&Todo> = plan
            .all()
            .filter(|todo| todo.is_ready(now) && after.is_none_or(|mark| ReadyMark::of(todo) > mark))
            .collect();
        out.sort_by_key(|todo| ReadyMark::of(todo));
        Ok(out.into_iter().take(limit).cloned().collect())
    }

    fn list(&self, which: Which, after: Option<ListMark>, limit: usize) -> Result<Vec<Todo>, StoreError> {
        let wanted = |todo: &Todo| match which {
            Which::Live => true,
            Which::Open => todo.status.is_open(),
            Which::Unfinished => todo.status.is_open() || todo.status == Status::Failed,
            Which::Running => todo.status == Status::InProgress,
            Which::Held => todo.status == Status::Pending && todo.derived.unmet == 0 && todo.hold.is_some(),
        };
        let live = self.state.kept(self.plan)?.plan.live().into_iter();
        let rest = live.filter(|todo| wanted(todo) && after.is_none_or(|mark| ListMark::of(todo) > mark));
        Ok(rest.take(limit).cloned().collect())
    }

    fn load_live(&self, into: &mut Plan) -> Result<(), StoreError> {
        let plan = &self.state.kept(self.plan)?.plan;
        share(plan, plan.all().filter(|todo| todo.is_live()), into);
        Ok(())
    }

    fn page(&self, which: Which, skip: usize, limit: usize) -> Result<Vec<Todo>, StoreError> {
        Ok(self.list(which, None, usize::MAX)?.into_iter().skip(skip).take(limit).collect())
    }

    fn find(&self, id: &str) -> Result<Option<Todo>, StoreError> {
        Ok(self.state.kept(self.plan)?.plan.by_id(id).cloned())
    }

    fn next_moment(&self, now: i64) -> Result<Option<i64>, StoreError> {
        let live = self.state.kept(self.plan)?.plan.live().into_iter();
        Ok(live.filter_map(Todo::ends_at).filter(|time| *time > now).min())
    }

    fn ended(&self, after: i64, until: i64, limit: usize) -> Result<Vec<Todo>, StoreError> {
        let live = self.state.kept(self.plan)?.plan.live().into_iter();
        let mut out: Vec<Todo> =
            live.filter(|todo| todo.ends_at().is_some_and(|at| at > after && at <= until)).cloned().collect();
        out.sort_by_key(|todo| (todo.ends_at(), todo.uid));
        out.truncate(limit);
        Ok(out)
    }

    fn find_open_by_content(&self, contents: &BTreeSet<String>) -> Result<Vec<Todo>, StoreError> {
        let live = self.state.kept(self.plan)?.plan.live().into_iter();
        Ok(live.filter(|todo| todo.status.is_open() && contents.contains(&todo.content)).cloned().collect())
    }

    fn events(&self, since: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        let mut out = Vec::new();
        for events in self.state.kept(self.plan)?.events.from(since.saturating_add(1)).map(|(_, events)| events) {
            if out.len() >= limit {
                break;
            }
            out.extend(events.iter().cloned());
        }
        Ok(out)
    }

    fn events_of(&self, revision: u64) -> Result<Vec<Event>, StoreError> {
        Ok(self.state.kept(self.plan)?.events.get(&revision).cloned().unwrap_or_default())
    }

    fn baseline(&self) -> Result<Plan, StoreError> {
        Ok((*self.state.kept(self.plan)?.baseline).clone())
    }

    fn answer(&self, key: &str, now: i64) -> Result<Option<String>, StoreError> {
        let kept = self.state.kept(self.plan)?.answers.get(&key.to_owned());
        Ok(kept.filter(|(at, _)| *at > now - ANSWER_LIFETIME_MS).map(|(_, body)| body.clone()))
    }

    fn checkpoint(&self, id: &str) -> Result<Option<CheckpointRow>, StoreError> {
        Ok(self.state.kept(self.plan)?.checkpoints.get(id).cloned())
    }

    fn usage(&self, of: Option<Uid>) -> Result<Vec<AttemptUsage>, StoreError> {
        let mut sums: BTreeMap<(Uid, u32), AttemptUsage> = BTreeMap::new();
        let sum = |a: u64, b: u64| a.saturating_add(b).min(i64::MAX.unsigned_abs());
        for spent in self.state.kept(self.plan)?.ledger.iter().filter(|spent| of.is_none_or(|uid| uid == spent.uid)) {
            let (uid, attempt) = (spent.uid, spent.attempt);
            let entry =
                sums.entry((uid, attempt)).or_insert(AttemptUsage { uid, attempt, tokens: 0, ms: 0, at: spent.at });
            entry.tokens = sum(entry.tokens, spent.grown());
            entry.ms = sum(entry.ms, spent.ms);
            entry.at = entry.at.max(spent.at);
        }
        Ok(sums.into_values().collect())
    }

    fn ledger(&self, run: u64) -> Result<Vec<LedgerEntry>, StoreError> {
        let all = self.state.kept(self.plan)?.ledger.iter();
        Ok(all.filter(|spent| spent.run == Some(run)).cloned().collect())
    }

    fn spent_on(&self, todo: Uid) -> Result<Vec<LedgerEntry>, StoreError> {
        let all = self.state.kept(self.plan)?.ledger.iter();
        Ok(all.filter(|spent| spent.uid == todo).cloned().collect())
    }

    fn spending(&self, skip: usize, limit: usize) -> Result<Vec<LedgerEntry>, StoreError> {
        Ok(self.state.kept(self.plan)?.ledger.iter().skip(skip).take(limit).cloned().collect())
    }

    fn runs(&self, limit: usize) -> Result<Vec<StoredRun>, StoreError> {
        Ok(self.state.kept(self.plan)?.runs.values().rev().take(limit).cloned().collect())
    }

    fn run(&self, id: u64) -> Result<Option<StoredRun>, StoreError> {
        Ok(self.state.kept(self.plan)?.runs.get(&id).cloned())
    }

    fn checkpoints(&self, limit: usize) -> Result<Vec<CheckpointRow>, StoreError> {
        let mut out: Vec<CheckpointRow> = self.state.kept(self.plan)?.checkpoints.values().cloned().collect();
        out.sort_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
        out.truncate(limit);
        Ok(out)
    }

    fn activity(&self, since: u64, limit: usize) -> Result<Vec<Activity>, StoreError> {
        let later = self.state.kept(self.plan)?.live.activity.from(since.saturating_add(1));
        Ok(later.take(limit).map(|(_, activity)| activity.clone()).collect())
    }

    fn activity_of(&self, todo: Uid, limit: usize) -> Result<Vec<Activity>, StoreError> {
        let newest = self.state.kept(self.plan)?.live.activity.values().rev();
        Ok(newest.filter(|activity| activity.todo == Some(todo)).take(limit).cloned().collect())
    }

    fn activity_span(&self) -> Result<ActivitySpan, StoreError> {
        Ok(self.state.kept(self.plan)?.live.activity_span())
    }

    fn questions(&self, which: QuestionFilter, limit: usize) -> Result<Vec<Question>, StoreError> {
        Ok(self.state.kept(self.plan)?.live.questions(which).take(limit).cloned().collect())
    }

    fn question(&self, id: u64) -> Result<Option<Question>, StoreError> {
        Ok(self.state.kept(self.plan)?.live.questions.get(&id).cloned())
    }

    fn run_controls(&self, of: u64) -> Result<Vec<ControlRecord>, StoreError> {
        let is_about = |scope: &ControlScope| match scope {
            ControlScope::Run { plan, run } | ControlScope::Seat { plan, run, .. } => (*plan, *run) == (self.plan, of),
            ControlScope::Session(_) | ControlScope::Sessions => false,
        };
        Ok(self.state.controls.values().filter(|control| is_about(&control.scope)).cloned().collect())
    }

    fn seats(&self, run: u64) -> Result<Vec<SeatRecord>, StoreError> {
        let seats = self.state.kept(self.plan)?.live.seats.range((run, 0)..=(run, u32::MAX));
        Ok(seats.map(|(_, seat)| seat.clone()).collect())
    }

    fn batches(&self) -> Result<Vec<HandOut>, StoreError> {
        Ok(self.state.kept(self.plan)?.handed_out.batches.clone())
    }

    fn offers(&self) -> Result<Vec<TodoOffer>, StoreError> {
        Ok(self.state.kept(self.plan)?.handed_out.offers.clone())
    }

    fn mirrored(&self) -> Result<Vec<Uid>, StoreError> {
        Ok(self.state.kept(self.plan)?.handed_out.mirrored.clone())
    }

    fn completed_files(&self, todo: Uid) -> Result<Option<CompletedFiles>, StoreError> {
        let mut all = self.state.completed_files.values();
        let found = all.find(|(plan, files)| (*plan, files.todo) == (self.plan, todo));
        Ok(found.map(|(_, files)| files.clone()))
    }

    fn read_marker(&self, reader: &str) -> Result<Option<ReadMarker>, StoreError> {
        Ok(self.state.kept(self.plan)?.live.readers.get(reader).cloned())
    }

    fn read_markers(&self) -> Result<Vec<ReadMarker>, StoreError> {
        Ok(self.state.kept(self.plan)?.live.readers.values().cloned().collect())
    }

    fn run_lease(&self) -> Result<Option<RunLease>, StoreError> {
        Ok(self.state.kept(self.plan)?.live.runner.clone())
    }
}

/// Puts the todos that a footprint names, and looks through the plan only for what it describes.
fn load_some(plan: &Plan, footprint: &Footprint, into: &mut Plan) {
    let named = footprint.todos.iter().filter_map(|uid| plan.get(*uid));
    let by_id = footprint.ids.iter().filter_map(|id| plan.by_id(id));
    share(plan, named.chain(by_id), into);
    let runs = |todo: &&Todo| footprint.all_running || footprint.running.contains(&todo.owner);
    share(plan, plan.running().filter(runs), into);
    if footprint.dependents.is_empty() && footprint.dangling.is_empty() {
        return;
    }
    let waits = |todo: &&Todo| {
        todo.depends_on.iter().any(|dep| match dep {
            punch_core::Dep::On(to) | punch_core::Dep::Suspended(to) => footprint.dependents.contains(to),
            punch_core::Dep::Dangling(id) => footprint.dangling.contains(id),
        })
    };
    share(plan, plan.all().filter(|todo| todo.is_live()).filter(waits), into);
}

/// Puts todos of one plan into another, which copies none of them.
fn share<'a>(plan: &Plan, todos: impl Iterator<Item = &'a Todo>, into: &mut Plan) {
    todos.filter_map(|todo| plan.share(todo.uid)).for_each(|todo| drop(into.put_shared(todo)));
}

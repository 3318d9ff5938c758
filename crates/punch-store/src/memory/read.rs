//! Reading from memory: every question answered by looking at everything.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use punch_core::{Event, Footprint, HoldKind, Plan, PlanRow, Status, Todo, Uid};

use super::{State, View};
use crate::{
    ANSWER_LIFETIME_MS, Catalogue, Checkpoint, Decision, ListMark, PlanInfo, ReadyMark, Run, Session, SessionKey,
    Snapshot, Spent, StoreError, Usage, Which,
};

impl<S: Deref<Target = State>> Catalogue for View<S> {
    fn plans(&self) -> Result<Vec<PlanInfo>, StoreError> {
        Ok(self.state.plans.values().map(|kept| kept.info.clone()).collect())
    }

    fn session(&self, key: &SessionKey) -> Result<Option<Session>, StoreError> {
        Ok(self.state.sessions.get(key).cloned())
    }

    fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        let mut out: Vec<Session> = self.state.sessions.values().cloned().collect();
        out.sort_by_key(|session| std::cmp::Reverse(session.seen_at));
        Ok(out)
    }

    fn decisions(&self, of: Option<&SessionKey>, limit: usize) -> Result<Vec<Decision>, StoreError> {
        let all = self.state.decisions.values().filter(|decision| of.is_none_or(|key| *key == decision.key));
        let mut out: Vec<Decision> = all.cloned().collect();
        out.sort_by(|a, b| (b.at, b.seq, &a.key).cmp(&(a.at, a.seq, &b.key)));
        if of.is_some() {
            out.sort_by_key(|decision| std::cmp::Reverse(decision.seq));
        }
        out.truncate(limit);
        Ok(out)
    }

    fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.state.settings.get(name).cloned())
    }
}

impl<S: Deref<Target = State>> Snapshot for View<S> {
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
        for todo in kept.plan.all().filter(|todo| asked_for(&kept.plan, todo, footprint)) {
            into.put(todo.clone());
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
            Which::Running => todo.status == Status::InProgress,
            Which::Held => todo.status == Status::Pending && todo.derived.unmet == 0 && todo.hold.is_some(),
        };
        let live = self.state.kept(self.plan)?.plan.live().into_iter();
        let rest = live.filter(|todo| wanted(todo) && after.is_none_or(|mark| ListMark::of(todo) > mark));
        Ok(rest.take(limit).cloned().collect())
    }

    fn page(&self, which: Which, skip: usize, limit: usize) -> Result<Vec<Todo>, StoreError> {
        Ok(self.list(which, None, usize::MAX)?.into_iter().skip(skip).take(limit).collect())
    }

    fn find(&self, id: &str) -> Result<Option<Todo>, StoreError> {
        Ok(self.state.kept(self.plan)?.plan.by_id(id).cloned())
    }

    fn next_moment(&self, now: i64) -> Result<Option<i64>, StoreError> {
        let times = |todo: &Todo| match todo.status {
            Status::InProgress => todo.lease_until,
            Status::Pending => {
                todo.hold.as_ref().filter(|hold| hold.kind == HoldKind::Timer).and_then(|hold| hold.until)
            }
            Status::Completed | Status::Cancelled | Status::Failed => None,
        };
        let live = self.state.kept(self.plan)?.plan.live().into_iter();
        Ok(live.filter_map(times).filter(|time| *time > now).min())
    }

    fn find_open_by_content(&self, contents: &BTreeSet<String>) -> Result<Vec<Todo>, StoreError> {
        let live = self.state.kept(self.plan)?.plan.live().into_iter();
        Ok(live.filter(|todo| todo.status.is_open() && contents.contains(&todo.content)).cloned().collect())
    }

    fn events(&self, since: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        let mut out = Vec::new();
        for events in self.state.kept(self.plan)?.events.range(since.saturating_add(1)..).map(|(_, events)| events) {
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
        Ok(self.state.kept(self.plan)?.baseline.clone())
    }

    fn answer(&self, key: &str, now: i64) -> Result<Option<String>, StoreError> {
        let kept = self.state.kept(self.plan)?.answers.get(key);
        Ok(kept.filter(|(at, _)| *at > now - ANSWER_LIFETIME_MS).map(|(_, body)| body.clone()))
    }

    fn checkpoint(&self, id: &str) -> Result<Option<Checkpoint>, StoreError> {
        Ok(self.state.kept(self.plan)?.checkpoints.get(id).cloned())
    }

    fn usage(&self, of: Option<Uid>) -> Result<Vec<Usage>, StoreError> {
        let mut sums: BTreeMap<(Uid, u32), Usage> = BTreeMap::new();
        let sum = |a: u64, b: u64| a.saturating_add(b).min(i64::MAX.unsigned_abs());
        for spent in self.state.kept(self.plan)?.ledger.iter().filter(|spent| of.is_none_or(|uid| uid == spent.uid)) {
            let (uid, attempt) = (spent.uid, spent.attempt);
            let entry = sums.entry((uid, attempt)).or_insert(Usage { uid, attempt, tokens: 0, ms: 0, at: spent.at });
            entry.tokens = sum(entry.tokens, spent.grown());
            entry.ms = sum(entry.ms, spent.ms);
            entry.at = entry.at.max(spent.at);
        }
        Ok(sums.into_values().collect())
    }

    fn ledger(&self, run: u64) -> Result<Vec<Spent>, StoreError> {
        let all = self.state.kept(self.plan)?.ledger.iter();
        Ok(all.filter(|spent| spent.run == Some(run)).cloned().collect())
    }

    fn runs(&self, limit: usize) -> Result<Vec<Run>, StoreError> {
        Ok(self.state.kept(self.plan)?.runs.values().rev().take(limit).cloned().collect())
    }

    fn run(&self, id: u64) -> Result<Option<Run>, StoreError> {
        Ok(self.state.kept(self.plan)?.runs.get(&id).cloned())
    }

    fn checkpoints(&self, limit: usize) -> Result<Vec<Checkpoint>, StoreError> {
        let mut out: Vec<Checkpoint> = self.state.kept(self.plan)?.checkpoints.values().cloned().collect();
        out.sort_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
        out.truncate(limit);
        Ok(out)
    }
}

fn asked_for(plan: &Plan, todo: &Todo, footprint: &Footprint) -> bool {
    let waits = || {
        todo.depends_on.iter().any(|dep| match dep {
            punch_core::Dep::On(to) | punch_core::Dep::Suspended(to) => footprint.dependents.contains(to),
            punch_core::Dep::Dangling(id) => footprint.dangling.contains(id),
        })
    };
    let by_id = || plan.by_id(&todo.id).is_some_and(|live| live.uid == todo.uid) && footprint.ids.contains(&todo.id);
    let runs = || todo.status == Status::InProgress && footprint.running.contains(&todo.owner);
    footprint.all || footprint.todos.contains(&todo.uid) || (todo.is_live() && (by_id() || waits() || runs()))
}

//! Status changes in the order asked: the table of transitions, one arm after the other.

use super::{Item, No, Write};
use crate::ask::{Ask, Evidence, Hold, New, Status};
use crate::rules::{Cancelled, Gate, Proof};

/// So many failed attempts make a failed todo.
const ATTEMPTS: u32 = 2;

/// How long a claim lasts, in milliseconds.
pub const LEASE: i64 = 50;

type Done = Result<(), Vec<No>>;

fn no(code: &'static str) -> Done {
    Err(vec![No::new(code)])
}

impl Write<'_> {
    pub(super) fn statuses(&mut self) -> Done {
        self.demote();
        let mut gated = Vec::new();
        let mut blocked = Vec::new();
        for (ask, target) in self.batch.asks.iter().zip(self.targets.clone()) {
            let Some(key) = target else { continue };
            if !matches!(ask, Ask::Rm(_)) {
                self.expire(key);
            }
            match ask {
                Ask::Add(new) => self.arrive(key, new, &mut gated)?,
                Ask::Start(_) => self.start(key, &mut gated)?,
                Ask::Claim(_, until) => self.claim(key, *until)?,
                Ask::Renew(_, until) => self.renew(key, *until)?,
                Ask::Unclaim(_) => self.unclaim(key)?,
                Ask::HandOver(_, owner) => self.hand_over(key, owner)?,
                Ask::Done(_, evidence, fence) => self.done(key, evidence.as_ref(), *fence, &mut gated)?,
                Ask::Report(_, says, fence) => self.report(key, *says, *fence)?,
                Ask::Check(_, found) => self.check(key, found),
                Ask::Vouch(_, stale, evidence) => self.vouch(key, *stale, *evidence)?,
                Ask::Restore(_, status, hold, resume) => self.restore(key, *status, hold.as_ref(), *resume),
                Ask::Drop(_) => self.close(key, Status::Cancelled),
                Ask::Fail(_, error) => self.fail(key, error)?,
                Ask::Reopen(_) => self.reopen(key),
                Ask::Hold(_, hold) => self.hold(key, hold)?,
                Ask::Release(_) => self.release(key)?,
                Ask::Block(_) => {
                    self.reopen(key);
                    blocked.push(key);
                }
                Ask::Edit(..) | Ask::Rm(_) | Ask::Note(..) | Ask::Move(..) | Ask::Arrange(_) | Ask::Rules(_) => {}
            }
        }
        for key in blocked {
            let unmet = self.model.unmet(key);
            let item = self.item(key);
            if item.status != Status::Pending {
                continue;
            }
            if unmet > 0 {
                item.hold = None;
            } else if item.hold.is_none() {
                item.hold = Some(Hold { reason: "reported as blocked".to_owned(), until: None });
            }
        }
        let early = |key: &&usize| {
            matches!(self.model.items[**key].status, Status::Active | Status::Completed) && self.model.unmet(**key) > 0
        };
        let early: Vec<No> = gated.iter().filter(early).map(|_| No::new("not_ready")).collect();
        if early.is_empty() { Ok(()) } else { Err(early) }
    }

    fn item(&mut self, key: usize) -> &mut Item {
        &mut self.model.items[key]
    }

    fn status(&self, key: usize) -> Status {
        self.model.items[key].status
    }

    /// Rule 3.
    fn demote(&mut self) {
        if !self.batch.rules.demote {
            return;
        }
        for key in self.model.order.clone() {
            let had = if key < self.before.items.len() { self.before.unmet(key) } else { 0 };
            if self.status(key) == Status::Active && self.model.unmet(key) > had && !self.is_protected(key) {
                self.set(key, Status::Pending, |item| item.resume = true);
            }
        }
    }

    /// Rule 33: what time alone has done is written first.
    fn expire(&mut self, key: usize) {
        let now = self.model.now;
        if self.model.lease_over(key) {
            self.set(key, Status::Pending, |item| item.resume = true);
        }
        let item = self.item(key);
        if item.hold.as_ref().is_some_and(|hold| hold.until.is_some_and(|until| until <= now)) {
            item.hold = None;
        }
    }

    fn arrive(&mut self, key: usize, new: &New, gated: &mut Vec<usize>) -> Done {
        match new.status {
            Status::Pending => {}
            Status::Active => self.start(key, gated)?,
            Status::Completed => {
                self.gate(key, gated)?;
                let rules = self.batch.rules;
                if rules.proof == Proof::Command && rules.words {
                    return no("needs_evidence");
                }
                self.close(key, Status::Completed);
                self.item(key).unchecked = rules.proof == Proof::Command;
            }
            other => self.close(key, other),
        }
        match &new.hold {
            Some(hold) => self.hold(key, hold),
            None => Ok(()),
        }
    }

    fn gate(&self, key: usize, gated: &mut Vec<usize>) -> Done {
        let held = self.model.held(key);
        match self.batch.rules.gate {
            Gate::Strict if held || self.model.unmet(key) > 0 => no("not_ready"),
            Gate::AtEnd if held => no("not_ready"),
            Gate::AtEnd => {
                gated.push(key);
                Ok(())
            }
            Gate::Strict | Gate::Warn => Ok(()),
        }
    }

    /// Refuses a batch that says something about the work on todos that someone else has claimed.
    pub(super) fn claims(&self) -> Done {
        let asks = self.batch.asks.iter().zip(&self.targets);
        let refused = asks.filter(|(ask, target)| {
            let Some(key) = target.filter(|key| *key < self.before.items.len()) else { return false };
            let untouched = matches!(
                ask,
                Ask::Add(_)
                    | Ask::Edit(..)
                    | Ask::Check(..)
                    | Ask::Note(..)
                    | Ask::Move(..)
                    | Ask::Arrange(_)
                    | Ask::Rules(_)
            );
            let late = match ask {
                Ask::Done(_, _, fence) | Ask::Report(_, _, fence) => {
                    fence.is_some_and(|fence| fence != self.model.items[key].fence)
                }
                _ => false,
            };
            !untouched && !late && self.is_protected(key)
        });
        let refused: Vec<No> = refused.map(|_| No::new("leased")).collect();
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// Someone else's claim is live. The user minds no one's; a claim of the user has a fence and no end.
    fn is_protected(&self, key: usize) -> bool {
        let item = &self.model.items[key];
        let live = match item.lease {
            Some(until) => until > self.model.now,
            None => item.owner.is_none() && item.fence > 0,
        };
        item.status == Status::Active && live && self.batch.owner.is_some() && item.owner != self.batch.owner
    }

    fn start(&mut self, key: usize, gated: &mut Vec<usize>) -> Done {
        let mine = self.model.items[key].owner == self.batch.owner;
        match self.status(key) {
            Status::Completed => return no("transition"),
            Status::Active => {
                if self.batch.rules.gate == Gate::AtEnd {
                    gated.push(key);
                }
                if mine {
                    self.prolong(key);
                    return Ok(());
                }
            }
            _ => self.gate(key, gated)?,
        }
        self.limit(key)?;
        self.begin(key);
        self.item(key).reported = false;
        // Every claim has a new fence; what the user adds in progress is not claimed.
        let claimed = self.batch.owner.is_some() || key < self.before.items.len();
        if claimed || self.model.items[key].fence > 0 {
            self.fence(key);
        }
        self.prolong(key);
        Ok(())
    }

    /// Claims of agents end; those of the user do not.
    fn prolong(&mut self, key: usize) {
        let until = self.model.now + LEASE;
        if self.batch.owner.is_some() {
            let item = self.item(key);
            item.lease = item.lease.max(Some(until));
        }
    }

    fn begin(&mut self, key: usize) {
        let (now, owner) = (self.model.now, self.batch.owner.clone());
        let again = self.status(key) == Status::Failed;
        self.set(key, Status::Active, |item| {
            item.owner = owner;
            item.started = Some(now);
            item.finished = None;
            item.hold = None;
            item.attempts += u32::from(again);
            item.resume = false;
            item.stale_dependency = false;
            item.stale = false;
            item.unchecked = false;
        });
    }

    fn fence(&mut self, key: usize) {
        self.model.fence += 1;
        self.item(key).fence = self.model.fence;
    }

    /// Rule 18, for what is started; a claim asks for more work on purpose.
    fn limit(&self, key: usize) -> Done {
        let busy = |other: &usize| {
            let item = &self.model.items[*other];
            *other != key
                && item.status == Status::Active
                && item.owner == self.batch.owner
                && !self.model.lease_over(*other)
        };
        if self.batch.rules.one && self.model.order.iter().any(busy) { no("in_progress_limit") } else { Ok(()) }
    }

    fn claim(&mut self, key: usize, until: i64) -> Done {
        match self.status(key) {
            Status::Active if self.model.items[key].owner != self.batch.owner => return no("leased"),
            Status::Active => {}
            Status::Pending => {
                if !self.model.ready(key) {
                    return no("not_ready");
                }
                self.begin(key);
                self.fence(key);
            }
            _ => return no("transition"),
        }
        self.item(key).lease = Some(until);
        Ok(())
    }

    fn renew(&mut self, key: usize, until: i64) -> Done {
        let owner = self.batch.owner.clone();
        let item = self.item(key);
        if item.status != Status::Active || item.lease.is_none() || item.owner != owner {
            return no("transition");
        }
        item.lease = item.lease.max(Some(until));
        Ok(())
    }

    fn unclaim(&mut self, key: usize) -> Done {
        let mine = self.batch.owner.is_none() || self.model.items[key].owner == self.batch.owner;
        if self.status(key) != Status::Active || !mine {
            return no("transition");
        }
        self.set(key, Status::Pending, |item| item.resume = true);
        Ok(())
    }

    fn hand_over(&mut self, key: usize, owner: &str) -> Done {
        if self.status(key) != Status::Active || self.model.items[key].owner != self.batch.owner {
            return no("transition");
        }
        self.item(key).owner = Some(owner.to_owned());
        Ok(())
    }

    fn done(&mut self, key: usize, evidence: Option<&Evidence>, fence: Option<u64>, gated: &mut Vec<usize>) -> Done {
        let rules = self.batch.rules;
        if fence.is_some_and(|fence| fence != self.model.items[key].fence) {
            return no("stale_fence");
        }
        if self.status(key) == Status::Completed {
            if rules.gate == Gate::AtEnd {
                gated.push(key);
            }
            if let (true, Some(evidence)) = (self.model.items[key].unchecked, evidence.filter(|e| e.says)) {
                self.item(key).unchecked = false;
                self.add_evidence(key, evidence.clone());
            }
            return Ok(());
        }
        if self.status(key) != Status::Active || rules.gate == Gate::AtEnd {
            self.gate(key, gated)?;
        }
        let command = self.model.items[key].command.clone();
        let passed = evidence.is_some_and(|e| e.command == command && e.exit == Some(0));
        if rules.proof == Proof::Command && command.is_some() && !passed {
            return no("needs_verification");
        }
        let reported = self.model.items[key].reported && self.model.items[key].evidence.last().is_some_and(|e| e.says);
        let spoken = command.is_some() || reported || evidence.is_some_and(|e| e.says);
        if rules.proof == Proof::Command && rules.words && !spoken {
            return no("needs_evidence");
        }
        if let Some(evidence) = evidence.filter(|_| rules.proof != Proof::Trust) {
            self.item(key).evidence.push(evidence.clone());
        }
        self.close(key, Status::Completed);
        self.item(key).unchecked = rules.proof == Proof::Command && !spoken;
        Ok(())
    }

    fn check(&mut self, key: usize, found: &Evidence) {
        let item = self.item(key);
        if !item.status.open() || found.command != item.command {
            return;
        }
        if item.evidence.last().is_some_and(|last| last.command.is_some() && last.exit != Some(0)) {
            item.evidence.pop();
        }
        self.add_evidence(key, found.clone());
    }

    fn add_evidence(&mut self, key: usize, one: Evidence) {
        let kept = &mut self.item(key).evidence;
        kept.push(one);
        while kept.len() > 20 {
            kept.remove(0);
        }
    }

    fn report(&mut self, key: usize, says: bool, fence: Option<u64>) -> Done {
        if fence.is_some_and(|fence| fence != self.model.items[key].fence) {
            return no("stale_fence");
        }
        let item = self.item(key);
        if item.status != Status::Active {
            return no("transition");
        }
        item.reported = true;
        if says {
            self.add_evidence(key, Evidence { says: true, ..Evidence::default() });
        }
        Ok(())
    }

    fn vouch(&mut self, key: usize, stale: bool, evidence: bool) -> Done {
        let item = self.item(key);
        if item.status != Status::Completed {
            return no("transition");
        }
        item.stale = stale;
        if evidence {
            item.unchecked = false;
            self.add_evidence(key, Evidence { exit: Some(0), ..Evidence::default() });
        }
        Ok(())
    }

    fn restore(&mut self, key: usize, status: Status, hold: Option<&Hold>, resume: bool) {
        let was = self.status(key);
        let (status, hold, resume) = match status {
            Status::Active if was == Status::Active => return,
            Status::Active => (Status::Pending, None, true),
            other => (other, hold, resume),
        };
        if was == Status::Active && self.model.items[key].fence > 0 {
            self.fence(key);
        }
        self.set(key, status, |item| {
            item.owner = None;
            item.hold = hold.cloned();
            item.resume = resume;
            item.reported = false;
            item.stale = false;
            item.unchecked = false;
            item.stale_dependency = false;
            item.attempts = 0;
            item.error = None;
            item.started = None;
            item.finished = None;
        });
    }

    fn close(&mut self, key: usize, status: Status) {
        if self.status(key) == status {
            return;
        }
        let now = self.model.now;
        self.set(key, status, |item| {
            if status == Status::Completed {
                item.started = item.started.or(Some(now));
            }
            item.finished = Some(now);
            item.hold = None;
            item.reported = false;
            item.resume = false;
            item.stale_dependency = false;
            item.stale = false;
            item.unchecked = false;
        });
        if self.model.rules.cancelled == Cancelled::Cascade && status != Status::Completed {
            for dependent in self.model.dependents(key) {
                self.expire(dependent);
                if self.status(dependent) == Status::Pending {
                    self.close(dependent, Status::Cancelled);
                }
            }
        }
    }

    fn fail(&mut self, key: usize, error: &str) -> Done {
        let error = Some(error.to_owned()).filter(|e| !e.is_empty());
        match self.status(key) {
            Status::Failed => return Ok(()),
            Status::Completed | Status::Cancelled => return no("transition"),
            Status::Pending if !self.model.ready(key) => return no("not_ready"),
            Status::Pending => self.item(key).error = error,
            Status::Active => {
                let item = self.item(key);
                item.error = error;
                item.attempts += 1;
                if item.attempts < ATTEMPTS {
                    self.set(key, Status::Pending, |item| (item.resume, item.reported) = (true, false));
                    return Ok(());
                }
            }
        }
        self.close(key, Status::Failed);
        Ok(())
    }

    fn reopen(&mut self, key: usize) {
        let before = self.status(key);
        if before == Status::Pending {
            return;
        }
        self.set(key, Status::Pending, |item| {
            item.finished = None;
            item.reported = false;
            item.resume = false;
            item.stale_dependency = false;
            item.stale = false;
            item.unchecked = false;
            if before == Status::Failed {
                item.attempts = 0;
            }
        });
    }

    fn hold(&mut self, key: usize, hold: &Hold) -> Done {
        match self.status(key) {
            Status::Pending => self.item(key).hold = Some(hold.clone()),
            Status::Active => self.set(key, Status::Pending, |item| {
                item.hold = Some(hold.clone());
                item.resume = true;
            }),
            _ => return no("transition"),
        }
        Ok(())
    }

    fn release(&mut self, key: usize) -> Done {
        if !self.status(key).open() {
            return no("transition");
        }
        self.item(key).hold = None;
        Ok(())
    }

    /// Changes a status and tells those who depend on it (rule 20).
    fn set(&mut self, key: usize, status: Status, change: impl FnOnce(&mut Item)) {
        let before = self.status(key);
        let item = self.item(key);
        item.status = status;
        item.lease = None;
        change(item);
        let (was, is) = (self.model.satisfies(before), self.model.satisfies(status));
        for dependent in self.model.dependents(key) {
            if !was && is && self.model.unmet(dependent) == 0 {
                self.item(dependent).stale_dependency = false;
            }
            let building = matches!(self.status(dependent), Status::Active | Status::Completed);
            if was && !is && before == Status::Completed && building {
                self.item(dependent).stale_dependency = true;
            }
        }
    }
}

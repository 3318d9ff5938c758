//! Status changes in the order asked, as the transition table of docs/rules.md says. This file knows what the words of
//! the table mean; which of them apply when is only in the table.

use super::table::{TABLE, TransitionRow};
use super::{ModelTodo, ModelWrite, No};
use crate::ask::{ModelEvidence, ModelHold, ModelOp, ModelStatus, TodoName};
use crate::rules::{CancelledRule, Gate, ModelRules, ProofRule};

/// How long a claim lasts, in milliseconds.
pub const LEASE: i64 = 50;

/// The newest pieces of evidence that a todo keeps.
const EVIDENCE: usize = 20;

type TransitionResult = Result<(), Vec<No>>;

/// What a batch remembers while its statuses change.
#[derive(Default)]
pub struct Pending {
    /// Todos that must have nothing unmet at the end.
    gated: Vec<usize>,
    /// Todos that were said to be blocked.
    blocked: Vec<usize>,
    /// The proof of the op at hand passed as unchecked.
    unchecked: bool,
    /// The op at hand stored evidence. Only the log shows when the same words were stored before.
    has_evidence: bool,
    /// Results of checks that this batch stored. The same one again leaves no trace: it has the same time.
    checks: Vec<(usize, ModelEvidence)>,
}

impl ModelOp {
    /// The name of the op in the table; `None` for what is not about one status.
    pub const fn op(&self) -> Option<&'static str> {
        Some(match self {
            Self::Add(_) => "add",
            Self::Edit(..) => "edit",
            Self::Start(_) => "start",
            Self::Claim(..) => "claim",
            Self::Renew(..) => "renew",
            Self::Unclaim(_) => "unclaim",
            Self::HandOver(..) => "hand over",
            Self::Done(..) => "done",
            Self::Report(..) => "report",
            Self::Vouch(..) => "vouch",
            Self::Check(..) => "record check",
            Self::Refute(..) => "refute",
            Self::Restore(..) => "restore",
            Self::Drop(_) => "drop",
            Self::Fail(..) => "fail",
            Self::Reopen(_) => "reopen",
            Self::Hold(..) => "hold",
            Self::Release(_) => "release",
            Self::Block(_) => "block",
            Self::Rm(_) => "rm",
            Self::Note(..) => "note",
            Self::Move(..) => "move",
            Self::Arrange(_) | Self::Rules(_) => return None,
        })
    }

    /// The fence that the op gives.
    const fn fence(&self) -> Option<u64> {
        match self {
            Self::Done(_, _, fence) | Self::Report(_, _, fence) => *fence,
            _ => None,
        }
    }

    /// The evidence that the op gives.
    fn evidence(&self) -> Option<ModelEvidence> {
        match self {
            Self::Done(_, evidence, _) => evidence.clone(),
            Self::Check(_, found) | Self::Refute(_, found) => Some(found.clone()),
            Self::Report(_, true, _) => Some(ModelEvidence { says: true, ..ModelEvidence::default() }),
            Self::Vouch(_, _, true) => Some(ModelEvidence { exit: Some(0), ..ModelEvidence::default() }),
            _ => None,
        }
    }

    const fn until(&self) -> Option<i64> {
        match self {
            Self::Claim(_, until) | Self::Renew(_, until) => Some(*until),
            _ => None,
        }
    }
}

impl ModelRules {
    /// The value of a policy, both by their names in docs/rules.md.
    fn value(&self, policy: &str) -> &'static str {
        match policy {
            "start_gate" => match self.gate {
                Gate::Strict => "strict",
                Gate::AtEnd => "at_end",
                Gate::Warn => "warn",
            },
            "in_progress" => {
                if self.one {
                    "one"
                } else {
                    "any"
                }
            }
            "dep_on_running" => {
                if self.demote {
                    "demote"
                } else {
                    "keep"
                }
            }
            "verify" => match self.proof {
                ProofRule::Trust => "trust",
                ProofRule::Claim => "claim",
                ProofRule::Evidence => "evidence",
                ProofRule::Command => "command",
            },
            "missing_evidence" => {
                if self.words {
                    "refuse"
                } else {
                    "mark"
                }
            }
            other => panic!("docs/rules.md: no policy `{other}`"),
        }
    }
}

impl ModelWrite<'_> {
    pub(super) fn statuses(&mut self) -> TransitionResult {
        for key in self.model.order.clone() {
            let before = if key < self.before.items.len() { self.before.unmet(key) } else { 0 };
            if self.model.unmet(key) > before {
                self.happens(key, "(dependency added)")?;
            }
        }
        for (ask, target) in self.batch.asks.iter().zip(self.targets.clone()) {
            let (Some(key), Some(op)) = (target, ask.op()) else { continue };
            if op != "rm" {
                self.expire(key)?;
            }
            self.perform(key, op, ask)?;
            if let ModelOp::Add(new) = ask
                && let Some(hold) = &new.hold
            {
                self.perform(key, "hold", &ModelOp::Hold(TodoName::Key(key), hold.clone()))?;
            }
        }
        for key in std::mem::take(&mut self.pending.blocked) {
            self.happens(key, "(blocked at end)")?;
        }
        let early = |key: &&usize| {
            matches!(self.model.items[**key].status, ModelStatus::Active | ModelStatus::Completed)
                && self.model.unmet(**key) > 0
        };
        let early: Vec<No> = self.pending.gated.iter().filter(early).map(|_| No::new("not_ready")).collect();
        if early.is_empty() { Ok(()) } else { Err(early) }
    }

    /// Refuses a batch that says something about the work on todos that someone else has claimed.
    pub(super) fn claims(&mut self) -> TransitionResult {
        let mut refused = Vec::new();
        for (ask, target) in self.batch.asks.iter().zip(self.targets.clone()) {
            let (Some(key), Some(op)) = (target.filter(|key| *key < self.before.items.len()), ask.op()) else {
                continue;
            };
            let protects = TABLE.ops.iter().any(|row| row.name == op && row.checks.contains(&"claim"));
            if protects && !self.fact(key, ask, "late") {
                refused.extend(self.check(key, "claim", ask).err().into_iter().flatten());
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// Writes what time alone has done.
    fn expire(&mut self, key: usize) -> TransitionResult {
        if self.model.lease_over(key) {
            self.happens(key, "(lease ends)")?;
        }
        if self.model.items[key].hold.is_some() && !self.model.held(key) {
            self.happens(key, "(timer ends)")?;
        }
        Ok(())
    }

    /// Something that no op asks for.
    fn happens(&mut self, key: usize, name: &'static str) -> TransitionResult {
        self.perform(key, name, &ModelOp::Edit(TodoName::Key(key), crate::ask::ModelFields::default()))
    }

    /// Finds the row that applies, and does what it says.
    fn perform(&mut self, key: usize, op: &str, ask: &ModelOp) -> TransitionResult {
        let status = match ask {
            ModelOp::Add(new) if op == "add" => new.status,
            _ => self.model.items[key].status,
        };
        let row = self.row(&TABLE.ops, key, op, ask, status, 0);
        // Claims were judged for the whole batch.
        for check in row.checks.iter().filter(|check| **check != "claim") {
            self.check(key, check, ask)?;
        }
        if let Some(code) = row.refusal() {
            return Err(vec![No::new(code)]);
        }
        let is_closed = matches!(status, ModelStatus::Completed | ModelStatus::Failed);
        if op == "add" && is_closed && self.model.items[key].status == status {
            // An earlier op of the batch has named it already.
            self.pending.unchecked = false;
            return Ok(());
        }
        let given = match ask {
            ModelOp::Restore(_, status, ..) => Some(*status),
            _ => None,
        };
        match (row.then, row.then.strip_prefix("as ")) {
            ("unchanged", _) => self.change(key, status, row, ask),
            ("as given", _) => self.set(key, given.unwrap_or(status), row, ask)?,
            (_, Some(other)) => {
                self.perform(key, other, ask)?;
                row.effects.iter().for_each(|effect| self.effect(key, effect, ask));
            }
            (word, None) => match ModelStatus::named(word) {
                Some(status) => self.set(key, status, row, ask)?,
                None => panic!("docs/rules.md: `{word}` under *then*"),
            },
        }
        Ok(())
    }

    fn check(&mut self, key: usize, check: &str, ask: &ModelOp) -> TransitionResult {
        let row = self.row(&TABLE.checks, key, check, ask, self.model.items[key].status, TABLE.ops.len());
        if let Some(code) = row.refusal() {
            return Err(vec![No::new(code)]);
        }
        let (answer, warning) = row.answer();
        if let Some(warning) = warning {
            let unmet = if warning == "started_early" { self.model.unmet(key).to_string() } else { String::new() };
            self.warn(key, warning, unmet);
        }
        match answer {
            "passes" => {}
            "passes as unchecked" => self.pending.unchecked = true,
            "passes if met at end" => self.pending.gated.push(key),
            other => panic!("docs/rules.md: a check answers `{other}`"),
        }
        Ok(())
    }

    fn row(
        &mut self,
        rows: &'static [TransitionRow],
        key: usize,
        name: &str,
        ask: &ModelOp,
        status: ModelStatus,
        first: usize,
    ) -> &'static TransitionRow {
        let applies = |row: &TransitionRow| {
            row.name == name
                && row.applies(status, |fact| self.fact(key, ask, fact), |policy| self.batch.rules.value(policy))
        };
        let Some(at) = rows.iter().position(applies) else { panic!("docs/rules.md: no row for `{name}`, {status:?}") };
        self.trace.rows.push(first + at);
        &rows[at]
    }

    fn fact(&self, key: usize, ask: &ModelOp, fact: &str) -> bool {
        let item = &self.model.items[key];
        let evidence = ask.evidence();
        match fact {
            "own" => item.owner == self.batch.owner,
            "user" => self.batch.owner.is_none(),
            "leased" => item.lease.is_some(),
            "late" => ask.fence().is_some_and(|fence| fence != item.fence),
            "waiting" => self.model.unmet(key) > 0,
            "held" => self.model.held(key),
            "empty" => self.model.empty(key),
            "shared files" => self.model.shares_files(key),
            "has hold" => item.hold.is_some(),
            "has command" => item.command.is_some(),
            "passed" => evidence.is_some_and(|e| e.command == item.command && e.exit == Some(0)),
            "words" => {
                let reported = item.reported && item.evidence.last().is_some_and(|e| e.says);
                reported || evidence.is_some_and(|e| e.says)
            }
            "same command" => evidence.is_some_and(|e| e.command.is_some() && e.command == item.command),
            "was in progress" => matches!(ask, ModelOp::Restore(_, ModelStatus::Active, ..)),
            "first attempt" => item.attempts == 0,
            "failed check" => {
                let last = item.evidence.iter().rev().find(|e| e.command.is_some() && e.command == item.command);
                last.is_some_and(|e| e.exit != Some(0))
            }
            // The user minds no one's claim.
            "protected" => self.batch.owner.is_some() && self.is_claimed_by_other(key),
            "busy" => self.model.order.iter().any(|other| {
                let item = &self.model.items[*other];
                let works = item.status == ModelStatus::Active && item.owner == self.batch.owner;
                *other != key && works && !self.model.lease_over(*other)
            }),
            other => panic!("docs/rules.md: no condition `{other}`"),
        }
    }

    /// Someone else's claim is live; a claim of the user has a fence and no end.
    fn is_claimed_by_other(&self, key: usize) -> bool {
        let item = &self.model.items[key];
        let live = match item.lease {
            Some(until) => until > self.model.now,
            None => item.owner.is_none() && item.fence > 0,
        };
        item.status == ModelStatus::Active && live && item.owner != self.batch.owner
    }

    fn warn(&mut self, key: usize, warning: &'static str, detail: String) {
        self.trace.warnings.push((self.model.items[key].id.clone(), warning, detail));
    }

    pub(super) fn warn_of_ended_claim(&mut self, key: usize) {
        if self.is_claimed_by_other(key) {
            self.warn(key, "claim_ended", self.model.items[key].owner.clone().unwrap_or_default());
        }
    }

    /// Sets a status, does what the row says and logs it. What a todo is when it is added is not an event of its own.
    fn change(&mut self, key: usize, status: ModelStatus, row: &TransitionRow, ask: &ModelOp) {
        let logged = |item: &ModelTodo| ModelTodo { evidence: Vec::new(), lease: None, ..item.clone() };
        let before = logged(&self.model.items[key]);
        self.pending.has_evidence = false;
        // The status of a row of `add` is the one that the todo is to get.
        if row.then != "unchanged" {
            self.model.items[key].status = status;
        }
        for effect in row.effects.iter().filter(|effect| **effect != "cascade") {
            self.effect(key, effect, ask);
        }
        let event = match (row.event, status) {
            ("by status", status) if status == before.status => "edited",
            ("by status", ModelStatus::Pending | ModelStatus::Active) => "reopened",
            ("by status", ModelStatus::Completed) => "completed",
            ("by status", ModelStatus::Cancelled) => "cancelled",
            ("by status", ModelStatus::Failed) => "failed",
            (event, _) => event,
        };
        if self.pending.has_evidence || before != logged(&self.model.items[key]) {
            self.log(key, event);
        }
    }

    fn log(&mut self, key: usize, event: &'static str) {
        if key < self.before.items.len() {
            self.trace.events.push((key, event));
        }
    }

    fn effect(&mut self, key: usize, effect: &str, ask: &ModelOp) {
        let (now, owner) = (self.model.now, self.batch.owner.clone());
        let evidence = ask.evidence();
        let item = &mut self.model.items[key];
        match effect {
            "owner" => item.owner = owner,
            "started" => item.started = Some(now),
            "started if missing" => item.started = item.started.or(Some(now)),
            "finished" => item.finished = Some(now),
            "unfinished" => item.finished = None,
            "no hold" => item.hold = None,
            "hold as blocked" => {
                item.hold = Some(ModelHold { reason: "reported as blocked".to_owned(), until: None, parked: false })
            }
            "clear flags" => clear_flags(item, false),
            "clear flags but reported" => clear_flags(item, item.reported),
            "resume" => item.resume = true,
            "reported" => item.reported = true,
            "not reported" => item.reported = false,
            "unchecked" => item.unchecked = std::mem::take(&mut self.pending.unchecked),
            "attempt" => item.attempts += 1,
            "no attempts" => item.attempts = 0,
            "lease" => item.lease = item.lease.max(owner.map(|_| now + LEASE)),
            "lease until" => item.lease = ask.until(),
            "longer lease" => item.lease = item.lease.max(ask.until()),
            "evidence" if self.batch.rules.proof == ProofRule::Trust => {}
            "evidence" => item.evidence.extend(evidence),
            "reported words" => {
                self.pending.has_evidence |= evidence.is_some();
                add_evidence(item, evidence);
            }
            "missing evidence" if item.unchecked && evidence.as_ref().is_some_and(|e| e.says) => {
                item.unchecked = false;
                add_evidence(item, evidence);
            }
            "missing evidence" => {}
            "passed check" => {
                item.unchecked &= evidence.is_none();
                add_evidence(item, evidence);
            }
            "check result" => {
                let before = item.evidence.pop_if(|last| last.command.is_some() && last.exit != Some(0));
                let found = (key, evidence.clone().unwrap_or_default());
                self.pending.has_evidence = before != evidence || !self.pending.checks.contains(&found);
                self.pending.checks.push(found);
                add_evidence(item, evidence);
            }
            "fence" => self.fence(key),
            // What the user adds in progress is not claimed.
            "fence unless added" => {
                let claimed = owner.is_some() || key < self.before.items.len();
                if claimed || item.fence > 0 {
                    self.fence(key);
                }
            }
            "void fence" if item.fence > 0 => self.fence(key),
            "void fence" => {}
            "warn reported" => self.warn(key, "reported", String::new()),
            "blocked at end" => self.pending.blocked.push(key),
            _ => given(item, effect, ask),
        }
    }

    fn fence(&mut self, key: usize) {
        self.model.fence += 1;
        self.model.items[key].fence = self.model.fence;
    }

    /// Changes a status and updates those who depend on it (rule 20).
    fn set(&mut self, key: usize, status: ModelStatus, row: &TransitionRow, ask: &ModelOp) -> TransitionResult {
        let before = self.model.items[key].status;
        self.warn_of_ended_claim(key);
        self.model.items[key].lease = None;
        self.change(key, status, row, ask);
        let (was, is) = (self.model.satisfies(before), self.model.satisfies(status));
        for dependent in self.model.dependents(key) {
            let met = self.model.unmet(dependent) == 0;
            let item = &mut self.model.items[dependent];
            let marked = item.stale_dependency;
            if !was && is && met {
                item.stale_dependency = false;
            }
            let building = matches!(item.status, ModelStatus::Active | ModelStatus::Completed);
            if was && !is && before == ModelStatus::Completed && building {
                item.stale_dependency = true;
            }
            if item.stale_dependency != marked {
                self.log(dependent, "flagged");
            }
        }
        if row.effects.contains(&"cascade") && self.model.rules.cancelled == CancelledRule::Cascade {
            for dependent in self.model.dependents(key) {
                self.expire(dependent)?;
                if self.model.items[dependent].status == ModelStatus::Pending {
                    self.warn(dependent, "cascaded", String::new());
                    self.perform(dependent, "drop", ask)?;
                }
            }
        }
        Ok(())
    }
}

/// Effects that take a value from the op.
fn given(item: &mut ModelTodo, effect: &str, ask: &ModelOp) {
    match (effect, ask) {
        ("hold", ModelOp::Hold(_, hold)) => item.hold = Some(hold.clone()),
        ("new owner", ModelOp::HandOver(_, owner)) => item.owner = Some(owner.clone()),
        ("error", ModelOp::Fail(_, error)) if error.is_empty() => {}
        ("error", ModelOp::Fail(_, error)) => item.error = Some(error.clone()),
        ("stale as given", ModelOp::Vouch(_, stale, _)) => item.stale = *stale,
        ("work as given", ModelOp::Restore(_, _, hold, resume)) => {
            clear_flags(item, false);
            (item.hold, item.resume) = (hold.clone(), *resume);
            (item.owner, item.attempts, item.error) = (None, 0, None);
            (item.started, item.finished) = (None, None);
        }
        (effect, ask) => panic!("docs/rules.md: effect `{effect}` for {ask:?}"),
    }
}

fn clear_flags(item: &mut ModelTodo, reported: bool) {
    (item.resume, item.stale, item.unchecked, item.stale_dependency) = (false, false, false, false);
    item.reported = reported;
}

fn add_evidence(item: &mut ModelTodo, evidence: Option<ModelEvidence>) {
    item.evidence.extend(evidence);
    item.evidence.drain(..item.evidence.len().saturating_sub(EVIDENCE));
}

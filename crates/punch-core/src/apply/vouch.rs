//! Evidence for and against a completion: what `done` requires, results of checks, and whether a completion is still
//! valid.

use super::ApplyStop;
use super::draft::PlanDraft;
use crate::{EventKind, Evidence, MissingEvidence, Proof, Refusal, Status, Uid, VerifyMode, Warning};

/// Pieces of evidence that a todo keeps when it is checked again and again; the log has them all.
const KEPT: usize = 20;

/// What a completion keeps of its evidence: where none is required, the commit alone, by which git can vouch for it
/// later (rule 32).
pub(super) fn kept(draft: &PlanDraft<'_>, evidence: Option<&Evidence>) -> Option<Evidence> {
    let (evidence, at) = (evidence?.clone(), draft.now);
    match draft.ctx.policy.verify {
        VerifyMode::Trust => evidence.commit.map(|commit| Evidence { commit: Some(commit), at, ..Evidence::default() }),
        VerifyMode::Claim | VerifyMode::Evidence | VerifyMode::Command => Some(Evidence { at, ..evidence }),
    }
}

/// Returns true if a completion with this evidence counts as unchecked. Refuses if the plan requires a check or
/// evidence that is missing (rule 34). Warns about a completion against a failed check.
pub(super) fn is_unchecked(
    draft: &mut PlanDraft<'_>,
    uid: Uid,
    evidence: Option<&Evidence>,
) -> Result<bool, ApplyStop> {
    let todo = draft.get(uid)?;
    let id = || todo.id.clone();
    let passed = todo.verify.is_some() && evidence.is_some_and(|e| e.command == todo.verify && e.passed());
    if draft.ctx.policy.verify == VerifyMode::Command {
        return match (&todo.verify, draft.ctx.policy.missing_evidence) {
            (Some(_), _) if passed => Ok(false),
            (Some(_), _) => Err(Refusal::NeedsVerification { id: id() }.into()),
            (None, _) if evidence.is_some_and(Evidence::has_text) => Ok(false),
            // The worker's report is evidence too; the runner that completes the todo has none.
            (None, _) if todo.flags.reported && todo.evidence.last().is_some_and(Evidence::has_text) => Ok(false),
            (None, MissingEvidence::Refuse) => Err(Refusal::NeedsEvidence { id: id() }.into()),
            (None, MissingEvidence::Mark) => {
                let warning = Warning::Unchecked { id: id() };
                draft.warnings.push(warning);
                Ok(true)
            }
        };
    }
    let work = draft.ctx.observed.get(&uid);
    let seen = work.and_then(|work| work.evidence.as_ref());
    let failed = todo.failed_check().or_else(|| seen.filter(|seen| seen.observed_proof() == Some(Proof::Failing)));
    if let (Some(check), Some(command), false) = (failed, failed.and_then(|check| check.command.as_ref()), passed) {
        let (command, outcome) = (command.line(), check.outcome());
        if draft.ctx.policy.verify == VerifyMode::Evidence {
            return Err(Refusal::FailingCheck { id: id(), command, outcome }.into());
        }
        let age = draft.now.saturating_sub(check.at);
        let warning = Warning::FailedCheck { id: id(), command, outcome, age };
        draft.warnings.push(warning);
        return Ok(false);
    }
    let proof = seen.and_then(Evidence::observed_proof);
    let enough = passed || proof == Some(Proof::Checked) || evidence.is_some_and(Evidence::has_text);
    let reported = todo.flags.reported && todo.evidence.last().is_some_and(Evidence::has_text);
    if draft.ctx.policy.verify != VerifyMode::Evidence || enough || reported {
        return Ok(false);
    }
    if work.is_some_and(|work| !work.asked) {
        return Err(Refusal::NeedsCheck { id: id(), outdated: proof == Some(Proof::Outdated) }.into());
    }
    let warning = Warning::Unchecked { id: id() };
    draft.warnings.push(warning);
    Ok(true)
}

/// What hooks saw of the work on a todo that is completed now. A plan that trusts stores nothing of it.
pub(super) fn observed(draft: &PlanDraft<'_>, uid: Uid) -> Option<Evidence> {
    let seen = draft.ctx.observed.get(&uid)?.evidence.clone()?;
    (draft.ctx.policy.verify != VerifyMode::Trust).then_some(seen)
}

/// Stores what hooks saw in place of what they saw before.
pub(super) fn replace_observed(kept: &mut Vec<Evidence>, seen: Evidence) {
    kept.retain(|evidence| evidence.observed.is_none());
    push(kept, Some(seen));
}

/// Evidence that comes after an unchecked completion takes the mark away.
pub(super) fn add_missing(draft: &mut PlanDraft<'_>, uid: Uid, evidence: Option<&Evidence>) -> Result<(), ApplyStop> {
    let Some(evidence) = evidence.filter(|evidence| evidence.has_text()) else { return Ok(()) };
    if draft.get(uid)?.flags.unchecked {
        let evidence = Evidence { at: draft.now, ..evidence.clone() };
        draft.edit(uid, EventKind::Flagged, |t| {
            push(&mut t.evidence, Some(evidence));
            t.flags.unchecked = false;
        })?;
    }
    Ok(())
}

/// What a check that is recorded means for its todo.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckRole {
    /// A result, and nothing else.
    Result,
    /// It contradicts an agent that called the todo done.
    Refutation,
}

/// Records a check of an open todo, or what hooks saw of the work on it. Of several failed checks in a row only the
/// last one is stored, because an agent may try many times. A check of a command that the todo no longer has does not
/// count, nor does a check of a todo that was closed since.
pub(super) fn record_check(
    draft: &mut PlanDraft<'_>,
    uid: Uid,
    found: &Evidence,
    role: CheckRole,
) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    if found.observed.is_some() && todo.status.is_open() {
        draft.edit(uid, EventKind::Flagged, |t| replace_observed(&mut t.evidence, found.clone()))?;
        return Ok(());
    }
    if !todo.status.is_open() || found.command.is_none() || found.command != todo.verify {
        return Ok(());
    }
    let again = todo.evidence.last().is_some_and(Evidence::is_failed_check);
    let found = Evidence { at: draft.now, ..found.clone() };
    draft.edit(uid, EventKind::Flagged, |t| {
        if again {
            t.evidence.pop();
        }
        push(&mut t.evidence, Some(found));
        if role == CheckRole::Refutation {
            t.flags.reported = false;
            t.attempts += 1;
        }
    })?;
    Ok(())
}

/// Adds a piece of evidence; the oldest one goes where there are many.
pub(super) fn push(kept: &mut Vec<Evidence>, one: Option<Evidence>) {
    if let Some(one) = one {
        kept.drain(..(kept.len() + 1).saturating_sub(KEPT));
        kept.push(one);
    }
}

/// Marks a completed todo as stale or not, and stores the evidence.
pub(super) fn vouch(
    draft: &mut PlanDraft<'_>,
    uid: Uid,
    stale: bool,
    evidence: Option<&Evidence>,
) -> Result<(), ApplyStop> {
    let todo = draft.get(uid)?;
    if todo.status != Status::Completed {
        return Err(Refusal::Transition { id: todo.id.clone(), op: "vouch", status: todo.status }.into());
    }
    let now = draft.now;
    if let Some(evidence) = evidence {
        let evidence = Evidence { at: now, ..evidence.clone() };
        draft.touch(uid)?;
        draft.edit(uid, EventKind::Edited, |t| push(&mut t.evidence, Some(evidence)))?;
    }
    let passed = evidence.is_some_and(Evidence::passed);
    let flags = draft.get(uid)?.flags;
    let after = crate::Flags { stale, unchecked: flags.unchecked && !passed, ..flags };
    if flags != after {
        draft.touch(uid)?;
        draft.edit(uid, EventKind::Flagged, |t| t.flags = after)?;
    }
    Ok(())
}

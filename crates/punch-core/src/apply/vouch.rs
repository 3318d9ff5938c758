//! Whether a completion still stands: evidence and the mark `stale` on a completed todo.

use super::Stop;
use super::draft::Draft;
use crate::{Evidence, Kind, Refusal, Status, Uid, VerifyMode};

/// Pieces of evidence that a todo keeps when it is checked again and again; the log has them all.
const KEPT: usize = 20;

/// What a completion keeps of its evidence: where nobody asks for any, the commit alone, by which git can vouch for it
/// later (rule 32).
pub(super) fn kept(draft: &Draft<'_>, evidence: Option<&Evidence>) -> Option<Evidence> {
    let (evidence, at) = (evidence?.clone(), draft.now);
    match draft.ctx.policy.verify {
        VerifyMode::Trust => evidence.commit.map(|commit| Evidence { commit: Some(commit), at, ..Evidence::default() }),
        VerifyMode::Claim | VerifyMode::Command => Some(Evidence { at, ..evidence }),
    }
}

/// Adds a piece of evidence; the oldest one goes where there are many.
pub(super) fn push(kept: &mut Vec<Evidence>, one: Option<Evidence>) {
    if let Some(one) = one {
        kept.drain(..(kept.len() + 1).saturating_sub(KEPT));
        kept.push(one);
    }
}

/// Marks a completed todo as stale or not and keeps what speaks for it.
pub(super) fn vouch(draft: &mut Draft<'_>, uid: Uid, stale: bool, evidence: Option<&Evidence>) -> Result<(), Stop> {
    let todo = draft.get(uid)?;
    if todo.status != Status::Completed {
        return Err(Refusal::Transition { id: todo.id.clone(), op: "vouch", status: todo.status }.into());
    }
    let now = draft.now;
    if let Some(evidence) = evidence {
        let evidence = Evidence { at: now, ..evidence.clone() };
        draft.touch(uid)?;
        draft.edit(uid, Kind::Edited, |t| push(&mut t.evidence, Some(evidence)))?;
    }
    if draft.get(uid)?.flags.stale != stale {
        draft.touch(uid)?;
        draft.edit(uid, Kind::Flagged, |t| t.flags.stale = stale)?;
    }
    Ok(())
}

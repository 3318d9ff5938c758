//! Finds the todo that a user typed: by id, or by content with the rules of the phases dialect.

use punch_core::{Op, Ref, Refusal, Todo, Uid, text};
use punch_store::{PlanId, Snapshot, Which};

use crate::call::names::OUTSIDE;
use crate::{Candidates, Engine, EngineError, PlanChange, WriteRequest};

/// Candidates listed for an ambiguous reference.
const SHOWN: usize = 10;

impl Engine {
    /// The todo that is meant.
    pub fn resolve(&self, plan: PlanId, given: &str) -> Result<Uid, EngineError> {
        self.read(plan, |snapshot| resolve(snapshot, given))
    }

    /// Submits ops on todos that the user named, and answers which ones they were. Ids are tried first, in one
    /// transaction; only if one is unknown are contents looked at.
    pub fn submit_named(
        &self,
        plan: PlanId,
        request: &WriteRequest<'_>,
        names: &[String],
        ops: &dyn Fn(&[Ref]) -> Vec<Op>,
    ) -> Result<(PlanChange, Vec<Uid>), EngineError> {
        let ids: Vec<Ref> = names.iter().cloned().map(Ref::Id).collect();
        match self.submit(plan, request, &ops(&ids)) {
            Err(EngineError::Refused(refusals)) if refusals.iter().any(|r| names_unknown(r, names)) => {
                let mut uids = Vec::with_capacity(names.len());
                for name in names {
                    uids.push(self.resolve(plan, name)?);
                }
                let refs: Vec<Ref> = uids.iter().copied().map(Ref::Uid).collect();
                Ok((self.submit(plan, request, &ops(&refs))?, uids))
            }
            Err(error) => Err(error),
            Ok(changed) => {
                let uids = names.iter().filter_map(|name| named(&changed, name)).collect();
                Ok((changed, uids))
            }
        }
    }
}

/// The todo that had the id during the write; it may have been archived by it.
fn named(changed: &PlanChange, id: &str) -> Option<Uid> {
    let live = changed.plan.by_id(id).map(|t| t.uid);
    live.or_else(|| changed.outcome.rows.iter().rev().find(|t| t.id == id).map(|t| t.uid))
}

fn names_unknown(refusal: &Refusal, names: &[String]) -> bool {
    matches!(refusal, Refusal::UnknownTodo { id, .. } if names.contains(id))
}

/// Exact id; then content: equal without regard to case (the first), the only one that contains it, the only open one
/// that contains it.
pub(crate) fn resolve(snapshot: &dyn Snapshot, given: &str) -> Result<Uid, EngineError> {
    if let Some(todo) = snapshot.find(given)? {
        return Ok(todo.uid);
    }
    // As answers of list tools call a todo outside the list of their conversation.
    if let Some(todo) = given.strip_prefix(OUTSIDE).map(|id| snapshot.find(id)).transpose()?.flatten() {
        return Ok(todo.uid);
    }
    // `4` is short for `T-4`.
    if !given.is_empty()
        && given.bytes().all(|byte| byte.is_ascii_digit())
        && let Some(todo) = snapshot.find(&format!("T-{given}"))?
    {
        return Ok(todo.uid);
    }
    let wanted = given.trim().to_lowercase();
    if wanted.is_empty() {
        return Err(EngineError::NotFound { given: given.to_owned(), near: Vec::new() });
    }
    let live = snapshot.list(Which::Live, None, usize::MAX)?;
    if let Some(todo) = live.iter().find(|t| t.content.to_lowercase() == wanted || t.id.to_lowercase() == wanted) {
        return Ok(todo.uid);
    }
    let fits: Vec<&Todo> = live.iter().filter(|t| t.content.to_lowercase().contains(&wanted)).collect();
    let open: Vec<&Todo> = fits.iter().copied().filter(|t| t.status.is_open()).collect();
    match (fits.as_slice(), open.as_slice()) {
        ([one], _) | (_, [one]) => Ok(one.uid),
        ([], _) => Err(EngineError::NotFound { given: given.to_owned(), near: near(given, &live) }),
        (all, _) => {
            let shown = all.iter().take(SHOWN).map(|t| (t.id.clone(), t.content.clone())).collect();
            Err(EngineError::Ambiguous { given: given.to_owned(), candidates: Candidates { shown, total: all.len() } })
        }
    }
}

/// Ids that look like what was typed; else todos with a word that does, named with their content.
fn near(given: &str, live: &[Todo]) -> Vec<String> {
    let ids = text::nearest(given, live.iter().map(|todo| todo.id.as_str()), 3);
    if !ids.is_empty() {
        return ids;
    }
    let words = live.iter().flat_map(|todo| todo.content.split_whitespace());
    let words = text::nearest(given.trim(), words.filter(|word| word.chars().count() > 3), SHOWN);
    let has = |todo: &&Todo| todo.content.split_whitespace().any(|word| words.iter().any(|near| near == word));
    let name = |todo: &Todo| format!("{} {}", todo.id, text::clip(&todo.content, 60));
    live.iter().filter(has).take(3).map(name).collect()
}

//! Continuing a conversation whose process ends although its hook said that it should continue. What is said and
//! whether it is said is the hook's decision; here is only the limit that it cannot hold, because to its host every
//! round begins with a message like the user's.

use std::process::ExitStatus;

use punch_core::drive::Decision;
use punch_core::{Footprint, Status};
use punch_engine::TodoAssignment;

use super::To;
use crate::failure::Failure;
use crate::project::OpenProject;

/// Continues until the hook lets it stop, nothing changes any more, or there were enough rounds.
pub fn keep_going(
    open: &OpenProject,
    given: &TodoAssignment,
    to: &To,
    first: ExitStatus,
) -> Result<ExitStatus, Failure> {
    let rules = open.project.config.for_agent(to.to.name()).keep_going();
    let (mut ended, mut idle, mut before, mut since) = (first, 0, statuses(open, given)?, i64::MIN);
    for _ in 0..rules.absolute {
        let Some(conversation) = open.engine.linked(&given.key)?.filter(|_| ended.success() && rules.enabled) else {
            break;
        };
        let told = open.engine.decisions(Some(&conversation), 1)?;
        let Some(last) = told.first().filter(|told| told.at > since) else { break };
        let Some((_, Decision::Continue { text, .. })) = &last.decided else { break };
        since = last.at;
        let again = to.to.resume(open, given, (conversation.session_id(), text), &to.more)?;
        let Some(again) = again else { break };
        ended = again;
        let now = statuses(open, given)?;
        idle = if now == before { idle + 1 } else { 0 };
        before = now;
        if idle >= rules.no_progress {
            break;
        }
    }
    Ok(ended)
}

fn statuses(open: &OpenProject, given: &TodoAssignment) -> Result<Vec<Option<Status>>, Failure> {
    let part = Footprint { todos: given.todos.iter().copied().collect(), ..Footprint::default() };
    let plan = open.engine.slice(open.plan, &part)?;
    Ok(given.todos.iter().map(|uid| plan.get(*uid).map(|todo| todo.status)).collect())
}

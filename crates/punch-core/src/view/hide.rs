//! Decides which closed todos a view leaves out after a while. This is a setting of the view: nothing is deleted.

use crate::{Plan, Status, Todo};

/// Seconds that a closed todo stays in view; negative keeps it forever, 0 hides it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClearDelay(pub i64);

impl Default for ClearDelay {
    fn default() -> Self {
        Self(60)
    }
}

impl ClearDelay {
    /// Closed todos stay.
    pub const NEVER: Self = Self(-1);

    /// Whether the todo is out of view at `now`.
    ///
    /// Failed todos stay: the user has to look at them.
    pub fn hides(self, todo: &Todo, now: i64) -> bool {
        if todo.hidden.is_some_and(|since| since <= now) {
            return true;
        }
        if self.0 < 0 || !matches!(todo.status, Status::Completed | Status::Cancelled) {
            return false;
        }
        let finished = todo.finished_at.unwrap_or(todo.updated_at);
        self.0 == 0 || finished.saturating_add(self.0.saturating_mul(1000)) <= now
    }
}

/// The live todos in list order that are in view at `now`.
pub fn visible(plan: &Plan, delay: ClearDelay, now: i64) -> Vec<&Todo> {
    let mut todos = plan.live();
    todos.retain(|todo| !delay.hides(todo, now));
    todos
}

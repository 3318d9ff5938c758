//! One todo as a row of a board in another process: what [`TodoRow`] says, and the values by which boards sort, group and
//! filter. What is empty is not written, because a board gets thousands of these.

use serde::Serialize;

use super::{Badge, Plain, TodoRow};
use crate::reason::PlanReader;
use crate::{Dep, PhaseUid, ShownStatus, Todo, Uid};

/// A todo as a row of a board.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct BoardRow {
    /// The todo.
    pub uid: Uid,
    /// The id of the todo.
    pub id: Plain,
    /// Its status as the user sees it.
    pub status: ShownStatus,
    /// The active form while it runs, the content otherwise.
    pub text: Plain,
    /// Its place in the list: rows are sorted by this, then by uid.
    pub position: i64,
    /// The phase of the todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseUid>,
    /// Its priority, unless it is the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Its labels, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Plain>,
    /// The owner that works on the todo; `user` for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Plain>,
    /// When the work on it began, while it is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// When the claim of its owner ends unless it is renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Marks that no other field has, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub badges: Vec<&'static str>,
    /// How many notes it has.
    #[serde(skip_serializing_if = "is_zero")]
    pub notes: usize,
    /// Why it is not worked on, a few words each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Plain>,
    /// The ids of what it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Plain>,
    /// How many open todos need it directly.
    #[serde(skip_serializing_if = "is_zero")]
    pub dependents: usize,
    /// Tokens that it is estimated at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// When the todo last changed.
    pub updated: i64,
    /// When it was completed, cancelled or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<i64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Badges that have no field of their own, by their names in JSON.
pub const MARKS: [(&str, Badge); 10] = [
    ("resume", Badge::Resume),
    ("stale", Badge::Stale),
    ("stale_dependency", Badge::StaleDependency),
    ("check_failed", Badge::CheckFailed),
    ("checked", Badge::Checked),
    ("unchecked", Badge::Unchecked),
    ("outdated", Badge::Outdated),
    ("failing", Badge::Failing),
    ("drift", Badge::Drift),
    ("oversize", Badge::Oversize),
];

impl BoardRow {
    /// The row of a todo of a whole plan.
    pub fn of<'a>(reader: PlanReader<'a>, todo: &'a Todo) -> Self {
        let row = TodoRow::of(reader, todo);
        let plan = reader.plan;
        let need = |dep: &Dep| match dep {
            Dep::On(uid) | Dep::Suspended(uid) => {
                Plain::id(&plan.get(*uid).map_or_else(|| format!("#{}", uid.0), |todo| todo.id.clone()))
            }
            Dep::Dangling(id) => Plain::id(id),
        };
        let waiting = |uid: &&Uid| plan.get(**uid).is_some_and(|todo| todo.is_live() && todo.status.is_open());
        let dependents = plan.dependents_of(todo.uid).map_or(0, |uids| uids.iter().filter(waiting).count());
        let (mut owner, mut until) = (None, None);
        for badge in &row.badges {
            match badge {
                Badge::Owner { name, until: end } => (owner, until) = (Some(name.clone()), *end),
                Badge::Yours => owner = Some(Plain::id(crate::actor::USER)),
                _ => {}
            }
        }
        Self {
            notes: row.notes(),
            badges: MARKS.iter().filter(|(_, badge)| row.badges.contains(badge)).map(|(name, _)| *name).collect(),
            uid: row.uid,
            id: row.id,
            status: row.status,
            text: row.text,
            position: todo.position,
            phase: todo.phase,
            priority: Some(todo.priority).filter(|priority| *priority != 3),
            labels: todo.labels.iter().map(|label| Plain::id(label.as_str())).collect(),
            owner,
            since: row.since,
            until,
            why: row.why,
            needs: todo.depends_on.iter().take(NEEDS).map(need).collect(),
            dependents,
            tokens: todo.estimated_tokens,
            updated: todo.updated_at,
            finished: todo.finished_at,
        }
    }

    /// The rows of every live todo of a whole plan, in list order.
    pub fn all(reader: PlanReader<'_>) -> Vec<Self> {
        reader.plan.live().into_iter().map(|todo| Self::of(reader, todo)).collect()
    }
}

/// Ids of needed todos that a row names.
const NEEDS: usize = 100;

//! What blocks open todos, in the form in which a decision stores it.

use serde::{Deserialize, Serialize};

use super::facts::CLIPPED;
use crate::reason::{self, Cause, WaitReason};
use crate::text::clip;
use crate::{Need, Plan, Uid};

/// Blocks that are named.
const NAMED: usize = 50;

/// One beginning of waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The id.
    pub id: String,
    /// Why it does not move.
    pub cause: Cause,
    /// The text of the block: the reason of a hold, or the name of an owner.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
}

impl From<&WaitReason> for Block {
    fn from(reason: &WaitReason) -> Self {
        let about = reason.about.as_deref().unwrap_or_default();
        Self {
            id: clip(&reason.id, CLIPPED).into_owned(),
            cause: reason.cause,
            about: clip(about, CLIPPED).into_owned(),
        }
    }
}

/// Everything that blocks the open todos.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Roots {
    /// The first of them: what waits for users comes first.
    pub named: Vec<Block>,
    /// All that were found.
    pub total: u64,
    /// There was too much to look at everything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Open todos of the lowest priority that nothing blocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<String>,
}

impl Roots {
    /// Returns true if every one of them waits for the user.
    pub fn only_people(&self) -> bool {
        self.total > 0 && !self.cut && self.named.iter().all(|block| block.cause == Cause::Person)
    }

    /// Returns the id of the only todo that blocks the others, if there is one and its id is stored as a whole.
    pub(super) fn only_one(&self) -> Option<&str> {
        match self.named.as_slice() {
            [block] if self.total == 1 && !self.cut && block.id.chars().count() < CLIPPED => Some(&block.id),
            _ => None,
        }
    }
}

/// Walks down from `start`, looking at no more than `limit` todos; see [`reason::roots`].
pub fn roots(plan: &Plan, start: &[Uid], owner: Option<&str>, now: i64, limit: usize) -> Result<Roots, Need> {
    let reason::WaitRoots { found, cut, mut optional } = reason::roots(plan, start, owner, now, limit)?;
    optional.truncate(NAMED);
    Ok(Roots { named: found.iter().take(NAMED).map(Block::from).collect(), total: found.len() as u64, cut, optional })
}

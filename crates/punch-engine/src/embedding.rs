//! What a program that embeds the engine configures for its sessions.

use std::fmt;

use punch_core::Op;

/// Makes ids for todos that come without one. It gets a number that no other todo of the plan has.
pub struct IdMaker(Box<dyn Fn(u64) -> String + Send + Sync>);

impl IdMaker {
    /// Makes ids with a function.
    pub fn new(make: impl Fn(u64) -> String + Send + Sync + 'static) -> Self {
        Self(Box::new(make))
    }

    /// Gives an id to every todo of a batch that has none. `next` is the number of the first new todo.
    pub(crate) fn name_adds(&self, ops: &mut [Op], next: u64) {
        let adds = ops.iter_mut().filter_map(|op| if let Op::Add(add) = op { Some(add) } else { None });
        for (number, add) in (next..).zip(adds) {
            add.id.get_or_insert_with(|| (self.0)(number));
        }
    }
}

impl fmt::Debug for IdMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdMaker")
    }
}

/// What the program around a session decides. The default holds for agents that Punchlist is installed for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Embedding<'a> {
    /// Ids for new todos; `T-1`, `T-2` and so on without it.
    pub ids: Option<&'a IdMaker>,
    /// The plan ends with the process.
    pub in_memory: bool,
}

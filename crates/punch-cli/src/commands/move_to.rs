//! `punch move`: another place in the list.

use clap::Args;
use punch_core::{ListPosition, Op, Ref};

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch move T-3 --first
  punch move T-3 --after T-1";

/// The arguments of `punch move`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Move {
    /// An id, or a part of the content
    #[arg(value_name = "TODO")]
    todo: String,
    #[command(flatten)]
    place: PlaceFlags,
}

/// A place in the list.
#[derive(Args, Clone, Default)]
#[group(multiple = false)]
pub struct PlaceFlags {
    /// Before everything
    #[arg(long)]
    first: bool,
    /// After everything
    #[arg(long)]
    end: bool,
    /// Right before this todo
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// Right after this todo
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

impl PlaceFlags {
    /// The place; the end if none is given.
    pub fn place(&self) -> ListPosition {
        match (&self.before, &self.after) {
            (Some(id), _) => ListPosition::Before(Ref::Id(id.clone())),
            (None, Some(id)) => ListPosition::After(Ref::Id(id.clone())),
            (None, None) if self.first => ListPosition::First,
            (None, None) => ListPosition::End,
        }
    }
}

impl Move {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let place = self.place.place();
        act(project, &[self.todo], &|refs| refs.iter().map(|r| Op::Move(r.clone(), place.clone())).collect())
    }
}

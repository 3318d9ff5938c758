//! `punch move`: moves a todo in the list.

use clap::Args;
use punch_core::{ListPosition, Op, Ref, text};

use crate::failure::Failure;
use crate::named_todos::act;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch move T-3 --first
  punch move T-3 --after T-1";

/// The arguments of `punch move`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct MoveArgs {
    /// An id, or a part of the text
    #[arg(value_name = "TODO")]
    todo: String,
    #[command(flatten)]
    place: PlaceFlags,
}

/// A place in the list.
#[derive(Args, Clone, Default)]
#[group(multiple = false)]
pub struct PlaceFlags {
    /// Put it at the beginning
    #[arg(long, alias = "top")]
    first: bool,
    /// Put it at the end
    #[arg(long, aliases = ["last", "bottom"])]
    end: bool,
    /// Put it right before this todo
    #[arg(long, value_name = "ID")]
    before: Option<String>,
    /// Put it right after this todo
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

impl PlaceFlags {
    /// Returns true if a place was given.
    const fn is_given(&self) -> bool {
        self.first || self.end || self.before.is_some() || self.after.is_some()
    }

    /// The place; the end if none is given.
    pub fn place(&self) -> ListPosition {
        match (&self.before, &self.after) {
            (Some(id), _) => ListPosition::Before(Ref::Id(whole(id))),
            (None, Some(id)) => ListPosition::After(Ref::Id(whole(id))),
            (None, None) if self.first => ListPosition::First,
            (None, None) => ListPosition::End,
        }
    }
}

/// `4` is short for `T-4`.
fn whole(id: &str) -> String {
    let short = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    if short { format!("T-{id}") } else { id.to_owned() }
}

impl MoveArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        if !self.place.is_given() {
            return Err(Failure::usage(
                "no place given",
                "say where: `--first`, `--end`, `--before ID` or `--after ID`",
            ));
        }
        let place = self.place.place();
        let mut reply =
            act(project, &[self.todo], &|refs| refs.iter().map(|r| Op::Move(r.clone(), place.clone())).collect())?;
        let neutral = |id: &str| text::neutral(id).into_owned();
        let moved = match &place {
            ListPosition::First => "to the beginning".to_owned(),
            ListPosition::Before(Ref::Id(id)) => format!("before {}", neutral(id)),
            ListPosition::After(Ref::Id(id)) => format!("after {}", neutral(id)),
            _ => "to the end".to_owned(),
        };
        reply.body.push(if reply.wrote { format!("  moved {moved}") } else { "  already there".to_owned() });
        Ok(reply)
    }
}

//! The arguments of a tool call, parsed once. No code after this module looks into the JSON that a model sent.

use punch_core::dialect::extended;
use punch_core::dialect::native::{self, TextLimits};
use punch_core::dialect::tool_arguments::ToolArguments;
use punch_core::{Dialect, Refusal, text};
use serde_json::Value;

use super::{Tool, list};

/// Todos on a page, if the call does not say: about 500 tokens.
const PAGE: usize = 30;

/// Offsets up to which a page of the plan costs little.
const NEAR: usize = 1_000;

/// A tool call whose arguments were read.
pub(super) enum ToolCall {
    Read(ReadCall),
    Claim(ClaimCall),
    Checkpoint(CheckpointCall),
    Native(native::NativeCall),
    List(list::ListCall),
    Extended(extended::ExtendedCall),
}

impl ToolCall {
    /// Reads the arguments of a tool. What cannot be read is refused, and nothing else has happened by then.
    pub fn parse(dialect: Dialect, tool: Tool, arguments: &Value, limits: &TextLimits) -> Result<Self, Refusal> {
        Ok(match (tool, dialect) {
            (Tool::Read, _) => Self::Read(ReadCall::parse(arguments)?),
            (Tool::Claim, _) => Self::Claim(ClaimCall::parse(arguments)?),
            (Tool::Checkpoint, _) => Self::Checkpoint(CheckpointCall::parse(arguments)?),
            (Tool::Write, Dialect::Native) => Self::Native(native::parse(arguments, limits)?),
            (Tool::Write, Dialect::Extended) => Self::Extended(extended::read(arguments, limits)?),
            (Tool::Write, Dialect::Cursor | Dialect::Phases | Dialect::Todowrite) => {
                Self::List(list::ListCall::parse(dialect, arguments)?)
            }
        })
    }
}

punch_core::words! {
    /// A view of the plan that the reading tool offers. A test compares these with the tools in `tools/`.
    pub enum ReadView {
        /// Todos in list order, a page at a time.
        Plan = "plan",
        /// The todo to work on now.
        Next = "next",
        /// Every todo that can start.
        Ready = "ready",
        /// Everything about one todo.
        Todo = "todo",
        /// What open todos, or one of them, wait for.
        Why = "why",
        /// The next batch of todos that fits a token budget.
        Schedule = "schedule",
        /// The last changes.
        History = "history",
        /// The items that need the user.
        Inbox = "inbox",
    }
}

/// A call of the reading tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadCall {
    /// The view to read.
    pub view: ReadView,
    /// The todo, in the names of the conversation.
    pub id: Option<String>,
    /// Closed todos too.
    pub all: bool,
    /// Todos before the page.
    pub offset: usize,
    /// Todos on the page.
    pub limit: usize,
    /// Tokens that the caller has left; what hooks measured, or a whole context window, if it does not say.
    pub budget: Option<u64>,
}

impl ReadCall {
    /// Reads the arguments of the reading tool.
    pub fn parse(arguments: &Value) -> Result<Self, Refusal> {
        let given = ToolArguments::of(arguments, &["view", "id", "all", "offset", "limit", "budget"])?;
        let name = given.text("view")?.unwrap_or(ReadView::Plan.name());
        let view = ReadView::parse(name).ok_or_else(|| {
            let known = ReadView::ALL.map(ReadView::name);
            let what = format!("`{}` is not one of {}", text::clip(name, 40), known.join(", "));
            Refusal::Invalid { at: "view".into(), what }
        })?;
        let number = |key: &str| Ok::<_, Refusal>(given.number(key)?.and_then(|n| usize::try_from(n).ok()));
        Ok(Self {
            view,
            id: given.text("id")?.map(str::to_owned),
            all: given.flag("all")?,
            offset: number("offset")?.unwrap_or(0),
            limit: number("limit")?.unwrap_or(PAGE).clamp(1, 200),
            budget: given.number("budget")?,
        })
    }

    /// Returns true if the call loads a few todos only, so that handing it to another thread would cost more.
    pub fn is_light(&self) -> bool {
        match self.view {
            ReadView::Plan | ReadView::Next | ReadView::Ready => self.offset <= NEAR,
            ReadView::Todo | ReadView::Why | ReadView::Schedule | ReadView::History | ReadView::Inbox => false,
        }
    }

    /// Returns true if the answer depends on what was learned from all plans.
    pub(super) fn is_calibrated(&self) -> bool {
        self.view == ReadView::Schedule
    }
}

/// A call of the claiming tool.
pub(super) struct ClaimCall {
    /// The todo; without it the best ready one is claimed.
    pub id: Option<String>,
    /// The owner, if not the caller.
    pub owner: Option<String>,
    /// How long the claim lasts unless renewed, in milliseconds.
    pub lease: Option<i64>,
}

impl ClaimCall {
    fn parse(arguments: &Value) -> Result<Self, Refusal> {
        let given = ToolArguments::of(arguments, &["id", "owner", "leaseMs"])?;
        let word = |key: &str| Ok::<_, Refusal>(given.text(key)?.map(str::to_owned));
        let lease = given.number("leaseMs")?.and_then(|ms| i64::try_from(ms).ok());
        Ok(Self { id: word("id")?, owner: word("owner")?, lease: lease.filter(|ms| *ms > 0) })
    }
}

/// A call of the checkpoint tool.
pub(super) enum CheckpointCall {
    Save { note: Option<String> },
    List,
    Restore { id: Option<String> },
}

impl CheckpointCall {
    fn parse(arguments: &Value) -> Result<Self, Refusal> {
        let given = ToolArguments::of(arguments, &["action", "id", "note"])?;
        let word = |key: &str| Ok::<_, Refusal>(given.text(key)?.map(str::to_owned));
        Ok(match given.text("action")?.unwrap_or("save") {
            "save" => Self::Save { note: word("note")? },
            "list" => Self::List,
            "restore" => Self::Restore { id: word("id")?.filter(|id| !id.is_empty()) },
            other => {
                let what = format!("`{}` is not one of save, list, restore", text::clip(other, 40));
                return Err(Refusal::Invalid { at: "action".into(), what });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToolGroup, ToolOffers};

    #[test]
    fn the_tools_offer_every_view_and_no_other() {
        let mut seen = 0;
        for dialect in &Dialect::ALL {
            for tool in ToolOffers::new(*dialect, &ToolGroup::ALL).tools {
                if tool.tool == Tool::Read {
                    let offered = tool.input_schema["properties"]["view"]["enum"].as_array().unwrap();
                    let known = ReadView::ALL.map(ReadView::name);
                    assert_eq!(*offered, known, "{}", tool.name);
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, 2);
    }
}

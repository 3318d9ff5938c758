//! Drive: what to do when an agent reports something: let it stop, keep it going, remind it, or stay silent.
//!
//! Everything here is a function of values that can be stored and replayed. Stopping needs neither the model nor a
//! tool; going on needs every gate to be open.

mod assignment;
mod block;
mod brief;
mod counters;
mod decide;
mod facts;
mod host;
mod observed;
mod offers;
mod prompt;
mod put_back;
mod quote;
mod reason;
mod remind;
mod rules;
mod tokens;
mod turns;
mod unproven;
mod user_changes;

pub use assignment::{ASSIGNED, assignment};
pub use block::{Block, Roots, roots};
pub use brief::{Reporting, Workplace, again, brief};
pub use counters::{Counters, ToolTrouble};
pub use decide::{Decision, DecisionInput, DecisionScene, Switch, Vocabulary, by_content, decide, early};
pub use facts::{Cover, NamedTodo, PlanFacts, Selection, select, survey};
pub use host::{CommandRun, ContextUse, Finish, HostEffect, HostEvent, SessionStart, ToolKind, ToolUse};
pub use observed::{OBSERVED_TOKENS, UNCHECKED, ask_for_checks, drift_note, missing_evidence};
pub use offers::{OFFER_MS, Offers, TodoOffer};
pub use prompt::continuation;
pub use put_back::{ListWords, PUT_BACK_TOKENS, PUT_BACK_TOKENS_SMALL, SMALL, branched, offer, put_back};
pub use quote::quote;
pub use reason::Reason;
pub use remind::{Nudge, advice, due, nudge};
pub use rules::{KeepGoing, Reminding};
pub use tokens::{estimate, most_tokens};
pub use turns::{TurnBefore, UserTurn};
pub use unproven::{NextRun, PendingCheck, UNPROVEN, Unproven, explain};
pub use user_changes::{USER_CHANGES_TOKENS, UserChange, UserChangesText, user_changes};

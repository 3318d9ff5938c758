//! The inbox: what needs the user.

use punch_core::inbox::InboxKind;
use punch_engine::InboxQuery;
use serde::{Deserialize, Serialize};

use crate::{Error, Session};

/// One thing that needs the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InboxItem {
    /// The reason why the item needs the user.
    pub kind: InboxKind,
    /// The id of the todo that it is about.
    pub todo: Option<String>,
    /// What is the matter, on one line that is safe to print.
    pub text: String,
    /// Since when, in milliseconds since the epoch.
    pub since: i64,
    /// How many open todos wait for it, directly or not.
    pub blocks: u64,
    /// The number of the question that waits for an answer.
    pub question: Option<u64>,
    /// A command of the program `punch` for it; only for hosts that [have a shell](crate::Options::has_shell).
    pub command: Option<String>,
}

impl Session {
    /// What needs the user: questions, holds, failures, conflicts, stuck todos, the most urgent first. Checks and settings
    /// of the project wait for approval only where the session knows the user's approvals ([`Options::consents`](crate::Options::consents)).
    ///
    /// ```
    /// # use punchlist::{InboxKind, Op, Options, Session};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.apply(&[Op::add("Deploy"), Op::hold("T-1", "which server?")])?;
    /// let inbox = session.inbox()?;
    /// assert_eq!((inbox[0].kind, inbox[0].todo.as_deref()), (InboxKind::Hold, Some("T-1")));
    /// assert_eq!(inbox[0].command, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn inbox(&self) -> Result<Vec<InboxItem>, Error> {
        let items = self.engine.inbox(self.plan, &InboxQuery::new(&self.settings, self.tree.as_ref()))?;
        let shell = self.settings.reminders_shell.value;
        let item = |item: punch_core::inbox::InboxItem| InboxItem {
            kind: item.kind,
            todo: item.todo,
            text: item.text,
            since: item.since,
            blocks: item.blocks,
            question: item.question,
            command: shell.then_some(item.action),
        };
        Ok(items.into_iter().map(item).collect())
    }
}

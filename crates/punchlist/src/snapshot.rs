//! A session as a value, for hosts that store the list with their own transcript.

use punch_store::{PlanCopy, add_plan, read_plan};
use serde::{Deserialize, Serialize};

use crate::{Error, Options, Session};

/// Everything about a session and its plan: todos, history, checkpoints, counters. Serialize it in any format and rebuild the
/// session later, in another process or with another store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionSnapshot {
    session: String,
    subagent: Option<String>,
    plan: PlanCopy,
}

impl Session {
    /// The session at this moment.
    ///
    /// ```
    /// # use punchlist::{Op, Options, Session, SessionSnapshot};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.apply(&[Op::add("Write the parser")])?;
    /// let saved = serde_json::to_string(&session.snapshot()?)?;
    /// // Later, perhaps in another process:
    /// let snapshot: SessionSnapshot = serde_json::from_str(&saved)?;
    /// let again = Session::from_snapshot(&snapshot, Options::new("my-agent"))?;
    /// assert_eq!(again.todos()?, session.todos()?);
    /// assert_eq!(again.snapshot()?, snapshot);
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Result<SessionSnapshot, Error> {
        Ok(SessionSnapshot {
            session: self.name().to_owned(),
            subagent: self.key.subagent().map(str::to_owned),
            plan: read_plan(self.engine.store(), self.plan)?,
        })
    }

    /// Rebuilds a session in memory. The name of the session is that of the snapshot, whatever the options say.
    pub fn from_snapshot(snapshot: &SessionSnapshot, options: Options) -> Result<Self, Error> {
        Self::from_snapshot_in(crate::store::MemoryStore::new(), snapshot, options)
    }

    /// Rebuilds a session in a store of your own, which must have no plan of that name.
    pub fn from_snapshot_in(
        store: impl crate::store::Store + 'static,
        snapshot: &SessionSnapshot,
        options: Options,
    ) -> Result<Self, Error> {
        add_plan(&store, &snapshot.plan)?;
        let options = Options {
            session: Some(snapshot.session.clone()),
            subagent: snapshot.subagent.clone(),
            plan: Some(snapshot.plan.name().to_owned()),
            ..options
        };
        Self::with_store(store, options)
    }
}

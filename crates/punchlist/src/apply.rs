//! Changes that the host makes itself: ops, undo and redo, imports and exports.

use punch_core::{Actor, Format, Uid, Warning};
use punch_engine::{ImportOptions, PlanChange, Proofs, WorkTree, WriteRequest, WritingSession, owner_of, written};
use serde::{Deserialize, Serialize};

use crate::{Error, Op, Session};

/// The result of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Applied {
    /// The plan changed. False if everything was already as asked.
    pub changed: bool,
    /// The revision of the plan afterwards.
    pub revision: u64,
    /// The ids of new todos, in the order in which they were added.
    pub added: Vec<String>,
    /// What is worth knowing, although it was applied.
    pub warnings: Vec<String>,
}

/// What an import does with todos that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Import {
    /// Adds the todos of the text.
    #[default]
    Add,
    /// Updates todos that the plan has, and adds the others.
    Update,
    /// Archives what the plan has first.
    Replace,
}

impl Session {
    /// Applies ops, all of them or none. They are signed by the agent of this session and count as its work, like a
    /// call of its tools: the session owns what it starts and continues until that is done. The model does not learn
    /// about them automatically. If a rule refuses them, the result is an [`Error`] and nothing has changed. A
    /// completion that needs a check runs it first, as [`Session::call`] does.
    pub fn apply(&self, ops: &[Op]) -> Result<Applied, Error> {
        self.submit(&self.session_request(), ops)
    }

    /// Applies ops as the user: the agent learns of them with the answer to its next call, or when its next turn starts.
    pub fn apply_as_user(&self, ops: &[Op]) -> Result<Applied, Error> {
        self.submit(&self.request(Actor::user()), ops)
    }

    /// Undoes a revision; without one, the latest change of this session that still stands. It never succeeds without a
    /// change.
    ///
    /// ```
    /// # use punchlist::{Op, Options, Session};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.apply(&[Op::add("Write the parser")])?;
    /// session.undo(None)?;
    /// assert!(session.todos()?.is_empty());
    /// session.redo()?;
    /// assert_eq!(session.todos()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn undo(&self, revision: Option<u64>) -> Result<Applied, Error> {
        let changed = self.engine.undo(self.plan, &self.session_request(), revision, false)?;
        Ok(applied(&changed))
    }

    /// Undoes the latest undo of this session that is still in force.
    pub fn redo(&self) -> Result<Applied, Error> {
        Ok(applied(&self.engine.redo(self.plan, &self.session_request())?))
    }

    /// Reads a whole list in some format into the plan, all of it or nothing.
    ///
    /// ```
    /// # use punchlist::{Format, Import, Options, Session};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.read(Format::Checklist, "- [x] Design\n- [ ] Build\n", Import::Replace)?;
    /// assert_eq!(session.write(Format::Checklist)?.trim(), "- [x] Design\n- [ ] Build");
    /// # Ok(())
    /// # }
    /// ```
    pub fn read(&self, format: Format, text: &str, how: Import) -> Result<Applied, Error> {
        let options = ImportOptions {
            replace: how == Import::Replace,
            update: how == Import::Update,
            ..ImportOptions::default()
        };
        let imported = self.engine.import(self.plan, &self.session_request(), format, text, options)?;
        Ok(applied(&imported.changed))
    }

    /// The plan in a format. Not every format carries everything, and some can only be read.
    pub fn write(&self, format: Format) -> Result<String, Error> {
        let plan = self.engine.whole(self.plan)?;
        written(format, &plan).map(|written| written.text).ok_or_else(|| {
            let message = format!("the format `{}` can only be read", format.name());
            Error { code: "invalid", message, hint: "choose another format".to_owned() }
        })
    }

    fn submit(&self, request: &WriteRequest<'_>, ops: &[Op]) -> Result<Applied, Error> {
        let now = self.engine.now();
        let usage: Vec<_> = ops.iter().filter_map(Op::usage).collect();
        let ops: Vec<punch_core::Op> = ops.iter().map(|op| op.to_core(now)).collect::<Result<_, _>>()?;
        let finishes = ops.iter().any(|op| matches!(op, punch_core::Op::Done { .. }));
        let commit = self.tree.as_ref().filter(|_| finishes).and_then(WorkTree::commit);
        let session = request.session.map(|session| session.key);
        let mut proofs = Proofs::default();
        loop {
            let request =
                WriteRequest { commit: commit.as_deref(), proofs: Some(&proofs), usage: &usage, ..request.clone() };
            let error = match self.engine.submit(self.plan, &request, &ops) {
                Ok(changed) => return Ok(applied(&changed)),
                Err(error) => error,
            };
            let Some(id) = proofs.wanting(&error) else {
                self.engine.record_refused(self.plan, session, &proofs, &error);
                return Err(error.into());
            };
            proofs.push(self.prove(&id, session)?);
        }
    }

    pub(crate) fn actor(&self) -> Actor {
        Actor::agent(self.agent.clone(), owner_of(&self.key, &self.settings))
    }

    /// A change that the host makes in the name of the session.
    pub(crate) fn session_request(&self) -> WriteRequest<'_> {
        let session = WritingSession { key: &self.key, dialect: self.offer.dialect };
        WriteRequest { session: Some(session), ..self.request(self.actor()) }
    }

    fn request(&self, actor: Actor) -> WriteRequest<'_> {
        let tree = self.tree.as_ref().map(|tree| tree.root.as_path());
        WriteRequest { settings: Some(&self.settings), tree, ids: self.ids.as_deref(), ..WriteRequest::of(actor) }
    }
}

fn applied(changed: &PlanChange) -> Applied {
    let id = |uid: &Uid| changed.plan.get(*uid).map(|todo| todo.id.clone());
    Applied {
        changed: !changed.outcome.events.is_empty(),
        revision: changed.outcome.plan.revision,
        added: changed.outcome.added.iter().filter_map(id).collect(),
        warnings: changed.outcome.warnings.iter().map(Warning::message).collect(),
    }
}

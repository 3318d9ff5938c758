//! Calls and ops that finish todos only with proof (`policy.verify = "command"`). The checks run between two tries, in
//! the worktree and with the user's approval.

use punch_core::Refusal;
use punch_engine::call::{CallResult, ToolAnswer, ToolWords};
use punch_engine::{Checker, EngineError, OfferedTool, PassedCheck, Proofs};
use punch_store::SessionKey;
use serde_json::Value;

use crate::{Error, Session};

impl Session {
    /// Runs a call with every check that it needs. If a check does not pass, its failure is the answer.
    pub(crate) fn proving(
        &self,
        offered: &OfferedTool,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<ToolAnswer, Error> {
        let mut proofs = Proofs::default();
        loop {
            let mut caller = self.caller(arguments);
            caller.work.proofs = proofs.clone();
            let dialect = self.offer.dialect;
            match self.engine.call_or_check(self.plan, &caller, dialect, offered.tool, arguments, key)? {
                CallResult::Answered(answer) => return Ok(answer),
                CallResult::Wants(id) => match self.prove(&id, Some(&self.key)) {
                    Ok(proof) => proofs.push(proof),
                    Err(EngineError::Store(error)) => return Err(error.into()),
                    Err(error) => {
                        let words = ToolWords { dialect, shell: self.settings.reminders_shell.value };
                        return Ok(self.engine.refused(self.plan, &self.key, words, &error)?);
                    }
                },
            }
        }
    }

    /// Runs the check of a todo for a write; `session` remembers a check that does not pass.
    pub(crate) fn prove(&self, id: &str, session: Option<&SessionKey>) -> Result<PassedCheck, EngineError> {
        let Some(tree) = &self.tree else {
            if let Some(session) = session {
                self.engine.note_unproven(self.plan, session, id);
            }
            return Err(Refusal::NeedsVerification { id: id.to_owned() }.into());
        };
        let shell = self.settings.reminders_shell.value;
        let checker = Checker { shell, ..tree.checker(self.settings.verify_timeout.value, &|| false) };
        self.engine.prove_for(self.plan, session, &checker, id)
    }
}

//! Changes that were asked for and have not ended. They wait for each other, and a check may take minutes: the board says
//! which check runs, and what waits for it.

use punch_core::{Op, Ref, Uid};

use super::Board;
use crate::request::BoardRequest;

impl Board {
    /// Remembers the changes among requests, and says which of them are checked or have to wait.
    pub(super) fn note_changes(&mut self, requests: &[BoardRequest]) {
        for request in requests.iter().filter(|request| request.is_change()) {
            let checks = self.checks_of(request);
            let words = match (self.changes.iter().flatten().next(), &checks) {
                (Some(first), _) => Some(format!("This waits for the check of {first}.")),
                (None, Some(names)) => Some(self.checking_words(names)),
                (None, None) => None,
            };
            self.changes.push_back(checks);
            if let Some(words) = words {
                self.say(words);
            }
        }
    }

    /// Says which check runs, unless there is something else to say.
    pub(super) fn note_check(&mut self) {
        if self.notice.is_none()
            && let Some(Some(names)) = self.changes.front()
        {
            let words = self.checking_words(names);
            self.say(words);
        }
    }

    fn checking_words(&self, names: &str) -> String {
        format!("Checking {names}{}", self.look.pick("…", "..."))
    }

    /// The todos whose checks a change runs; `None` if it runs none.
    fn checks_of(&self, request: &BoardRequest) -> Option<String> {
        let BoardRequest::Submit { ops, .. } = request else { return None };
        if !self.data.runs_checks {
            return None;
        }
        let checked = |op: &Op| match op {
            Op::Done { target: Ref::Uid(uid), evidence: None, .. } => {
                self.todo(*uid).filter(|todo| todo.status.is_open() && todo.verify.is_some()).map(|todo| todo.uid)
            }
            _ => None,
        };
        let uids: Vec<Uid> = ops.iter().filter_map(checked).collect();
        (!uids.is_empty()).then(|| self.names_of(&uids))
    }
}

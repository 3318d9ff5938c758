//! Errors of requests, each with a stable code, a message and a hint.

use punch_core::text::shell;
use punch_core::{ErrorValue, Refusal};
use punch_store::StoreError;

use crate::plan_file::FileError;
use crate::{CheckpointError, VerifyError};

/// Refusals that a message names.
const REFUSALS: usize = 10;

punch_core::errors! {
    /// Why a request failed. Nothing was changed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum EngineError {
        /// No plan of that name.
        UnknownPlan { name: String, near: Vec<String> }: "unknown_plan",
            ("no plan `{name}`{near}"),
            ("`punch plan list` shows the plans, `punch plan new NAME` creates one");
        /// A plan in use has that name.
        PlanExists { name: String }: "plan_exists",
            ("a plan named `{name}` already exists"),
            ("choose another name, switch to it with `punch plan use {0}`, or rename it with `punch plan rename {0} NAME`", shell(&name));
        /// The plan is archived.
        ArchivedPlan { name: String }: "archived_plan",
            ("the plan `{name}` is archived"),
            ("run `punch plan archive {} --undo` to bring it back", shell(&name));
        /// A reference fits several todos.
        Ambiguous { given: String, candidates: Candidates }: "ambiguous",
            ("`{given}` matches {candidates}"),
            ("use the id of the one you mean");
        /// The role of the session does not allow it (rule 39).
        NotAllowed { what: String }: "not_allowed",
            ("a worker session may not {what}"),
            ("report only on the todos assigned to you: start, done, fail, note, hold");
        /// The plan would have more open todos than a request may make.
        TooMany { open: u64, limit: u64 }: "too_many",
            ("the plan would have {open} open todos (limit {limit})"),
            ("finish or remove some first, or combine steps into one todo");
        /// Work is not handed out here (rule 40).
        SubagentsOff: "subagents_off",
            ("the setting `subagents` is off, so todos are not assigned to other agents"),
            ("run `punch config set subagents conservative` to allow it");
        /// Another runner holds the lease of the plan.
        RunTaken { by: String }: "run_taken",
            ("another run is working on this plan ({by})"),
            ("wait for it, or stop it with `punch run stop`; `punch run list` shows the runs");
        /// This runner lost the lease of the plan to another one.
        RunReplaced: "run_replaced",
            ("another runner has taken over this plan"),
            ("`punch run list` shows the runs; this one has stopped writing");
        /// Another process has the name of a worker.
        WorkerTaken { name: String, by: String }: "worker_taken",
            ("another worker is called `{name}` ({by})"),
            ("choose another name with `--name`; `punch worker list` shows the workers");
        /// Another process has taken the name of this worker, which had not been seen for too long.
        WorkerReplaced { name: String }: "worker_replaced",
            ("another process is the worker `{name}` now"),
            ("`punch worker list` shows the workers; this one has stopped writing");
        /// An approval could not be stored.
        ApprovalNotStored { why: String }: "approval_not_stored",
            ("the approval could not be stored: {why}"),
            ("check that the state folder of your user can be written");
        /// A reference fits nothing.
        NotFound { given: String, near: Vec<String> }: "unknown_todo",
            ("no todo `{given}`{near}"),
            ("`punch list --all` shows every todo, closed ones included; `punch log` names archived ones");
    }
    from {
        /// The rules refused the batch; never empty.
        Refused(refusals: Vec<Refusal>) =>
            refusals.first().map_or("refused", Refusal::code),
            all_of(refusals),
            refusals.first().map(Refusal::hint).unwrap_or_default();
        /// The store failed.
        Store(error: StoreError) => error.code(), error.message(), error.hint();
        /// A check did not pass, or could not run.
        Verify(error: VerifyError) => error.code(), error.message(), error.hint();
        /// The plan file could not be used.
        PlanFile(error: FileError) => error.code(), error.message(), error.hint();
        /// A checkpoint is not there, or does not fit the code.
        Checkpoint(error: CheckpointError) => error.code(), error.message(), error.hint();
    }
}

/// The todos that a reference fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Ids and contents of the first few.
    pub shown: Vec<(String, String)>,
    /// The number of matches.
    pub total: usize,
}

impl ErrorValue for Candidates {
    fn shown(&self) -> String {
        let lines = self.shown.iter().map(|(id, content)| format!("\n  {}  {}", id.shown(), content.shown()));
        let more = self.total.saturating_sub(self.shown.len());
        let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
        format!("{} todos:{}{more}", self.total, lines.collect::<String>())
    }
}

fn all_of(refusals: &[Refusal]) -> String {
    let mut lines: Vec<String> = refusals.iter().take(REFUSALS).map(Refusal::message).collect();
    if refusals.len() > REFUSALS {
        lines.push(format!("{} more", refusals.len() - REFUSALS));
    }
    let is_placed = |refusal: &Refusal| matches!(refusal, Refusal::AtLine { .. });
    lines.join(if refusals.iter().all(is_placed) { "\n" } else { "; " })
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(vec![refusal])
    }
}

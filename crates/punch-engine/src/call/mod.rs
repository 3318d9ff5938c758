//! Tool calls: takes one call of a dialect and returns a short text and a structured answer. Every write takes the same
//! path: project, step, diff, apply, in one transaction with the session's state.

mod answer;
mod arguments;
pub mod budget;
mod checkpoint;
mod claim;
mod extended;
mod hint;
mod list;
mod list_window;
mod mirror;
pub(crate) mod names;
mod native;
mod read;
mod reading;
mod refused;
mod render;
mod repeated_rows;
pub(crate) mod reported_usage;
mod step;
mod veto;
mod worker;

use punch_core::dialect::cursor::DelegationMode;
use punch_core::dialect::native::TextLimits;
use punch_core::{Actor, Refusal};
use punch_store::{Ahead, PlanId, SessionKey, Tx};
use serde_json::Value;

use crate::config::{Settings, Subagents};
use crate::user_changes::Informing;
use crate::{
    Embedding, Engine, EngineError, Proofs, Role, SessionState, WorkTree, WriteRequest, link, owner_of, session,
};
use arguments::ToolCall;

pub use answer::{CallError, CallResult, ToolAnswer};
pub use arguments::{ReadCall, ReadView};
pub use hint::ToolWords;
pub use mirror::{Family, TodoUse};
pub(crate) use mirror::{MirrorResult, Notes, called_done, is_mirrored, left_out};
pub use punch_core::Dialect;
pub use reading::CachedRead;
pub(crate) use render::parallel;
pub use veto::HostTask;
pub use worker::hold_others;

/// The caller of a tool.
#[derive(Clone, Debug)]
pub struct ToolCaller<'a> {
    /// The conversation; where the host names none, a key of the server's own making.
    pub session: SessionKey,
    /// The actor that calls: it signs events and notes, and owns what it starts.
    pub actor: Actor,
    /// What it may do, where something outside the session record says so.
    pub role: Option<Role>,
    /// How eagerly ready work is handed out (cursor).
    pub mode: DelegationMode,
    /// How long texts may be.
    pub limits: TextLimits,
    /// Open todos that a call may leave in the plan.
    pub open_limit: u64,
    /// Settings whose policies go over the plan's own.
    pub settings: Option<&'a Settings>,
    /// Wants the answer for programs too.
    pub structured: bool,
    /// What is known about the work.
    pub work: CompletionSupport,
    /// The server, for calls that do not name their session: a receipt may say later whose call it was.
    pub server: Option<SessionKey>,
    /// What the program around the session decides.
    pub embedding: Embedding<'a>,
}

impl<'a> ToolCaller<'a> {
    /// A conversation that works under these settings.
    pub fn under(settings: &'a Settings, session: SessionKey, by: String) -> Self {
        Self {
            actor: Actor::agent(by, owner_of(&session, settings)),
            session,
            role: None,
            mode: match settings.subagents.value {
                Subagents::Off => DelegationMode::Off,
                Subagents::Conservative => DelegationMode::Conservative,
                Subagents::Aggressive => DelegationMode::Aggressive,
            },
            limits: TextLimits { content: settings.limits_content.value, long: settings.limits_long.value },
            open_limit: settings.limits_open_todos.value as u64,
            settings: Some(settings),
            structured: false,
            work: CompletionSupport::default(),
            server: None,
            embedding: Embedding::default(),
        }
    }
}

/// The evidence for the todos that a call finishes.
#[derive(Clone, Debug, Default)]
pub struct CompletionSupport {
    /// The commit that the worktree is at.
    pub commit: Option<String>,
    /// Checks that passed.
    pub proofs: Proofs,
    /// The code itself, for tools that ask git.
    pub tree: Option<WorkTree>,
    /// Todos whose completion waits for a check are reported as done: the caller starts their checks afterwards.
    pub starts_checks: bool,
}

impl CompletionSupport {
    /// Whether a call may complete something, in any dialect's words: only then is the commit of interest.
    pub fn finishes(arguments: &Value) -> bool {
        let mut open = vec![arguments];
        while let Some(value) = open.pop() {
            match value {
                Value::String(word) if matches!(word.as_str(), "done" | "completed") => return true,
                Value::Array(values) => open.extend(values),
                Value::Object(values) => open.extend(values.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        false
    }
}

/// The kinds of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Changes the plan.
    Write,
    /// Reads it.
    Read,
    /// Claims the best ready todo, or a named one.
    Claim,
    /// Saves or restores a checkpoint.
    Checkpoint,
}

/// A call on its way through its one transaction.
struct Incoming<'a> {
    plan: PlanId,
    caller: &'a ToolCaller<'a>,
    /// What the model sent, for the receipt.
    arguments: &'a Value,
    /// The key that distinguishes a repeated call from a new one.
    key: Option<&'a str>,
}

impl Engine {
    /// Runs one call. Refusals are answers, so that a model can act on them; errors of the store are errors.
    pub fn call(
        &self,
        plan: PlanId,
        caller: &ToolCaller<'_>,
        dialect: Dialect,
        tool: Tool,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<ToolAnswer, EngineError> {
        match self.call_or_check(plan, caller, dialect, tool, arguments, key)? {
            CallResult::Answered(answer) => Ok(answer),
            CallResult::Wants(id) => {
                self.note_unproven(plan, &caller.session, &id);
                self.refused(plan, &caller.session, caller.words(dialect), &Refusal::NeedsVerification { id }.into())
            }
        }
    }

    /// Runs one call for a caller that can run checks: a check that has to pass first is named instead of refused. A
    /// writing call with a `key` takes effect once; the second one with that key gets the answer of the first (rule
    /// 36).
    pub fn call_or_check(
        &self,
        plan: PlanId,
        caller: &ToolCaller<'_>,
        dialect: Dialect,
        tool: Tool,
        arguments: &Value,
        key: Option<&str>,
    ) -> Result<CallResult, EngineError> {
        let incoming = Incoming { plan, caller, arguments, key };
        let parsed = ToolCall::parse(dialect, tool, arguments, &caller.limits);
        let done = parsed.map_err(EngineError::from).and_then(|call| match call {
            ToolCall::Read(call) => self.call_reading(plan, caller, dialect, &call),
            ToolCall::Claim(call) => self.call_claim(&incoming, &call),
            ToolCall::Checkpoint(call) => self.call_checkpoint(plan, caller, &call),
            ToolCall::Native(call) => self.call_native(&incoming, &call),
            ToolCall::Extended(call) => self.call_extended(&incoming, &call),
            ToolCall::List(call) => self.call_list(&incoming, &call),
        });
        match done {
            Err(EngineError::Store(error)) => Err(EngineError::Store(error)),
            Err(error) => match caller.work.proofs.wanting(&error) {
                Some(id) => Ok(CallResult::Wants(id)),
                None => {
                    self.record_refused(plan, Some(&caller.session), &caller.work.proofs, &error);
                    if tool != Tool::Read {
                        self.record_failed_write(plan, &caller.session, caller.actor.by(), &error);
                    }
                    let mut answer = self.refused(plan, &caller.session, caller.words(dialect), &error)?;
                    self.inform_caller(plan, caller, &mut answer);
                    Ok(CallResult::Answered(answer))
                }
            },
            Ok(mut answer) => {
                if matches!(tool, Tool::Claim | Tool::Checkpoint) {
                    self.inform_caller(plan, caller, &mut answer);
                }
                Ok(CallResult::Answered(answer))
            }
        }
    }

    /// Informs the caller of what the user changed, in an answer that wrote nothing. Returns whether there was something to
    /// say.
    fn inform_caller(&self, plan: PlanId, caller: &ToolCaller<'_>, answer: &mut ToolAnswer) -> bool {
        let notice = self.inform(plan, &caller.session, caller.actor.by(), caller.settings);
        notice.inspect(|notice| answer.begin_with(notice)).is_some()
    }

    /// Runs the write of a call in one transaction with everything that belongs to it: the answer that an earlier call
    /// with the same key got, the role and the state of the session, the receipt, and the answer for a call that comes
    /// again. `ahead` says what else it is about to read. `body` returns `None` if there was nothing to do; then nothing is
    /// stored.
    fn write_call(
        &self,
        incoming: &Incoming<'_>,
        request: &WriteRequest<'_>,
        ahead: Ahead<'_>,
        mut body: impl FnMut(&mut dyn Tx, i64, &mut SessionState, Role) -> Result<Option<ToolAnswer>, EngineError>,
    ) -> Result<Option<ToolAnswer>, EngineError> {
        let Incoming { plan, caller, arguments, key } = *incoming;
        let ahead = Ahead { session: Some(&caller.session), answer: key, ..ahead };
        self.write_for(plan, request, ahead, |tx, now| {
            if let Some(stored) = key.map(|key| tx.answer(key, now)).transpose()?.flatten() {
                return Ok(Some(serde_json::from_str(&stored).unwrap_or_default()));
            }
            let mut state = session::load(tx, &caller.session, plan)?;
            let role = state.role_of(&caller.session, caller.role);
            // A session that begins here was offered the plan as it is.
            let begins = !state.bound && state.drive.told == 0;
            let before = tx.row()?.revision;
            let since = if begins { before } else { state.informed() };
            let listed = state.scope.clone();
            let Some(mut answer) = body(tx, now, &mut state, role)? else { return Ok(None) };
            answer.changed = tx.row()?.revision > before;
            let user = caller.settings.and_then(|settings| settings.owner.value.as_deref());
            let informing = Informing { snapshot: tx, session: &caller.session, user, now };
            // If nothing came between, all new events are the caller's own, and reading them would cost a round trip.
            if since >= before && state.unnamed.is_empty() && !caller.actor.is_user() {
                informing.skip_own(&mut state)?;
            } else if let Some(notice) = informing.inform_since(&mut state, since, &listed)? {
                notice.record(tx, &caller.session, caller.actor.by(), now)?;
                answer.begin_with(&notice.text);
            }
            link::note(&mut state, caller.server.as_ref(), &caller.session, arguments);
            session::store(tx, &caller.session, plan, &state, now)?;
            if let Some(key) = key {
                tx.put_answer(key, &serde_json::to_string(&answer).unwrap_or_default(), now)?;
            }
            Ok(Some(answer))
        })
    }
}

impl<'a> ToolCaller<'a> {
    pub(crate) fn request(&'a self, preset: fn(punch_core::Policy) -> punch_core::Policy) -> WriteRequest<'a> {
        WriteRequest {
            preset,
            settings: self.settings,
            commit: self.work.commit.as_deref(),
            proofs: Some(&self.work.proofs),
            tree: self.work.tree.as_ref().map(|tree| tree.root.as_path()),
            ids: self.embedding.ids,
            ..WriteRequest::of(self.actor.clone())
        }
    }
}

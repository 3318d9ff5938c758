//! Handles one report: copies the agent's own todo list, links sessions by receipt, and asks the engine what to do. A
//! copy that fails is logged, and the rest still happens.

use std::path::PathBuf;

use punch_agents::hook::{HookReport, TodoUpdate, context_use, todo_update};
use punch_agents::{Meaning, Naming};
use punch_core::drive::{HostEffect, HostEvent, NextRun, SessionStart, ToolKind, Unproven, explain};
use punch_core::view;
use punch_engine::call::{CompletionSupport, Family, HostTask, TodoUse, ToolCaller};
use punch_engine::config::Settings;
use punch_engine::{
    BackgroundChecks, Code, Consents, ConversationMark, Earlier, Engine, EngineError, HookChecks, HostReport,
    InboxQuery, ObserveResult, PlanChoice, UpcomingCall, WorkTree, locate,
};
use punch_store::SessionKey;

use super::transcript;
use crate::{ProjectStore, ServeProblem};

/// How reports are taken.
pub struct HookRunner<'a> {
    /// Where the store comes from.
    pub project: &'a dyn ProjectStore,
    /// The settings of the agent.
    pub settings: &'a Settings,
    /// The identity of a worktree among those that share a store.
    pub worktree: Option<String>,
    /// The worktree, whose commit completions keep.
    pub root: Option<PathBuf>,
    /// The host's own limit of continuations in a row.
    pub host_cap: Option<u32>,
    /// The assignment that the agent was started for.
    pub assigned: Option<SessionKey>,
    /// What the user approved, for the inbox.
    pub consents: Option<Consents>,
    /// Starts checks that outlive the hook; without it the agent is asked to run them.
    pub checks: Option<&'a dyn BackgroundChecks>,
}

/// The result of a report.
#[derive(Debug, Default)]
pub struct HookResult {
    /// What the host is asked to do.
    pub effect: HostEffect,
    /// The plan was changed.
    pub wrote: bool,
    /// Why the host must not call its task done.
    pub veto: Option<String>,
    /// What went wrong on the way, for the log.
    pub problems: Vec<ServeProblem>,
}

impl HookRunner<'_> {
    /// Takes one report. Without a store nothing happens, unless there is something to copy.
    pub fn run(&self, report: &HookReport) -> Result<HookResult, ServeProblem> {
        let used = match &report.event {
            HostEvent::ToolEnded { tool } => Some(tool),
            _ => None,
        };
        // Without a session, a repeated copy could not be distinguished from a new one.
        let named = !report.session.is_empty();
        let key = session_key(report);
        let update = used.filter(|_| named).and_then(|used| todo_update(report, &used.name));
        let Some(engine) = self.project.open(update.is_some())? else { return Ok(HookResult::default()) };
        let mut done = HookResult::default();
        if let Some(assigned) = self.assigned.as_ref().filter(|_| named)
            && let Err(error) = engine.adopt(assigned, &key)
        {
            done.problems.push(error.into());
        }
        if let Some(revision) = used.filter(|_| named).and_then(|used| used.receipt) {
            match engine.link(&key, revision, &report.input) {
                Ok(linked) => done.wrote |= linked,
                Err(error) => done.problems.push(error.into()),
            }
        }
        let mut moment = HostReport {
            agent: report.agent.name.to_owned(),
            key: key.clone(),
            choice: self.choice(&engine, report)?,
            event: report.event.clone(),
            context: matches!(report.event, HostEvent::Stopping { .. }).then(|| context_use(report)).flatten(),
            host_cap: self.host_cap,
            turn: report.turn.clone(),
            tree: self.root.clone(),
            earlier: earlier(report),
            by_runner: false,
            upcoming: upcoming(report),
            checks: HookChecks::default(),
            agent_process: punch_engine::process::starter,
        };
        match self.settle_checks(&engine, &moment) {
            Ok(checks) => moment.checks = checks,
            Err(error) => done.problems.push(error.into()),
        }
        if report.meaning == Meaning::TaskEnd {
            match self.veto(&engine, report, &mut moment) {
                Ok(veto) => done.veto = veto,
                Err(error) => done.problems.push(error.into()),
            }
        }
        if let (Some(context), Some(root)) = (moment.context, &self.root) {
            let look = || Code::look(&WorkTree { root: root.clone(), git: None, consents: None });
            match engine.checkpoint_at(&moment.choice, &key, context, &look) {
                Ok(saved) => done.wrote |= saved.is_some(),
                Err(error) => done.problems.push(error.into()),
            }
        }
        let read = |mark: &ConversationMark| transcript::since(report, mark);
        let observed = match (update, used) {
            (Some(TodoUpdate { tool, told }), Some(used)) => {
                let family = Family { name: tool.list, shared: tool.is_shared };
                let once = used.call.as_deref().map(|call| self.once(report, &used.name, call));
                let caller = self.caller(report);
                let used = TodoUse { caller: &caller, family, told: &told, key: once.as_deref() };
                engine.observe_copying(&moment, self.settings, &used, Some(&read))
            }
            _ => {
                let effect = engine.observe_reading(&moment, self.settings, Some(&read));
                effect.map(|effect| ObserveResult { effect, ..ObserveResult::default() })
            }
        };
        match observed {
            Ok(observed) => {
                done.effect = observed.effect;
                if !observed.unproven.is_empty() {
                    match self.check_called_done(&engine, &mut moment, &observed.unproven) {
                        Ok(text) => {
                            let context = done.effect.context.take().into_iter().chain(text);
                            done.effect.context =
                                Some(context.collect::<Vec<_>>().join("\n")).filter(|all| !all.is_empty());
                        }
                        Err(error) => done.problems.push(error.into()),
                    }
                }
                done.wrote |= observed.copied;
                done.problems.extend(observed.failed.map(ServeProblem::from));
            }
            Err(error) => done.problems.push(error.into()),
        }
        if self.begins(report) {
            match self.inbox(&engine, &moment.choice) {
                Ok(Some(waiting)) => {
                    let line = done.effect.tell.take().map_or_else(|| "punch:".to_owned(), |line| format!("{line};"));
                    done.effect.tell = Some(format!("{line} {waiting}"));
                }
                Ok(None) => {}
                Err(error) => done.problems.push(error.into()),
            }
        }
        Ok(done)
    }

    /// Returns true for a conversation of the user's own that begins.
    fn begins(&self, report: &HookReport) -> bool {
        let begins = matches!(
            report.event,
            HostEvent::SessionStarted { how: SessionStart::Startup | SessionStart::Resume | SessionStart::Clear }
        );
        begins && report.subagent.is_none() && self.assigned.is_none()
    }

    /// How many things need the user, for the user; nothing if none do, or if the plan is too large.
    fn inbox(&self, engine: &Engine, choice: &PlanChoice) -> Result<Option<String>, EngineError> {
        let Some(plan) = engine.choose(choice)? else { return Ok(None) };
        let tree = |root: &PathBuf| WorkTree { root: root.clone(), git: None, consents: self.consents.clone() };
        let tree = self.root.as_ref().map(tree);
        let waiting =
            engine.inbox_count(plan.id, &InboxQuery::new(self.settings, tree.as_ref()))?.filter(|waiting| *waiting > 0);
        Ok(waiting.map(view::inbox::count))
    }

    /// What the plan says to the end of a task of the host's own. Its check is started, and may pass in time.
    fn veto(
        &self,
        engine: &Engine,
        report: &HookReport,
        moment: &mut HostReport,
    ) -> Result<Option<String>, EngineError> {
        let word = |key: &str| report.input.get(key).and_then(serde_json::Value::as_str);
        let (Some(key), Some(plan)) = (word("task_id"), engine.choose(&moment.choice)?) else { return Ok(None) };
        let task = HostTask { key, content: word("task_subject") };
        let Some(todo) = engine.veto(plan.id, &session_key(report), task, self.settings)? else { return Ok(None) };
        if self.starter().is_none() {
            return Ok(Unproven::of(&todo, NextRun::Shell).map(|one| explain(&[one])));
        }
        engine.report_done(plan.id, moment, self.settings, todo.uid)?;
        self.check_called_done(engine, moment, &[todo.uid])
    }

    /// The plan of the session; that of a subagent nobody has seen is its main agent's.
    fn choice(&self, engine: &Engine, report: &HookReport) -> Result<PlanChoice, ServeProblem> {
        let key = session_key(report);
        let known = key.subagent().is_none() || engine.session(&key)?.is_some();
        let session = if known { key } else { SessionKey::new(report.session.clone(), None) };
        Ok(PlanChoice {
            name: self.settings.plan.value.clone(),
            session: (!session.session_id().is_empty()).then_some(session),
            worktree: self.worktree.clone(),
            plans: self.settings.plans.value,
        })
    }

    /// Who copies the host's list, which may finish something.
    fn caller(&self, report: &HookReport) -> ToolCaller<'_> {
        let root = self.root.as_ref();
        ToolCaller {
            work: CompletionSupport {
                commit: root
                    .filter(|_| CompletionSupport::finishes(&report.input))
                    .and_then(|root| locate::head_commit(root)),
                tree: root.map(|root| WorkTree { root: root.clone(), git: None, consents: None }),
                starts_checks: self.starter().is_some(),
                ..CompletionSupport::default()
            },
            ..ToolCaller::under(self.settings, session_key(report), report.agent.name.to_owned())
        }
    }

    /// The host's number for a use of a tool, with what makes it another one where numbers are counted anew.
    fn once(&self, report: &HookReport, name: &str, call: &str) -> String {
        let tool = format!("hook {} {name}", report.agent.name);
        crate::identity::idempotency(&session_key(report), &tool, call, &report.input)
    }
}

/// The call of one of our tools that a report announces, unless the host names the session in the call itself.
fn upcoming(report: &HookReport) -> Option<UpcomingCall> {
    let HostEvent::ToolStarting { tool } = &report.event else { return None };
    let naming = report.agent.hooks.naming;
    let announced = tool.kind == ToolKind::Ours && naming != Naming::EveryCall && report.meaning == Meaning::ToolStart;
    announced.then(|| UpcomingCall {
        id: tool.call.clone(),
        arguments: report.input.clone(),
        named_at_start: matches!(naming, Naming::AtStart(_)),
    })
}

fn session_key(report: &HookReport) -> SessionKey {
    SessionKey::new(report.session.clone(), report.subagent.as_deref())
}

/// How the turn before that of a report is found.
fn earlier(report: &HookReport) -> Earlier {
    if let Some(before) = &report.before {
        return Earlier::Told(before.clone());
    }
    match (report.agent.earlier_turn, &report.transcript) {
        // Reports from inside a subagent name the file of its main agent.
        (Some(find), Some(file)) if report.subagent.is_none() => Earlier::Written(file.clone(), find),
        _ => Earlier::Unknown,
    }
}

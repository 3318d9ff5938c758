//! The tool service over the plans of a project: finds the session that calls and the plan it means, and runs the call.

use std::borrow::Cow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use punch_core::{Refusal, Todo, Verify};
use punch_engine::call::{CallResult, CompletionSupport, Tool, ToolAnswer, ToolCaller, ToolWords, budget};
use punch_engine::config::Settings;
use punch_engine::{
    BackgroundChecks, Checker, Engine, EngineError, PassedCheck, PlanChoice, Role, UnnamedCall, VerifyError, WorkTree,
};
use punch_store::{PlanId, SessionKey, StoreError};
use serde_json::json;

use crate::ServeProblem;
use crate::identity::idempotency;
use crate::plan_follower::PlanFollower;
use crate::read_cache::ReadCache;
use crate::service::{CheckResult, ClientGone, PlanResource, ToolRequest, ToolService};

/// Opens the store of a project.
pub trait ProjectStore: Send + Sync {
    /// The store; `None` if there is none and `create` is false: reading makes no store.
    fn open(&self, create: bool) -> Result<Option<Engine>, ServeProblem>;

    /// What the model should learn about the store, such as writes that are lost. Each warning is given once.
    fn warning(&self) -> Option<String> {
        None
    }
}

/// A project, and how it is served.
pub struct ServedProject {
    /// Where the store comes from.
    pub project: Box<dyn ProjectStore>,
    /// Every setting.
    pub settings: Settings,
    /// Identifies the worktree among those that share the store.
    pub worktree: Option<String>,
    /// The code that is worked on: whose commit completions keep, and where their checks run.
    pub tree: Option<WorkTree>,
    /// What callers may do, if not what their session says.
    pub role: Option<Role>,
    /// The assignment that this process was started for.
    pub assigned: Option<SessionKey>,
    /// A runner drives the agent: the assignment is the only session there is.
    pub is_driven: bool,
    /// The conversation that the host started this process for.
    pub started_for: Option<SessionKey>,
    /// Starts checks that take longer than a call may; without it such a check is refused.
    pub checks: Option<Arc<dyn BackgroundChecks>>,
    /// Called after a call that changed the plan.
    pub after_write: Option<Box<dyn Fn() + Send + Sync>>,
}

/// Runs calls on the plan that is meant.
pub struct PlanToolService {
    opened: ServedProject,
    engine: Mutex<Option<Arc<Engine>>>,
    /// The plan of the last reading, 0 before the first: looked at first by the next one.
    last: AtomicI64,
    cache: ReadCache,
}

impl PlanToolService {
    /// Opens nothing yet: a server that is never asked leaves no trace.
    pub fn new(opened: ServedProject) -> Self {
        Self { opened, engine: Mutex::new(None), last: AtomicI64::new(0), cache: ReadCache::default() }
    }

    /// Returns the engine, opened at the first need. A store that was open once is never created again when it is gone: it may
    /// come back.
    fn engine(&self, create: bool) -> Result<Option<Arc<Engine>>, ServeProblem> {
        let mut held = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = self.opened.project.open(create)?.map(Arc::new);
        }
        Ok(held.clone())
    }

    fn choice(&self, request: Option<&ToolRequest>) -> PlanChoice {
        let settings = &self.opened.settings;
        PlanChoice {
            name: request.and_then(|request| request.plan.clone()).or_else(|| settings.plan.value.clone()),
            session: request.map(|request| request.session.clone()),
            worktree: self.opened.worktree.clone(),
            plans: settings.plans.value,
        }
    }

    fn caller<'a>(&'a self, request: &ToolRequest) -> ToolCaller<'a> {
        let tree = self.opened.tree.as_ref();
        ToolCaller {
            role: self.opened.role,
            structured: request.structured,
            work: CompletionSupport {
                commit: tree.filter(|_| CompletionSupport::finishes(&request.arguments)).and_then(WorkTree::commit),
                proofs: request.proofs.clone(),
                tree: tree.cloned(),
                starts_checks: false,
            },
            server: request.server.clone(),
            ..ToolCaller::under(&self.opened.settings, request.session.clone(), request.by.clone())
        }
    }

    /// Returns the call with the session that makes it, where the call does not name it.
    fn identified<'a>(&self, request: &'a ToolRequest) -> Result<Cow<'a, ToolRequest>, ServeProblem> {
        let Some(engine) = self.engine(false)? else { return Ok(Cow::Borrowed(request)) };
        self.adopt(&engine, request)?;
        let session = match unnamed(request) {
            Some(call) => engine.session_of_call(&call)?,
            None => engine.linked(&request.session)?.unwrap_or_else(|| request.session.clone()),
        };
        let session = held(self.worker(&engine)?.as_ref(), session);
        Ok(if session == request.session {
            Cow::Borrowed(request)
        } else {
            Cow::Owned(ToolRequest { session, ..request.clone() })
        })
    }

    /// The one conversation that this process reports for, if it was started for an assignment.
    fn worker(&self, engine: &Engine) -> Result<Option<SessionKey>, ServeProblem> {
        let Some(assigned) = &self.opened.assigned else { return Ok(None) };
        Ok(Some(engine.linked(assigned)?.unwrap_or_else(|| assigned.clone())))
    }

    /// Gives the assignment of this process to the session that calls. An agent of a run has one session only: the one that
    /// the process was started for, whatever a call says.
    fn adopt(&self, engine: &Engine, request: &ToolRequest) -> Result<(), ServeProblem> {
        let Some(assigned) = &self.opened.assigned else { return Ok(()) };
        let by = if self.opened.is_driven { self.opened.started_for.as_ref() } else { Some(&request.session) };
        Ok(by.map(|by| engine.adopt(assigned, by)).transpose().map(drop)?)
    }

    /// Answers a reading call; `None` if there is no plan. The session is looked up only if no stored answer fits.
    fn reading(
        &self,
        request: &ToolRequest,
        choose: impl Fn(&ToolRequest) -> PlanChoice,
    ) -> Result<Option<ToolAnswer>, ServeProblem> {
        let Some(engine) = self.engine(false)? else { return Ok(None) };
        let stamp = engine.store().stamp(None).map_err(EngineError::from)?;
        if let Some(known) = stamp.and_then(|stamp| self.cache.find(request, stamp, engine.now())) {
            return Ok(Some(known));
        }
        self.adopt(&engine, request)?;
        let last = Some(self.last.load(Ordering::Relaxed)).filter(|id| *id != 0).map(PlanId);
        let worker = self.worker(&engine)?;
        let who = |session: &SessionKey| {
            let session = held(worker.as_ref(), session.clone());
            let request = match session == request.session {
                true => Cow::Borrowed(request),
                false => Cow::Owned(ToolRequest { session, ..request.clone() }),
            };
            (choose(&request), self.caller(&request))
        };
        let read = engine.call_read(
            &request.session,
            unnamed(request).as_ref(),
            last,
            request.dialect,
            &request.arguments,
            who,
        )?;
        let Some(read) = read else { return Ok(None) };
        self.last.store(read.plan.0, Ordering::Relaxed);
        let answer = read.answer.clone();
        if let Some(stamp) = stamp {
            self.cache.store(request, stamp, read);
        }
        Ok(Some(answer))
    }

    /// Answers a call that may change the plan; `None` if there is none to claim from.
    fn writing(&self, request: &ToolRequest) -> Result<Option<CallResult>, ServeProblem> {
        let (caller, choice) = (self.caller(request), self.choice(Some(request)));
        let once =
            request.id.as_ref().map(|id| idempotency(&request.session, name_of(request.tool), id, &request.arguments));
        let run = |engine: &Engine, plan: PlanId| {
            engine.call_or_check(plan, &caller, request.dialect, request.tool, &request.arguments, once.as_deref())
        };
        if request.tool == Tool::Claim {
            return self.on_plan(&choice, run);
        }
        let engine = self.engine(true)?.ok_or_else(|| ServeProblem::from(EngineError::Store(StoreError::Abort)))?;
        let plan = engine.choose_or_create(&choice)?;
        run(&engine, plan).map(Some).map_err(ServeProblem::from)
    }

    /// Runs the check of a todo that a session called done. A check that is running already is waited for, and one that
    /// takes longer than the call may continues in a process of its own.
    fn prove(
        &self,
        engine: &Engine,
        plan: PlanId,
        request: &ToolRequest,
        checker: &Checker<'_>,
        id: &str,
    ) -> Result<PassedCheck, EngineError> {
        let session = &request.session;
        let Some(background) = self.opened.checks.as_deref() else {
            return engine.prove_for(plan, Some(session), checker, id);
        };
        let todo = engine.read(plan, |snapshot| Ok(snapshot.find(id)?))?;
        let todo = todo.ok_or_else(|| EngineError::NotFound { given: id.to_owned(), near: Vec::new() })?;
        let running = |todo: &Todo| {
            let command = todo.verify.clone().unwrap_or(Verify::Shell(String::new()));
            EngineError::from(VerifyError::Running { id: id.to_owned(), command })
        };
        // A lock that cannot be had for another reason must not be in the way of the check.
        let mut lock = background.locks().take(plan, todo.uid).unwrap_or_default();
        if lock.is_none() && !background.locks().wait(plan, &[todo.uid], checker.limit) {
            engine.note_unproven(plan, session, id);
            return Err(running(&todo));
        }
        if lock.is_none() {
            if let Some(judged) = engine.judged_meanwhile(plan, id)? {
                return judged;
            }
            lock = background.locks().take(plan, todo.uid).unwrap_or_default();
        }
        let proven = engine.prove_for(plan, Some(session), checker, id);
        drop(lock);
        match proven {
            Err(EngineError::Verify(VerifyError::Timeout { .. })) if checker.cut_short => {
                engine.report_called_done(plan, &self.caller(request), todo.uid)?;
                let started = background.start(plan, todo.uid, &request.by);
                started.map_err(|why| VerifyError::NotStarted {
                    id: id.to_owned(),
                    command: todo.verify.clone().unwrap_or(Verify::Shell(String::new())),
                    why: why.to_string(),
                })?;
                Err(running(&todo))
            }
            Err(error @ EngineError::Verify(VerifyError::Consent { .. })) => {
                // It waits for the user, not for the agent.
                engine.report_called_done(plan, &self.caller(request), todo.uid)?;
                Err(error)
            }
            proven => proven,
        }
    }

    /// Runs `body` on the plan that is meant; `None` if there is none.
    fn on_plan<T>(
        &self,
        choice: &PlanChoice,
        body: impl FnOnce(&Engine, PlanId) -> Result<T, EngineError>,
    ) -> Result<Option<T>, ServeProblem> {
        let Some(engine) = self.engine(false)? else { return Ok(None) };
        let Some(plan) = engine.choose(choice)? else { return Ok(None) };
        Ok(Some(body(&engine, plan.id)?))
    }
}

impl ToolService for PlanToolService {
    fn call(&self, request: &ToolRequest) -> Result<CallResult, ServeProblem> {
        let called = match request.tool {
            Tool::Read => self.reading(request, |request| self.choice(Some(request)))?.map(CallResult::Answered),
            Tool::Claim | Tool::Write | Tool::Checkpoint => self.writing(&*self.identified(request)?)?,
        };
        let mut answer = match called {
            Some(CallResult::Answered(answer)) => answer,
            Some(CallResult::Wants(id)) => return Ok(CallResult::Wants(id)),
            None => empty(request.tool),
        };
        if let Some(after_write) = self.opened.after_write.as_ref().filter(|_| answer.changed) {
            after_write();
        }
        if let Some(warning) = self.opened.project.warning() {
            answer.text = format!("Warning: {warning}\n{}", answer.text);
        }
        Ok(CallResult::Answered(answer))
    }

    fn check(
        &self,
        request: &ToolRequest,
        id: &str,
        limit: Duration,
        stopped: &ClientGone<'_>,
    ) -> Result<CheckResult, ServeProblem> {
        let whole = self.opened.settings.verify_timeout.value;
        let limit = limit.min(whole);
        let identified = self.identified(request)?;
        let (choice, session) = (self.choice(Some(&*identified)), identified.session.clone());
        let checked = self.on_plan(&choice, |engine, plan| {
            let proven = match &self.opened.tree {
                Some(tree) => {
                    let plan_check = self.opened.settings.plan_check();
                    let checker = Checker { cut_short: limit < whole, plan_check, ..tree.checker(limit, stopped) };
                    self.prove(engine, plan, &identified, &checker, id)
                }
                None => {
                    engine.note_unproven(plan, &session, id);
                    Err(Refusal::NeedsVerification { id: id.to_owned() }.into())
                }
            };
            match proven {
                Ok(proof) => Ok(CheckResult::Passed(Box::new(proof))),
                Err(EngineError::Store(error)) => Err(EngineError::Store(error)),
                Err(error) => {
                    let words =
                        ToolWords { dialect: request.dialect, shell: self.opened.settings.reminders_shell.value };
                    Ok(CheckResult::Answered(engine.refused(plan, &session, words, &error)?))
                }
            }
        })?;
        Ok(checked.unwrap_or_else(|| CheckResult::Answered(empty(request.tool))))
    }

    fn read(&self, reading: &PlanResource) -> Result<Option<String>, ServeProblem> {
        let (choice, mut request) =
            (self.choice(None), ToolRequest::reading(json!({"view": "plan", "all": true, "limit": 200})));
        let PlanResource::Todo(id) = reading else {
            let answer = self.reading(&request, |_| choice.clone())?;
            let text = answer.map(|answer| budget::text(&answer.text, Some(answer.revision)));
            return Ok(Some(text.unwrap_or_else(|| empty(Tool::Read).text)));
        };
        (request.arguments, request.structured) = (json!({"view": "todo", "id": id}), true);
        let caller = self.caller(&request);
        let found = self.on_plan(&choice, |engine, plan| {
            // Only by its id: a resource is not a search.
            match engine.read(plan, |snapshot| Ok(snapshot.find(id)?))? {
                Some(_) => {
                    engine.call(plan, &caller, request.dialect, request.tool, &request.arguments, None).map(Some)
                }
                None => Ok(None),
            }
        })?;
        Ok(found.flatten().map(|answer| {
            let todo = budget::neutral(answer.structured["todo"].clone());
            let json = serde_json::to_string(&todo).unwrap_or_default();
            // What would be cut in the middle would be no JSON any more.
            if json.len() <= ToolAnswer::CAP { json } else { budget::text(&answer.text, None) }
        }))
    }

    fn follow(&self) -> Result<Option<PlanFollower>, ServeProblem> {
        let Some(engine) = self.engine(false)? else { return Ok(None) };
        Ok(Some(PlanFollower::start(engine, self.choice(None))?))
    }
}

/// The session of a call in a process that works for one worker: another conversation has none of the todos that it has
/// elsewhere, so that naming one leads to nothing.
fn held(worker: Option<&SessionKey>, session: SessionKey) -> SessionKey {
    match worker {
        Some(worker) if worker.session_id() != session.session_id() => {
            SessionKey::new(worker.session_id(), Some(session.session_id()))
        }
        Some(_) | None => session,
    }
}

/// A call that does not name its session.
fn unnamed(request: &ToolRequest) -> Option<UnnamedCall<'_>> {
    let server = request.server.as_ref()?;
    let started_for = Some(&request.session).filter(|session| *session != server);
    Some(UnnamedCall { server, started_for, id: request.id.as_deref(), arguments: &request.arguments })
}

/// The key that distinguishes the tools of one server.
const fn name_of(tool: Tool) -> &'static str {
    match tool {
        Tool::Write => "write",
        Tool::Read => "read",
        Tool::Claim => "claim",
        Tool::Checkpoint => "checkpoint",
    }
}

/// The answer for a plan that does not exist yet.
fn empty(tool: Tool) -> ToolAnswer {
    let (text, structured) = match tool {
        Tool::Claim => ("Nothing is ready to claim.", json!({"todo": null})),
        Tool::Read | Tool::Write | Tool::Checkpoint => ("There are no todos yet.", json!({"todos": [], "total": 0})),
    };
    ToolAnswer { text: text.into(), structured, ..ToolAnswer::default() }
}

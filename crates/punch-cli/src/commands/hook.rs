//! `punch hook`: reads an agent's hook event on standard input and answers in the agent's format. Every problem goes to
//! a log and ends with exit code 0, because a hook must never keep an agent from working.

use std::ffi::OsString;
use std::io::{self, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{process, thread};

use clap::Args;
use punch_agents::hook::{HookReport, INPUT_CAP, answer};
use punch_agents::{Adapter, Meaning, lenient_json};
use punch_core::drive::{HostEvent, ToolKind};
use punch_engine::locate::LocationRule;
use punch_engine::{Engine, EngineError, News};
use punch_serve::hook::HookRunner;
use punch_serve::{ProjectStore, ServeProblem};
use punch_store::SessionKey;
use serde_json::Value;

use super::install::agents;
use super::notify_inbox::Notifier;
use crate::arguments::Global;
use crate::detached_checks::DetachedChecks;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::{environment, hook_log, output};

/// Help at length.
pub const LONG_ABOUT: &str = "\
Handle an agent's hook event and answer in the agent's own format.

Agents call this, not you. The event is JSON on standard input. Without a store, and for \
events that do not matter to the plan, nothing is printed. Errors go to `punch/hook.log` in your state folder, never \
to the agent.";

const EXAMPLES: &str = "\
Examples:
  punch hook --agent claude Stop
  punch hook --agent gemini AfterAgent
  punch hook --agent codex --keep-going off Stop";

/// After so long the host continues without an answer.
const PATIENCE: Duration = Duration::from_secs(8);

/// Some hosts end a hook about the end of a session after three seconds.
const PATIENCE_AT_END: Duration = Duration::from_millis(2_500);

/// Bytes of a report that are read at once.
const PIECE: usize = 8 * 1024;

/// The one who watches the time needs little.
const WATCH_STACK: usize = 64 * 1024;

/// Set by whoever comes first: the answer, or the end of patience.
static OVER: AtomicBool = AtomicBool::new(false);

/// The message of a panic, for the log.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// The arguments of `punch hook`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = EXAMPLES)]
pub struct HookArgs {
    /// The agent that sent the event
    #[arg(long, value_name = "NAME", value_parser = agents())]
    agent: &'static Adapter,
    /// Event name, as the agent spells it
    #[arg(value_name = "EVENT")]
    event: String,
    /// Let the agent continue while work is left, or not
    #[arg(long, value_name = "WHEN", value_parser = ["on", "off"])]
    keep_going: Option<String>,
    /// Maximum continuations per user message
    #[arg(long, value_name = "N")]
    max_continuations: Option<String>,
    /// A file whose first line is the session id, for agents that do not send one
    #[arg(long, value_name = "FILE")]
    session_file: Option<PathBuf>,
    /// Session file written by `punch run`; stops are then only counted
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// Log problems to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

impl HookArgs {
    /// The arguments in the form that `punch install` writes. Describing them to a parser takes longer than most reports.
    pub fn wired(given: &[OsString]) -> Option<Self> {
        let [flag, agent, event] = given else { return None };
        let (agent, event) = (punch_agents::named(agent.to_str()?)?, event.to_str()?);
        (flag == "--agent" && !event.starts_with('-')).then(|| Self {
            agent,
            event: event.to_owned(),
            keep_going: None,
            max_continuations: None,
            session_file: None,
            session: None,
            log: None,
        })
    }

    /// Answers, or stays silent. Never fails.
    pub fn run(self, global: Global) -> Exit {
        panic::set_hook(Box::new(|info| {
            *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.to_string());
        }));
        let log = self.log.clone();
        let said = |what: &str| {
            // The log has it since the store was opened, once for all hooks.
            if !what.starts_with("store_lost_writes") {
                hook_log::say(log.clone(), &format!("{} {}: {what}", self.agent.name, self.event));
            }
        };
        let patience = match self.agent.meaning(&self.event) {
            Some(Meaning::SessionEnd | Meaning::Interrupt) => PATIENCE_AT_END,
            _ => PATIENCE,
        };
        let taken = panic::catch_unwind(AssertUnwindSafe(|| self.take(&global, patience)));
        if OVER.swap(true, Ordering::AcqRel) {
            // Too late: the host was answered, and the process is about to end.
            thread::sleep(PATIENCE);
        }
        match taken {
            Ok(Ok(taken)) => {
                taken.problems.iter().for_each(|problem| said(problem));
                if !taken.answer.is_empty()
                    && let Err(failure) = output::document(&format!("{}\n", taken.answer))
                {
                    said(&told(&failure));
                }
                if let Some(safety) = taken.safety {
                    safety.keep();
                }
                if let Some(veto) = taken.veto {
                    // The one event whose host asks by exit code: this one is "no", with the reason on standard error.
                    output::remark(&veto);
                    return Exit::Usage;
                }
            }
            Ok(Err(failure)) => said(&told(&failure)),
            Err(_) => {
                let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
                said(&format!("a bug in punch: {}", panic.unwrap_or_default()));
            }
        }
        Exit::Ok
    }

    /// A host that does not end its report keeps us waiting, but must not wait with us. Called only where there is
    /// something to wait for: a thread costs more than most reports. Whatever is under way then has not happened.
    fn give_up_after(&self, patience: Duration) -> io::Result<()> {
        let (agent, event, log) = (self.agent.name, self.event.clone(), self.log.clone());
        let watch = move || {
            thread::sleep(patience);
            if !OVER.swap(true, Ordering::AcqRel) {
                hook_log::say(log, &format!("{agent} {event}: no answer in time; the agent continues without one"));
                process::exit(0);
            }
        };
        thread::Builder::new().stack_size(WATCH_STACK).spawn(watch).map(drop)
    }

    fn take(&self, global: &Global, patience: Duration) -> Result<TakenUp, Failure> {
        let Some(report) = self.report(patience)? else { return Ok(TakenUp::default()) };
        let Some(mut reported) = HookReport::read(self.agent, &self.event, &report) else {
            return Ok(TakenUp::default());
        };
        self.name_session(&mut reported);
        let mut global = global.clone();
        let driven = self.session.as_deref().map(|path| global.act_as(path)).transpose()?;
        let mut flags = Vec::new();
        flags.extend(self.keep_going.iter().map(|word| ("keep_going.enabled".to_owned(), word.clone())));
        flags.extend(self.max_continuations.iter().map(|n| ("keep_going.max_continuations".to_owned(), n.clone())));
        let mut project = Project::find_from(global, environment::agent_folder(), flags)?;
        // A report is taken in a few transactions, and each may have to wait for others.
        project.wait = Some(patience / 3);
        let (log, what) = (self.log.clone(), format!("{} {}", self.agent.name, self.event));
        project.on_loss = Some(Box::new(move |warning| hook_log::say_once(log.clone(), &what, warning)));
        let (settings, worktree) = (project.config.for_agent(self.agent.name).clone(), Some(project.worktree()));
        let (safety, root) = (project.safety(), Some(project.location.project_root.clone()));
        let (log, what) = (self.log.clone(), format!("{} {}", self.agent.name, self.event));
        let said = move |error: &EngineError| hook_log::say(log.clone(), &format!("{what}: {}", error.message()));
        let consents = project.consents();
        let (checks, notifier) = (DetachedChecks::of(&project), Notifier::of(&project));
        let found = HookStore { project, said: Arc::new(said) };
        let hook = HookRunner {
            project: &found,
            settings: &settings,
            worktree,
            root,
            host_cap: self.agent.stop_cap(environment::stop_cap(self.agent)),
            assigned: driven
                .map(|file| file.session)
                .or_else(environment::assigned)
                .map(|name| SessionKey::new(name, None)),
            consents,
            checks: Some(&checks),
        };
        let done = hook.run(&reported).map_err(|problem| Failure::refused("hook", problem.message, &problem.hint))?;
        if let Some(notifier) = notifier.filter(|_| done.wrote || may_need_user(&reported.event)) {
            notifier.start();
        }
        Ok(TakenUp {
            answer: answer(&reported, &done.effect),
            problems: done.problems.iter().map(|problem| format!("{}: {}", problem.code, problem.message)).collect(),
            veto: done.veto,
            safety: safety.filter(|_| done.wrote),
        })
    }

    /// The report; `None` if there is none. What is not JSON cannot be answered, but it can be reported.
    fn report(&self, patience: Duration) -> Result<Option<Value>, Failure> {
        let (mut input, mut bytes, mut watched) = (io::stdin().lock(), Vec::new(), false);
        let mut piece = [0; PIECE];
        loop {
            if !watched && !environment::input_is_ready() {
                self.give_up_after(patience).map_err(Failure::Input)?;
                watched = true;
            }
            let read = match input.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Input(error)),
            };
            bytes.extend_from_slice(&piece[..read]);
            if bytes.len() > INPUT_CAP {
                return Err(Failure::refused("too_large", format!("the event is larger than {INPUT_CAP} bytes"), ""));
            }
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let wrong = |error| Failure::refused("no_json", format!("the event is not JSON: {error}"), "");
        lenient_json::read(&bytes).map(Some).map_err(wrong)
    }

    /// What the report does not name, the file may.
    fn name_session(&self, reported: &mut HookReport) {
        let Some(path) = self.session_file.as_ref().filter(|_| reported.session.is_empty()) else { return };
        let identity = punch_serve::CallerIdentity { file: Some(path.clone()), ..Default::default() };
        if let Some(session) = identity.in_file() {
            reported.session = session;
        }
    }
}

/// What is left to do once the report is taken.
#[derive(Default)]
struct TakenUp {
    answer: String,
    problems: Vec<String>,
    /// Why the host's task is not done.
    veto: Option<String>,
    safety: Option<crate::safety::Safety>,
}

/// Returns true for events with which something may enter the inbox: all but ordinary uses of tools.
const fn may_need_user(event: &HostEvent) -> bool {
    match event {
        HostEvent::ToolStarting { tool } => matches!(tool.kind, ToolKind::Question),
        HostEvent::ToolEnded { tool } => matches!(tool.kind, ToolKind::Ours | ToolKind::HostTodo | ToolKind::Question),
        _ => true,
    }
}

fn told(failure: &Failure) -> String {
    let (message, _) = failure.text().unwrap_or_default();
    format!("{}: {message}", failure.code())
}

/// The store of the project. A copy of a host's list may make one, but only where nobody sees it: a folder outside git
/// gets a store from its user, not from a hook.
struct HookStore {
    project: Project,
    said: Arc<dyn Fn(&EngineError) + Send + Sync>,
}

impl ProjectStore for HookStore {
    fn open(&self, create: bool) -> Result<Option<Engine>, ServeProblem> {
        let hidden =
            matches!(self.project.location.kind, LocationRule::Git | LocationRule::Given | LocationRule::Server);
        let opened = match create && hidden {
            true => self.project.engine_or_new().map(Some),
            false => self.project.engine(),
        };
        let said = Arc::clone(&self.said);
        let tell = move |news: &News<'_>| {
            if let News::Trouble(error) = news {
                said(error);
            }
        };
        let opened = opened.map(|engine| engine.map(|engine| engine.telling(Box::new(tell))));
        opened.map_err(|failure| ServeProblem::new(failure.code(), told(&failure), ""))
    }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;

    #[test]
    fn the_wired_form_is_read_as_the_parser_reads_it() {
        let parser = || HookArgs::augment_args(clap::Command::new("hook").no_binary_name(true));
        let read = |given: &[&str]| {
            let matches = parser().try_get_matches_from(given).ok()?;
            HookArgs::from_arg_matches(&matches).ok()
        };
        let wired = |given: &[&str]| HookArgs::wired(&given.iter().map(OsString::from).collect::<Vec<_>>());
        for agent in punch_agents::AGENTS {
            for event in ["Stop", "session.idle", "", "a b", "é"] {
                let given = ["--agent", agent.name, event];
                assert!(wired(&given).is_some());
                assert_eq!(wired(&given), read(&given), "{given:?}");
            }
        }
        for left in [
            &["--agent", "claude", "--help"][..],
            &["--agent", "nobody", "Stop"],
            &["Stop", "--agent", "claude"],
            &["--agent=claude", "Stop", "more"],
            &["--log", "claude", "Stop"],
            &["--agent", "claude"],
        ] {
            assert_eq!(wired(left), None, "{left:?}");
        }
    }
}

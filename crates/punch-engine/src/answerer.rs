//! Who may answer the questions of agents: the user, at a terminal without an agent above it, or in a browser that has
//! logged in with a link that was printed on such a terminal. An agent runs with the user's rights and could call any verb, so no verb and no tool answers;
//! [`Engine::answer`](crate::Engine::answer) demands an [`Answerer`], and only the checks here make one (decision 0039).
//!
//! This is a fence and not a wall: a program of the same user that detaches itself from its agent and opens a terminal
//! of its own is not recognized.

use std::fmt;
use std::io::IsTerminal;

use punch_core::Actor;
use punch_store::PlanId;
use serde::{Deserialize, Serialize};

use crate::process::{ProcessAncestry, ProcessId, STARTED_PREFIX, ancestry, machine, machine_name};
use crate::{Engine, EngineError};

/// Where an answer was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// At a terminal.
    Terminal,
    /// The user in a browser.
    Browser,
}

impl Via {
    /// Returns the word that is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Browser => "browser",
        }
    }
}

/// Proof that the user answers. Nothing outside this module can make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answerer {
    by: String,
    via: Via,
    machine: String,
}

impl Answerer {
    /// Returns who answers, as it is stored.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Returns where the answer is given.
    pub const fn via(&self) -> Via {
        self.via
    }

    /// Returns the machine on which the answer is given: its name, and what distinguishes it from others of that name.
    pub(crate) fn machine(&self) -> &str {
        &self.machine
    }

    /// Returns where the answer is given in words, such as `terminal@laptop`.
    pub fn place(&self) -> String {
        format!("{}@{}", self.via.name(), machine_name(&self.machine))
    }
}

#[cfg(test)]
impl Answerer {
    /// Returns a user at a terminal of a machine, for tests of this crate.
    pub(crate) fn on(machine: &str) -> Self {
        Self { by: "user".into(), via: Via::Terminal, machine: machine.into() }
    }
}

/// What is known about the terminal of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TerminalFacts<'a> {
    /// Standard input is a terminal, and so is standard output or standard error.
    is_terminal: bool,
    /// A variable of an agent that the caller found in its own environment.
    own_mark: Option<&'a str>,
    /// This process and all its parents; empty if the system does not provide them.
    ancestry: ProcessAncestry,
}

impl<'a> TerminalFacts<'a> {
    /// Looks at this process.
    fn here(own_mark: Option<&'a str>) -> Self {
        let shows = std::io::stdout().is_terminal() || std::io::stderr().is_terminal();
        let is_terminal = std::io::stdin().is_terminal() && shows;
        Self { is_terminal, own_mark, ancestry: ancestry().unwrap_or_default() }
    }
}

/// Why a process is not taken for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotTheUser {
    /// Standard input is not a terminal, or nothing is shown on one.
    NoTerminal,
    /// A variable in the environment shows that an agent started this process, or one above it.
    Marked {
        /// The variable.
        variable: String,
        /// The process that has it; `None` for this process.
        pid: Option<u32>,
    },
    /// A process above this one is known as an agent: a run started it, or its hooks have reported.
    Agent {
        /// The number of the process.
        pid: u32,
    },
    /// There are more processes above this one than are looked at, so an agent could be among them.
    TooDeep,
}

impl fmt::Display for NotTheUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerminal => write!(f, "this is not a terminal"),
            Self::Marked { variable, pid: None } => write!(f, "an agent started this program (`{variable}` is set)"),
            Self::Marked { variable, pid: Some(pid) } => {
                write!(
                    f,
                    "an agent started process {pid}, which this program descends from (`{variable}` is set there)"
                )
            }
            Self::Agent { pid } => write!(f, "process {pid}, which this program descends from, is an agent"),
            Self::TooDeep => write!(f, "too many processes are above this program to look for an agent among them"),
        }
    }
}

impl Engine {
    /// Returns proof that the user is at the terminal of this process, or the reason to doubt it. `marks` are the
    /// variables by which agents mark what they start; `own_mark` is one of them that is set in this process.
    ///
    /// On Linux the environments and numbers of all processes above this one are looked at, as far as the system shows
    /// them. On other systems only this process itself is.
    pub fn user_at_terminal(
        &self,
        plan: PlanId,
        marks: &[&str],
        own_mark: Option<&str>,
    ) -> Result<Result<Answerer, NotTheUser>, EngineError> {
        let known = self.agent_processes(plan)?;
        Ok(judge(&TerminalFacts::here(own_mark), marks, &known).map(|()| Answerer {
            by: Actor::user().by().to_owned(),
            via: Via::Terminal,
            machine: machine(),
        }))
    }
}

/// Proof that a link for browsers is printed on a terminal at which the user is. Whoever logs in with that link is the
/// user. Nothing outside this module can make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserLink {
    machine: String,
}

impl BrowserLink {
    /// Returns proof that the user answers in a browser that has logged in with the link.
    pub fn answerer(&self) -> Answerer {
        Answerer { by: Actor::user().by().to_owned(), via: Via::Browser, machine: self.machine.clone() }
    }
}

/// Returns proof that this process prints links for the user, or the reason to doubt it. An agent above this process is
/// looked for first, terminal or not: without a terminal links are for programs of the user, below an agent they are for
/// the agent. `engine` is `None` while there is no store; see [`Engine::user_at_terminal`] for the marks.
pub fn browser_link(
    engine: Option<&Engine>,
    marks: &[&str],
    own_mark: Option<&str>,
) -> Result<Result<BrowserLink, NotTheUser>, EngineError> {
    let mut known = Vec::new();
    if let Some(engine) = engine {
        for plan in engine.plans()? {
            known.extend(engine.agent_processes(plan.id)?);
        }
    }
    let facts = TerminalFacts::here(own_mark);
    let judged = no_agent(&facts, marks, &known).and_then(|()| judge(&facts, marks, &known));
    Ok(judged.map(|()| BrowserLink { machine: machine() }))
}

/// Decides whether the user is at this terminal. `known` are processes of agents.
fn judge(facts: &TerminalFacts<'_>, marks: &[&str], known: &[ProcessId]) -> Result<(), NotTheUser> {
    if facts.is_terminal { no_agent(facts, marks, known) } else { Err(NotTheUser::NoTerminal) }
}

/// Fails if an agent is above this process, whether it has a terminal or not.
fn no_agent(facts: &TerminalFacts<'_>, marks: &[&str], known: &[ProcessId]) -> Result<(), NotTheUser> {
    if let Some(variable) = facts.own_mark {
        return Err(NotTheUser::Marked { variable: variable.to_owned(), pid: None });
    }
    for (at, process) in facts.ancestry.processes.iter().enumerate() {
        // Processes whose environment is hidden belong to another user, who could answer in any case.
        let names = process.variables.iter().flatten();
        let mark = |name: &&String| marks.contains(&name.as_str()) || name.starts_with(STARTED_PREFIX);
        if let Some(variable) = names.into_iter().find(mark) {
            let pid = (at > 0).then_some(process.id.pid);
            return Err(NotTheUser::Marked { variable: variable.clone(), pid });
        }
        if known.contains(&process.id) {
            return Err(NotTheUser::Agent { pid: process.id.pid });
        }
    }
    if facts.ancestry.is_cut { Err(NotTheUser::TooDeep) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::ProcessFacts;

    const MARKS: [&str; 2] = ["CLAUDECODE", "PUNCH_SESSION_FILE"];

    fn process(pid: u32, variables: Option<&[&str]>) -> ProcessFacts {
        let variables = variables.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        ProcessFacts { id: ProcessId { pid, started: 100 }, program: "sh".into(), variables }
    }

    /// A terminal: this process, a shell, a terminal program, the first process of the system (of another user).
    fn terminal(above: Vec<ProcessFacts>) -> TerminalFacts<'static> {
        let mut ancestry = vec![process(30, Some(&["PATH", "TERM"])), process(20, Some(&["PATH", "HOME"]))];
        ancestry.extend(above);
        ancestry.push(process(1, None));
        let ancestry = ProcessAncestry { processes: ancestry, is_cut: false };
        TerminalFacts { is_terminal: true, own_mark: None, ancestry }
    }

    #[test]
    fn only_a_terminal_without_an_agent_above_it_is_the_users() {
        let agent = ProcessId { pid: 12, started: 100 };
        let plain = || process(12, Some(&["PATH", "PUNCH_OWNER", "PUNCH_PLAN"]));
        let judged = |facts: &TerminalFacts<'_>, known: &[ProcessId]| judge(facts, &MARKS, known);
        assert_eq!(judged(&terminal(vec![plain()]), &[]), Ok(()));
        assert_eq!(judged(&terminal(vec![]), &[agent]), Ok(()), "that agent is not above");
        let other = ProcessId { pid: 12, started: 99 };
        assert_eq!(judged(&terminal(vec![plain()]), &[other]), Ok(()), "the number was used before");
        assert_eq!(judged(&terminal(vec![plain()]), &[agent]), Err(NotTheUser::Agent { pid: 12 }));
        for variable in ["CLAUDECODE", "PUNCH_SESSION_FILE", "_PUNCH_STARTED_1f_0"] {
            let marked = process(12, Some(&["PATH", variable]));
            let wanted = NotTheUser::Marked { variable: variable.into(), pid: Some(12) };
            assert_eq!(judged(&terminal(vec![process(13, None), marked]), &[]), Err(wanted));
        }
        let own = TerminalFacts { own_mark: Some("CLAUDECODE"), ..terminal(vec![]) };
        assert_eq!(judged(&own, &[]), Err(NotTheUser::Marked { variable: "CLAUDECODE".into(), pid: None }));
        let pipe = TerminalFacts { is_terminal: false, ..terminal(vec![]) };
        assert_eq!(judged(&pipe, &[]), Err(NotTheUser::NoTerminal));
    }

    #[test]
    fn a_chain_that_is_too_long_to_look_at_is_not_the_users() {
        let mut facts = terminal(vec![process(12, Some(&["PATH"]))]);
        facts.ancestry.is_cut = true;
        assert_eq!(judge(&facts, &MARKS, &[]), Err(NotTheUser::TooDeep));
        assert_eq!(no_agent(&facts, &MARKS, &[]), Err(NotTheUser::TooDeep));
        let known = [ProcessId { pid: 12, started: 100 }];
        assert_eq!(judge(&facts, &MARKS, &known), Err(NotTheUser::Agent { pid: 12 }), "what is known is said");
    }

    #[test]
    fn an_agent_is_found_where_there_is_no_terminal_too() {
        let pipe = |own_mark| TerminalFacts { is_terminal: false, own_mark, ..terminal(vec![]) };
        assert_eq!(no_agent(&pipe(None), &MARKS, &[]), Ok(()));
        assert!(no_agent(&pipe(Some("CLAUDECODE")), &MARKS, &[]).is_err());
        let known = [ProcessId { pid: 20, started: 100 }];
        assert_eq!(no_agent(&pipe(None), &MARKS, &known), Err(NotTheUser::Agent { pid: 20 }));
    }

    #[test]
    fn no_variable_turns_the_check_off() {
        let hopeful = ["PUNCH_ALLOW", "PUNCH_ANSWER", "PUNCH_RUN_REMOTE_ANSWERS", "CI", "PUNCH_TEST"];
        let marked = process(12, Some(&[&hopeful[..], &["CLAUDECODE"]].concat()));
        assert!(judge(&terminal(vec![process(13, Some(&hopeful)), marked]), &MARKS, &[]).is_err());
    }

    #[test]
    fn where_the_system_tells_nothing_the_own_process_decides() {
        let facts = TerminalFacts { is_terminal: true, ..TerminalFacts::default() };
        assert_eq!(judge(&facts, &MARKS, &[]), Ok(()));
        assert!(judge(&TerminalFacts { own_mark: Some("CLAUDECODE"), ..facts }, &MARKS, &[]).is_err());
    }
}

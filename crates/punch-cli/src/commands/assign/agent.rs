//! Who gets the todos of an assignment: an agent that is started, or the user, who gets the text.

use std::ffi::OsString;
use std::process::{Command, ExitStatus, Stdio};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use punch_agents::{AGENTS, Adapter, AssignCommand};
use punch_core::text;
use punch_engine::TodoAssignment;

use crate::failure::Failure;
use crate::project::OpenProject;
use crate::{environment, output};

/// `--to print` starts no agent and prints the prompt instead.
const PRINT: &str = "print";

/// Who gets the todos; `None` prints the text.
#[derive(Clone, Copy, Debug)]
pub struct Recipient(Option<(&'static Adapter, AssignCommand)>);

/// Reads a recipient.
pub fn recipients() -> impl TypedValueParser<Value = Recipient> {
    let agents = starters().map(|(agent, _)| PossibleValue::new(agent.name).help(agent.title));
    let print = PossibleValue::new(PRINT).help("Print the prompt and start nothing");
    PossibleValuesParser::new(agents.chain([print]))
        .map(|name| Recipient(starters().find(|(agent, _)| agent.name == name)))
}

/// The names of everyone that todos can be given to.
pub fn names() -> Vec<String> {
    starters().map(|(agent, _)| agent.name).chain([PRINT]).map(str::to_owned).collect()
}

/// The names of the agents on PATH that todos can be given to.
pub fn installed() -> Vec<&'static str> {
    starters()
        .filter(|(agent, _)| environment::find_program(agent.program).is_some())
        .map(|(agent, _)| agent.name)
        .collect()
}

/// The agents that can be started on a prompt.
fn starters() -> impl Iterator<Item = (&'static Adapter, AssignCommand)> {
    AGENTS.into_iter().filter_map(|agent| Some((agent, agent.assign?)))
}

impl Recipient {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        self.0.map_or(PRINT, |(agent, _)| agent.name)
    }

    /// Starts it and waits for its end; `None` if there is nobody to start. What it says goes to standard error:
    /// standard output is for the outcome.
    pub fn run(
        &self,
        open: &OpenProject,
        given: &TodoAssignment,
        more: &[OsString],
    ) -> Result<Option<ExitStatus>, Failure> {
        let Some((agent, start)) = self.0 else { return Ok(None) };
        // Some agents print nothing until they have finished.
        output::remark(&format!("{} is working on {}; its output follows", agent.title, shown(&given.ids)));
        say(agent, start, open, given, &given.prompt, more).map(Some)
    }

    /// Resumes a conversation whose process ends with its turn, so that no hook can keep it going; `None` for those that a
    /// hook keeps going.
    pub fn resume(
        &self,
        open: &OpenProject,
        given: &TodoAssignment,
        (conversation, text): (&str, &str),
        more: &[OsString],
    ) -> Result<Option<ExitStatus>, Failure> {
        let Some((agent, start)) = self.0 else { return Ok(None) };
        let Some(flag) = start.resume_flag else { return Ok(None) };
        let again = [flag.into(), conversation.into()];
        let more: Vec<OsString> = again.into_iter().chain(more.iter().cloned()).collect();
        say(agent, start, open, given, text, &more).map(Some)
    }
}

/// Ids for a line on the screen.
fn shown(ids: &[String]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| text::neutral(&text::clip(id, 60)).into_owned()).collect();
    ids.join(", ")
}

fn say(
    agent: &Adapter,
    start: AssignCommand,
    open: &OpenProject,
    given: &TodoAssignment,
    text: &str,
    more: &[OsString],
) -> Result<ExitStatus, Failure> {
    let program = agent.program;
    let mut command = Command::new(program);
    command.args(start.before_prompt).arg(text).args(more);
    command.env(environment::ASSIGNED, given.key.session_id());
    for name in environment::withheld() {
        command.env_remove(name);
    }
    if let Some(plan) = open.engine.plans()?.into_iter().find(|plan| plan.id == open.plan) {
        command.env("PUNCH_PLAN", plan.name);
    }
    command.stdin(Stdio::null()).stdout(output::aside());
    command.status().map_err(|cause| {
        let message = format!("cannot start `{program}`: {cause}");
        let hint = "install it or put it on PATH; `--to print` gives the text for any other agent";
        Failure::refused("no_agent", message, hint)
    })
}

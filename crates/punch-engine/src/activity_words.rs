//! Describes activities of a plan and events of runs for the user, one line each.

use punch_core::text;
use punch_core::time::utc;

use crate::{ActivityKind, ActivityRecord, RunEvent};

impl ActivityRecord {
    /// Returns one line about the activity, without its time; `None` for what other lines say.
    pub fn words(&self) -> Option<String> {
        activity(self)
    }
}

impl RunEvent {
    /// Returns one line about the event; `None` for what only a live line shows, and for what the last line of the run
    /// says anyway.
    pub fn words(&self) -> Option<String> {
        run_event(self)
    }
}

fn activity(record: &ActivityRecord) -> Option<String> {
    let source = record.source.as_deref().map(|source| text::clip(&text::neutral(source), 60).into_owned());
    let of = |agent: &str| format!("{agent} {}", source.as_deref().unwrap_or_default()).trim().to_owned();
    Some(match &record.kind {
        ActivityKind::SessionStarted { agent, how } if how.is_empty() => format!("{} was first seen", of(agent)),
        ActivityKind::SessionStarted { agent, how } => format!("{} started ({how})", of(agent)),
        ActivityKind::SessionEnded { agent } => format!("{} ended", of(agent)),
        ActivityKind::Decision { agent, continues: true, reason } => {
            format!("{} was told to continue ({reason})", of(agent))
        }
        ActivityKind::Decision { agent, continues: false, reason } => {
            format!("{} was allowed to stop ({reason})", of(agent))
        }
        ActivityKind::Turn { agent, what, error } => {
            let error = if error.is_empty() { String::new() } else { format!(": {error}") };
            format!("{}: {}{error}", of(agent), what.replace('_', " "))
        }
        ActivityKind::ToolFailed { agent, tool, todo, error } => {
            let at = todo.as_deref().map(|todo| format!(" at {todo}")).unwrap_or_default();
            format!("{}: {tool} failed{at}: {error}", of(agent))
        }
        ActivityKind::WriteFailed { agent, error } => format!("{} could not change the plan: {error}", of(agent)),
        ActivityKind::Informed { agent, todo } => format!("{} was informed of your changes to {todo}", of(agent)),
        ActivityKind::Run { run, event: RunEvent::Ended { outcome, because, completed, .. } } => {
            let because = because.first().map(|why| format!(" ({why})")).unwrap_or_default();
            format!("run {run} {}, {completed} completed{because}", outcome.words())
        }
        ActivityKind::Run { run, event } => format!("run {run}: {}", event.words()?),
        ActivityKind::Asked { question, agent, text } => format!("question {question} from {agent}: {text}"),
        ActivityKind::Answered { question, answer, by, via } => {
            format!("question {question} was answered: {answer} (by {by}, {via})")
        }
        ActivityKind::Approved { command, by, via } => format!("{by} approved `{command}` ({via})"),
        ActivityKind::QuestionClosed { question, reason } => format!("question {question} was closed: {reason}"),
        ActivityKind::Control { scope, wanted, by } => format!("{scope}: {wanted} (by {by})"),
        // The events of the run say more.
        ActivityKind::Seat { .. } | ActivityKind::Unknown => return None,
    })
}

fn run_event(event: &RunEvent) -> Option<String> {
    Some(match event {
        RunEvent::Begun { run, resumed, agents } => {
            let word = if *resumed { "resumes" } else { "begins" };
            match agents {
                1 => format!("run {run} {word} with 1 agent"),
                agents => format!("run {run} {word} with {agents} agents"),
            }
        }
        RunEvent::Remark { what } => format!("note: {what}"),
        RunEvent::Started { agent, name, todo, content, attempt } => {
            let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            format!("[{agent}] {name} works on {todo}{again}: {content}")
        }
        RunEvent::Continued { agent, todo } => format!("[{agent}] continues {todo}"),
        RunEvent::Verifying { todo, .. } => format!("{todo} is reported as done"),
        RunEvent::Completed { todo, content, spent, .. } => {
            let time = format!("{} s", spent.ms / 1_000);
            // An estimate counts towards limits, but says nothing about what the agent used.
            let took = match spent.estimated {
                0 => format!("{} tokens, {time}", text::grouped(spent.tokens)),
                _ => time,
            };
            match content.is_empty() {
                true => format!("{todo} is done ({took})"),
                false => format!("{todo} is done: {content} ({took})"),
            }
        }
        RunEvent::Retrying { todo, why, .. } => format!("{todo} failed, retrying: {why}"),
        RunEvent::Failed { todo, why, .. } => format!("{todo} failed: {why}"),
        RunEvent::Held { todo, why, .. } => format!("{todo} is waiting for you: {why}"),
        RunEvent::Asks { agent, todo, what } => format!("[{agent}] asks about {todo}: {what}"),
        RunEvent::Released { todo, why, .. } => format!("{todo} was returned to the queue: {why}"),
        RunEvent::Limited { agent, name, why, until } => {
            let then = until.map_or_else(
                || "the run does not wait that long (`run.limit_wait`)".to_owned(),
                |at| format!("sleeps until {}", utc(at)),
            );
            format!("[{agent}] {name} reached its usage limit ({why}): {then}")
        }
        RunEvent::Waiting { what } => what.clone(),
        RunEvent::Output { .. } | RunEvent::Ended { .. } => return None,
    })
}

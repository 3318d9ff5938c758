//! `punch why-stop`: the last decision about an agent that wanted to stop.

use clap::Args;
use punch_core::drive::{Decision, Input};
use punch_core::text;
use punch_core::time::utc;
use punch_engine::DecisionRecord;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch why-stop                       # the last decision about any session
  punch why-stop 1a2b3c --json
  punch why-stop --line | punch replay --dialect drive";

/// Reports looked at to find a decision.
const LOOKED_AT: usize = 1_000;

/// The arguments of `punch why-stop`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct WhyStop {
    /// The session, by its id or the beginning of it
    session: Option<String>,
    /// Print the decision with everything it follows from, as a line for `punch replay`
    #[arg(long, conflicts_with = "json")]
    line: bool,
}

impl WhyStop {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let none = || Reply::new("No agent has wanted to stop here yet.", json!({"decision": null}));
        let Some(open) = project.read()?.plan() else { return Ok(none()) };
        let key = match &self.session {
            None => None,
            Some(given) => Some(open.engine.find_session(given)?.ok_or_else(|| unknown(given))?),
        };
        let records = open.engine.decisions(key.as_ref(), LOOKED_AT)?;
        let decided = |record: &&DecisionRecord| record.decided.is_some();
        let own = |record: &&DecisionRecord| decided(record) && !record.is_nobodys();
        let Some(found) = records.iter().find(own).or_else(|| records.iter().find(decided)) else { return Ok(none()) };
        if self.line {
            output::document(&format!("{}\n", found.line))?;
            return Ok(Reply::printed());
        }
        let Some((input, decision)) = &found.decided else { return Ok(none()) };
        // What was only reported after it, oldest first.
        let later = records.iter().take_while(|record| record.at > found.at || record.decided.is_none());
        let mut later: Vec<&DecisionRecord> =
            later.filter(|record| record.key == found.key && record.decided.is_none()).collect();
        later.reverse();
        let mut lines = explain(found, input, decision);
        lines.extend(later.iter().map(|record| report(&record.line)));
        let json = json!({
            "session": found.key.session_id(),
            "subagent": found.key.subagent(),
            "agent": found.agent,
            "at": found.at,
            "decision": decision,
            "sentence": sentence(decision),
            "hint": hint(decision),
            "context": input.scene.context,
            "input": input,
            "since": later.iter().map(|record| &record.line).collect::<Vec<_>>(),
        });
        Ok(Reply::new(lines.join("\n"), json))
    }
}

fn unknown(given: &str) -> Failure {
    Failure::Refused {
        code: "unknown_session",
        message: format!("no session `{}`, or several", text::clip(&text::neutral(given), 80)),
        hint: "`punch why-stop` tells of the last one, and its id".into(),
    }
}

fn explain(record: &DecisionRecord, input: &Input, decision: &Decision) -> Vec<String> {
    let facts = &input.facts;
    let name = |name: &str, most: usize| text::clip(&text::neutral(name), most).into_owned();
    let whose = format!("{} {}", name(&record.agent, 20), name(record.key.session_id(), 40));
    let what = match decision {
        Decision::Continue { n, of, .. } => format!("was kept going, continuation {n}/{of}"),
        Decision::Allow { reason } => format!("was let stop ({})", reason.code()),
    };
    let mut lines = vec![format!("{whose} {what}, {}", utc(record.at)), format!("because {}", sentence(decision))];
    if facts.revision > 0 {
        lines.push(format!("{} of {} todos were open at revision {}", facts.open, facts.total, facts.revision));
        let (counters, policy) = (&input.counters, &input.policy);
        lines.push(format!(
            "continuations before: {} of {} since progress, {} of {} since the last message, {} of {} without progress",
            counters.continuations,
            policy.max_continuations,
            counters.total,
            policy.absolute,
            counters.idle,
            policy.no_progress
        ));
        lines.push(match input.scene.context {
            Some(context) => format!("context: {} of {} tokens", context.used, context.limit),
            None => "context: unknown, so it stopped nothing".to_owned(),
        });
    }
    for one in &facts.unproven {
        lines.push(format!("not done: {}", one.mention()));
    }
    let hint = hint(decision);
    if !hint.is_empty() {
        lines.push(format!("what to do: {hint}"));
    }
    lines
}

fn sentence(decision: &Decision) -> String {
    match decision {
        Decision::Continue { .. } => "something is open that it can work on".to_owned(),
        Decision::Allow { reason } => reason.text(),
    }
}

fn hint(decision: &Decision) -> String {
    match decision {
        Decision::Continue { .. } => String::new(),
        Decision::Allow { reason } => reason.hint().to_owned(),
    }
}

/// What a host reported, on a line.
fn report(line: &Value) -> String {
    let field = |name: &str| line[name].as_str().map(|text| text::clip(&text::neutral(text), 120).into_owned());
    let mut out = format!("then: {}", field("noted").unwrap_or_default().replace('_', " "));
    if let Some(todo) = field("todo") {
        out += &format!(", at {todo}");
    }
    if let Some(error) = field("error") {
        out += &format!(": {error}");
    }
    out
}

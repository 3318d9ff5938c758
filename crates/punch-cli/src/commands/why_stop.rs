//! `punch why-stop`: the last decision about an agent that wanted to stop.

use clap::Args;
use punch_core::drive::{Decision, DecisionInput};
use punch_core::text;
use punch_core::view::Layout;
use punch_engine::{ActivityKind, ActivityRecord, DecisionRecord};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::project::{OpenProject, Project};
use crate::reply::VerbReply;
use crate::safety::count;

const EXAMPLES: &str = "\
Examples:
  punch why-stop                       # the last decision about any session
  punch why-stop 1a2b3c --json
  punch why-stop --line | punch replay --dialect drive";

/// Reports looked at to find a decision.
const LOOKED_AT: usize = 1_000;

/// Failures of tools and writes that are shown.
const FAILURES: usize = 5;

/// Reports that are shown of a session that never asked to stop.
const REPORTS: usize = 10;

/// The arguments of `punch why-stop`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct WhyStopArgs {
    /// The session, by its id or the beginning of it
    session: Option<String>,
    /// Print the decision with everything it follows from, as a line for `punch replay`
    #[arg(long, conflicts_with = "json")]
    line: bool,
}

impl WhyStopArgs {
    /// The verb about one session, or about any.
    pub const fn of(session: Option<String>) -> Self {
        Self { session, line: false }
    }

    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let none = || VerbReply::new("No agent has tried to stop here yet.", json!({"decision": null}));
        let Some(open) = project.read()?.plan() else { return Ok(none()) };
        let key = match &self.session {
            None => None,
            Some(given) => Some(open.engine.find_session(given)?.ok_or_else(|| unknown(given))?),
        };
        let layout = open.project.layout(open.engine.now());
        let records = open.engine.decisions(key.as_ref(), LOOKED_AT)?;
        let decided = |record: &&DecisionRecord| record.decided.is_some();
        let own = |record: &&DecisionRecord| decided(record) && !record.is_nobodys();
        let Some(found) = records.iter().find(own).or_else(|| records.iter().find(decided)) else {
            return Ok(undecided(&records, layout).unwrap_or_else(none));
        };
        if self.line {
            output::document(&format!("{}\n", found.line))?;
            return Ok(VerbReply::printed());
        }
        let Some((input, decision)) = &found.decided else { return Ok(none()) };
        // What was only reported after it, oldest first.
        let later = records.iter().take_while(|record| record.at > found.at || record.decided.is_none());
        let mut later: Vec<&DecisionRecord> =
            later.filter(|record| record.key == found.key && record.decided.is_none()).collect();
        later.reverse();
        let mut lines = explain(found, input, decision, layout);
        lines.extend(later.iter().map(|record| format!("then: {}", report(&record.line))));
        let failures = failures(&open, found)?;
        lines.extend(failures.iter().filter_map(|one| Some(format!("{}  {}", layout.moment(one.at), one.words()?))));
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
            "failures": failures.iter().map(|one| json!({"at": one.at, "failure": one.kind})).collect::<Vec<_>>(),
            "since": later.iter().map(|record| &record.line).collect::<Vec<_>>(),
        });
        Ok(VerbReply::new(lines.join("\n"), json))
    }
}

/// The last reports of a session that never asked to stop: it was interrupted, or its process ended.
fn undecided(records: &[DecisionRecord], layout: Layout) -> Option<VerbReply> {
    let last = records.first()?;
    let mut reports: Vec<&DecisionRecord> =
        records.iter().filter(|record| record.key == last.key).take(REPORTS).collect();
    reports.reverse();
    let mut lines = vec![format!("{} has not asked to stop; last reported:", whose(last))];
    lines.extend(reports.iter().map(|record| format!("{}  {}", layout.moment(record.at), report(&record.line))));
    let json = json!({
        "session": last.key.session_id(),
        "subagent": last.key.subagent(),
        "agent": last.agent,
        "at": last.at,
        "decision": null,
        "since": reports.iter().map(|record| &record.line).collect::<Vec<_>>(),
    });
    Some(VerbReply::new(lines.join("\n"), json))
}

/// An agent and its session, safe to print.
fn whose(record: &DecisionRecord) -> String {
    let name = |name: &str, most: usize| text::clip(&text::neutral(name), most).into_owned();
    format!("{} {}", name(&record.agent, 20), name(record.key.session_id(), 40))
}

/// Activities looked at to find failures.
const ACTIVITIES: usize = 1_000;

/// The last tools and writes of a session that failed, oldest first.
fn failures(open: &OpenProject, of: &DecisionRecord) -> Result<Vec<ActivityRecord>, Failure> {
    let newest = open.engine.last_activity(open.plan)?;
    let page = open.engine.activity(open.plan, newest.saturating_sub(ACTIVITIES as u64), ACTIVITIES)?;
    let failed = |record: &ActivityRecord| {
        let kind = matches!(record.kind, ActivityKind::ToolFailed { .. } | ActivityKind::WriteFailed { .. });
        kind && record.source.as_deref() == Some(of.key.session_id())
    };
    let mut found: Vec<ActivityRecord> = page.records.into_iter().filter(failed).collect();
    found.drain(..found.len().saturating_sub(FAILURES));
    Ok(found)
}

fn unknown(given: &str) -> Failure {
    Failure::Refused {
        code: "unknown_session",
        message: format!("no single session matches `{}`", text::clip(&text::neutral(given), 80)),
        hint: "`punch keep-going why` explains the last one and prints its id".into(),
    }
}

fn explain(record: &DecisionRecord, input: &DecisionInput, decision: &Decision, layout: Layout) -> Vec<String> {
    let (facts, whose) = (&input.facts, whose(record));
    let what = match decision {
        Decision::Continue { n, of, .. } => format!("was told to continue, continuation {n}/{of}"),
        Decision::Allow { .. } => "was allowed to stop".to_owned(),
    };
    let mut lines =
        vec![format!("{whose} {what}, {}", layout.moment(record.at)), format!("because {}", sentence(decision))];
    if facts.revision > 0 {
        lines.push(format!("open at revision {}: {} of {}", facts.revision, facts.open, count(facts.total, "todo")));
        let (counters, policy) = (&input.counters, &input.policy);
        lines.push(format!(
            "continuations before: {} of {} since progress, {} of {} since the last message, {} of {} without a tool",
            counters.continuations,
            policy.max_continuations,
            counters.total,
            policy.absolute,
            counters.idle,
            policy.no_progress
        ));
        lines.push(match input.scene.context {
            Some(context) => format!("context: {} of {} tokens", context.used, context.limit),
            None => "context usage unknown, so not considered".to_owned(),
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
        Decision::Allow { reason } => reason.command_hint().into_owned(),
    }
}

/// What a host reported, on a line.
fn report(line: &Value) -> String {
    let field = |name: &str| line[name].as_str().map(|text| text::clip(&text::neutral(text), 120).into_owned());
    let mut out = field("noted").unwrap_or_default().replace('_', " ");
    if let Some(todo) = field("todo") {
        out += &format!(", at {todo}");
    }
    if let Some(error) = field("error") {
        out += &format!(": {error}");
    }
    out
}

//! `punch status`, and `punch` without a verb: the plan on one screen, or on one line.

use clap::Args;
use punch_core::Todo;
use punch_core::inbox::{InboxItem, InboxKind};
use punch_core::view::{Dashboard, Layout, PlanSummary, SpanRole, SummarySection, ViewLine, status_line};
use punch_engine::{Going, ReadyQuery, plan_summary};
use punch_store::Which;
use serde_json::{Value, json};

use super::keep_going;
use crate::failure::Failure;
use crate::project::{OpenProject, Project, ProjectPlan};
use crate::reply::VerbReply;
use crate::wiring::connected_agents;

const EXAMPLES: &str = "\
Examples:
  punch                      # the same screen
  punch status --line        # one line, for prompts, tmux and status bars
  punch status --json        # completed, total, percent, inProgress, next, failed, stuck, held";

/// The arguments of `punch status`.
#[derive(Args, Default)]
#[command(after_help = EXAMPLES)]
pub struct StatusArgs {
    /// Print one line
    #[arg(long, short, conflicts_with = "json")]
    line: bool,
}

/// What a plan looks like now.
struct Glance {
    name: String,
    summary: PlanSummary,
    running: Vec<Todo>,
    going: Vec<Going>,
    /// What needs the user; `None` where the plan is too large to find out at the side.
    inbox: Option<Vec<InboxItem>>,
}

impl StatusArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let open = match project.read()? {
            ProjectPlan::Plan(open) => open,
            ProjectPlan::Empty(_) if self.line => return Ok(VerbReply::new("", Value::Null)),
            ProjectPlan::Empty(project) => {
                let connected = connected_agents(&project.global);
                return Ok(VerbReply::new(welcome(&connected), json(&Glance::empty(), &[])));
            }
        };
        let glance = Glance::of(&open)?;
        let (project, layout) = (&open.project, open.project.layout(open.engine.now()));
        if self.line {
            // What has ended well is news, but needs nothing from you.
            let needs_you = |item: &&InboxItem| item.kind != InboxKind::Finished;
            let needs_you = glance.inbox.as_deref().map_or(0, |items| items.iter().filter(needs_you).count());
            let line = status_line::draw(&glance.summary, needs_you, project.width(), layout);
            return Ok(VerbReply::new(vec![line], Value::Null));
        }
        if project.global.json {
            return Ok(VerbReply::new("", json(&glance, &keep_going::records(&glance.going, project))));
        }
        if glance.summary.counts.total() == 0 {
            let has_others = open.engine.plans()?.len() > 1;
            let lines = if has_others { no_todos(&glance.name) } else { welcome(&connected_agents(&project.global)) };
            return Ok(VerbReply::new(lines, Value::Null));
        }
        let foot = glance.foot(project, layout);
        let (plan, summary, inbox) = (glance.name.as_str(), &glance.summary, glance.inbox.as_deref());
        Ok(VerbReply::new(Dashboard { plan, summary, inbox, foot: &foot }.lines(layout), Value::Null))
    }
}

impl Glance {
    fn empty() -> Self {
        let (name, summary) = (String::new(), PlanSummary::default());
        Self { name, summary, running: Vec::new(), going: Vec::new(), inbox: Some(Vec::new()) }
    }

    fn of(open: &OpenProject) -> Result<Self, Failure> {
        let (now, actor, own) = (open.engine.now(), open.project.actor(), open.assigned_todos()?);
        let query = ReadyQuery::for_owner(actor.owner(), own.as_deref(), now);
        let (name, summary, running) = open.engine.read(open.plan, |snapshot| {
            let mut running = match snapshot.row()?.counts.in_progress {
                0 => Vec::new(),
                _ => snapshot.list(Which::Running, None, usize::MAX)?,
            };
            running.retain(|todo| !todo.lease_expired(now));
            Ok((snapshot.info()?.name, plan_summary(snapshot, &query)?, running))
        })?;
        let inbox = open.with_inbox(|query| open.engine.inbox_at_a_glance(open.plan, query))?;
        Ok(Self { name, summary, running, going: open.engine.going()?, inbox })
    }

    /// Returns the sessions that are being continued, whether auto-continue is on at all, and which agents are
    /// connected.
    fn foot(&self, project: &Project, layout: Layout) -> Vec<String> {
        let mut foot: Vec<String> = self.going.iter().map(|going| keep_going::line(going, project)).collect();
        let connected = connected_agents(&project.global);
        if connected.is_empty() {
            foot.push("No agent is connected: `punch install` connects the ones you use".to_owned());
            return foot;
        }
        let on = if project.config.settings.keep_going_enabled.value { "on" } else { "off" };
        let agents = format!("{} connected", crate::reply::listed(&connected));
        foot.push([format!("Auto-continue {on}"), agents, "punch help".to_owned()].join(layout.dot()));
        foot
    }
}

/// What to do in an empty plan beside others.
fn no_todos(plan: &str) -> Vec<ViewLine> {
    let line = ViewLine::default().with(SpanRole::Text, format!("Plan `{plan}` has no todos. "));
    let line = line.with(SpanRole::Command, "`punch add 'First thing'`").with(SpanRole::Text, " adds one, ");
    vec![line.with(SpanRole::Command, "`punch plan list`").with(SpanRole::Text, " shows the other plans.")]
}

/// What to do where there is no plan yet.
fn welcome(connected: &[&'static str]) -> Vec<ViewLine> {
    let line = |command: &str, about: &str| {
        let line = ViewLine::default().with(SpanRole::Text, "  ").with(SpanRole::Command, format!("{command:26}"));
        line.with(SpanRole::Detail, about)
    };
    let (begin, install) = if connected.is_empty() {
        let install = line("punch install", "connect the coding agents you use");
        ("No plan here yet. Punchlist keeps your agents' todo list outside their context.".to_owned(), Some(install))
    } else {
        let agents = crate::reply::listed(connected);
        (
            format!("No plan here yet. Connected: {agents}. Ask for something with several steps, and watch it here."),
            None,
        )
    };
    let mut lines = vec![ViewLine::default().with(SpanRole::Text, begin)];
    lines.extend(install);
    lines.extend([
        line("punch add 'First thing'", "or write the plan yourself"),
        line("punch demo", "see what it does"),
    ]);
    lines
}

fn json(glance: &Glance, going: &[Value]) -> Value {
    let summary = &glance.summary;
    let running: Vec<&str> = glance.running.iter().map(|todo| todo.id.as_str()).collect();
    let ids = |section: &SummarySection| -> Vec<String> { section.rows.iter().map(|row| row.id.to_string()).collect() };
    json!({
        "completed": summary.progress.completed,
        "total": summary.progress.total,
        "percent": summary.progress.percent(),
        "inProgress": running.first(),
        "inProgressAll": running,
        "open": summary.counts.open(),
        "failedCount": summary.counts.failed,
        "next": ids(&summary.next).first(),
        "failed": ids(&summary.failed),
        "stuck": ids(&summary.stuck),
        "held": ids(&summary.held),
        "keepGoing": going,
        "inbox": glance.inbox.as_ref().map(Vec::len),
    })
}

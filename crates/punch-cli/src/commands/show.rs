//! `punch show`: everything about one todo.

use clap::Args;
use punch_core::reason::PlanReader;
use punch_core::view::{Layout, TodoDetail, ViewLine, todo_detail};
use punch_core::{Footprint, Plan, Todo, Uid};
use punch_engine::{Engine, EngineError, InformedSession};
use punch_store::PlanId;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch show T-3
  punch show 'fix login' --json";

/// Errors of earlier attempts that are shown, the newest. `punch log TODO` shows the others.
const ERRORS: usize = 5;

/// The arguments of `punch show`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    /// An id, or a part of the text
    #[arg(value_name = "TODO")]
    todo: String,
}

impl ShowArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let missing = || EngineError::NotFound { given: self.todo.clone(), near: Vec::new() };
        let open = project.open_named(std::slice::from_ref(&self.todo))?;
        let uid = open.engine.resolve(open.plan, &self.todo)?;
        let now = open.engine.now();
        let plan = around(&open.engine, open.plan, uid)?;
        let todo = plan.get(uid).ok_or_else(missing)?;
        let informed = open.engine.informed_sessions(open.plan, uid, &open.project.config.settings)?;
        let reader = PlanReader::new(&plan, now);
        let detail = TodoDetail::of(reader, todo).for_user(reader, todo, open.project.layout(now));
        let detail = informed.iter().fold(detail, |detail, session| detail.with("informed", &session.line(now)));
        let detail = todo_detail::history(reader, todo)
            .iter()
            .fold(detail, |detail, field| detail.with(field.name, field.value.as_str()));
        let errors = open.engine.earlier_errors(open.plan, todo, ERRORS)?;
        let detail = errors.iter().fold(detail, |detail, error| detail.with("earlier error", error));
        let record = |informed: &InformedSession| json!({"session": informed.session, "agent": informed.agent, "at": informed.at});
        let sessions: Vec<Value> = informed.iter().map(record).collect();
        let json = json!({"todo": reply::record(&plan, todo, now), "informed": sessions});
        Ok(VerbReply::new(detail.lines(open.project.layout(now).glyphs), json))
    }
}

/// A todo with what it depends on and what it blocks.
pub fn around(engine: &Engine, plan: PlanId, uid: Uid) -> Result<Plan, Failure> {
    Ok(engine.read(plan, |snapshot| {
        let mut plan = Plan::slice(snapshot.row()?);
        snapshot.load(&Footprint { todos: [uid].into(), ..Footprint::default() }, &mut plan)?;
        reply::load_names(snapshot, &mut plan, &[uid])?;
        Ok(plan)
    })?)
}

/// Everything about a todo, a line for each field that says something.
pub fn fields(plan: &Plan, todo: &Todo, layout: Layout) -> Vec<ViewLine> {
    TodoDetail::of(PlanReader::new(plan, layout.now), todo).lines(layout.glyphs)
}

//! `punch why`: what a todo, or the whole plan, is waiting for.

use clap::Args;
use punch_core::reason::PlanReader;
use punch_core::view::{Layout, why_answer};
use punch_core::{Plan, Uid};
use punch_engine::EngineError;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::project::{Project, ProjectPlan};
use crate::reply::{self, Body, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch why T-3              # what it waits for, and where that begins
  punch why                  # why nothing, or nothing else, can be started
  punch why T-3 --json       # standing, waitsFor, roots, unblocks, conflicts";

/// The arguments of `punch why`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct WhyArgs {
    /// An id, or a part of the text; without it the whole plan is explained
    #[arg(value_name = "TODO")]
    todo: Option<String>,
}

impl WhyArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let open = match (project.read()?, &self.todo) {
            (ProjectPlan::Plan(open), _) => open,
            (ProjectPlan::Empty(project), Some(given)) => project.open_named(std::slice::from_ref(given))?,
            (ProjectPlan::Empty(project), None) => return Ok(all(&Plan::new(), project.layout(0))),
        };
        let now = open.engine.now();
        let uid = self.todo.as_deref().map(|given| open.engine.resolve(open.plan, given)).transpose()?;
        let plan = open.whole()?;
        match uid {
            None => Ok(all(&plan, open.project.layout(now))),
            Some(uid) => one(&plan, uid, open.project.layout(now)).ok_or_else(|| {
                let given = self.todo.unwrap_or_default();
                EngineError::NotFound { given, near: Vec::new() }.into()
            }),
        }
    }
}

fn one(plan: &Plan, uid: Uid, layout: Layout) -> Option<VerbReply> {
    let (todo, answer) = (plan.get(uid)?, why_answer::of_todo(plan, uid, layout)?);
    let mut body = Body(reply::lines(PlanReader::new(plan, layout.now), [todo], layout));
    body.push(answer.lines);
    let mut json = json!({"todo": reply::record(plan, todo, layout.now)});
    if let (Some(json), Value::Object(answer)) = (json.as_object_mut(), answer.json) {
        json.extend(answer);
    }
    Some(VerbReply::new(body, json))
}

fn all(plan: &Plan, layout: Layout) -> VerbReply {
    let answer = why_answer::of_plan(plan, layout);
    VerbReply::new(answer.lines, answer.json)
}

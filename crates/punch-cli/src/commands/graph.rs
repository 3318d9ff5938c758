//! `punch graph`: the dependency graph, as text or for other programs.

use std::collections::HashMap;

use clap::{Args, ValueEnum};
use punch_core::reason::PlanReader;
use punch_core::view::{Cap, EdgeKind, GraphLayout, GraphNode, Layers, diagram};
use punch_core::{Dep, Plan, Todo, Uid};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::project::{Project, ProjectPlan, never_freed};
use crate::reply::{Body, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch graph
  punch graph --all --limit 1000
  punch graph --format dot | dot -Tsvg > plan.svg
  punch graph --format mermaid > plan.mmd";

/// Lines of text without `--limit`.
const LINES: usize = 200;

/// The arguments of `punch graph`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct GraphArgs {
    /// Text by parallel groups, DOT for Graphviz, or Mermaid
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = GraphFormat::Text)]
    format: GraphFormat,
    /// Include closed todos
    #[arg(long)]
    all: bool,
    /// Print at most N lines of text
    #[arg(long, value_name = "N", default_value_t = LINES)]
    limit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphFormat {
    Text,
    Dot,
    Mermaid,
}

impl GraphArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let (glyphs, width, as_json) = (project.glyphs(), project.width(), project.global.json);
        let (plan, now) = match project.read()? {
            ProjectPlan::Plan(open) => (open.engine.whole(open.plan)?, open.engine.now()),
            ProjectPlan::Empty(_) => (Plan::new(), 0),
        };
        let plan = never_freed(plan);
        let todos: Vec<&Todo> = plan.live().into_iter().filter(|t| self.all || t.status.is_open()).collect();
        if as_json {
            return Ok(VerbReply::new("", graph(&plan, &todos, now)));
        }
        let body: Body = match self.format {
            GraphFormat::Dot => diagram::dot(&plan, &todos, now).into(),
            GraphFormat::Mermaid => diagram::mermaid(&plan, &todos, now).into(),
            GraphFormat::Text => {
                let cap = Cap::new(self.limit, usize::MAX);
                let layout = GraphLayout::of(PlanReader::new(&plan, now), &todos);
                let (lines, left) = Layers { width: Some(width), glyphs, cap }.draw(&layout);
                if left > 0 {
                    let all = todos.len().saturating_mul(2);
                    output::remark(&format!(
                        "{} not shown; `punch graph --limit {all}` shows all",
                        crate::safety::count(left as u64, "more todo")
                    ));
                }
                lines.into()
            }
        };
        Ok(VerbReply::new(body, json!({})))
    }
}

/// The graph for programs, with ids and contents as they are stored.
fn graph(plan: &Plan, todos: &[&Todo], now: i64) -> Value {
    let layout = GraphLayout::of(PlanReader::new(plan, now), todos);
    let placed: HashMap<Uid, &GraphNode> = layout.nodes.iter().map(|node| (node.row.uid, node)).collect();
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for todo in todos {
        let node = placed.get(&todo.uid);
        nodes.push(json!({
            "id": todo.id,
            "content": todo.content,
            "status": if todo.is_blocked(now) { "blocked" } else { todo.status_at(now).name() },
            "shown": node.map(|node| node.row.status),
            "parallelGroup": todo.derived.level,
            "layer": node.map(|node| node.layer),
            "order": node.map(|node| node.order),
        }));
        for dep in &todo.depends_on {
            let needs = match dep {
                Dep::On(uid) | Dep::Suspended(uid) => plan.get(*uid).map(|to| to.id.as_str()),
                Dep::Dangling(missing) => Some(missing.as_str()),
            };
            edges.push(json!({"needs": needs, "todo": todo.id, "kind": EdgeKind::of(dep).name()}));
        }
    }
    json!({"todos": nodes, "edges": edges})
}

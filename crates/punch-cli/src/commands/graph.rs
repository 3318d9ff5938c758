//! `punch graph`: who waits for whom, as text or for other programs.

use clap::{Args, ValueEnum};
use punch_core::view::{Cap, Layers, diagram};
use punch_core::{Dep, Plan, Todo};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::project::{Project, ProjectPlan};
use crate::reply::Reply;

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
pub struct Graph {
    /// Text by parallel groups, DOT for Graphviz, or Mermaid
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Closed todos too
    #[arg(long)]
    all: bool,
    /// At most so many lines of text
    #[arg(long, value_name = "N", default_value_t = LINES)]
    limit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Dot,
    Mermaid,
}

impl Graph {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let (glyphs, width, as_json) = (project.glyphs(), project.width(), project.global.json);
        let (plan, now) = match project.read()? {
            ProjectPlan::Plan(open) => (open.engine.whole(open.plan)?, open.engine.now()),
            ProjectPlan::Empty(_) => (Plan::new(), 0),
        };
        let todos: Vec<&Todo> = plan.live().into_iter().filter(|t| self.all || t.status.is_open()).collect();
        if as_json {
            return Ok(Reply::new("", graph(&plan, &todos, now)));
        }
        let text = match self.format {
            Format::Dot => diagram::dot(&todos, now),
            Format::Mermaid => diagram::mermaid(&todos, now),
            Format::Text => {
                let cap = Cap::new(self.limit, usize::MAX);
                let (text, left) = Layers { now, width: Some(width), glyphs, cap }.draw(&plan, &todos);
                if left > 0 {
                    let all = todos.len().saturating_mul(2);
                    output::remark(&format!("{left} todos are not shown; `punch graph --limit {all}` shows all"));
                }
                text
            }
        };
        Ok(Reply::new(text, json!({})))
    }
}

fn graph(plan: &Plan, todos: &[&Todo], now: i64) -> Value {
    let node = |t: &&Todo| {
        json!({
            "id": t.id,
            "content": t.content,
            "status": if t.is_blocked(now) { "blocked" } else { t.status_at(now).name() },
            "parallelGroup": t.derived.level,
        })
    };
    let edge = |from: Option<&str>, to: &str, kind: &str| json!({"needs": from, "todo": to, "kind": kind});
    let mut edges = Vec::new();
    for todo in todos {
        for dep in &todo.depends_on {
            let id = |uid| plan.get(uid).map(|to| to.id.as_str());
            edges.push(match dep {
                Dep::On(uid) => edge(id(*uid), &todo.id, "active"),
                Dep::Suspended(uid) => edge(id(*uid), &todo.id, "circle"),
                Dep::Dangling(missing) => edge(Some(missing), &todo.id, "missing"),
            });
        }
    }
    json!({"todos": todos.iter().map(node).collect::<Vec<_>>(), "edges": edges})
}

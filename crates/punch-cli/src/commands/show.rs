//! `punch show`: everything about one todo.

use clap::Args;
use punch_core::{Footprint, Plan, Record, Todo, Uid, Verify, text};
use punch_engine::{Engine, EngineError};
use punch_store::PlanId;
use serde_json::json;

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, Reply};

const EXAMPLES: &str = "\
Examples:
  punch show T-3
  punch show 'fix login' --json";

/// Lines of the last check's output that are shown.
const OUTPUT: usize = 10;

/// The arguments of `punch show`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    /// An id, or a part of the content
    #[arg(value_name = "TODO")]
    todo: String,
}

impl Show {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let missing = || EngineError::NotFound { given: self.todo.clone(), near: Vec::new() };
        let open = project.open_named(std::slice::from_ref(&self.todo))?;
        let uid = open.engine.resolve(open.plan, &self.todo)?;
        let now = open.engine.now();
        let plan = around(&open.engine, open.plan, uid)?;
        let todo = plan.get(uid).ok_or_else(missing)?;
        Ok(Reply::new(fields(&plan, todo, now), json!({"todo": reply::record(&plan, todo, now)})))
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

/// The fields that say something, one a line.
pub fn fields(plan: &Plan, todo: &Todo, now: i64) -> String {
    let mut lines = vec![reply::line(todo, now)];
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            lines.push(format!("  {key}: {value}"));
        }
    };
    let record = Record::of(plan, todo, now);
    let unchecked = todo.flags.unchecked;
    put("description", todo.description.as_deref().map(plain));
    put("phase", record.phase.as_deref().map(plain));
    put("priority", priority(todo));
    put("size", todo.complexity.map(|c| c.name().to_owned()));
    put("tokens", todo.estimated_tokens.map(|n| n.to_string()));
    put("needs", Some(names(&record.depends_on)));
    put("blocks", Some(names(&record.blocks)));
    put("on hold", todo.hold_at(now).map(|h| format!("{} ({})", plain(&h.reason), h.kind.name())));
    put("owner", todo.owner.as_deref().map(plain));
    put("criteria", todo.criteria.as_deref().map(plain));
    put("verify", todo.verify.as_ref().map(command));
    put("files", Some(todo.files.iter().map(|f| plain(f)).collect::<Vec<_>>().join(", ")));
    put("last error", todo.last_error.as_deref().map(plain));
    let older = todo.notes.len().saturating_sub(10);
    put("notes", Some(format!("{older} older ones in `punch show --json`")).filter(|_| older > 0));
    for note in todo.notes.iter().skip(older) {
        put("note", Some(plain(&note.text)));
    }
    put("last check", reply::check(todo, now));
    put("proof", Some("unchecked: completed without a check and without evidence".to_owned()).filter(|_| unchecked));
    let check = todo.last_check();
    let output = check.and_then(|check| check.text.as_deref()).unwrap_or_default();
    let output: Vec<&str> = output.trim_end().lines().collect();
    for line in &output[output.len().saturating_sub(OUTPUT)..] {
        put("output", Some(plain(line)));
    }
    let statements = todo.evidence.iter().rev().filter(|evidence| Some(*evidence) != check);
    for evidence in statements.take(3) {
        put("evidence", evidence.text.as_deref().map(plain));
    }
    lines.join("\n")
}

fn plain(value: &str) -> String {
    text::clip(&text::neutral(value), 2_000).into_owned()
}

fn priority(todo: &Todo) -> Option<String> {
    let acts_as = todo.effective_priority();
    match (acts_as < todo.priority, todo.priority) {
        (true, own) => Some(format!("{own} (acts as {acts_as}: urgent work waits for it)")),
        (false, 3) => None,
        (false, own) => Some(own.to_string()),
    }
}

fn command(verify: &Verify) -> String {
    plain(&verify.line())
}

fn names(ids: &[String]) -> String {
    let shown: Vec<String> = ids.iter().take(20).map(|id| text::neutral(id).into_owned()).collect();
    match ids.len().saturating_sub(20) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

//! `punch plan`: the plans of this store.

use clap::{Args, Subcommand};
use punch_core::text;
use punch_engine::{Engine, EngineError, PlanEntry};
use punch_store::PlanId;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::project::Project;
use crate::reply::Reply;

const EXAMPLES: &str = "\
Examples:
  punch plan new 'Release 2'           # and works on it from now on
  punch plan list
  punch plan use main
  punch plan rename 'Release 2' release
  punch plan archive release           # --undo brings it back";

/// The arguments of `punch plan`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Plan {
    #[command(subcommand)]
    what: Option<What>,
}

/// What can be done with plans.
#[derive(Subcommand)]
enum What {
    /// Make an empty plan and work on it in this worktree
    New {
        /// Its name
        name: String,
        /// Leave the plan of this worktree as it is
        #[arg(long)]
        no_use: bool,
    },
    /// Show every plan
    List,
    /// Work on this plan in this worktree
    Use {
        /// Its name
        name: String,
    },
    /// Put a plan away; nothing in it is lost
    Archive {
        /// Its name
        name: String,
        /// Put it back into use
        #[arg(long)]
        undo: bool,
    },
    /// Give a plan another name
    Rename {
        /// The name it has
        old: String,
        /// The name it gets
        new: String,
    },
}

impl Plan {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let what = self.what.unwrap_or(What::List);
        let engine = match (&what, project.engine()?) {
            (_, Some(engine)) => engine,
            (What::New { .. }, None) => project.engine_or_new()?,
            (What::List, None) => return Ok(Reply::new("No plans. `punch add` makes one.", json!({"plans": []}))),
            (What::Use { name } | What::Archive { name, .. } | What::Rename { old: name, .. }, None) => {
                return Err(EngineError::UnknownPlan { name: name.clone(), near: Vec::new() }.into());
            }
        };
        let (id, outcome) = match what {
            What::List => return list(&engine, &project),
            What::New { name, no_use } => {
                let id = engine.create_plan(&name)?;
                if no_use {
                    (id, "is made")
                } else {
                    choose(&engine, &project, id)?;
                    (id, "is made and used here")
                }
            }
            What::Use { name } => {
                let id = engine.named_plan(&name)?.id;
                choose(&engine, &project, id)?;
                (id, "is used here")
            }
            What::Archive { name, undo } => {
                let id = engine.named_plan(&name)?.id;
                engine.archive_plan(id, !undo)?;
                (id, if undo { "is back in use" } else { "is archived" })
            }
            What::Rename { old, new } => {
                let id = engine.named_plan(&old)?.id;
                engine.rename_plan(id, &new)?;
                (id, "is its name now")
            }
        };
        let used = used(&engine, &project)?;
        let entries = engine.plan_entries()?;
        let Some(entry) = entries.iter().find(|entry| entry.info.id == id) else {
            return Err(EngineError::UnknownPlan { name: id.0.to_string(), near: Vec::new() }.into());
        };
        let text = format!("`{}` {outcome}", text::neutral(&entry.info.name));
        Ok(Reply::new(text, json!({"plan": record(entry, used)})).after_write())
    }
}

fn choose(engine: &Engine, project: &Project, id: PlanId) -> Result<(), Failure> {
    engine.use_plan(id, &project.worktree())?;
    if let Some(name) = project.choice().name {
        let name = text::neutral(&name).into_owned();
        output::remark(&format!("note: --plan or PUNCH_PLAN says `{name}`, which goes before `plan use`"));
    }
    Ok(())
}

/// The plan that other verbs would work on now.
fn used(engine: &Engine, project: &Project) -> Result<Option<PlanId>, Failure> {
    match engine.choose(&project.choice()) {
        Ok(plan) => Ok(plan.map(|plan| plan.id)),
        Err(EngineError::UnknownPlan { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn list(engine: &Engine, project: &Project) -> Result<Reply, Failure> {
    let used = used(engine, project)?;
    let entries = engine.plan_entries()?;
    let width = entries.iter().map(|e| text::neutral(&e.info.name).chars().count()).max().unwrap_or(0);
    let line = |entry: &PlanEntry| {
        let star = if used == Some(entry.info.id) { '*' } else { ' ' };
        let (name, counts) = (text::neutral(&entry.info.name), entry.counts);
        let mut line = format!("{star} {name:width$}  {}/{} open", counts.open(), counts.total());
        line.push_str(&format!("  revision {}", entry.info.revision));
        let marks =
            [(used == Some(entry.info.id), "in use here"), (entry.default, "default"), (is_away(entry), "archived")];
        let marks: Vec<&str> = marks.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
        if marks.is_empty() { line } else { format!("{line}  ({})", marks.join(", ")) }
    };
    let text = entries.iter().map(line).collect::<Vec<_>>().join("\n");
    let records: Vec<Value> = entries.iter().map(|entry| record(entry, used)).collect();
    let text = if text.is_empty() { "No plans. `punch add` makes one.".to_owned() } else { text };
    Ok(Reply::new(text, json!({"plans": records})))
}

fn is_away(entry: &PlanEntry) -> bool {
    entry.info.archived.is_some()
}

fn record(entry: &PlanEntry, used: Option<PlanId>) -> Value {
    json!({
        "name": entry.info.name,
        "open": entry.counts.open(),
        "total": entry.counts.total(),
        "revision": entry.info.revision,
        "used": used == Some(entry.info.id),
        "default": entry.default,
        "archived": entry.info.archived,
        "createdAt": entry.info.created_at,
    })
}

//! `punch plan`: the plans of this store.

use clap::{Args, Subcommand};
use punch_core::text;
use punch_core::view::Progress;
use punch_engine::{Engine, EngineError, PlanEntry};
use punch_store::PlanId;
use serde_json::{Value, json};

use super::plan_file::PlanFileVerb;
use crate::failure::Failure;
use crate::guard;
use crate::output;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch plan new 'Release 2'           # and switch to it
  punch plan list
  punch plan use main
  punch plan rename 'Release 2' release
  punch plan archive release           # --undo brings it back
  punch plan link PLAN.md              # keep a Markdown checklist and the plan in sync
  punch plan sync";

/// The arguments of `punch plan`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    #[command(subcommand)]
    what: Option<PlanCommand>,
}

/// What can be done with plans.
#[derive(Subcommand)]
enum PlanCommand {
    /// Create a plan and switch to it in this worktree
    New {
        /// Its name
        name: String,
        /// Create it without switching to it
        #[arg(long)]
        no_use: bool,
    },
    /// List the plans
    List,
    /// Switch to a plan in this worktree
    Use {
        /// Its name
        #[arg(value_name = "PLAN")]
        name: String,
    },
    /// Archive a plan; nothing in it is lost
    Archive {
        /// Its name
        #[arg(value_name = "PLAN")]
        name: String,
        /// Bring it back
        #[arg(long)]
        undo: bool,
    },
    /// Rename a plan
    Rename {
        /// The current name
        #[arg(value_name = "PLAN")]
        old: String,
        /// The new name
        new: String,
    },
    #[command(flatten)]
    File(PlanFileVerb),
}

impl PlanArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let what = match self.what.unwrap_or(PlanCommand::List) {
            PlanCommand::File(verb) => return verb.run(project),
            what => what,
        };
        let engine = match (&what, project.engine()?) {
            (_, Some(engine)) => engine,
            (PlanCommand::New { .. }, None) => project.engine_or_new()?,
            (PlanCommand::List | PlanCommand::File(_), None) => {
                return Ok(VerbReply::new("No plans yet: `punch add` creates one.", json!({"plans": []})));
            }
            (
                PlanCommand::Use { name } | PlanCommand::Archive { name, .. } | PlanCommand::Rename { old: name, .. },
                None,
            ) => {
                return Err(EngineError::UnknownPlan { name: name.clone(), near: Vec::new() }.into());
            }
        };
        if !matches!(what, PlanCommand::List | PlanCommand::File(_)) {
            guard::only_outside_runs("create, choose or rename plans")?;
        }
        let (id, outcome): (_, fn(&str) -> String) = match what {
            PlanCommand::List | PlanCommand::File(_) => return list(&engine, &project),
            PlanCommand::New { name, no_use } => {
                let id = engine.create_plan(&name)?;
                if no_use {
                    (id, |name| format!("Created plan `{name}`"))
                } else {
                    choose(&engine, &project, id)?;
                    (id, |name| format!("Created plan `{name}` and switched to it"))
                }
            }
            PlanCommand::Use { name } => {
                let id = engine.named_plan(&name)?.id;
                choose(&engine, &project, id)?;
                (id, |name| format!("Switched to plan `{name}`"))
            }
            PlanCommand::Archive { name, undo } => {
                guard::only_user("archive plans")?;
                let id = if undo { engine.archived_plan(&name)? } else { engine.named_plan(&name)? }.id;
                engine.archive_plan(id, !undo)?;
                match undo {
                    true => (id, |name| format!("Brought plan `{name}` back")),
                    false => (id, |name| format!("Archived plan `{name}`")),
                }
            }
            PlanCommand::Rename { old, new } => {
                let id = engine.named_plan(&old)?.id;
                engine.rename_plan(id, &new)?;
                (id, |name| format!("Renamed the plan to `{name}`"))
            }
        };
        let used = used(&engine, &project)?;
        let entries = engine.plan_entries()?;
        let Some(entry) = entries.iter().find(|entry| entry.info.id == id) else {
            return Err(EngineError::UnknownPlan { name: id.0.to_string(), near: Vec::new() }.into());
        };
        let text = outcome(&text::neutral(&entry.info.name));
        Ok(VerbReply::new(text, json!({"plan": record(entry, used)})).after_write())
    }
}

fn choose(engine: &Engine, project: &Project, id: PlanId) -> Result<(), Failure> {
    engine.use_plan(id, &project.worktree())?;
    if let Some(name) = project.choice().name {
        let name = text::neutral(&name).into_owned();
        output::remark(&format!("note: `--plan` or PUNCH_PLAN names `{name}`, which takes precedence over `plan use`"));
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

fn list(engine: &Engine, project: &Project) -> Result<VerbReply, Failure> {
    let used = used(engine, project)?;
    let entries = engine.plan_entries()?;
    let width = entries.iter().map(|e| text::neutral(&e.info.name).chars().count()).max().unwrap_or(0);
    let line = |entry: &PlanEntry| {
        let star = if used == Some(entry.info.id) { '*' } else { ' ' };
        let (name, counts) = (text::neutral(&entry.info.name), entry.counts);
        let progress = Progress::of_counts(&counts);
        let mut line = format!("{star} {name:width$}  {} of {} done", progress.completed, progress.total);
        if counts.parked > 0 {
            line.push_str(&format!(", {} parked", counts.parked));
        }
        line.push_str(&format!("  revision {}", entry.info.revision));
        let marks =
            [(used == Some(entry.info.id), "in use here"), (entry.default, "default"), (is_away(entry), "archived")];
        let marks: Vec<&str> = marks.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
        if marks.is_empty() { line } else { format!("{line}  ({})", marks.join(", ")) }
    };
    let text = entries.iter().map(line).collect::<Vec<_>>().join("\n");
    let records: Vec<Value> = entries.iter().map(|entry| record(entry, used)).collect();
    let text = if text.is_empty() { "No plans yet: `punch add` creates one.".to_owned() } else { text };
    Ok(VerbReply::new(text, json!({"plans": records})))
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

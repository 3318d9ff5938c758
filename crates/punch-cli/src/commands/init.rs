//! `punch init`: creates the store and the default plan, says where, and offers to connect the agents that are found.
//! Asks only on a terminal.

use clap::Args;
use punch_core::text;
use punch_engine::DEFAULT_PLAN;
use punch_engine::locate::{self, Location};
use serde_json::json;

use super::init_agents;
use crate::arguments::Global;
use crate::environment;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch init
  punch init --yes           # also connect the agents on PATH and add the guide
  punch init --in-tree       # beside the code: for sandboxes that protect `.git`
  punch init --plan release  # a first plan with another name
  punch init --store postgres://db.example/plans --project shop";

const NEXT: &str = "\
Try next:
  punch add 'Write the parser' 'Test the parser'
  punch";

/// The arguments of `punch init`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct InitArgs {
    /// Put the store into `.punch/` at the top of the worktree
    #[arg(long, conflicts_with = "store")]
    in_tree: bool,
    /// Connect the agents that are found and add the guide, without asking
    #[arg(long, short = 'y', conflicts_with = "no_agents")]
    yes: bool,
    /// Do not look for agents
    #[arg(long)]
    no_agents: bool,
    /// The project on the server that `--store` names; by default the name of the repository
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

impl InitArgs {
    /// Runs the verb. The first write would make the store too; this one says what it does.
    pub fn run(self, global: Global) -> Result<VerbReply, Failure> {
        let location = self.place(&global)?;
        let config = environment::config(&global, &location)?;
        let project = Project { creates: true, ..Project::at(global, location, config) };
        let created = match project.location.server.is_some() {
            true => project.engine()?.is_none(),
            false => !project.location.exists,
        };
        let engine = project.engine_or_new()?;
        remember_server(&project)?;
        let wanted = project.choice().name;
        let name = wanted.as_deref().unwrap_or(DEFAULT_PLAN);
        let plans = engine.plans()?;
        let known = plans.iter().any(|p| p.archived.is_none() && (wanted.is_none() || p.name == name));
        if !known && let Err(error) = engine.store().create_plan(name, engine.now()) {
            // Another process may have made it in between; otherwise it is an error.
            if !engine.plans()?.iter().any(|p| p.name == name) {
                return Err(error.into());
            }
        }
        let chosen = engine.choose(&project.choice())?;
        let plan = chosen.map_or_else(|| name.to_owned(), |plan| plan.name);
        let kind = project.location.kind;
        let (path, verb) = (project.location.shown(), if created { "Created" } else { "Already set up:" });
        let shown = (text::neutral(&path), text::neutral(&plan));
        let made = format!("{verb} `{}` with the plan `{}`.\nIt lives {}.", shown.0, shown.1, kind.why());
        let mut json = json!({"store": path, "kind": kind.name(), "plan": plan, "created": created});
        let mut message = format!("{made}\n{NEXT}");
        if !self.no_agents {
            let offered = init_agents::offer(&project.global, self.yes);
            message = match offered.text.starts_with("  ") {
                true => format!("{message}\n{}", offered.text),
                false => format!("{made}\n{}\n{NEXT}", offered.text).replace("\n\n", "\n"),
            };
            if !offered.json.is_null() {
                json["agents"] = offered.json;
            }
        }
        Ok(VerbReply::new(message, json))
    }

    fn place(&self, global: &Global) -> Result<Location, Failure> {
        let mut around = environment::surroundings(global)?;
        if self.project.is_some() {
            around.project_env.clone_from(&self.project);
        }
        if !self.in_tree {
            return Ok(locate::locate(&around)?);
        }
        if let Some(named) = &around.store_env {
            let message = format!("PUNCH_STORE is set to `{}`, so `--in-tree` would have no effect", named.display());
            return Err(Failure::usage(&message, "`unset PUNCH_STORE`, or leave `--in-tree` out"));
        }
        Ok(locate::locate_in_tree(&around)?)
    }
}

/// Records in the user's own settings that this repository keeps its plans on the server that `--store` names.
fn remember_server(project: &Project) -> Result<(), Failure> {
    let (Some(_), Some(place)) = (&project.global.store, &project.location.server) else { return Ok(()) };
    let Some(file) = environment::servers_file() else {
        return Err(Failure::usage("there is no home folder to remember the server in", "set PUNCH_STORE instead"));
    };
    locate::record_server(&file, &project.location.project_root, place)
        .map_err(|cause| Failure::File(file.display().to_string(), cause))
}

//! `punch inbox`: what needs the user.

use clap::Args;
use punch_core::view::inbox;
use punch_engine::{EngineError, InboxQuery};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::project::{OpenProject, Project};
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch inbox
  punch inbox --json           # kind, todo, text, since, blocks, action of each";

/// The arguments of `punch inbox`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct InboxArgs {}

impl InboxArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let items = match project.read()?.plan() {
            Some(open) => {
                let plan = open.whole()?;
                open.with_inbox(|query| open.engine.inbox_of(open.plan, &plan, query))?
            }
            None => Vec::new(),
        };
        let records: Vec<Value> = items.iter().map(inbox::record).collect();
        Ok(VerbReply::new(inbox::full(&items), json!({"items": records})))
    }
}

impl OpenProject {
    /// Asks about the inbox as this process sees it: with the user's approvals and the settings of the project.
    pub fn with_inbox<T>(&self, ask: impl FnOnce(&InboxQuery<'_>) -> Result<T, EngineError>) -> Result<T, Failure> {
        let (settings, tree) = (&self.project.config.settings, self.project.tree());
        let plan_flag = self.project.global.plan.as_deref();
        Ok(ask(&InboxQuery { plan_flag, ..InboxQuery::new(settings, Some(&tree)) })?)
    }
}

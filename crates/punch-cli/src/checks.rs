//! How this process runs checks: where, for how long, and with whose approval.

use punch_core::text;
use punch_engine::{BackgroundChecks, Checker, Consents, WorkTree, command_line};

use crate::detached_checks::DetachedChecks;
use crate::environment;
use crate::failure::Failure;
use crate::project::{OpenProject, Project};

impl Project {
    /// The code that is worked on.
    pub fn tree(&self) -> WorkTree {
        WorkTree { root: self.location.project_root.clone(), git: None, consents: self.consents() }
    }

    /// Runs checks of this project, to their end or their time limit. When this process ends, so do the checks.
    pub fn checker(&self) -> Checker<'static> {
        let settings = &self.config.settings;
        Checker { plan_check: settings.plan_check(), ..self.tree().checker(settings.verify_timeout.value, &|| false) }
    }

    /// What the user approved for this store and repository; none where the user has no state folder.
    pub fn consents(&self) -> Option<Consents> {
        environment::approvals(&self.location)
    }
}

impl OpenProject {
    /// Starts the check of the whole plan if every todo is done, and returns a line about it. In a run the runner does that.
    pub fn check_plan(&self) -> Result<Option<String>, Failure> {
        let settings = &self.project.config.settings;
        if settings.plan_check().is_none() || environment::session_file().is_some() {
            return Ok(None);
        }
        let request = self.project.request();
        let Some(todo) = self.engine.report_plan_check(self.plan, &request, settings, None)? else { return Ok(None) };
        let started = DetachedChecks::of(&self.project).start(self.plan, todo.uid, request.actor.by());
        started.map_err(|cause| Failure::File("the check of the plan".into(), cause))?;
        let command = todo.verify.as_ref().map(command_line).unwrap_or_default();
        let (id, command) = (text::neutral(&todo.id), text::neutral(&command).into_owned());
        Ok(Some(format!("Every todo is done. The check of the whole plan runs as {id}: {command}")))
    }
}

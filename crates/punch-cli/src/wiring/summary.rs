//! A summary of past or planned changes of agents' configuration, for users and for programs.

use std::path::{Path, PathBuf};

use punch_agents::AGENTS;
use punch_agents::settings::{ConnectionLevel, FileContent, SettingsEntry, ToolSource};
use punch_core::text;
use punch_engine::Git;
use serde_json::{Value, json};

use super::change::{ConnectionChange, Way};
use super::decide::AgentDecision;
use super::step::{FileAction, FileStep};
use super::{WiringForm, look, look_at};
use crate::reply::listed;

const NOT_CONNECTED: &str = "was not connected";

impl ConnectionChange {
    /// One line for each agent, with every file that changes, and what is left to do.
    pub fn summary(&self, done: bool) -> String {
        let mut lines = Vec::new();
        for agent in &self.agents {
            lines.extend(self.agent_lines(agent, done));
        }
        // Without names every agent is meant: those that were never connected are not worth a line.
        if self.request.way == Way::Out && self.agents.len() == AGENTS.len() {
            lines.retain(|line| !line.contains(NOT_CONNECTED));
            if lines.is_empty() {
                lines.push(format!("No agent was connected ({})", self.place.level.name()));
            }
        }
        let changed: Vec<&FileStep> = self.steps.iter().filter(|step| step.before != step.after).collect();
        let of_git: Vec<&Path> =
            changed.iter().filter(|step| step.adapters.is_empty()).map(|step| step.path.as_path()).collect();
        if !of_git.is_empty() {
            let files = self.named(&of_git);
            lines.push(match (self.request.way, done) {
                (Way::In, true) => format!("Updated {files}, so that `git status` stays clean"),
                (Way::In, false) => format!("Would update {files}, so that `git status` stays clean"),
                (Way::Out, true) => format!("Removed punch's lines from {files}"),
                (Way::Out, false) => format!("Would remove punch's lines from {files}"),
            });
        }
        let copied =
            |step: &&FileStep| step.new.as_ref().is_some_and(|new| new.backup.is_some()) && step.before.is_some();
        let backups = changed.iter().filter(|step| self.request.way == Way::In && copied(step));
        let backups: Vec<&Path> =
            backups.filter_map(|step| Some(step.new.as_ref()?.backup.as_ref()?.0.as_path())).collect();
        if !backups.is_empty() {
            let said =
                if done { "Copies of the files as they were:" } else { "Would first copy the files as they are to" };
            lines.push(format!("{said} {}", self.named(&backups)));
        }
        let changes = |agent: &&AgentDecision| changed.iter().any(|step| step.adapters.contains(&agent.adapter));
        let titles: Vec<&str> = self.agents.iter().filter(changes).map(|agent| agent.adapter.title).collect();
        if done && !titles.is_empty() {
            let (agents, them) = (listed(&titles), if titles.len() == 1 { "it is" } else { "they are" });
            lines.push(format!("Next: restart {agents} if {them} running; agents read these files when they start"));
        }
        lines.join("\n")
    }

    fn agent_lines(&self, agent: &AgentDecision, done: bool) -> Vec<String> {
        let (name, level) = (agent.adapter.title, agent.level.name());
        if agent.stays {
            return vec![self.stays(agent)];
        }
        let own = self.steps.iter().filter(|step| step.adapters.contains(&agent.adapter));
        let (changed, same): (Vec<&FileStep>, Vec<&FileStep>) = own.partition(|step| step.before != step.after);
        let paths = |steps: &[&FileStep]| self.named(&steps.iter().map(|step| step.path.as_path()).collect::<Vec<_>>());
        let verb = match (self.request.way, done) {
            (Way::In, true) => "connected",
            (Way::In, false) => "would be connected",
            (Way::Out, true) => "disconnected",
            (Way::Out, false) => "would be disconnected",
        };
        let mut lines = vec![match (changed.is_empty(), self.request.way) {
            (true, Way::In) => format!("{name} is already connected ({level}): {}", paths(&same)),
            (true, Way::Out) => format!("{name} {NOT_CONNECTED} ({level})"),
            (false, _) => format!("{name} {verb} ({level}): {}", paths(&changed)),
        }];
        if (self.request.way, done, changed.is_empty()) == (Way::In, false, false) && self.allows_tools(agent) {
            lines.push(format!("{name} may then use punch's tools without asking you each time"));
        }
        for step in same.iter().filter(|step| step.action == FileAction::Leave) {
            lines.push(format!("note: {} was edited by hand and was left as it is", paths(&[step])));
        }
        for step in self.steps.iter().filter(|step| step.adapters.contains(&agent.adapter)) {
            if let Some(copy) = &step.copy_stays {
                let (copy, file) = (self.named(&[copy]), self.named(&[&step.path]));
                lines.push(format!("note: {copy} was kept: it contains something that {file} no longer has"));
            }
        }
        let notes = match self.request.way {
            Way::In if done => self.notes(agent),
            Way::In => Vec::new(),
            Way::Out => self.notes_on_leaving(agent),
        };
        lines.extend(notes.into_iter().map(|note| format!("note: {note}")));
        lines
    }

    /// Returns true if the settings will let the model call punch's tools without a question.
    fn allows_tools(&self, agent: &AgentDecision) -> bool {
        let targets = self.place.at(agent.level).targets_as(agent.adapter, self.request.form);
        let allowing = |entries: &[SettingsEntry]| entries.iter().any(SettingsEntry::allows_tools);
        self.tools(agent) == ToolSource::Punch
            && targets
                .iter()
                .any(|target| matches!(&target.content, FileContent::Json(_, entries) if allowing(entries)))
    }

    /// For an agent whose install was left as it is.
    fn stays(&self, agent: &AgentDecision) -> String {
        let (name, host) = (agent.adapter.name, agent.adapter.title);
        let place = self.place.at(agent.level);
        let files: Vec<PathBuf> = place.targets(agent.adapter).into_iter().map(|target| target.path).collect();
        let files = self.named(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
        match agent.level {
            ConnectionLevel::User => format!(
                "{host} is already connected in all your projects: {files}\n\
                 note: nothing was changed; `punch install --user {name}` updates it"
            ),
            ConnectionLevel::Shared | ConnectionLevel::Personal => format!(
                "{host} is already connected by files that this project shares: {files}\n\
                 note: nothing was changed; `punch install --shared {name}` updates it, `punch install --personal {name}` \
                 moves it to your own settings"
            ),
        }
    }

    fn notes_on_leaving(&self, agent: &AgentDecision) -> Vec<String> {
        let (name, mut out) = (agent.adapter.name, Vec::new());
        let plugin = agent.adapter.settings.plugin.as_ref();
        if let Some(note) = plugin.and_then(|plugin| plugin.removal_note)
            && look_at(&self.place.at(agent.level), agent.adapter, WiringForm::Plugin).is_there()
        {
            out.push(note.to_owned());
        }
        if self.request.level.is_none() {
            for level in self.other_levels(agent) {
                let by = match level {
                    ConnectionLevel::Shared => "by files that this project shares",
                    ConnectionLevel::User => "in all your projects",
                    ConnectionLevel::Personal => "in your own settings",
                };
                let flag = level.name();
                out.push(format!("it is also connected {by}: `punch uninstall --{flag} {name}` disconnects that"));
            }
        }
        out
    }

    /// What is left to the user after connecting an agent.
    fn notes(&self, agent: &AgentDecision) -> Vec<String> {
        let (settings, name) = (&agent.adapter.settings, agent.adapter.name);
        let plugin_notes = || settings.plugin.as_ref().map(|plugin| (plugin.notes)(&self.place.roots));
        let mut out = match self.request.form {
            WiringForm::Settings => (settings.note)(agent.level).map(str::to_owned).into_iter().collect(),
            WiringForm::Plugin => plugin_notes().unwrap_or_default(),
        };
        let guides: Vec<&Path> = self.tracked_guides.iter().map(PathBuf::as_path).collect();
        if !guides.is_empty() && self.agents.first().map(|first| first.adapter) == Some(agent.adapter) {
            let files = self.named(&guides);
            out.push(format!("{files} did not get the guide, because git tracks it: `punch install --shared --guide`"));
        }
        let is_git = Git::at(&self.place.roots.project).is_some();
        if agent.level == ConnectionLevel::Personal && is_git && self.place.worktree.is_none() {
            out.push("git did not answer, so these files may show up in `git status`".to_owned());
        }
        if let Some(level) = self.other_levels(agent).first() {
            let flag = level.name();
            out.push(format!("its hooks run twice now; `punch uninstall --{flag} {name}` removes the other set"));
        }
        out
    }

    /// The agents' files that change, as users read them.
    pub fn changed_files(&self) -> String {
        let changed = self.steps.iter().filter(|step| step.before != step.after && !step.adapters.is_empty());
        self.named(&changed.map(|step| step.path.as_path()).collect::<Vec<_>>())
    }

    /// Paths as users read them.
    fn named(&self, paths: &[&Path]) -> String {
        let shown = paths.iter().map(|path| format!("`{}`", text::neutral(&self.place.shown(path))));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Returns the summary as JSON for `--json`. With `done`, the steps were carried out.
    pub fn json(&self, done: bool) -> Value {
        let file = |step: &FileStep| {
            let agents: Vec<&str> = step.adapters.iter().map(|adapter| adapter.name).collect();
            let shown = self.place.shown(&step.path);
            json!({"path": step.path, "agents": agents, "change": step.action.name(), "diff": step.diff(&shown)})
        };
        let notes: Vec<String> = match self.request.way {
            Way::In => self.agents.iter().filter(|agent| !agent.stays).flat_map(|agent| self.notes(agent)).collect(),
            Way::Out => self.agents.iter().flat_map(|agent| self.notes_on_leaving(agent)).collect(),
        };
        let agent = |agent: &AgentDecision| {
            let connected = look(&self.place.at(agent.level), agent.adapter).name();
            json!({"agent": agent.adapter.name, "level": agent.level.name(), "stays": agent.stays, "connected": connected})
        };
        let agents: Vec<Value> = self.agents.iter().map(agent).collect();
        let files: Vec<Value> = self.steps.iter().map(file).collect();
        json!({"done": done, "agents": agents, "files": files, "notes": notes})
    }
}

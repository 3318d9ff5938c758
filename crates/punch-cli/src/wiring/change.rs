//! Connects or disconnects agents as the user asked: computes the steps for all of them, shows them, asks for approval,
//! and carries them out.

use std::path::PathBuf;

use punch_agents::settings::{ConnectionLevel, FileContent, SettingsFile, ToolSource, without_tools};
use punch_agents::{AGENTS, Adapter};
use punch_core::text;
use punch_serve::guide;

use super::carry::{carry_out, changed_meanwhile, turn};
use super::decide::{AgentDecision, decide};
use super::step::{self, FileStep};
use super::{WiringForm, WiringPlace, exclude, file, look, look_at, tools};
use crate::failure::Failure;
use crate::output::ThreeWayAnswer;
use crate::reply::listed;
use crate::{environment, output};

/// In or out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Into the agents' configuration.
    In,
    /// Out of it.
    Out,
}

/// What the user agreed to beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Ask on a terminal; without one, nothing is written.
    Ask,
    /// Do not ask.
    Given,
    /// Only show.
    Never,
}

/// What the user asked for.
#[derive(Clone, Copy, Debug)]
pub struct ConnectRequest {
    /// In or out.
    pub way: Way,
    /// The level, if the user named one.
    pub level: Option<ConnectionLevel>,
    /// The form: entries in settings, or a plugin.
    pub form: WiringForm,
    /// Add the standing advice for models.
    pub guide: bool,
    /// What the user agreed to beforehand.
    pub consent: Consent,
}

/// Lines of a difference are cut to this many characters: some settings are one long line.
const WIDEST: usize = 240;

/// A change of some agents' configuration.
pub struct ConnectionChange {
    pub(super) place: WiringPlace,
    pub(super) request: ConnectRequest,
    pub(super) agents: Vec<AgentDecision>,
    pub(super) steps: Vec<FileStep>,
    /// Files of advice that were left alone because git tracks them.
    pub(super) tracked_guides: Vec<PathBuf>,
}

/// A file with the agents, the level and the direction in which it changes.
struct FileRequest {
    way: Way,
    level: ConnectionLevel,
    adapters: Vec<&'static Adapter>,
    target: SettingsFile,
}

impl ConnectionChange {
    /// Finds out what would change. On the way out the advice goes too, and so do both forms.
    pub fn plan(place: WiringPlace, adapters: &[&'static Adapter], request: ConnectRequest) -> Result<Self, Failure> {
        let ask = request.consent == Consent::Ask && environment::is_attended();
        let decision = |adapter: &&'static Adapter| match request.way {
            Way::In => decide(&place, adapter, request.form, request.level, ask),
            Way::Out => {
                let level = request.level.unwrap_or(ConnectionLevel::Personal);
                Ok(AgentDecision { adapter, level, stays: false, moves: false })
            }
        };
        let agents = adapters.iter().map(decision).collect::<Result<Vec<_>, _>>()?;
        let mut change = Self { place, request, agents, steps: Vec::new(), tracked_guides: Vec::new() };
        if request.way == Way::In {
            change.agents.iter().filter(|agent| !agent.stays).try_for_each(|agent| change.allows(agent))?;
        }
        (change.steps, change.tracked_guides) = change.look()?;
        Ok(change)
    }

    /// Refuses an agent that does not have the form, or that is connected in the other one.
    fn allows(&self, agent: &AgentDecision) -> Result<(), Failure> {
        let (adapter, form) = (agent.adapter, self.request.form);
        let name = adapter.name;
        let place = self.place.at(agent.level);
        let (other, is) = match form {
            WiringForm::Settings => (WiringForm::Plugin, "a plugin"),
            WiringForm::Plugin => (WiringForm::Settings, "its settings"),
        };
        if place.tools(adapter) == Some(ToolSource::Own) && adapter.todo_tools.is_empty() {
            let message = format!("{} has no todo list that hooks can copy", adapter.title);
            let hint = format!("run `punch install {name} --tools punch`");
            return Err(Failure::refused("no_own_tools", message, &hint));
        }
        if form == WiringForm::Plugin && place.targets_as(adapter, WiringForm::Plugin).is_empty() {
            let message = format!("there is no plugin for {} at this level", adapter.title);
            let have = AGENTS.iter().filter(|other| other.settings.plugin.is_some());
            let have = listed(&have.map(|other| other.name).collect::<Vec<_>>());
            let hint = format!("{have} have one with `--user`; otherwise run `punch install {name}`");
            return Err(Failure::refused("no_plugin", message, &hint));
        }
        if agent.level == ConnectionLevel::User && look_at(&place, adapter, other).is_there() {
            let message = format!("{} is already connected by {is}", adapter.title);
            let hint = format!("run `punch uninstall --user {name}` first");
            return Err(Failure::refused("wired_otherwise", message, &hint));
        }
        Ok(())
    }

    /// The steps as things are now, and the files of advice that are left alone.
    fn look(&self) -> Result<(Vec<FileStep>, Vec<PathBuf>), Failure> {
        let mut wanted: Vec<FileRequest> = Vec::new();
        for agent in self.agents.iter().filter(|agent| !agent.stays) {
            let place = self.place.at(agent.level);
            let forms = match self.request.way {
                Way::In => vec![self.request.form],
                Way::Out => vec![WiringForm::Settings, WiringForm::Plugin],
            };
            let targets = forms.into_iter().flat_map(|form| place.targets_as(agent.adapter, form)).collect();
            let (targets, gone) = match self.tools(agent) {
                ToolSource::Own => without_tools(targets),
                ToolSource::Punch => (targets, Vec::new()),
            };
            gone.into_iter().for_each(|target| join(&mut wanted, Way::Out, agent, target));
            targets.into_iter().for_each(|target| join(&mut wanted, self.request.way, agent, target));
        }
        for agent in self.agents.iter().filter(|agent| agent.moves) {
            let from = if agent.level == ConnectionLevel::Shared {
                ConnectionLevel::Personal
            } else {
                ConnectionLevel::Shared
            };
            for target in self.place.at(from).targets(agent.adapter) {
                if !wanted.iter().any(|known| known.way == Way::In && known.target.path == target.path) {
                    join(&mut wanted, Way::Out, &AgentDecision { level: from, ..*agent }, target);
                }
            }
        }
        let mut tracked = Vec::new();
        if self.request.guide || self.request.way == Way::Out {
            tracked = self.add_guides(&mut wanted)?;
        }
        let step = |wanted: &FileRequest| match wanted.way {
            Way::In => step::install(&self.place.at(wanted.level), &wanted.adapters, &wanted.target),
            Way::Out => step::uninstall(&self.place.at(wanted.level), &wanted.adapters, &wanted.target),
        };
        let mut steps = Vec::new();
        for wanted in &wanted {
            let step = step(wanted)?;
            // Where nothing has to be removed, the file is not worth a line.
            let is_idle = step.old.is_none() && step.before == step.after;
            if (self.request.way, wanted.way, is_idle) != (Way::In, Way::Out, true) {
                steps.push(step);
            }
        }
        if let Some(worktree) = &self.place.worktree {
            let exclude = exclude::plan(&self.place, worktree, &mut steps)?;
            steps.extend(exclude);
        }
        Ok((steps, tracked))
    }

    /// Adds the block of advice for each file of advice; several agents, or a link, may mean the same one. Returns those
    /// that are left alone: a personal install does not change what git tracks.
    fn add_guides(&self, wanted: &mut Vec<FileRequest>) -> Result<Vec<PathBuf>, Failure> {
        let (mut known, mut tracked): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        let first = wanted.len();
        for agent in self.agents.iter().filter(|agent| !agent.stays) {
            let place = self.place.at(agent.level);
            let Some(path) = (agent.adapter.settings.guide_file)(agent.level, &place.roots) else { continue };
            let real = match (file::real(&place, &path), self.request.way) {
                (Ok(real), _) => real,
                (Err(_), Way::Out) => continue,
                (Err(failure), Way::In) => return Err(failure),
            };
            if (self.request.way, agent.level) == (Way::In, ConnectionLevel::Personal)
                && let Some(worktree) = &place.worktree
                && !worktree.tracked(&[path.clone(), real.clone()])?.is_empty()
            {
                if !tracked.contains(&path) {
                    tracked.push(path);
                }
                continue;
            }
            match known.iter().position(|known| *known == real) {
                Some(index) => wanted[first + index].adapters.push(agent.adapter),
                None => {
                    known.push(real);
                    // One text for all who read the file.
                    let content = FileContent::Block(guide::standing(None));
                    let target = SettingsFile::new(path, content);
                    let (way, level) = (self.request.way, agent.level);
                    wanted.push(FileRequest { way, level, adapters: vec![agent.adapter], target });
                }
            }
        }
        Ok(tracked)
    }

    /// The tools that an agent gets: those that were asked for, else those that it has, else punch's.
    pub(super) fn tools(&self, agent: &AgentDecision) -> ToolSource {
        if self.request.way == Way::Out || self.request.form == WiringForm::Plugin {
            return ToolSource::Punch;
        }
        let installed = || ConnectionLevel::ALL.iter().find_map(|level| tools(&self.place.at(*level), agent.adapter));
        let here = || tools(&self.place.at(agent.level), agent.adapter);
        self.place.tools(agent.adapter).or_else(here).or_else(installed).unwrap_or(ToolSource::Punch)
    }

    /// Returns true if any file would change.
    pub fn changes_anything(&self) -> bool {
        self.steps.iter().any(|step| step.before != step.after)
    }

    /// Returns true if nothing may be written before the user has agreed.
    pub fn needs_approval(&self) -> bool {
        self.request.consent == Consent::Ask && self.changes_anything()
    }

    /// The difference of every file, safe to print.
    pub fn diff(&self) -> String {
        let diffs = self.steps.iter().map(|step| step.diff(&self.place.shown(&step.path)));
        let lines = |diff: String| -> String {
            let line = |line: &str| format!("{}\n", text::clip(&text::neutral(line), WIDEST));
            diff.lines().map(line).collect()
        };
        diffs.map(lines).collect()
    }

    /// Carries out the change if the user agrees; returns true if it was done.
    pub fn run(&mut self) -> Result<bool, Failure> {
        let (consent, asks) = (self.request.consent, self.needs_approval());
        if asks && !environment::is_attended() {
            let message = "nothing was written: there is no terminal to ask for your approval";
            return Err(Failure::refused(
                "not_approved",
                message,
                "add `-y` to approve, or `--dry-run` to see the changes",
            ));
        }
        if consent == Consent::Never || (asks && !self.is_approved(&self.question())?) {
            return Ok(false);
        }
        let _turn = turn(&self.place)?;
        let (now, _) = self.look()?;
        let same = |(shown, now): (&FileStep, &FileStep)| (&shown.before, &shown.after) == (&now.before, &now.after);
        // What the user agreed to is what they saw.
        if let Some((shown, _)) = self.steps.iter().zip(&now).filter(|_| asks).find(|pair| !same(*pair)) {
            return Err(changed_meanwhile(shown));
        }
        self.steps = now;
        carry_out(&self.place, &mut self.steps)?;
        Ok(true)
    }

    /// What the user is asked before anything is written.
    fn question(&self) -> String {
        let changes = |agent: &&AgentDecision| {
            self.steps.iter().any(|step| step.before != step.after && step.adapters.contains(&agent.adapter))
        };
        let agents: Vec<&str> = self.agents.iter().filter(changes).map(|agent| agent.adapter.title).collect();
        match (self.request.way, agents.is_empty()) {
            (Way::In, false) => format!("Connect {}?", listed(&agents)),
            (Way::Out, false) => format!("Disconnect {}?", listed(&agents)),
            (_, true) => "Change these files?".to_owned(),
        }
    }

    /// Asks the user, who can look at the differences first.
    pub fn is_approved(&self, question: &str) -> Result<bool, Failure> {
        loop {
            match output::choose(&format!("{question} (d shows the differences)"), 'd')? {
                ThreeWayAnswer::Yes => return Ok(true),
                ThreeWayAnswer::No => return Ok(false),
                ThreeWayAnswer::Other => output::remark(&self.diff()),
            }
        }
    }

    /// Levels other than the given one at which an agent is connected now.
    pub(super) fn other_levels(&self, agent: &AgentDecision) -> Vec<ConnectionLevel> {
        let others = ConnectionLevel::ALL.into_iter().filter(|level| *level != agent.level);
        others.filter(|level| look(&self.place.at(*level), agent.adapter).is_there()).collect()
    }
}

/// Adds a file, or more entries to a file that is already in the list.
fn join(wanted: &mut Vec<FileRequest>, way: Way, agent: &AgentDecision, target: SettingsFile) {
    let same =
        |known: &&mut FileRequest| known.way == way && known.level == agent.level && known.target.path == target.path;
    let Some(known) = wanted.iter_mut().find(same) else {
        wanted.push(FileRequest { way, level: agent.level, adapters: vec![agent.adapter], target });
        return;
    };
    if !known.adapters.contains(&agent.adapter) {
        known.adapters.push(agent.adapter);
    }
    if let (FileContent::Json(_, entries), FileContent::Json(_, more)) = (&mut known.target.content, target.content) {
        entries.extend(more);
    }
}

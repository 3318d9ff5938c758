//! The state of each agent: whether it is installed, its version, where it is connected, and whether its user trusts
//! the hooks.

use std::path::PathBuf;
use std::thread;

use punch_agents::settings::{ConnectionLevel, FileContent, SettingsFile, ToolSource, without_tools};
use punch_agents::{AGENTS, Adapter, PluginEvidence};
use punch_serve::wiring::{ConnectionState, FileEditor as _};
use serde_json::Value;

use super::record::FileRecord;
use super::{WiringForm, WiringPlace, asking, file};
use crate::arguments::Global;
use crate::environment;

/// One agent.
pub struct Standing {
    /// The adapter of the agent.
    pub agent: &'static Adapter,
    /// Its program, if it is on PATH.
    pub program: Option<PathBuf>,
    /// What it says about its version.
    pub version: Option<String>,
    /// In the user's own settings for the project.
    pub personal: WiringState,
    /// In the project's settings, which a team commits.
    pub shared: WiringState,
    /// In the user's settings for all projects.
    pub user: WiringState,
    /// Whether the project's folder is trusted, where that matters and can be read.
    pub folder_trusted: Option<bool>,
    /// Hooks of ours that the agent knows, and how many of them the user trusts.
    pub trust: Option<(usize, usize)>,
}

impl Standing {
    /// Whether something of ours is in its settings.
    pub fn is_wired(&self) -> bool {
        self.levels().iter().any(|(_, wiring)| wiring.is_there())
    }

    /// How it is connected at each level.
    pub fn levels(&self) -> [(ConnectionLevel, &WiringState); 3] {
        [
            (ConnectionLevel::Personal, &self.personal),
            (ConnectionLevel::Shared, &self.shared),
            (ConnectionLevel::User, &self.user),
        ]
    }
}

/// Whether an agent's files have us in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WiringState {
    /// The state: as `install` would leave it, partly, or not.
    Is(ConnectionState),
    /// They cannot be read; why.
    Unreadable(String),
}

impl WiringState {
    /// The word for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Is(ConnectionState::Yes) => "yes",
            Self::Is(ConnectionState::Partly) => "partly",
            Self::Is(ConnectionState::No) => "no",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Why the files cannot be read, if that is so.
    pub fn why_unreadable(&self) -> Option<&str> {
        match self {
            Self::Is(_) => None,
            Self::Unreadable(why) => Some(why),
        }
    }

    /// Whether something of ours is in there.
    pub fn is_there(&self) -> bool {
        matches!(self, Self::Is(ConnectionState::Yes | ConnectionState::Partly))
    }
}

/// Looks at every agent; those that can be started are asked for their version, all at the same time.
pub fn inspect(place: &WiringPlace) -> Vec<Standing> {
    thread::scope(|scope| {
        let looks: Vec<_> = AGENTS.iter().map(|agent| scope.spawn(|| standing(place, agent))).collect();
        looks.into_iter().filter_map(|look| look.join().ok()).collect()
    })
}

/// The titles of the agents that are connected here, at any level. Starts no program.
pub fn connected_agents(global: &Global) -> Vec<&'static str> {
    let Ok(place) = WiringPlace::to_look_at(global) else { return Vec::new() };
    let connected =
        |agent: &&'static Adapter| ConnectionLevel::ALL.iter().any(|level| look(&place.at(*level), agent).is_there());
    AGENTS.iter().copied().filter(connected).map(|agent| agent.title).collect()
}

fn standing(place: &WiringPlace, agent: &'static Adapter) -> Standing {
    let program = environment::find_program(agent.program);
    let [personal, shared, user] = ConnectionLevel::ALL.map(|level| look(&place.at(level), agent));
    let project = personal.is_there() || shared.is_there();
    let version = program.as_deref().and_then(asking::version);
    let asked = agent.settings.hook_trust.as_ref().filter(|_| project || user.is_there());
    let trust = asked.and_then(|trust| asking::trusted_hooks(program.as_deref()?, trust, &place.roots.project));
    let folder_trusted = project.then(|| trusts_folder(place, agent)).flatten();
    Standing { agent, program, version, personal, shared, user, folder_trusted, trust }
}

/// Whether an agent has recorded that the project's folder or one above it is trusted.
fn trusts_folder(place: &WiringPlace, agent: &Adapter) -> Option<bool> {
    let trust = agent.settings.folder_trust.as_ref()?;
    let text = file::read(&(trust.file)(&place.roots)).ok()??;
    let record: Value = serde_json::from_str(&text).ok()?;
    let mut folders = place.roots.main_project.ancestors().chain(place.roots.project.ancestors());
    Some(folders.any(|folder| (trust.trusts)(&record, folder)))
}

/// Whether our server answers from the project when it is called as agents call it: what it calls itself.
pub fn reachable(place: &WiringPlace) -> Option<String> {
    asking::server(&place.program.0, &place.roots.project)
}

/// Whether an agent is wired at the level of a place, in whichever form.
pub fn look(place: &WiringPlace, agent: &'static Adapter) -> WiringState {
    let settings = look_at(place, agent, WiringForm::Settings);
    match look_at(place, agent, WiringForm::Plugin) {
        plugin if plugin.is_there() && !settings.is_there() => plugin,
        _ => settings,
    }
}

/// Whether an agent is wired in one form.
pub fn look_at(place: &WiringPlace, agent: &'static Adapter, form: WiringForm) -> WiringState {
    let evidence = agent.settings.plugin.as_ref().filter(|_| form == WiringForm::Plugin).map(|plugin| &plugin.evidence);
    if let Some(PluginEvidence::Registration(registration)) = evidence {
        let (path, text) = registration(&place.roots);
        let found = file::read(&path).ok().flatten().is_some_and(|found| found.contains(&text));
        return WiringState::Is(if place.level == ConnectionLevel::User && found {
            ConnectionState::Yes
        } else {
            ConnectionState::No
        });
    }
    let settings_only = matches!(evidence, Some(PluginEvidence::Settings));
    let targets = place.targets_as(agent, form);
    match look_for(place, &targets, settings_only) {
        WiringState::Is(ConnectionState::Partly)
            if form == WiringForm::Settings && has_own_tools(place, targets.clone()) =>
        {
            WiringState::Is(ConnectionState::Yes)
        }
        wiring => wiring,
    }
}

/// The tools with which an agent is connected at the level of a place; `None` if it is not connected, or only partly.
pub fn tools(place: &WiringPlace, agent: &'static Adapter) -> Option<ToolSource> {
    let targets = place.targets(agent);
    match look_for(place, &targets, false) {
        WiringState::Is(ConnectionState::Yes) => Some(ToolSource::Punch),
        WiringState::Is(ConnectionState::Partly) => has_own_tools(place, targets).then_some(ToolSource::Own),
        WiringState::Is(ConnectionState::No) | WiringState::Unreadable(_) => None,
    }
}

/// Returns true if all hooks are there and nothing that punch's tools need.
fn has_own_tools(place: &WiringPlace, targets: Vec<SettingsFile>) -> bool {
    let (hooks, tools) = without_tools(targets);
    look_for(place, &hooks, false) == WiringState::Is(ConnectionState::Yes)
        && look_for(place, &tools, false) == WiringState::Is(ConnectionState::No)
}

fn look_for(place: &WiringPlace, targets: &[SettingsFile], settings_only: bool) -> WiringState {
    let mut found = Vec::new();
    for target in targets {
        // Most files are not there, and then it does not matter whose they would be.
        let text = file::real(place, &target.path).and_then(|real| {
            let text = file::read(&real)?;
            Ok(text.filter(|_| place.owns(&target.path, FileRecord::load(&place.records, &real).as_ref())))
        });
        let seen = match text {
            Ok(text) => target.content.look(text.as_deref()).map_err(|wrong| wrong.message()),
            Err(failure) => Err(failure.text().map(|(message, _)| message).unwrap_or_default()),
        };
        match seen {
            Ok(_) if settings_only && !matches!(target.content, FileContent::Json(..)) => {}
            Ok(wired) => found.push(wired),
            Err(why) => return WiringState::Unreadable(format!("`{}`: {why}", place.shown(&target.path))),
        }
    }
    let all = |wanted: ConnectionState| found.iter().all(|wired| *wired == wanted);
    WiringState::Is(match (found.is_empty() || all(ConnectionState::No), all(ConnectionState::Yes)) {
        (true, _) => ConnectionState::No,
        (false, true) => ConnectionState::Yes,
        (false, false) => ConnectionState::Partly,
    })
}

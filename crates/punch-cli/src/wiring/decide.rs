//! Decides at which level an agent is connected, from the user's request and the existing installs.

use std::path::PathBuf;

use punch_agents::Adapter;
use punch_agents::settings::ConnectionLevel;
use punch_core::text;

use super::{WiringForm, WiringPlace, file, look};
use crate::failure::Failure;
use crate::output;

/// What is done about one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentDecision {
    /// The agent to connect or disconnect.
    pub adapter: &'static Adapter,
    /// At which level it is connected or disconnected.
    pub level: ConnectionLevel,
    /// It is connected there already by an install that was not asked for again, and nothing is done.
    pub stays: bool,
    /// An install for everyone in the project becomes one for this user, or the other way around.
    pub moves: bool,
}

/// Decides about an agent to connect. Without a level it is connected for this user only, and an install that is there
/// already is never doubled. `ask` says that the user can be asked.
pub fn decide(
    place: &WiringPlace,
    agent: &'static Adapter,
    form: WiringForm,
    wanted: Option<ConnectionLevel>,
    ask: bool,
) -> Result<AgentDecision, Failure> {
    let to = |level, moves| AgentDecision { adapter: agent, level, stays: false, moves };
    let is_there = |level| look(&place.at(level), agent).is_there();
    match (form, wanted) {
        (WiringForm::Plugin, wanted) => Ok(to(wanted.unwrap_or(ConnectionLevel::Personal), false)),
        (WiringForm::Settings, Some(ConnectionLevel::User)) => Ok(to(ConnectionLevel::User, false)),
        (WiringForm::Settings, Some(ConnectionLevel::Shared)) => {
            Ok(to(ConnectionLevel::Shared, is_there(ConnectionLevel::Personal)))
        }
        (WiringForm::Settings, Some(ConnectionLevel::Personal)) => {
            personal(place, agent, ask).map(|level| to(level, is_there(ConnectionLevel::Shared)))
        }
        (WiringForm::Settings, None) => {
            let stays = |level| AgentDecision { adapter: agent, level, stays: true, moves: false };
            let elsewhere = [ConnectionLevel::Shared, ConnectionLevel::User].into_iter().find(|level| is_there(*level));
            match elsewhere.filter(|_| !is_there(ConnectionLevel::Personal)) {
                Some(level) => Ok(stays(level)),
                None => personal(place, agent, ask).map(|level| to(level, false)),
            }
        }
    }
}

/// The personal level, or the user's settings for all projects if git tracks a file that would have to change.
fn personal(place: &WiringPlace, agent: &'static Adapter, ask: bool) -> Result<ConnectionLevel, Failure> {
    let place = &place.at(ConnectionLevel::Personal);
    let mut paths: Vec<PathBuf> = place.targets(agent).into_iter().map(|target| target.path).collect();
    // A link leads to the file that would change.
    let linked: Vec<PathBuf> = paths.iter().filter_map(|path| file::real(place, path).ok()).collect();
    paths.extend(linked);
    let tracked = match &place.worktree {
        Some(worktree) => worktree.tracked(&paths)?,
        None => Vec::new(),
    };
    let Some(first) = tracked.first() else { return Ok(ConnectionLevel::Personal) };
    let (file, name) = (text::neutral(&place.shown(first)).into_owned(), agent.name);
    let reason = format!("git tracks `{file}`, so {} has no settings file here that is yours alone", agent.title);
    if ask && output::ask(&format!("{reason}. Connect it in all your projects instead?"))? {
        return Ok(ConnectionLevel::User);
    }
    let hint = format!(
        "run `punch install --user {name}` to connect it in all your projects, or use `--shared` to change `{file}`"
    );
    Err(Failure::refused("tracked", reason, &hint))
}

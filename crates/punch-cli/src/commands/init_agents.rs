//! What `punch init` offers for the agents it finds: to connect those that are not connected, and to add the guide.
//! Without a terminal it only prints the command that would do it.

use punch_agents::Adapter;
use punch_agents::settings::ConnectionLevel;
use punch_serve::wiring::ConnectionState;
use serde_json::{Value, json};

use super::install::auto_continue;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::reply::listed;
use crate::wiring::{
    ConnectRequest, ConnectionChange, Consent, Way, WiringForm, WiringPlace, WiringState, found_agents, look,
};
use crate::{environment, output};

/// The result: more lines to print, and the same for programs.
pub struct AgentOffer {
    /// Lines for people.
    pub text: String,
    /// For programs; null if there was nothing to offer.
    pub json: Value,
}

/// What `init` asks for: personal settings, after its own question.
const REQUEST: ConnectRequest =
    ConnectRequest { way: Way::In, level: None, form: WiringForm::Settings, guide: false, consent: Consent::Given };

/// Offers it. `yes` is a yes to everything. Nothing here fails: the store exists already.
pub fn offer(global: &Global, yes: bool) -> AgentOffer {
    let nothing = || AgentOffer { text: String::new(), json: Value::Null };
    let Ok(place) = WiringPlace::find(global, ConnectionLevel::Personal) else { return nothing() };
    let skip = |agent: &Adapter, why: &str| {
        output::remark(&format!("note: {} cannot be connected: {why}", agent.title));
    };
    let mut agents: Vec<&'static Adapter> = Vec::new();
    for agent in found_agents() {
        let levels = ConnectionLevel::ALL.map(|level| look(&place.at(level), agent));
        if let Some(why) = levels[..2].iter().find_map(WiringState::why_unreadable) {
            skip(agent, why);
        } else if levels.iter().all(|level| *level == WiringState::Is(ConnectionState::No)) {
            match ConnectionChange::plan(place.clone(), &[agent], REQUEST) {
                Ok(_) => agents.push(agent),
                Err(failure) => {
                    let (message, hint) = failure.text().unwrap_or_default();
                    skip(agent, &format!("{message}\nhint: {hint}"));
                }
            }
        }
    }
    if agents.is_empty() {
        return nothing();
    }
    let titles: Vec<&str> = agents.iter().map(|agent| agent.title).collect();
    let names: Vec<&str> = agents.iter().map(|agent| agent.name).collect();
    let command = format!("punch install {}", names.join(" "));
    if !yes && (global.json || !environment::is_attended()) {
        let text = format!("  {command}   # {} found, not connected yet", listed(&titles));
        return AgentOffer { text, json: json!({"found": names, "wired": []}) };
    }
    match connect(place, &agents, &titles, global, yes) {
        Ok(Some(text)) => AgentOffer { text, json: json!({"found": names, "wired": names}) },
        Ok(None) => AgentOffer { text: format!("  {command}"), json: json!({"found": names, "wired": []}) },
        Err(failure) => {
            let (message, hint) = failure.text().unwrap_or_default();
            output::remark(&format!("note: no agent was connected: {message}\nhint: {hint}; then `{command}`"));
            AgentOffer { text: String::new(), json: json!({"found": names, "wired": [], "error": message}) }
        }
    }
}

fn connect(
    place: WiringPlace,
    agents: &[&'static Adapter],
    titles: &[&str],
    global: &Global,
    yes: bool,
) -> Result<Option<String>, Failure> {
    let mut change = ConnectionChange::plan(place.clone(), agents, REQUEST)?;
    let continues = auto_continue(global).unwrap_or_default();
    if !yes {
        output::remark(&change.summary(false));
        let question = format!("{continues}\nFound {}. Connect for you, in this project?", listed(titles));
        if !change.is_approved(question.trim_start())? {
            return Ok(None);
        }
    }
    change.run()?;
    let mut guided = ConnectionChange::plan(place, agents, ConnectRequest { guide: true, ..REQUEST })?;
    let question = "Also add a few lines of advice for the model to its instructions?";
    let mut summary = change.summary(true);
    if guided.changes_anything() && (yes || guided.is_approved(question)?) {
        guided.run()?;
        summary.push_str(&format!("\nAdded a few lines of advice for the model to {}", guided.changed_files()));
    }
    Ok(Some(if yes && !continues.is_empty() { format!("{summary}\n{continues}") } else { summary }))
}

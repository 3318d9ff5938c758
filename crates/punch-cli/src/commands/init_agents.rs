//! What `punch init` offers for the agents it finds: to wire those that are not wired, and to add the guide. Without
//! anybody to answer it only says which commands would do it.

use punch_serve::hook::Host;
use punch_serve::wiring::{Level, Wired, title};
use serde_json::{Value, json};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::wiring::{Change, Consent, Form, Place, Way, Wiring, found_agents, look};
use crate::{environment, output};

/// What came of it: more to say, and the same for programs.
pub struct Offered {
    /// Lines for people.
    pub text: String,
    /// For programs; null if there was nothing to offer.
    pub json: Value,
}

/// Offers it. `yes` is a yes to everything. Nothing here fails: the store is made already.
pub fn offer(global: &Global, yes: bool) -> Offered {
    let nothing = || Offered { text: String::new(), json: Value::Null };
    let Ok(place) = Place::find(global, Level::Project) else { return nothing() };
    let bare = |place: &Place, host: Host| look(place, host) == Wiring::Is(Wired::No);
    let user = place.at(Level::User);
    let found = found_agents();
    for host in &found {
        if let Wiring::Unreadable(why) = look(&place, *host) {
            output::remark(&format!("note: {} cannot be wired: {why}", title(*host)));
        }
    }
    let agents: Vec<Host> = found.into_iter().filter(|host| bare(&place, *host) && bare(&user, *host)).collect();
    if agents.is_empty() {
        return nothing();
    }
    let titles: Vec<&str> = agents.iter().map(|host| title(*host)).collect();
    let names: Vec<&str> = agents.iter().map(|host| host.name()).collect();
    let command = format!("punch install {}", names.join(" "));
    if !yes && (global.json || !environment::is_attended()) {
        let text = format!("  {command}   # {} found, not wired yet", listed(&titles));
        return Offered { text, json: json!({"found": names, "wired": []}) };
    }
    match wire(place, &agents, &titles, global.json, yes) {
        Ok(Some(text)) => Offered { text, json: json!({"found": names, "wired": names}) },
        Ok(None) => Offered { text: format!("  {command}"), json: json!({"found": names, "wired": []}) },
        Err(failure) => {
            let (message, hint) = failure.text().unwrap_or_default();
            output::remark(&format!("note: nothing was wired: {message}\nhint: {hint}; then `{command}`"));
            Offered { text: String::new(), json: json!({"found": names, "wired": [], "error": message}) }
        }
    }
}

fn wire(place: Place, agents: &[Host], titles: &[&str], quiet: bool, yes: bool) -> Result<Option<String>, Failure> {
    let again = place.at(Level::Project);
    let mut change = Change::plan(place, Way::In, agents, Form::Settings, false)?;
    if !quiet {
        output::document(&change.diff())?;
    }
    if !yes && !output::ask(&format!("Found {}. Write this into the project?", listed(titles)))? {
        return Ok(None);
    }
    change.run(Consent::Given)?;
    let mut guided = Change::plan(again, Way::In, agents, Form::Settings, true)?;
    if !quiet {
        output::document(&guided.diff())?;
    }
    if guided.changes_anything() && (yes || output::ask("Add this advice for the model, too?")?) {
        guided.run(Consent::Given)?;
    }
    Ok(Some(change.told(true)))
}

/// `a, b and c`
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

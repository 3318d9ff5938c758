//! What `punch doctor` reports about agents: found, version, connected, trusted, reachable, and what to do. None of it
//! counts as damage.

use punch_agents::settings::ConnectionLevel;
use punch_engine::{Finding, Severity};
use punch_serve::wiring::ConnectionState;
use serde_json::{Value, json};

use crate::arguments::Global;
use crate::wiring::{Standing, WiringPlace, WiringState, inspect, reachable};

/// The findings, and the same for programs.
pub fn report(global: &Global) -> (Vec<Finding>, Value) {
    let place = match WiringPlace::find(global, ConnectionLevel::User) {
        Ok(place) => place,
        Err(failure) => {
            let why = failure.text().map(|(message, _)| message).unwrap_or_default();
            return (vec![Finding::new("agents", Severity::Note, why)], Value::Null);
        }
    };
    let standings = inspect(&place);
    let seen = |standing: &&Standing| standing.program.is_some() || standing.is_wired();
    let mut findings: Vec<Finding> = standings.iter().filter(seen).map(finding).collect();
    if findings.is_empty() {
        let detail = "none on PATH; `punch install NAME` connects one anyway";
        findings.push(Finding::new("agents", Severity::Note, detail));
    }
    let server = standings.iter().any(Standing::is_wired).then(|| reachable(&place));
    if let Some(server) = &server {
        let command = &place.program.0;
        findings.push(match server {
            Some(name) => Finding::new("server", Severity::Ok, format!("`{command} mcp` answers: {name}")),
            None => Finding::new(
                "server",
                Severity::Note,
                format!("`{command} mcp` does not answer: run it yourself to see why"),
            ),
        });
    }
    let agents: Vec<Value> = standings.iter().map(as_json).collect();
    (findings, json!({"agents": agents, "reachable": server.map(|server| server.is_some())}))
}

fn finding(standing: &Standing) -> Finding {
    let mut said = vec![match (&standing.program, &standing.version) {
        (None, _) => "not on PATH".to_owned(),
        (Some(_), Some(version)) => version.clone(),
        (Some(_), None) => "found, but its version is unknown".to_owned(),
    }];
    let levels = standing.levels();
    let connected: Vec<&str> =
        levels.iter().filter(|(_, wiring)| wiring.is_there()).map(|(level, _)| level.name()).collect();
    said.push(match connected.is_empty() {
        true => "not connected".to_owned(),
        false => format!("connected ({})", connected.join(", ")),
    });
    if let Some((known, trusted)) = standing.trust {
        said.push(format!("{trusted} of {known} hooks trusted"));
    }
    let todo = todo(standing);
    let severity = if todo.is_empty() { Severity::Ok } else { Severity::Note };
    let detail = std::iter::once(said.join("; ")).chain(todo).collect::<Vec<_>>().join("\n");
    Finding::new(standing.agent.title, severity, detail)
}

/// What the user should do about it.
fn todo(standing: &Standing) -> Vec<String> {
    let name = standing.agent.name;
    let mut out = Vec::new();
    for (level, wiring) in standing.levels() {
        let flag = level.name();
        match wiring {
            // The same file serves two levels.
            WiringState::Unreadable(_)
                if level == ConnectionLevel::Shared && !matches!(standing.personal, WiringState::Is(_)) => {}
            WiringState::Unreadable(why) => {
                out.push(format!("{why}; fix it, then run `punch install --{flag} {name}`"))
            }
            WiringState::Is(ConnectionState::Partly) => {
                let why = "something is missing or calls another punch";
                out.push(format!("{flag}: {why}; `punch install --{flag} {name}` fixes it"));
            }
            WiringState::Is(ConnectionState::Yes | ConnectionState::No) => {}
        }
    }
    let connected: Vec<ConnectionLevel> =
        standing.levels().into_iter().filter(|(_, wiring)| wiring.is_there()).map(|(level, _)| level).collect();
    match connected.as_slice() {
        [] if out.is_empty() => out.push(format!("`punch install {name}` connects it")),
        [] | [_] => {}
        [first, ..] => {
            let flag = first.name();
            out.push(format!("its hooks run more than once: `punch uninstall --{flag} {name}` removes one of them"));
        }
    }
    let settings = &standing.agent.settings;
    if let Some(trust) = settings.hook_trust.as_ref().filter(|_| standing.is_wired()) {
        out.extend((trust.advice)(standing.trust).map(str::to_owned));
    }
    if let Some(trust) = settings.folder_trust.as_ref().filter(|_| standing.folder_trusted == Some(false)) {
        out.push(trust.advice.to_owned());
    }
    out
}

fn as_json(standing: &Standing) -> Value {
    json!({
        "agent": standing.agent.name,
        "program": standing.program,
        "version": standing.version,
        "personal": standing.personal.name(),
        "shared": standing.shared.name(),
        "user": standing.user.name(),
        "hooks": standing.trust.map(|(known, trusted)| json!({"known": known, "trusted": trusted})),
        "folderTrusted": standing.folder_trusted,
        "todo": if standing.program.is_some() || standing.is_wired() { todo(standing) } else { Vec::new() },
    })
}

//! How it stands with each agent: is it there, which version, is it wired and where, does its user trust the hooks.

use std::path::{Path, PathBuf};
use std::thread;

use punch_serve::hook::Host;
use punch_serve::wiring::{Content, Level, MARKETPLACE, Wired, plugin_name};
use serde_json::Value;

use super::place::program_of;
use super::record::Record;
use super::{Form, Place, asking, file};
use crate::environment;

/// One agent.
pub struct Standing {
    /// Which.
    pub host: Host,
    /// Its program, if it is on PATH.
    pub program: Option<PathBuf>,
    /// What it says about its version.
    pub version: Option<String>,
    /// In the user's own settings for the project.
    pub personal: Wiring,
    /// In the project's settings, which a team commits.
    pub shared: Wiring,
    /// In the user's settings for all projects.
    pub user: Wiring,
    /// Whether the project's folder is trusted, where that matters and can be read.
    pub folder_trusted: Option<bool>,
    /// Hooks of ours that Codex knows, and how many of them its user trusts.
    pub trust: Option<(usize, usize)>,
}

impl Standing {
    /// Whether something of ours is in its settings.
    pub fn is_wired(&self) -> bool {
        self.levels().iter().any(|(_, wiring)| wiring.is_there())
    }

    /// How it is connected at each level.
    pub fn levels(&self) -> [(Level, &Wiring); 3] {
        [(Level::Personal, &self.personal), (Level::Shared, &self.shared), (Level::User, &self.user)]
    }
}

/// Whether an agent's files have us in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wiring {
    /// As `install` would leave them, partly, or not.
    Is(Wired),
    /// They cannot be read; why.
    Unreadable(String),
}

impl Wiring {
    /// The word for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Is(Wired::Yes) => "yes",
            Self::Is(Wired::Partly) => "partly",
            Self::Is(Wired::No) => "no",
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
        matches!(self, Self::Is(Wired::Yes | Wired::Partly))
    }
}

/// Looks at every agent; those that can be started are asked for their version, all at the same time.
pub fn inspect(place: &Place) -> Vec<Standing> {
    thread::scope(|scope| {
        let looks: Vec<_> = Host::ALL.iter().map(|host| scope.spawn(|| standing(place, *host))).collect();
        looks.into_iter().filter_map(|look| look.join().ok()).collect()
    })
}

fn standing(place: &Place, host: Host) -> Standing {
    let program = environment::find_program(program_of(host));
    let [personal, shared, user] = Level::ALL.map(|level| look(&place.at(level), host));
    let project = personal.is_there() || shared.is_there();
    let version = program.as_deref().and_then(asking::version);
    let asks = host == Host::Codex && (project || user.is_there());
    let codex = program.as_deref().filter(|_| asks);
    let trust = codex.and_then(|program| asking::codex_hooks(program, &place.roots.project));
    let folder_trusted = if host == Host::Claude && project { claude_trusts(place) } else { None };
    Standing { host, program, version, personal, shared, user, folder_trusted, trust }
}

/// What Claude Code has written down about the project's folder or one above it.
fn claude_trusts(place: &Place) -> Option<bool> {
    let folder = place.roots.claude.as_ref().unwrap_or(&place.roots.home);
    let text = file::read(&folder.join(".claude.json")).ok()??;
    let known: Value = serde_json::from_str(&text).ok()?;
    let trusted = |folder: &Path| known["projects"][folder.to_str()?]["hasTrustDialogAccepted"].as_bool();
    Some(
        place
            .roots
            .main_project
            .ancestors()
            .chain(place.roots.project.ancestors())
            .any(|folder| trusted(folder) == Some(true)),
    )
}

/// Whether our server answers from the project when it is called as agents call it: what it calls itself.
pub fn reachable(place: &Place) -> Option<String> {
    asking::server(&place.program.0, &place.roots.project)
}

/// Whether an agent is wired at the level of a place, in whichever form.
pub fn look(place: &Place, host: Host) -> Wiring {
    let settings = look_at(place, host, Form::Settings);
    match look_at(place, host, Form::Plugin) {
        plugin if plugin.is_there() && !settings.is_there() => plugin,
        _ => settings,
    }
}

/// Whether an agent is wired in one form.
pub fn look_at(place: &Place, host: Host, form: Form) -> Wiring {
    if (host, form) == (Host::Codex, Form::Plugin) {
        return codex_plugin(place);
    }
    let mut found = Vec::new();
    for target in place.targets_as(host, form) {
        let text = file::real(place, &target.path).and_then(|real| {
            let owns = place.owns(&target.path, Record::load(&place.records, &real).as_ref());
            if owns { file::read(&real) } else { Ok(None) }
        });
        let seen = match text {
            Ok(text) => target.content.look(text.as_deref()).map_err(|wrong| wrong.message()),
            Err(failure) => Err(failure.text().map(|(message, _)| message).unwrap_or_default()),
        };
        match seen {
            // The marketplace serves two agents; only its settings say that Claude Code uses it.
            Ok(_) if form == Form::Plugin && host == Host::Claude && !matches!(target.content, Content::Json(..)) => {}
            Ok(wired) => found.push(wired),
            Err(why) => return Wiring::Unreadable(format!("`{}`: {why}", place.shown(&target.path))),
        }
    }
    let all = |wanted: Wired| found.iter().all(|wired| *wired == wanted);
    Wiring::Is(match (found.is_empty() || all(Wired::No), all(Wired::Yes)) {
        (true, _) => Wired::No,
        (false, true) => Wired::Yes,
        (false, false) => Wired::Partly,
    })
}

/// Codex itself notes which plugins it has.
fn codex_plugin(place: &Place) -> Wiring {
    let name = plugin_name(Host::Codex).map(|name| format!("[plugins.\"{name}@{MARKETPLACE}\"]")).unwrap_or_default();
    let text = file::read(&place.roots.codex.join("config.toml")).ok().flatten().unwrap_or_default();
    let there = place.level == Level::User && text.contains(&name);
    Wiring::Is(if there { Wired::Yes } else { Wired::No })
}

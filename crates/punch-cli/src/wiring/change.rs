//! Agents wired or unwired as a person asked: the steps of all of them, shown, agreed to, carried out, and told.

use std::path::PathBuf;

use punch_core::text;
use punch_serve::guide;
use punch_serve::hook::Host;
use punch_serve::wiring::{Content, Level, Target, guide_file, marketplace_folder, title};
use serde_json::{Value, json};

use super::carry::{carry_out, changed_meanwhile, turn};
use super::step::{self, Action, Step};
use super::{Form, Place, file, look, look_at};
use crate::failure::Failure;
use crate::{environment, output};

/// In or out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Into the agents' configuration.
    In,
    /// Out of it.
    Out,
}

/// What a person agreed to beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Ask if somebody is there; whoever is not there has said so by giving the command.
    Ask,
    /// Do not ask.
    Given,
    /// Only show.
    Never,
}

/// Lines of a difference are cut to this many characters: some settings are one long line.
const WIDEST: usize = 240;

/// So many files of an agent are named.
const MOST: usize = 4;

/// A change of some agents' configuration.
pub struct Change {
    place: Place,
    way: Way,
    hosts: Vec<Host>,
    form: Form,
    guide: bool,
    steps: Vec<Step>,
}

impl Change {
    /// Finds out what would change. `guide` adds the standing advice; on the way out it goes too, and both forms do.
    pub fn plan(place: Place, way: Way, hosts: &[Host], form: Form, guide: bool) -> Result<Self, Failure> {
        let mut change = Self { place, way, hosts: hosts.to_vec(), form, guide, steps: Vec::new() };
        if way == Way::In {
            hosts.iter().try_for_each(|host| change.allows(*host))?;
        }
        change.steps = change.look()?;
        Ok(change)
    }

    /// Whether an agent has this form and is not wired in the other one.
    fn allows(&self, host: Host) -> Result<(), Failure> {
        let (name, user) = (host.name(), self.place.at(Level::User));
        let (other, is) = match self.form {
            Form::Settings => (Form::Plugin, "a plugin"),
            Form::Plugin => (Form::Settings, "its settings"),
        };
        if self.form == Form::Plugin && self.place.targets_as(host, Form::Plugin).is_empty() {
            let message = format!("there is no plugin for {} at this level", title(host));
            let hint = format!("claude, codex and gemini have one with `--user`; else `punch install {name}`");
            return Err(Failure::refused("no_plugin", message, &hint));
        }
        if self.place.level == Level::User && look_at(&user, host, other).is_there() {
            let message = format!("{} is wired by {is} already", title(host));
            let hint = format!("`punch uninstall --user {name}` takes that out first");
            return Err(Failure::refused("wired_otherwise", message, &hint));
        }
        Ok(())
    }

    /// The steps as things are now.
    fn look(&self) -> Result<Vec<Step>, Failure> {
        let (place, way) = (&self.place, self.way);
        let mut wanted: Vec<(Vec<Host>, Target)> = Vec::new();
        let forms = match way {
            Way::In => vec![self.form],
            Way::Out => vec![Form::Settings, Form::Plugin],
        };
        for (host, form) in self.hosts.iter().flat_map(|host| forms.iter().map(move |form| (*host, *form))) {
            place.targets_as(host, form).into_iter().for_each(|target| join(&mut wanted, host, target));
        }
        if self.guide || way == Way::Out {
            add_guides(place, &self.hosts, way, &mut wanted)?;
        }
        let steps = wanted.iter().map(|(hosts, target)| match way {
            Way::In => step::install(place, hosts, target),
            Way::Out => step::uninstall(place, hosts, target),
        });
        steps.collect()
    }

    /// Whether any file would change.
    pub fn changes_anything(&self) -> bool {
        self.steps.iter().any(|step| step.before != step.after)
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

    /// Carries it out as far as there is consent: whether it was done.
    pub fn run(&mut self, consent: Consent) -> Result<bool, Failure> {
        let asks = consent == Consent::Ask && self.changes_anything() && environment::is_attended();
        if consent == Consent::Never || (asks && !output::ask("Write this?")?) {
            return Ok(false);
        }
        let _turn = turn(&self.place)?;
        let now = self.look()?;
        let same = |(shown, now): (&Step, &Step)| (&shown.before, &shown.after) == (&now.before, &now.after);
        // What a person agreed to is what they saw.
        if let Some((shown, _)) = self.steps.iter().zip(&now).filter(|_| asks).find(|pair| !same(*pair)) {
            return Err(changed_meanwhile(shown));
        }
        self.steps = now;
        carry_out(&self.place, &mut self.steps)?;
        Ok(true)
    }

    /// One line for each agent, and what is left to do.
    pub fn told(&self, done: bool) -> String {
        let mut lines = Vec::new();
        for host in &self.hosts {
            let own = self.steps.iter().filter(|step| step.hosts.contains(host));
            let (changed, same): (Vec<&Step>, Vec<&Step>) = own.partition(|step| step.before != step.after);
            let names = |steps: &[&Step]| -> String {
                let shown = steps.iter().map(|step| format!("`{}`", text::neutral(&self.place.shown(&step.path))));
                let more = if steps.len() > MOST { format!(" and {} more", steps.len() - MOST) } else { String::new() };
                shown.take(MOST).collect::<Vec<_>>().join(", ") + &more
            };
            let (name, level) = (title(*host), self.place.level.name());
            let verb = match (self.way, done) {
                (Way::In, true) => "wired",
                (Way::In, false) => "would be wired",
                (Way::Out, true) => "unwired",
                (Way::Out, false) => "would be unwired",
            };
            lines.push(match (changed.is_empty(), self.way) {
                (true, Way::In) => format!("{name} was wired already ({level}): {}", names(&same)),
                (true, Way::Out) => format!("{name} was not wired ({level})"),
                (false, _) => format!("{name} {verb} ({level}): {}", names(&changed)),
            });
            for step in same.iter().filter(|step| step.action == Action::Leave) {
                lines.push(format!("note: {} was changed by hand and stays", names(&[step])));
            }
            if self.way == Way::Out && *host == Host::Codex && look_at(&self.place, *host, Form::Plugin).is_there() {
                lines.push(
                    "note: Codex has a copy of the plugin: `codex plugin remove punch-codex@punchlist`".to_owned(),
                );
            }
            if self.way == Way::In && done {
                lines.extend(self.notes(*host).into_iter().map(|note| format!("note: {note}")));
            }
        }
        lines.join("\n")
    }

    /// What is left to a person.
    fn notes(&self, host: Host) -> Vec<String> {
        let mut out = match self.form {
            Form::Settings => notes(host, self.place.level),
            Form::Plugin => plugin_notes(host, &self.place),
        };
        let (other, flag) = match self.place.level {
            Level::Project => (Level::User, " --user"),
            Level::User => (Level::Project, ""),
        };
        if look(&self.place.at(other), host).is_there() {
            let (other, name) = (other.name(), host.name());
            out.push(format!(
                "its hooks run twice now: it is wired for the {other} too; `punch uninstall{flag} {name}`"
            ));
        }
        out
    }

    /// The same for programs.
    pub fn json(&self, done: bool) -> Value {
        let file = |step: &Step| {
            let agents: Vec<&str> = step.hosts.iter().map(|host| host.name()).collect();
            let shown = self.place.shown(&step.path);
            json!({"path": step.path, "agents": agents, "change": step.action.name(), "diff": step.diff(&shown)})
        };
        let notes: Vec<String> = match self.way {
            Way::In => self.hosts.iter().flat_map(|host| self.notes(*host)).collect(),
            Way::Out => Vec::new(),
        };
        let files: Vec<Value> = self.steps.iter().map(file).collect();
        json!({"level": self.place.level.name(), "done": done, "files": files, "notes": notes})
    }
}

/// Adds a file, or more to a file that is wanted already.
fn join(wanted: &mut Vec<(Vec<Host>, Target)>, host: Host, target: Target) {
    let Some((hosts, known)) = wanted.iter_mut().find(|(_, known)| known.path == target.path) else {
        wanted.push((vec![host], target));
        return;
    };
    if !hosts.contains(&host) {
        hosts.push(host);
    }
    if let (Content::Json(_, entries), Content::Json(_, more)) = (&mut known.content, target.content) {
        entries.extend(more);
    }
}

/// The block of advice for each file of advice; several agents, or a link, may mean the same one.
fn add_guides(place: &Place, hosts: &[Host], way: Way, wanted: &mut Vec<(Vec<Host>, Target)>) -> Result<(), Failure> {
    let mut known: Vec<PathBuf> = Vec::new();
    let first = wanted.len();
    for host in hosts {
        let Some(path) = guide_file(*host, place.level, &place.roots) else { continue };
        let real = match (file::real(place, &path), way) {
            (Ok(real), _) => real,
            (Err(_), Way::Out) => continue,
            (Err(failure), Way::In) => return Err(failure),
        };
        match known.iter().position(|known| *known == real) {
            Some(index) => wanted[first + index].0.push(*host),
            None => {
                known.push(real);
                // One text for all who read the file.
                let content = Content::Block(guide::standing(None));
                wanted.push((vec![*host], Target { path, content }));
            }
        }
    }
    Ok(())
}

/// What is left to a person whatever else is there.
fn notes(host: Host, level: Level) -> Vec<String> {
    let note = match (host, level) {
        (Host::Codex, Level::User) => {
            "Codex runs hooks only once you trust them: start `codex`, type `/hooks` and trust those of punch"
        }
        (Host::Codex, Level::Project) => {
            "Codex reads this only in a project that you trust, and runs hooks only once you trust them: start `codex` \
             here, type `/hooks` and trust those of punch"
        }
        (Host::Cursor, _) => "Cursor may ask you to switch the server on: Settings, MCP",
        (Host::Claude | Host::Gemini | Host::Qwen, Level::Project) => {
            return vec![format!("{} reads this only in a folder that you trust", title(host))];
        }
        (Host::Claude | Host::Gemini | Host::Qwen, Level::User) | (Host::Opencode, _) => return Vec::new(),
    };
    vec![note.to_owned()]
}

fn plugin_notes(host: Host, place: &Place) -> Vec<String> {
    let folder = marketplace_folder(&place.roots);
    match host {
        Host::Codex => vec![
            format!("now run `codex plugin marketplace add '{}'`", folder.display()),
            "then `codex plugin add punch-codex@punchlist`, start `codex`, type `/hooks` and trust those of punch"
                .into(),
        ],
        Host::Claude => vec!["the command is `/punch:todo`".to_owned()],
        Host::Gemini => vec!["the command is `/todo`".to_owned()],
        Host::Qwen | Host::Cursor | Host::Opencode => Vec::new(),
    }
}

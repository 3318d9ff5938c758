//! `punch doctor`: checks that the store is sound and agrees with its history, and how the agents are set up.

use clap::Args;
use punch_core::text;
use punch_engine::locate::{self, Location};
use punch_engine::{Engine, Finding, Severity, copies};
use punch_store::{OpenMode, StoreAdmin, StoreError, StoreInfo};
use serde_json::{Value, json};

use super::doctor_agents;
use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::reply::VerbReply;
use crate::safety::{Safety, ago, bytes, count};
use crate::{environment, open_store};

const EXAMPLES: &str = "\
Examples:
  punch doctor
  punch doctor --repair      # rebuilds derived data from what is stored
  punch doctor --json

Exit codes: 0 healthy, or no store yet; 1 damaged; 3 the store could not be read";

/// Past this many events, pruning is worth a thought.
const MANY_EVENTS: u64 = 1_000_000;

/// The arguments of `punch doctor`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    /// Rebuild derived data (counters, levels, columns, edges); nothing else is touched
    #[arg(long)]
    repair: bool,
}

/// What was found so far.
struct DoctorFindings {
    findings: Vec<Finding>,
    exit: Exit,
}

impl DoctorArgs {
    /// Runs the verb.
    pub fn run(self, global: Global) -> Result<VerbReply, Failure> {
        let mut report = DoctorFindings { findings: Vec::new(), exit: Exit::Ok };
        let location = locate::locate(&environment::surroundings(&global)?);
        let store = location.as_ref().ok().map(Location::shown);
        match location {
            Ok(location) => {
                let config = environment::config(&global, &location);
                if let Err(failure) = &config {
                    report.say("settings", Severity::Note, failure_text(failure));
                    report.exit = Exit::Refused;
                }
                if let Err(failure) = self.examine(&location, &mut report) {
                    report.obstacle("store", &failure);
                }
                let wanted = config.map_or(true, |config| config.settings.store_copy.value);
                if location.server.is_none() {
                    report.findings.push(copy(&location, wanted));
                }
            }
            Err(error) => report.obstacle("place", &error.into()),
        }
        let (agents, agents_json) = doctor_agents::report(&global);
        report.findings.extend(agents);
        Ok(report.reply(store, &agents_json))
    }

    fn examine(&self, location: &Location, report: &mut DoctorFindings) -> Result<(), Failure> {
        let (path, kind) = (location.shown(), location.kind.name());
        if !location.exists && location.database.symlink_metadata().is_err() {
            report.say("store", Severity::Note, format!("none at `{path}` ({kind}) yet; the first change creates it"));
            return Ok(());
        }
        let store = open_store::open(location, OpenMode::Existing, None)?;
        report.say("store", Severity::Ok, format!("`{path}` ({kind})"));
        if location.server.is_none() {
            report.findings.push(permissions(location));
        }
        report.findings.push(writes(location, &*store));
        let info = store.info()?;
        let (punch, engine, schema) = (env!("CARGO_PKG_VERSION"), &info.engine, info.schema);
        report.say("versions", Severity::Ok, format!("punch {punch}, {engine}, schema {schema}"));
        report.findings.push(self.integrity(&*store, location.server.is_some())?);
        let engine = Engine::new(store, environment::clock());
        for plan in engine.plans()? {
            for finding in engine.check_plan(plan.id, self.repair)? {
                let what = format!("plan {}: {}", plan.name, finding.what);
                report.findings.push(Finding { what, ..finding });
            }
        }
        report.findings.push(size(&info, engine.now()));
        Ok(())
    }

    fn integrity(&self, store: &dyn StoreAdmin, on_server: bool) -> Result<Finding, StoreError> {
        let what = "integrity";
        let wrong = store.check()?;
        if wrong.is_empty() {
            let sound = match on_server {
                true => "the tables are sound; the server's own tools check its files",
                false => "the database file is sound",
            };
            return Ok(Finding::new(what, Severity::Ok, sound));
        }
        let summary = |wrong: &[String]| {
            let more = wrong.len().saturating_sub(5);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            format!("{}{more}", wrong.iter().take(5).cloned().collect::<Vec<_>>().join("; "))
        };
        if self.repair {
            store.rebuild()?;
            let left = store.check()?;
            if left.is_empty() {
                return Ok(Finding::new(what, Severity::Repaired, summary(&wrong)));
            }
            return Ok(Finding::new(what, Severity::Damaged, summary(&left)));
        }
        let hint = "`punch doctor --repair` rebuilds columns and edges";
        Ok(Finding::new(what, Severity::Damaged, format!("{}; {hint}", summary(&wrong))))
    }
}

impl DoctorFindings {
    fn say(&mut self, what: &str, severity: Severity, detail: impl Into<String>) {
        self.findings.push(Finding::new(what, severity, detail));
    }

    /// Something keeps us from looking. Only a damaged store is damage; the rest is reported as it is.
    fn obstacle(&mut self, what: &str, failure: &Failure) {
        let damaged = failure.code() == "store_damaged";
        let severity = if damaged { Severity::Damaged } else { Severity::Note };
        self.exit = Exit::Unavailable;
        self.say(what, severity, failure_text(failure));
    }

    fn reply(self, store: Option<String>, agents: &Value) -> VerbReply {
        let damaged = self.findings.iter().any(|finding| finding.severity == Severity::Damaged);
        let mut lines: Vec<String> = self.findings.iter().map(line).collect();
        let fine = |finding: &Finding| matches!(finding.severity, Severity::Ok | Severity::Note);
        if self.exit == Exit::Ok && self.findings.iter().all(fine) {
            lines.push("No problems found.".to_owned());
        }
        let findings: Vec<Value> = self.findings.iter().map(as_json).collect();
        let mut json = json!({"store": store, "damaged": damaged, "findings": findings});
        json["agents"] = agents["agents"].clone();
        json["reachable"] = agents["reachable"].clone();
        let mut reply = VerbReply::new(lines.join("\n"), json);
        reply.exit = if damaged { Exit::Refused } else { self.exit };
        reply
    }
}

fn failure_text(failure: &Failure) -> String {
    failure.text().map(|(message, hint)| format!("{message}\n{hint}")).unwrap_or_default()
}

fn permissions(location: &Location) -> Finding {
    let what = "permissions";
    match (location.writable(), location.open_to_others()) {
        (Err(error), _) => Finding::new(what, Severity::Note, error.message()),
        (Ok(()), Some(true)) => {
            let detail =
                format!("other users can read it; `chmod -R go= '{}'` makes it private", location.dir.display());
            Finding::new(what, Severity::Note, detail)
        }
        (Ok(()), _) => Finding::new(what, Severity::Ok, "writable, and private to this user"),
    }
}

/// Whether the store still holds everything that was committed.
fn writes(location: &Location, store: &dyn StoreAdmin) -> Finding {
    let what = "writes";
    let Some(lost) = store.lost() else {
        return Finding::new(what, Severity::Ok, "no stored changes are missing");
    };
    let way_out = Safety::of(location).map_or_else(String::new, |safety| safety.way_out(lost));
    Finding::new(what, Severity::Damaged, format!("{lost}\n{way_out}"))
}

fn size(info: &StoreInfo, now: i64) -> Finding {
    let day = 24 * 60 * 60 * 1_000;
    let days = now.saturating_sub(info.created_at).unsigned_abs().div_ceil(day).max(1);
    let detail = format!(
        "{}; {}, {}, {} ({} a day)",
        bytes(info.bytes),
        count(info.plans, "plan"),
        count(info.todos, "todo"),
        count(info.events, "event"),
        info.events / days,
    );
    if info.events > MANY_EVENTS {
        return Finding::new("size", Severity::Note, format!("{detail}; `punch store prune` exports old events"));
    }
    Finding::new("size", Severity::Ok, detail)
}

/// The copy in the user's state folder.
fn copy(location: &Location, wanted: bool) -> Finding {
    let copy = Safety::of(location).map(|safety| safety.copy().to_owned());
    let size = std::fs::metadata(&location.database).map_or(0, |found| found.len());
    let say = |severity, detail: String| Finding::new("copy", severity, detail);
    match copy.and_then(|copy| Some((copies::age(&copy)?, copy))) {
        Some((age, copy)) => {
            let detail = format!("`{}`, {}; `punch store restore --copy` restores it", copy.display(), ago(age));
            say(Severity::Ok, detail)
        }
        None if !wanted => say(Severity::Note, "none: the setting `store.copy` is false".to_owned()),
        None if size > copies::LARGEST => {
            let detail = "none: the store is too large for automatic copies; `punch store backup FILE` copies it";
            say(Severity::Note, detail.to_owned())
        }
        None => say(Severity::Note, "none yet; the next change creates one".to_owned()),
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Ok => "ok",
        Severity::Note => "note",
        Severity::Repaired => "repaired",
        Severity::Damaged => "damaged",
    }
}

/// `ok        integrity: …`; further lines are moved in.
fn line(finding: &Finding) -> String {
    let mut detail = finding.detail.split('\n').map(|line| text::neutral(line).into_owned());
    let first = detail.next().unwrap_or_default();
    let mut out = format!("{:<9} {}: {first}", word(finding.severity), text::neutral(&finding.what));
    detail.for_each(|line| out.push_str(&format!("\n{:<9} {line}", "")));
    out
}

fn as_json(finding: &Finding) -> Value {
    json!({"what": finding.what, "severity": word(finding.severity), "detail": finding.detail})
}

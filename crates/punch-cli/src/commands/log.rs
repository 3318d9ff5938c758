//! `punch log`: what happened, newest first; with `--follow` as it happens, oldest first.

mod follow;

use clap::Args;
use punch_core::time::utc;
use punch_core::view::ViewLine;
use punch_core::view::history::{self, RevisionStory};
use punch_core::{Event, FieldChange, Footprint, Patch, Plan, text};
use punch_engine::{READER, RevisionEntry, TurnStart};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::project::{OpenProject, Project, ProjectPlan};
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch log
  punch log --limit 100 --json
  punch log T-3                        # what happened to one todo
  punch log --new                      # since you last looked; marks what it shows as seen
  punch log --follow                   # print changes as they happen, of every process
  punch log --follow --limit 0 --json  # only new ones, one JSON object a line
  punch log --turn                     # since the last message to an agent, and what was open then";

/// Revisions that `--new` shows, unless more are asked for.
const NEW: u64 = 200;

/// From this many names on, everything is read at once.
const MANY: usize = 1_000;

/// The arguments of `punch log`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct LogArgs {
    /// Only what happened to this todo: an id, or a part of the text
    #[arg(value_name = "TODO", conflicts_with_all = ["new", "turn"])]
    todo: Option<String>,
    /// Show at most N revisions
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Only what happened since you last looked; marks it as seen
    #[arg(long, conflicts_with_all = ["named", "turn", "follow"])]
    new: bool,
    /// The older way to name the todo
    #[arg(long = "todo", value_name = "TODO", hide = true, conflicts_with = "todo")]
    named: Option<String>,
    /// Print changes as they happen, until you press Ctrl-C
    #[arg(long, short, conflicts_with = "turn")]
    follow: bool,
    /// Only what happened since your last message to an agent
    #[arg(long, conflicts_with = "named")]
    turn: bool,
    /// With --turn: to the agent of this session
    #[arg(long, value_name = "SESSION", requires = "turn")]
    session: Option<String>,
}

impl LogArgs {
    /// Runs the verb.
    pub fn run(mut self, project: Project) -> Result<VerbReply, Failure> {
        self.todo = self.todo.take().or(self.named.take());
        if self.follow {
            return follow::LogFollower::new(project.global.clone(), self.todo).run(project, self.limit);
        }
        let open = match (project.read()?, &self.todo) {
            (ProjectPlan::Plan(open), _) => open,
            (ProjectPlan::Empty(project), Some(given)) => project.open_named(std::slice::from_ref(given))?,
            (ProjectPlan::Empty(_), None) => {
                return Ok(VerbReply::new("Nothing has happened yet.", json!({"revisions": []})));
            }
        };
        let turn = if self.turn { Some(self.turn_of(&open)?) } else { None };
        // Programs get every event, readers the beginning of what happened.
        let history = |limit| match open.project.global.json {
            true => open.engine.history_in_full(open.plan, limit),
            false => open.engine.history(open.plan, limit),
        };
        let entries = match &self.todo {
            None if self.new => unseen(&open, history(u64::from(self.limit).max(NEW))?)?,
            None if turn.is_some() => {
                let since = turn.as_ref().map_or(0, |turn| turn.revision);
                let mut entries = history(u64::from(self.limit))?;
                entries.retain(|entry| entry.revision > since);
                entries
            }
            None => history(u64::from(self.limit))?,
            Some(given) => {
                let uid = open.engine.resolve(open.plan, given)?;
                open.engine.history_of(open.plan, uid, self.limit as usize)?
            }
        };
        if open.project.global.json {
            let names = names(&open, &footprint_of_all(&entries))?;
            let revisions: Vec<Value> = entries.iter().map(|entry| revision(entry, &names)).collect();
            let mut json = json!({"revisions": revisions});
            if let Some(turn) = &turn {
                json["turn"] = json!({"session": turn.key.session_id(), "subagent": turn.key.subagent(), "agent": turn.agent,
                    "revision": turn.revision, "at": turn.at, "open": turn.open});
            }
            return Ok(VerbReply::new("", json));
        }
        if let Some(turn) = &turn {
            output::remark(&began(turn));
        }
        if entries.is_empty() && self.new {
            return Ok(VerbReply::new("Nothing has happened since you last looked.", json!({})));
        }
        if entries.is_empty() && self.turn {
            return Ok(VerbReply::new("Nothing has happened in this turn.", json!({})));
        }
        if entries.is_empty() {
            return Ok(VerbReply::new("Nothing has happened yet.", json!({})));
        }
        let stories: Vec<RevisionStory> = entries.iter().map(RevisionEntry::story).collect();
        let names = names(&open, &history::footprint(stories.iter().flat_map(RevisionStory::names)))?;
        let layout = open.project.layout(open.engine.now());
        let width = entries.first().map_or(1, |entry| entry.revision.to_string().len());
        let redone = open.engine.redone(open.plan, &entries)?;
        let line = |(entry, story): (&RevisionEntry, &RevisionStory)| {
            entry.row(&names, story).redoing(redone.get(&entry.revision).copied()).line(width, layout)
        };
        let lines: Vec<ViewLine> = entries.iter().zip(&stories).map(line).collect();
        let older = entries.last().map_or(0, |entry| entry.revision.saturating_sub(1));
        let reply = VerbReply::new(lines, json!({}));
        if self.todo.is_none() && turn.is_none() && !self.new && older > 0 && self.limit > 0 {
            let more = u64::from(self.limit).saturating_mul(5);
            return Ok(reply.with_remark(format!("{older} older; `punch log -n {more}` shows more")));
        }
        Ok(reply)
    }
}

impl LogArgs {
    fn turn_of(&self, open: &OpenProject) -> Result<TurnStart, Failure> {
        let refused = |message: String| Failure::Refused {
            code: "unknown_session",
            message,
            hint: "hooks record where turns begin (`punch install` sets them up); `punch log` shows everything".into(),
        };
        let key = match &self.session {
            None => None,
            Some(given) => Some(open.engine.find_session(given)?.ok_or_else(|| {
                refused(format!("no single session matches `{}`", text::clip(&text::neutral(given), 80)))
            })?),
        };
        open.engine.turn(open.plan, key.as_ref())?.ok_or_else(|| refused("no agent turn has been recorded here".into()))
    }
}

/// What of the last revisions happened since the reader last looked, newest first. From now on it has been looked at.
fn unseen(open: &OpenProject, mut entries: Vec<RevisionEntry>) -> Result<Vec<RevisionEntry>, Failure> {
    // An agent that looks must not hide anything from the user.
    let actor = open.project.actor();
    let reader = match actor.owner().filter(|_| !actor.is_user()) {
        Some(owner) => format!("agent:{owner}"),
        None => READER.to_owned(),
    };
    let since = open.engine.seen(open.plan, &reader)?.map_or(0, |mark| mark.revision);
    entries.retain(|entry| entry.revision > since);
    if let Some(newest) = entries.first() {
        open.engine.mark_seen(open.plan, &reader, newest.revision)?;
        let new = newest.revision - since;
        if new > entries.len() as u64 {
            let more = new - entries.len() as u64;
            output::remark(&format!("{more} more are new; `punch log -n {new}` shows them"));
        }
    } else {
        // Runs end without a change too, and the user has looked now.
        open.engine.mark_seen(open.plan, &reader, since)?;
    }
    Ok(entries)
}

/// When the turn began, and what was open then.
fn began(turn: &TurnStart) -> String {
    let ids: Vec<String> =
        turn.open.iter().take(20).map(|id| text::clip(&text::neutral(id), 60).into_owned()).collect();
    let more = turn.open.len().saturating_sub(ids.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let open = if ids.is_empty() { "nothing".to_owned() } else { ids.join(", ") };
    format!("the turn began at revision {}, {}; open then: {open}{more}", turn.revision, utc(turn.at))
}

fn names(open: &OpenProject, footprint: &Footprint) -> Result<Plan, Failure> {
    let all = footprint.todos.len() > MANY;
    Ok(if all { open.engine.whole(open.plan)? } else { open.engine.slice(open.plan, footprint)? })
}

fn footprint_of_all(entries: &[RevisionEntry]) -> Footprint {
    let events = entries.iter().flat_map(|entry| &entry.events);
    history::footprint(events.filter_map(|e| if let Patch::Todo(uid, _) = e.patch { Some(uid) } else { None }))
}

fn revision(entry: &RevisionEntry, names: &Plan) -> Value {
    let event = |event: &Event| {
        let (todo, fields): (_, Vec<&str>) = match &event.patch {
            Patch::Todo(uid, changes) => (names.get(*uid), changes.iter().map(FieldChange::field).collect()),
            Patch::Phases(_) => (None, vec!["phases"]),
            Patch::Policy(_) => (None, vec!["policy"]),
        };
        json!({"kind": event.kind.name(), "todo": todo.map(|t| t.id.as_str()), "fields": fields})
    };
    json!({
        "revision": entry.revision,
        "at": entry.at,
        "by": entry.by,
        "undoes": entry.fate.undoes,
        "undoneBy": entry.fate.undone_by,
        "events": entry.events.iter().map(event).collect::<Vec<_>>(),
    })
}

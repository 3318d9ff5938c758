//! `punch log`: what happened, newest first.

use clap::Args;
use punch_core::{Change, Event, Footprint, Patch, Plan, text};
use punch_engine::{EngineError, Entry};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use crate::project::{Open, Project};
use crate::reply::Reply;
use crate::story::{self, Story};
use crate::time::utc;

const EXAMPLES: &str = "\
Examples:
  punch log
  punch log --limit 100 --json
  punch log --todo T-3";

/// From this many names on, everything is read at once.
const MANY: usize = 1_000;

/// The arguments of `punch log`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Log {
    /// At most so many revisions
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Only what happened to this todo
    #[arg(long, value_name = "TODO")]
    todo: Option<String>,
}

impl Log {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let open = match (project.read()?, &self.todo) {
            (Ok(open), _) => open,
            (Err(_), Some(given)) => {
                return Err(EngineError::NotFound { given: given.clone(), near: Vec::new() }.into());
            }
            (Err(_), None) => return Ok(Reply::new("Nothing has happened yet.", json!({"revisions": []}))),
        };
        let entries = match &self.todo {
            None => open.engine.history(open.plan, u64::from(self.limit))?,
            Some(given) => {
                let uid = open.engine.resolve(open.plan, given)?;
                open.engine.history_of(open.plan, uid, self.limit as usize)?
            }
        };
        if open.project.global.json {
            let names = names(&open, &footprint_of_all(&entries))?;
            let revisions: Vec<Value> = entries.iter().map(|entry| revision(entry, &names)).collect();
            return Ok(Reply::new("", json!({"revisions": revisions})));
        }
        if entries.is_empty() {
            return Ok(Reply::new("Nothing has happened yet.", json!({})));
        }
        let stories: Vec<Story> = entries.iter().map(|entry| Story::of(&entry.events)).collect();
        let names = names(&open, &story::footprint(stories.iter().flat_map(Story::names)))?;
        let width = entries.first().map_or(1, |entry| entry.revision.to_string().len());
        let line = |(entry, story): (&Entry, &Story)| {
            let by = text::neutral(&text::clip(&entry.by, 40)).into_owned();
            format!("{:>width$}  {}  {by}  {}", entry.revision, utc(entry.at), story.tell(&names))
        };
        let lines: Vec<String> = entries.iter().zip(&stories).map(line).collect();
        let older = entries.last().map_or(0, |entry| entry.revision.saturating_sub(1));
        if self.todo.is_none() && older > 0 && self.limit > 0 {
            let more = u64::from(self.limit).saturating_mul(5);
            output::remark(&format!("{older} older; `punch log --limit {more}` shows more"));
        }
        Ok(Reply::new(lines.join("\n"), json!({})))
    }
}

fn names(open: &Open, footprint: &Footprint) -> Result<Plan, Failure> {
    let all = footprint.todos.len() > MANY;
    Ok(if all { open.engine.whole(open.plan)? } else { open.engine.slice(open.plan, footprint)? })
}

fn footprint_of_all(entries: &[Entry]) -> Footprint {
    let events = entries.iter().flat_map(|entry| &entry.events);
    story::footprint(events.filter_map(|e| if let Patch::Todo(uid, _) = e.patch { Some(uid) } else { None }))
}

fn revision(entry: &Entry, names: &Plan) -> Value {
    let event = |event: &Event| {
        let (todo, fields): (_, Vec<&str>) = match &event.patch {
            Patch::Todo(uid, changes) => (names.get(*uid), changes.iter().map(Change::field).collect()),
            Patch::Phases(_) => (None, vec!["phases"]),
            Patch::Policy(_) => (None, vec!["policy"]),
        };
        json!({"kind": event.kind.name(), "todo": todo.map(|t| t.id.as_str()), "fields": fields})
    };
    json!({
        "revision": entry.revision,
        "at": entry.at,
        "by": entry.by,
        "events": entry.events.iter().map(event).collect::<Vec<_>>(),
    })
}

//! `punch list`: todos in list order, filtered if you like.

use std::collections::BTreeSet;

use clap::Args;
use punch_core::filter::{Filter, FilterState, Viewer};
use punch_core::reason::PlanReader;
use punch_core::view::phase_tree;
use punch_core::{Footprint, Label, Plan, Todo, Uid};
use punch_engine::{EngineError, READER, load_reasons};
use punch_store::{ListMark, Snapshot, Which};
use serde_json::json;

use crate::failure::Failure;
use crate::project::{OpenProject, Project, never_freed};
use crate::reply::{self, VerbReply};
use crate::style::OutputStream;
use crate::{input, safety};

const EXAMPLES: &str = "\
Examples:
  punch list
  punch list --ready                           # the same as `punch list is:ready`
  punch list is:blocked p:1 -docs              # see `punch help filters`
  punch list --label bug --label area/store    # both
  punch list --owner claude                    # what claude works on; the same as `by:claude`
  punch list --tree --all
  punch list -n 20 --json";

/// Rows read at once, at first and later.
const FIRST_PAGE: usize = 1_000;
const PAGE: usize = 10_000;
/// Rows on a terminal, unless more are asked for.
pub(super) const ON_A_TERMINAL: usize = 200;

/// The arguments of `punch list`.
#[derive(Args, Default)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// Words to search for, and filters such as `is:ready`, `p:1`, `by:claude`, `-docs`
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// What `-word` is read as
    #[arg(long, value_name = "FILTER", hide = true)]
    not: Vec<String>,
    /// Include completed and cancelled todos
    #[arg(long, short)]
    all: bool,
    /// Only todos that can be started
    #[arg(long, short)]
    ready: bool,
    /// Only todos that are waiting, stuck or on hold
    #[arg(long, short)]
    blocked: bool,
    /// Only todos that failed
    #[arg(long)]
    failed: bool,
    /// Only todos that you have in progress
    #[arg(long, short)]
    mine: bool,
    /// Only todos in this state: ready, blocked, working, done, failed, …
    #[arg(long, short, value_name = "STATE", value_parser = input::state)]
    status: Option<FilterState>,
    /// Only todos with these words in their id, text or description
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only this phase
    #[arg(long, short, value_name = "NAME")]
    phase: Option<String>,
    /// Only todos with this label; `docs,web` (repeatable)
    #[arg(long = "label", short, value_name = "LABEL", value_delimiter = ',')]
    labels: Vec<String>,
    /// Show at most N todos
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Group by phases
    #[arg(long, short)]
    tree: bool,
}

impl ListArgs {
    /// The list of everything that contains words, closed todos too.
    pub fn search(words: Vec<String>, not: Vec<String>) -> Self {
        Self { filter: words, not, all: true, ..Self::default() }
    }

    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let filter = self.filter(project.global.owner.as_deref())?;
        let Some(open) = project.read()?.plan() else { return Ok(empty()) };
        let (now, json) = (open.engine.now(), open.project.global.json);
        let shown = match self.limit {
            Some(limit) => limit,
            None if !json && OutputStream::Out.is_terminal() => ON_A_TERMINAL,
            None => usize::MAX,
        };
        let (plan, uids) = self.find(&open, &filter, shown)?;
        let plan = never_freed(plan);
        let reader = PlanReader::new(&plan, now);
        let mut todos: Vec<&Todo> = uids.iter().filter_map(|uid| plan.get(*uid)).collect();
        if json {
            let records = reply::records(&plan, todos.iter().copied(), now);
            return Ok(VerbReply::new("", json!({"todos": records})));
        }
        if self.limit == Some(0) {
            let open = safety::count(plan.row.counts.listed(), "open todo");
            return Ok(VerbReply::new(format!("`--limit 0` shows none of {open}."), json!({})));
        }
        if todos.is_empty() {
            return Ok(self.nothing(&plan, &filter));
        }
        let more = todos.len() > shown;
        todos.truncate(shown);
        let layout = open.project.layout(now);
        let lines = match self.tree {
            true => phase_tree::lines(reader, &todos, layout),
            false => reply::table(reader, todos, layout),
        };
        let reply = VerbReply::new(lines, json!({}));
        Ok(if more { reply.with_remark(self.hidden(&plan, &filter, shown)) } else { reply })
    }

    /// The flags and words as one filter. `owner` is whose todos are meant.
    fn filter(&self, owner: Option<&str>) -> Result<Filter, Failure> {
        let mut text = self.filter.join(" ");
        text.extend(self.not.iter().map(|term| format!(" -{term}")));
        for (set, state) in [(self.ready, "ready"), (self.blocked, "blocked"), (self.failed, "failed")] {
            if set {
                text.push_str(&format!(" is:{state}"));
            }
        }
        if self.mine {
            text.push_str(" is:mine");
        }
        text.extend(owner.filter(|_| !self.mine).map(|owner| format!(" by:\"{owner}\"")));
        let filter = Filter::read(&text).map_err(|error| Failure::usage(&error.message(), error.hint()))?;
        let filter = self.status.into_iter().fold(filter, Filter::in_state);
        Ok(self.text.iter().fold(filter, |filter, words| filter.containing(words)))
    }

    fn nothing(&self, plan: &Plan, filter: &Filter) -> VerbReply {
        let closed = if self.all { "" } else { "; `--all` includes closed todos" };
        let text = match plan.row.counts.total() {
            0 => return empty(),
            _ if self.failed && self.filter.is_empty() => "No todo has failed.".to_owned(),
            _ if !filter.is_empty() || self.phase.is_some() => format!("No todo matches{closed}."),
            _ if !self.labels.is_empty() => {
                let names: Vec<&str> = self.labels.iter().map(String::as_str).collect();
                let which = if self.all { "todo" } else { "open todo" };
                format!("No {which} is labeled {}.", punch_core::text::neutral(&reply::listed(&names)))
            }
            _ => "Nothing is open; `punch list --all` shows what is closed.".to_owned(),
        };
        VerbReply::new(text, json!({}))
    }

    /// Says that a list is not complete. How many todos pass a filter is known only after looking at all.
    fn hidden(&self, plan: &Plan, filter: &Filter, shown: usize) -> String {
        let counts = plan.row.counts;
        let total = match filter.is_empty() && self.phase.is_none() && self.labels.is_empty() {
            true if self.all => Some(counts.total()),
            true => Some(counts.listed() + counts.failed),
            false => None,
        };
        match total {
            Some(total) => format!(
                "{} not shown; `punch list -n {total}` shows all, filters show fewer (`punch help filters`)",
                safety::count(total.saturating_sub(shown as u64), "more todo"),
            ),
            None => format!("more todos match; `-n {}` shows more", shown.saturating_mul(10)),
        }
    }

    /// The todos that are meant: at most one more than `shown`.
    fn find(&self, open: &OpenProject, filter: &Filter, shown: usize) -> Result<(Plan, Vec<Uid>), Failure> {
        let labels = Label::parse_all(self.labels.iter().map(String::as_str)).map_err(EngineError::from)?;
        let (now, json, actor) = (open.engine.now(), open.project.global.json, open.project.actor());
        let seen_at = open.engine.seen(open.plan, READER)?.map(|mark| mark.at);
        let viewer = Viewer { owner: actor.owner(), seen_at };
        Ok(open.engine.read(open.plan, |snapshot| {
            // One more than is shown, to know whether there are more. Programs get as many as they asked for.
            let limit = if json { shown } else { shown.saturating_add(1) };
            let (mut plan, uids) = self.load(snapshot, &labels, filter, viewer, limit, now)?;
            match json {
                true => reply::load_names(snapshot, &mut plan, &uids)?,
                false => load_reasons(snapshot, &mut plan, &uids)?,
            }
            Ok((plan, uids))
        })?)
    }

    /// The first `limit` todos of the phase, with the labels, that pass the filter.
    fn load(
        &self,
        snapshot: &dyn Snapshot,
        labels: &BTreeSet<Label>,
        filter: &Filter,
        viewer: Viewer<'_>,
        limit: usize,
        now: i64,
    ) -> Result<(Plan, Vec<Uid>), EngineError> {
        let row = snapshot.row()?;
        let phase = self.phase.as_deref().map(|name| row.phase_named(name)).transpose()?;
        let which = match (self.all || filter.asks_for_closed(), row.counts.failed) {
            (true, _) => Which::Live,
            (false, 0) => Which::Open,
            (false, _) => Which::Unfinished,
        };
        let meant = |todo: &Todo| (phase.is_none() || todo.phase == phase) && todo.labels.is_superset(labels);
        let mut plan = Plan::slice(row);
        if filter.follows_dependencies() || (self.tree && plan.row.counts.total() <= WHOLE) {
            snapshot.load(&Footprint::everything(), &mut plan)?;
            // A filter that names an unknown todo is refused, even where there is nothing to list.
            filter.on(PlanReader::of(&plan, viewer.owner, now), viewer)?;
        }
        let (mut uids, mut after, mut size) = (Vec::new(), None, limit.min(FIRST_PAGE));
        while uids.len() < limit {
            let page = snapshot.list(which, after, size)?;
            let Some(last) = page.last() else { break };
            (after, size) = (Some(ListMark::of(last)), PAGE);
            let mut found: Vec<Todo> = page.into_iter().filter(meant).collect();
            if filter.looks_at_todos_alone() {
                let on = filter.on(PlanReader::of(&plan, viewer.owner, now), viewer)?;
                let passes: Vec<bool> = found.iter().map(|todo| on.matches(todo)).collect();
                let mut passes = passes.into_iter();
                found.retain(|_| passes.next().unwrap_or_default());
            }
            let mut found: Vec<Uid> = found
                .into_iter()
                .map(|todo| {
                    let uid = todo.uid;
                    plan.put(todo);
                    uid
                })
                .collect();
            if !filter.looks_at_todos_alone() {
                load_reasons(snapshot, &mut plan, &found)?;
                let on = filter.on(PlanReader::of(&plan, viewer.owner, now), viewer)?;
                found.retain(|uid| plan.get(*uid).is_some_and(|todo| on.matches(todo)));
            }
            uids.extend(found);
        }
        uids.truncate(limit);
        Ok((plan, uids))
    }
}

/// Plans of at most this many todos are read whole for a tree, which shows the progress of each phase.
const WHOLE: u64 = 10_000;

/// An empty plan.
pub fn empty() -> VerbReply {
    VerbReply::new("No todos yet: `punch add 'First thing'` adds one.", json!({"todos": []}))
}

//! The read tool: views of the plan, a page at a time, each from one moment of the store.

use punch_core::inbox::InboxItem;
use punch_core::reason::{self, PlanReader};
use punch_core::schedule::{ScheduleRequest, batch};
use punch_core::view::{self, Cap, RevisionStory, TodoDetail, spans};
use punch_core::{Footprint, Plan, Record, Refusal, Todo, Uid, text};
use punch_store::{Snapshot, Which};
use serde_json::{Value, json};

use super::names::SessionNames;
use super::render::{self, capped};
use super::{Dialect, ReadCall, ReadView, ToolAnswer, ToolCaller, extended, worker};
use crate::inbox::{self, InboxQuery};
use crate::{EngineError, ReadyQuery, RevisionEntry, history, host, ready, reference, session};

/// What a reading displays, in the names of its conversation.
pub(super) struct Display {
    pub names: SessionNames,
    /// The todos whose content is displayed.
    pub todos: Vec<Uid>,
}

impl Display {
    fn take(&mut self, todos: Vec<Todo>) -> Vec<Todo> {
        self.todos.extend(todos.iter().map(|todo| todo.uid));
        todos.into_iter().map(|todo| self.names.labelled(todo)).collect()
    }
}

/// Answers a reading. The calibration counts for views that are calibrated.
pub(super) fn answer(
    snapshot: &dyn Snapshot,
    caller: &ToolCaller<'_>,
    dialect: Dialect,
    call: &ReadCall,
    display: &mut Display,
    (calibration, now): (f64, i64),
) -> Result<ToolAnswer, EngineError> {
    let id = call.id.as_deref().map(|name| display.names.id(name).to_owned());
    let own = || worker::scope(snapshot, caller);
    match call.view {
        ReadView::Plan => {
            let which = if call.all { Which::Live } else { Which::Open };
            plan(snapshot, caller, dialect, (which, own()?.as_deref()), (call.offset, call.limit), display, now)
        }
        ReadView::Next => ready(snapshot, caller, own()?.as_deref(), None, display, now),
        ReadView::Ready => ready(snapshot, caller, own()?.as_deref(), Some(call.limit), display, now),
        ReadView::Todo => todo(snapshot, caller, dialect, required(id.as_deref())?, display, now),
        ReadView::Why => why(snapshot, caller, id.as_deref(), now),
        ReadView::Schedule => fitting(snapshot, own()?.as_deref(), left(snapshot, caller, call)?, (calibration, now)),
        ReadView::History => past(snapshot, caller, call.limit),
        ReadView::Inbox => needs_user(snapshot, caller, own()?.as_deref(), now),
    }
}

fn plan(
    snapshot: &dyn Snapshot,
    caller: &ToolCaller<'_>,
    dialect: Dialect,
    (which, own): (Which, Option<&[Uid]>),
    (offset, limit): (usize, usize),
    display: &mut Display,
    now: i64,
) -> Result<ToolAnswer, EngineError> {
    let row = snapshot.row()?;
    let (page, total) = match own {
        Some(own) => {
            let todos = worker::list(snapshot, own, which == Which::Live, now)?;
            let total = todos.len() as u64;
            (todos.into_iter().skip(offset).take(limit).collect(), total)
        }
        None => {
            let total = if which == Which::Live { row.counts.total() } else { row.counts.listed() };
            (snapshot.page(which, offset, limit)?, total)
        }
    };
    let page = display.take(page);
    let mut part = Plan::slice(row.clone());
    page.iter().for_each(|t| part.put(t.clone()));
    let uids: Vec<Uid> = page.iter().map(|t| t.uid).collect();
    ready::load_reasons(snapshot, &mut part, &uids)?;
    let reader = PlanReader::of(&part, caller.actor.owner(), now);
    let mut lines: Vec<String> = Vec::with_capacity(page.len() + 2);
    lines.extend(page.iter().map(|t| render::line(reader, t)));
    let end = offset.saturating_add(page.len());
    if !page.is_empty() && (end as u64) < total {
        lines.push(format!("… {} more: call again with offset {end}", total - end as u64));
    }
    if page.is_empty() {
        lines.push(if total == 0 { "Nothing is open.".into() } else { "No todos at this offset.".into() });
    }
    // What to do next was on the first page.
    lines.push(match (offset, own) {
        (0, None) => render::progress(&row, display.take(next(snapshot, caller, None, now)?).first()),
        (0, Some(own)) => own_progress(snapshot, caller, own, now)?,
        _ => render::done(&row),
    });
    let revision = row.revision;
    let structured = caller.structured.then(|| {
        let rows: Value = match dialect {
            Dialect::Extended => {
                let mut part = Plan::slice(row);
                page.iter().for_each(|t| part.put(t.clone()));
                page.iter().map(|t| extended::record(&part, t, now)).collect()
            }
            _ => page
                .iter()
                .map(|t| json!({"id": t.id, "content": t.content, "status": t.status_at(now).name()}))
                .collect(),
        };
        json!({"todos": rows, "total": total, "offset": offset})
    });
    Ok(ToolAnswer::new(capped(&lines.join("\n")), structured.unwrap_or_default(), revision))
}

/// The last line of what a worker reads.
fn own_progress(
    snapshot: &dyn Snapshot,
    caller: &ToolCaller<'_>,
    own: &[Uid],
    now: i64,
) -> Result<String, EngineError> {
    let todos = worker::list(snapshot, own, true, now)?;
    Ok(worker::progress(&todos, next(snapshot, caller, Some(own), now)?.first(), now))
}

/// What the caller should work on.
fn next(
    snapshot: &dyn Snapshot,
    caller: &ToolCaller<'_>,
    own: Option<&[Uid]>,
    now: i64,
) -> Result<Vec<Todo>, EngineError> {
    Ok(ReadyQuery::for_owner(caller.actor.owner(), own, now).next(snapshot)?.into_iter().collect())
}

/// What can be started, at most `limit`; without a limit, what the caller should work on, with what it must know to begin.
fn ready(
    snapshot: &dyn Snapshot,
    caller: &ToolCaller<'_>,
    own: Option<&[Uid]>,
    limit: Option<usize>,
    display: &mut Display,
    now: i64,
) -> Result<ToolAnswer, EngineError> {
    let row = snapshot.row()?;
    let todos = match limit {
        None => next(snapshot, caller, own, now)?,
        Some(limit) => ReadyQuery { scope: own, ..ReadyQuery::of_plan(now) }.ready(snapshot, limit)?,
    };
    let todos = display.take(todos);
    // What is ready waits for nothing, so nothing has to be loaded to show it.
    let part = Plan::slice(row.clone());
    let reader = PlanReader::of(&part, caller.actor.owner(), now);
    let mut lines: Vec<String> = todos.iter().map(|t| render::line(reader, t)).collect();
    if limit.is_none() {
        lines.extend(todos.iter().flat_map(render::work));
    }
    if todos.is_empty() {
        lines.push("Nothing is ready; view why shows what the open todos are waiting for.".into());
    }
    lines.push(match own {
        Some(own) => own_progress(snapshot, caller, own, now)?,
        None => render::progress(&row, todos.first()),
    });
    let structured =
        caller.structured.then(|| json!({"ready": todos.iter().map(|t| t.id.as_str()).collect::<Vec<_>>()}));
    Ok(ToolAnswer::new(capped(&lines.join("\n")), structured.unwrap_or_default(), row.revision))
}

fn todo(
    snapshot: &dyn Snapshot,
    caller: &ToolCaller<'_>,
    dialect: Dialect,
    id: &str,
    display: &mut Display,
    now: i64,
) -> Result<ToolAnswer, EngineError> {
    let uid = reference::resolve(snapshot, id)?;
    let mut part = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint { todos: [uid].into(), ..Default::default() }, &mut part)?;
    let more = crate::submit::surroundings(&part, std::iter::once(uid));
    snapshot.load(&more, &mut part)?;
    if !display.names.is_empty() {
        let todos: Vec<Todo> = part.all().map(|todo| display.names.labelled(todo.clone())).collect();
        todos.into_iter().for_each(|todo| part.put(todo));
    }
    display.todos.push(uid);
    let todo = part.get(uid).ok_or_else(|| EngineError::NotFound { given: id.to_owned(), near: Vec::new() })?;
    let detail = TodoDetail::of(PlanReader::of(&part, caller.actor.owner(), now), todo);
    let text = capped(&spans::text(&detail.model_lines()));
    let structured = caller.structured.then(|| match dialect {
        Dialect::Extended => json!({"todo": extended::record(&part, todo, now)}),
        _ => json!({"todo": Record::of(&part, todo, now).to_map()}),
    });
    Ok(ToolAnswer::new(text, structured.unwrap_or_default(), part.row.revision))
}

fn why(
    snapshot: &dyn Snapshot,
    caller: &ToolCaller<'_>,
    id: Option<&str>,
    now: i64,
) -> Result<ToolAnswer, EngineError> {
    let uid = id.map(|id| reference::resolve(snapshot, id)).transpose()?;
    let mut plan = Plan::slice(snapshot.row()?);
    let text = match uid {
        Some(uid) => {
            ready::load_roots(snapshot, &mut plan, uid, now)?;
            reason::why(&plan, uid, now).map(|why| why.text()).unwrap_or_default()
        }
        None => {
            snapshot.load(&Footprint::everything(), &mut plan)?;
            reason::standstill(&plan, now).text()
        }
    };
    let structured = caller.structured.then(|| json!({"why": text}));
    Ok(ToolAnswer::new(capped(&text), structured.unwrap_or_default(), plan.row.revision))
}

/// The tokens that the caller has left: as it says, as its hooks measured last, or those of a whole context window.
fn left(snapshot: &dyn Snapshot, caller: &ToolCaller<'_>, call: &ReadCall) -> Result<u64, EngineError> {
    if let Some(left) = call.budget {
        return Ok(left);
    }
    let state = session::load(snapshot, &caller.session, snapshot.info()?.id)?;
    Ok(state.context.map_or(ScheduleRequest::default().context, |context| context.limit.saturating_sub(context.used)))
}

/// The next batch that fits what the caller has left.
fn fitting(
    snapshot: &dyn Snapshot,
    own: Option<&[Uid]>,
    left: u64,
    (calibration, now): (f64, i64),
) -> Result<ToolAnswer, EngineError> {
    let mut whole = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint::everything(), &mut whole)?;
    if let Some(own) = own {
        worker::hold_others(&mut whole, own);
    }
    let batch = batch(&whole, left, calibration, now);
    let ids: Vec<&str> = batch.todos.iter().take(200).map(|(id, _)| id.as_str()).collect();
    // Always there: the caller that assigns work takes from it what was assigned.
    let structured =
        json!({"todos": ids, "estimatedTokens": batch.tokens, "budget": batch.budget, "advice": batch.advice()});
    Ok(ToolAnswer::new(capped(&batch.text(&whole)), structured, whole.row.revision))
}

fn past(snapshot: &dyn Snapshot, caller: &ToolCaller<'_>, limit: usize) -> Result<ToolAnswer, EngineError> {
    let entries = history::last(snapshot, limit.min(20) as u64, history::NARRATED)?;
    let stories: Vec<RevisionStory> = entries.iter().map(RevisionEntry::story).collect();
    let mut names = Plan::slice(snapshot.row()?);
    snapshot.load(&view::history::footprint(stories.iter().flat_map(RevisionStory::names)), &mut names)?;
    let line = |(entry, story): (&RevisionEntry, &RevisionStory)| entry.row(&names, story).model_line();
    let mut lines: Vec<String> = entries.iter().zip(&stories).map(line).collect();
    let mut structured = json!({"revisions": entries.iter().map(|e| e.revision).collect::<Vec<_>>()});
    if let Some(turn) = host::turn_of(snapshot, &caller.session)? {
        let shown: Vec<String> = turn.open.iter().take(50).map(|id| text::neutral(id).into_owned()).collect();
        let more = turn.open.len().saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("This turn began at rev {}; open then: {}{more}", turn.revision, shown.join(", ")));
        structured["turnStartRevision"] = json!(turn.revision);
        structured["turnStartTodoIds"] = json!(turn.open.iter().take(200).collect::<Vec<_>>());
    }
    let revision = entries.first().map_or(0, |entry| entry.revision);
    let structured = if caller.structured { structured } else { Value::Null };
    Ok(ToolAnswer::new(capped(&lines.join("\n")), structured, revision))
}

/// What needs the user, without the commands: they are not for agents.
fn needs_user(
    snapshot: &dyn Snapshot,
    caller: &ToolCaller<'_>,
    own: Option<&[Uid]>,
    now: i64,
) -> Result<ToolAnswer, EngineError> {
    let mut items = match caller.settings {
        Some(settings) => inbox::items(snapshot, &InboxQuery::new(settings, caller.work.tree.as_ref()), now)?,
        None => Vec::new(),
    };
    if let Some(own) = own {
        let todos = worker::list(snapshot, own, true, now)?;
        items.retain(|item| todos.iter().any(|todo| item.todo.as_ref() == Some(&todo.id)));
    }
    let text = view::inbox::capped(&items, Cap::new(60, ToolAnswer::CAP));
    let record = |item: &InboxItem| json!({"kind": item.kind.name(), "todo": item.todo, "text": item.text, "since": item.since, "blocks": item.blocks});
    let structured = caller.structured.then(|| json!({"inbox": items.iter().take(60).map(record).collect::<Vec<_>>()}));
    Ok(ToolAnswer::new(text, structured.unwrap_or_default(), snapshot.row()?.revision))
}

fn required(id: Option<&str>) -> Result<&str, EngineError> {
    id.filter(|id| !id.is_empty())
        .ok_or_else(|| Refusal::Invalid { at: "id".into(), what: "missing; name the todo".into() }.into())
}

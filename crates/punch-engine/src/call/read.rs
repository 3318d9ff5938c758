//! The reading tool: views of the plan, a page at a time, each from one moment of the store.

use punch_core::graph::reason;
use punch_core::schedule::batch;
use punch_core::{Footprint, Plan, Record, Refusal, Todo, Uid, text};
use punch_store::{Snapshot, Which};
use serde_json::{Value, json};

use super::names::Names;
use super::render::{self, capped};
use super::{Answer, Caller, Dialect, ReadCall, ReadView, detail, native, worker};
use crate::{EngineError, history, host, reference};

/// What a reading displays, in the names of its conversation.
pub(super) struct Display {
    pub names: Names,
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
    caller: &Caller<'_>,
    dialect: Dialect,
    call: &ReadCall,
    display: &mut Display,
    (calibration, now): (f64, i64),
) -> Result<Answer, EngineError> {
    let id = call.id.as_deref().map(|name| display.names.id(name).to_owned());
    let own = || worker::scope(snapshot, caller);
    match call.view {
        ReadView::Plan => {
            let which = if call.all { Which::Live } else { Which::Open };
            plan(snapshot, caller, dialect, (which, own()?.as_deref()), (call.offset, call.limit), display, now)
        }
        ReadView::Next => ready(snapshot, caller, own()?.as_deref(), 1, display, now),
        ReadView::Ready => ready(snapshot, caller, own()?.as_deref(), call.limit, display, now),
        ReadView::Todo => todo(snapshot, caller, required(id.as_deref())?, display, now),
        ReadView::Why => why(snapshot, caller, id.as_deref(), now),
        ReadView::Schedule => fitting(snapshot, own()?.as_deref(), call.budget, (calibration, now)),
        ReadView::History => past(snapshot, caller, call.limit),
    }
}

fn plan(
    snapshot: &dyn Snapshot,
    caller: &Caller<'_>,
    dialect: Dialect,
    (which, own): (Which, Option<&[Uid]>),
    (offset, limit): (usize, usize),
    display: &mut Display,
    now: i64,
) -> Result<Answer, EngineError> {
    let row = snapshot.row()?;
    let (page, total) = match own {
        Some(own) => {
            let todos = worker::list(snapshot, own, which == Which::Live, now)?;
            let total = todos.len() as u64;
            (todos.into_iter().skip(offset).take(limit).collect(), total)
        }
        None => {
            let total = if which == Which::Live { row.counts.total() } else { row.counts.open() };
            (snapshot.page(which, offset, limit)?, total)
        }
    };
    let page = display.take(page);
    let mut lines: Vec<String> = Vec::with_capacity(page.len() + 2);
    lines.extend(page.iter().map(|t| render::line(t, now)));
    let end = offset.saturating_add(page.len());
    if !page.is_empty() && (end as u64) < total {
        lines.push(format!("… {} more: call again with offset {end}", total - end as u64));
    }
    if page.is_empty() {
        lines.push(if total == 0 { "Nothing is open.".into() } else { "No todos at this offset.".into() });
    }
    // What to do next was on the first page.
    lines.push(match (offset, own) {
        (0, None) => render::progress(&row, &display.take(native::next(snapshot, caller, now)?)),
        (0, Some(own)) => own_progress(snapshot, caller, own, now)?,
        _ => render::done(&row),
    });
    let revision = row.revision;
    let structured = caller.structured.then(|| {
        let rows: Value = match dialect {
            Dialect::Extended => {
                let mut part = Plan::slice(row);
                page.iter().for_each(|t| part.put(t.clone()));
                page.iter().map(|t| Value::Object(Record::of(&part, t, now).to_map())).collect()
            }
            _ => page
                .iter()
                .map(|t| json!({"id": t.id, "content": t.content, "status": t.status_at(now).name()}))
                .collect(),
        };
        json!({"todos": rows, "total": total, "offset": offset})
    });
    Ok(Answer::new(capped(&lines.join("\n")), structured.unwrap_or_default(), revision))
}

/// The last line of what a worker reads.
fn own_progress(snapshot: &dyn Snapshot, caller: &Caller<'_>, own: &[Uid], now: i64) -> Result<String, EngineError> {
    let todos = worker::list(snapshot, own, true, now)?;
    Ok(worker::progress(&todos, &worker::next(snapshot, caller, own, now, 1)?, now))
}

fn ready(
    snapshot: &dyn Snapshot,
    caller: &Caller<'_>,
    own: Option<&[Uid]>,
    limit: usize,
    display: &mut Display,
    now: i64,
) -> Result<Answer, EngineError> {
    let row = snapshot.row()?;
    let todos = match own {
        Some(own) => worker::next(snapshot, caller, own, now, limit)?,
        None if limit == 1 => native::next(snapshot, caller, now)?,
        None => snapshot.ready(now, None, limit)?,
    };
    let todos = display.take(todos);
    let mut lines: Vec<String> = todos.iter().map(|t| render::line(t, now)).collect();
    if todos.is_empty() {
        lines.push("Nothing is ready; view why tells what the open todos wait for.".into());
    }
    lines.push(match own {
        Some(own) => own_progress(snapshot, caller, own, now)?,
        None => render::progress(&row, &todos),
    });
    let structured =
        caller.structured.then(|| json!({"ready": todos.iter().map(|t| t.id.as_str()).collect::<Vec<_>>()}));
    Ok(Answer::new(capped(&lines.join("\n")), structured.unwrap_or_default(), row.revision))
}

fn todo(
    snapshot: &dyn Snapshot,
    caller: &Caller<'_>,
    id: &str,
    display: &mut Display,
    now: i64,
) -> Result<Answer, EngineError> {
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
    let record = Record::of(&part, todo, now).to_map();
    let text = capped(&detail::text(todo, &record, now));
    let structured = caller.structured.then(|| json!({"todo": record}));
    Ok(Answer::new(text, structured.unwrap_or_default(), part.row.revision))
}

fn why(snapshot: &dyn Snapshot, caller: &Caller<'_>, id: Option<&str>, now: i64) -> Result<Answer, EngineError> {
    let uid = id.map(|id| reference::resolve(snapshot, id)).transpose()?;
    let mut whole = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint::everything(), &mut whole)?;
    let text = match uid {
        Some(uid) => reason::why(&whole, uid, now).map(|why| why.text()).unwrap_or_default(),
        None => {
            let blocked = whole.live().into_iter().filter(|t| t.is_blocked(now));
            let lines: Vec<String> =
                blocked.take(10).filter_map(|t| reason::why(&whole, t.uid, now)).map(|why| why.text()).collect();
            if lines.is_empty() { "Nothing waits.".into() } else { lines.join("\n") }
        }
    };
    let structured = caller.structured.then(|| json!({"why": text}));
    Ok(Answer::new(capped(&text), structured.unwrap_or_default(), whole.row.revision))
}

/// The next batch that fits what the caller has left.
fn fitting(
    snapshot: &dyn Snapshot,
    own: Option<&[Uid]>,
    budget: u64,
    (calibration, now): (f64, i64),
) -> Result<Answer, EngineError> {
    let mut whole = Plan::slice(snapshot.row()?);
    snapshot.load(&Footprint::everything(), &mut whole)?;
    if let Some(own) = own {
        worker::hold_others(&mut whole, own);
    }
    let batch = batch(&whole, budget, calibration, now);
    let ids: Vec<&str> = batch.todos.iter().take(200).map(|(id, _)| id.as_str()).collect();
    // Always there: the caller that assigns work takes from it what was assigned.
    let structured = json!({"todos": ids, "estimatedTokens": batch.tokens, "budget": budget, "advice": batch.advice()});
    Ok(Answer::new(capped(&batch.text(&whole, budget, now)), structured, whole.row.revision))
}

fn past(snapshot: &dyn Snapshot, caller: &Caller<'_>, limit: usize) -> Result<Answer, EngineError> {
    let entries = history::last(snapshot, limit.min(20) as u64)?;
    let mut lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            let kinds: Vec<&str> = entry.events.iter().take(5).map(|e| e.kind.name()).collect();
            let undoes = entry.fate.undoes.map(|of| format!(", undoes rev {of}")).unwrap_or_default();
            let undone = entry.fate.undone_by.map(|by| format!(", undone by rev {by}")).unwrap_or_default();
            let by = text::neutral(&entry.by);
            format!("rev {}: {} by {by}{undoes}{undone}", entry.revision, kinds.join(", "))
        })
        .collect();
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
    Ok(Answer::new(capped(&lines.join("\n")), structured, revision))
}

fn required(id: Option<&str>) -> Result<&str, EngineError> {
    id.filter(|id| !id.is_empty())
        .ok_or_else(|| Refusal::Invalid { at: "id".into(), what: "missing; name the todo".into() }.into())
}

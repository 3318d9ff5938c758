//! Answers about a plan: the board, lists, one todo, the graph, the past.

use std::collections::{HashMap, HashSet, VecDeque};

use axum::http::StatusCode;
use punch_core::filter::{Filter, Viewer};
use punch_core::inbox::plan_command;
use punch_core::reason::{PlanReader, WorkLimits};
use punch_core::schedule::{ScheduleOrder, ScheduleRequest, critical_path, schedule};
use punch_core::text::neutral;
use punch_core::view::{
    BoardRow, Glyphs, GraphLayout, HistoryRow, Layout, Plain, RevisionStory, changes, spans, why_answer,
};
use punch_core::{Plan, Record, Refusal, Todo, Uid};
use punch_engine::{AttemptCost, READER, RevisionEntry, Revisions};
use serde_json::{Value, json};

use crate::context::{ApiResult, PlanContext, RowsAnswer};
use crate::feed::{figures, phases};
use crate::{ApiProblem, around, markdown};

/// Revisions of one page of the history.
const HISTORY: usize = 1_000;
/// Revisions of the past for which undone ones are recognized.
const WALKED: u64 = 5_000;
/// Revisions that the board shows as new.
const UNSEEN: u64 = 50;
/// Rows of one page.
const ROWS: usize = 10_000;
/// Todos of a graph.
const NODES: usize = 2_000;
/// Checkpoints that are listed.
const CHECKPOINTS: usize = 200;
/// Bytes of a diff or a log.
const LONGEST: usize = 1024 * 1024;
/// Bytes of a log that are sent unless more are asked for.
const TAIL: usize = 64 * 1024;

/// `GET …/board`
pub(crate) fn board(at: &PlanContext<'_>) -> Result<RowsAnswer, ApiProblem> {
    let picture = at.picture()?;
    let plan = at.plan_of(&picture)?;
    let around = picture.around();
    let unseen = plan.row.revision.saturating_sub(around.seen).min(UNSEEN);
    let entries = if unseen > 0 { at.on(|engine| engine.history(at.id(), unseen))? } else { Vec::new() };
    let question = |question| around::question(question, Some(plan));
    let mut out = json!({
        "schema": 1,
        "plan": neutral(&at.feed.info.name),
        "revision": plan.row.revision,
        "now": picture.now,
        "phases": phases(plan),
        "inbox": around.inbox,
        "questions": around.questions.iter().map(question).collect::<Vec<_>>(),
        "run": around.run,
        "sessions": around.sessions,
        "fleet": around.fleet,
        "seen": around.seen,
        "unseen": entries.iter().map(|entry| entry_of(entry, plan)).collect::<Vec<_>>(),
        "quietAfter": i64::try_from(at.app.setup.settings.run_idle.value.as_millis()).unwrap_or(i64::MAX) / 2,
        "failedWrite": picture.failed_write(),
        "can": at.caller.can(),
    });
    merge(&mut out, figures(plan));
    Ok(RowsAnswer { rest: out, rows: picture.rows() })
}

/// `GET …/inbox`
pub(crate) fn inbox(at: &PlanContext<'_>) -> ApiResult {
    let picture = at.picture()?;
    Ok(json!({"schema": 1, "revision": picture.revision(), "items": picture.around().inbox}))
}

/// `GET …/todos`
pub(crate) fn todos(at: &PlanContext<'_>) -> ApiResult {
    let query = at.query;
    let (limit, after, all) = (query.at_most("limit", ROWS, ROWS)?, query.number("after")?, query.flag("all")?);
    let only_uids = match query.text("form") {
        None | Some("rows") => false,
        Some("uids") => true,
        Some(_) => return Err(ApiProblem::bad_request("`form` must be rows or uids")),
    };
    let filter = Filter::parse(query.text("f").unwrap_or_default())?;
    let seen_at = at.on(|engine| engine.seen(at.id(), READER))?.map(|mark| mark.at);
    let picture = at.picture()?;
    let plan = at.plan_of(&picture)?;
    let all = all || filter.asks_for_closed();
    let viewer = Viewer { owner: None, seen_at };
    let on = filter.on(PlanReader::new(plan, picture.now), viewer)?;
    let listed = |todo: &&Todo| all || todo.status.is_open() || todo.status == punch_core::Status::Failed;
    let found: Vec<Uid> =
        plan.live().into_iter().filter(listed).filter(|todo| on.matches(todo)).map(|todo| todo.uid).collect();
    if only_uids {
        return Ok(json!({"schema": 1, "revision": plan.row.revision, "uids": found}));
    }
    let start = match after {
        None => 0,
        Some(after) => found.iter().position(|uid| uid.0 == after).map_or(found.len(), |place| place + 1),
    };
    let end = start.saturating_add(limit).min(found.len());
    let page = found.get(start..end).unwrap_or_default();
    let rows: Vec<BoardRow> = page.iter().filter_map(|uid| picture.row(*uid)).collect();
    let next = page.last().filter(|_| end < found.len());
    Ok(json!({"schema": 1, "revision": plan.row.revision, "rows": rows, "next": next}))
}

/// What one attempt at a todo took. The cost is null where the agent reported none.
fn attempt(one: &AttemptCost) -> Value {
    let cost = (one.spent.cost > 0 || one.spent.uncosted == 0).then_some(one.spent.cost);
    json!({
        "attempt": one.attempt, "agent": Plain::clipped(&one.agent, 40), "run": one.run, "tokens": one.spent.tokens,
        "estimated": one.spent.estimated, "cost": cost, "ms": one.spent.ms, "at": one.at,
    })
}

/// `GET …/todos/{id}`
pub(crate) fn todo(at: &PlanContext<'_>) -> ApiResult {
    let picture = at.picture()?;
    let plan = at.plan_of(&picture)?;
    let todo = at.todo(plan)?;
    let (now, setup) = (picture.now, &at.app.setup);
    let informed = at.on(|engine| engine.informed_sessions(at.id(), todo.uid, &setup.settings))?;
    let informed: Vec<Value> = informed
        .iter()
        .map(|one| json!({"session": neutral(&one.session), "agent": neutral(&one.agent), "at": one.at}))
        .collect();
    let attempts = at.on(|engine| engine.attempts(at.id(), todo.uid))?;
    let attempts: Vec<Value> = attempts.iter().map(attempt).collect();
    let check = todo.verify.as_ref().map(|command| {
        let approved = setup.tree.consents.as_ref().is_some_and(|consents| consents.has(command));
        json!({
            "command": Plain::clipped(&command.line(), 2_000),
            "approved": approved,
            "approve": plan_command("verify", &["--allow", &todo.id], setup.plan_flag(&at.feed.info)),
        })
    });
    let text = |text: &Option<String>| markdown::blocks(text.as_deref().unwrap_or_default());
    let mut out = json!({
        "schema": 1,
        "revision": plan.row.revision,
        "row": BoardRow::of(PlanReader::new(plan, now), todo),
        "todo": Record::answer(plan, todo, now),
        "markdown": {
            "description": text(&todo.description),
            "criteria": text(&todo.criteria),
            "notes": todo.notes.iter().map(|note| markdown::blocks(&note.text)).collect::<Vec<_>>(),
        },
        "check": check,
        "attempts": attempts,
        "informed": informed,
    });
    let todo = todo.clone();
    // Git is asked when nobody has to wait for the picture.
    drop(picture);
    let lane = (setup.worktree)(&at.feed.engine, &at.feed.info, &todo).map(|lane| {
        let size = (lane.size)().unwrap_or_else(|why| why);
        json!({"path": Plain::clipped(&lane.path.display().to_string(), 1_000), "size": Plain::text(size.trim())})
    });
    out["lane"] = json!(lane);
    out["hasLog"] = json!((setup.agent_log)(&at.feed.engine, &at.feed.info, &todo).is_some());
    Ok(out)
}

/// `GET …/todos/{id}/why`
pub(crate) fn why(at: &PlanContext<'_>) -> ApiResult {
    let picture = at.picture()?;
    let plan = at.plan_of(&picture)?;
    let todo = at.todo(plan)?;
    let answer = why_answer::of_todo(plan, todo.uid, Layout { now: picture.now, ..LAYOUT })
        .ok_or_else(|| at.unknown_todo(plan))?;
    let mut out =
        json!({"schema": 1, "revision": plan.row.revision, "todo": todo.id, "text": spans::text(&answer.lines)});
    merge(&mut out, answer.json);
    Ok(out)
}

/// Pages show times themselves, so texts have them in UTC.
const LAYOUT: Layout = Layout { glyphs: Glyphs::Unicode, width: None, now: 0 };

/// `GET …/todos/{id}/history`
pub(crate) fn todo_history(at: &PlanContext<'_>) -> ApiResult {
    let limit = at.query.at_most("limit", 50, HISTORY)?;
    let (plan, uid) = {
        let picture = at.picture()?;
        let plan = at.plan_of(&picture)?;
        (plan.clone(), at.todo(plan)?.uid)
    };
    let entries = at.on(|engine| engine.history_of(at.id(), uid, limit))?;
    let entry = |entry: &RevisionEntry| {
        let mut out = entry_of(entry, &plan);
        let lines = changes::lines(&plan, &entry.events, uid, LAYOUT);
        out["detail"] = lines.iter().map(|line| Value::from(line.plain().trim())).collect();
        out
    };
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    Ok(json!({"schema": 1, "revision": plan.row.revision, "entries": entries}))
}

/// `GET …/todos/{id}/diff`
pub(crate) fn diff(at: &PlanContext<'_>) -> ApiResult {
    let todo = at.own_todo()?;
    let lane = (at.app.setup.worktree)(&at.feed.engine, &at.feed.info, &todo).ok_or_else(|| {
        let message = format!("no run has a worktree for `{}`", todo.id);
        ApiProblem::not_found("no_worktree", message, "`punch run --worktrees` gives each todo its own")
    })?;
    let patch = (lane.patch)().map_err(|why| {
        let message = format!("git cannot show the diff: {why}");
        ApiProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "no_diff", message, "look at the worktree of the todo itself")
    })?;
    let shown = shown_text(patch.as_bytes(), LONGEST, PageEnd::First);
    Ok(json!({"schema": 1, "todo": todo.id, "diff": shown.0, "cut": shown.1}))
}

/// `GET …/todos/{id}/log`
pub(crate) fn log(at: &PlanContext<'_>) -> ApiResult {
    let tail = at.query.at_most("tail", TAIL, LONGEST)?;
    let todo = at.own_todo()?;
    let none = || {
        let message = format!("no run has a log for `{}`", todo.id);
        ApiProblem::not_found("no_log", message, "`punch run` keeps one for every todo that an agent works on")
    };
    let path = (at.app.setup.agent_log)(&at.feed.engine, &at.feed.info, &todo).ok_or_else(none)?;
    let bytes = punch_store::read_own(&path, 64 * 1024 * 1024).map_err(|_| none())?;
    let shown = shown_text(&bytes, tail, PageEnd::Last);
    Ok(json!({"schema": 1, "todo": todo.id, "log": shown.0, "cut": shown.1}))
}

enum PageEnd {
    First,
    Last,
}

/// A part of a long text, safe to show, and whether something is missing.
fn shown_text(bytes: &[u8], limit: usize, end: PageEnd) -> (String, bool) {
    let part = match end {
        PageEnd::First => &bytes[..bytes.len().min(limit)],
        PageEnd::Last => &bytes[bytes.len().saturating_sub(limit)..],
    };
    let text = String::from_utf8_lossy(part);
    let line = |line: &str| neutral(&line.replace('\t', "    ")).into_owned();
    (text.lines().map(line).collect::<Vec<_>>().join("\n"), part.len() < bytes.len())
}

/// `GET …/graph`
pub(crate) fn graph(at: &PlanContext<'_>) -> ApiResult {
    let query = at.query;
    let (depth, limit) = (query.at_most("depth", 2, 100)?, query.at_most("limit", 400, NODES)?);
    let all = query.flag("all")?;
    let picture = at.picture()?;
    let plan = at.plan_of(&picture)?;
    let now = picture.now;
    let chosen: Vec<&Todo> = match query.text("around") {
        None => plan.live().into_iter().filter(|todo| all || todo.status.is_open()).collect(),
        Some(id) => {
            let center = plan.by_id(id).filter(|todo| todo.is_live()).ok_or_else(|| at.unknown(plan, id))?;
            let near = neighbourhood(plan, center.uid, depth, NODES);
            plan.live().into_iter().filter(|todo| near.contains(&todo.uid)).collect()
        }
    };
    let layout = GraphLayout::of(PlanReader::new(plan, now), &chosen);
    let critical: HashSet<Uid> = critical_path(plan, 1.0).into_iter().collect();
    let mut layers: Vec<usize> = Vec::new();
    for node in &layout.nodes {
        layers.resize(layers.len().max(node.layer + 1), 0);
        layers[node.layer] += 1;
    }
    let shown: HashMap<Uid, usize> = layout.nodes.iter().take(limit).map(|node| (node.row.uid, node.layer)).collect();
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for node in layout.nodes.iter().take(limit) {
        let row = &node.row;
        let mut out = json!({
            "uid": row.uid, "id": row.id, "status": row.status, "text": row.text, "layer": node.layer,
            "order": node.order, "group": node.group,
        });
        if critical.contains(&row.uid) {
            out["critical"] = json!(true);
        }
        nodes.push(out);
        for edge in &node.edges {
            match edge.uid {
                Some(uid) if shown.contains_key(&uid) => {
                    edges.push(json!({"from": uid, "to": row.uid, "kind": edge.kind}));
                }
                Some(_) => {}
                None => edges.push(json!({"to": row.uid, "kind": edge.kind, "needs": edge.needs})),
            }
        }
    }
    let layers: Vec<Value> =
        layers.iter().enumerate().map(|(layer, count)| json!({"layer": layer, "count": count})).collect();
    Ok(json!({
        "schema": 1, "revision": plan.row.revision, "nodes": nodes, "edges": edges, "layers": layers,
        "total": layout.nodes.len(), "cut": layout.nodes.len() > limit,
    }))
}

/// The todos that are at most `depth` steps away, in both directions.
fn neighbourhood(plan: &Plan, center: Uid, depth: usize, limit: usize) -> HashSet<Uid> {
    let mut found = HashSet::from([center]);
    let mut queue = VecDeque::from([(center, 0)]);
    while let Some((uid, steps)) = queue.pop_front() {
        if steps == depth {
            continue;
        }
        let needs =
            plan.get(uid).into_iter().flat_map(|todo| todo.depends_on.iter().filter_map(punch_core::Dep::target));
        let dependents = plan.dependents_of(uid).ok().into_iter().flatten().copied();
        for next in needs.chain(dependents) {
            if found.len() < limit && plan.get(next).is_some_and(Todo::is_live) && found.insert(next) {
                queue.push_back((next, steps + 1));
            }
        }
    }
    found
}

/// `GET …/schedule`
pub(crate) fn schedule_of(at: &PlanContext<'_>) -> ApiResult {
    let query = at.query;
    let order = match query.text("policy") {
        None | Some("list") => ScheduleOrder::List,
        Some("level") => ScheduleOrder::Level,
        Some("makespan") => ScheduleOrder::Makespan,
        Some(_) => return Err(ApiProblem::bad_request("`policy` must be list, level or makespan")),
    };
    let agents = query.at_most("agents", 1, 1_000)?.max(1);
    let context = query.number("context")?.unwrap_or(WorkLimits::USUAL.context);
    let calibration = at.on(|engine| engine.calibration())?;
    let picture = at.picture()?;
    let plan = at.plan_of(&picture)?;
    let ask = ScheduleRequest {
        order,
        agents: u32::try_from(agents).unwrap_or(1),
        context,
        calibration,
        ..ScheduleRequest::default()
    };
    let mut out = json!({"schema": 1, "revision": plan.row.revision});
    merge(&mut out, serde_json::to_value(schedule(plan, &ask, picture.now)).unwrap_or_default());
    Ok(out)
}

/// `GET …/history`
pub(crate) fn history(at: &PlanContext<'_>) -> ApiResult {
    let limit = at.query.at_most("limit", 100, HISTORY)?.max(1) as u64;
    let before = at.query.number("before")?;
    let plan = {
        let picture = at.picture()?;
        at.plan_of(&picture)?.clone()
    };
    let last = plan.row.revision;
    let end = before.map_or(last, |before| before.saturating_sub(1).min(last));
    let since = end.saturating_sub(limit);
    let depth = last - since;
    let entries: Vec<Value> = if depth <= WALKED {
        let entries = at.on(|engine| engine.history(at.id(), depth))?;
        let wanted = entries.iter().filter(|entry| entry.revision <= end && entry.revision > since);
        wanted.map(|entry| entry_of(entry, &plan)).collect()
    } else {
        let page = at.on(|engine| engine.revisions(at.id(), since, usize::try_from(limit).unwrap_or(HISTORY) * 4))?;
        let Revisions::Page(page) = page else { return Err(pruned(since)) };
        let wanted = page.revisions.into_iter().filter(|revision| revision.number <= end);
        let mut entries: Vec<Value> = wanted.map(|revision| entry_of(&revision.into(), &plan)).collect();
        entries.reverse();
        entries
    };
    let next = (since > 0 && !entries.is_empty()).then_some(since + 1);
    Ok(json!({"schema": 1, "revision": last, "entries": entries, "next": next}))
}

fn entry_of(entry: &RevisionEntry, plan: &Plan) -> Value {
    history_entry(&entry.row(plan, &RevisionStory::of(&entry.events)))
}

/// A revision for clients.
pub(crate) fn history_entry(row: &HistoryRow) -> Value {
    json!({
        "revision": row.revision, "at": row.at, "by": row.by, "changes": row.changes, "undoes": row.undoes,
        "undoneBy": row.undone_by,
    })
}

fn pruned(revision: u64) -> ApiProblem {
    let refusal = Refusal::UnknownRevision { revision };
    ApiProblem::not_found(refusal.code(), refusal.message(), refusal.hint())
}

/// `GET …/at/{revision}`
pub(crate) fn at_revision(at: &PlanContext<'_>) -> Result<RowsAnswer, ApiProblem> {
    let revision = at.number("revision")?;
    let info = at.on(|engine| engine.read(at.id(), |snapshot| Ok(snapshot.info()?)))?;
    if revision > info.revision || revision < info.pruned {
        return Err(pruned(revision));
    }
    let plan = at.on(|engine| engine.plan_at(at.id(), revision))?;
    let entry = at.on(|engine| engine.read(at.id(), |snapshot| Ok(snapshot.events_of(revision)?)))?;
    let when = entry.first().map(|event| event.at);
    let reader = PlanReader::new(&plan, when.unwrap_or(plan.row.last_time));
    let mut out = json!({
        "schema": 1, "plan": neutral(&info.name), "revision": revision, "at": when, "phases": phases(&plan),
    });
    merge(&mut out, figures(&plan));
    Ok(RowsAnswer { rest: out, rows: BoardRow::all(reader) })
}

/// `GET …/checkpoints`
pub(crate) fn checkpoints(at: &PlanContext<'_>) -> ApiResult {
    let revision = at.picture()?.revision();
    let saved = at.on(|engine| engine.checkpoints(at.id(), CHECKPOINTS))?;
    let saved: Vec<Value> = saved.iter().map(|saved| saved.answer(false)).collect();
    Ok(json!({"schema": 1, "revision": revision, "checkpoints": saved}))
}

/// Adds the fields of one object to another.
pub(crate) fn merge(out: &mut Value, more: Value) {
    if let (Some(out), Value::Object(more)) = (out.as_object_mut(), more) {
        out.extend(more);
    }
}

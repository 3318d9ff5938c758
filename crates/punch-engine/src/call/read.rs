//! The reading tool: views of the plan, a page at a time.

use punch_core::graph::reason;
use punch_core::{Plan, Refusal, text};
use punch_store::{PlanId, Which};
use serde_json::{Value, json};

use super::render::{self, capped};
use super::{Answer, Caller, Surface};
use crate::{Engine, EngineError};

/// Todos on a page.
const PAGE: usize = 50;

impl Engine {
    pub(super) fn call_read(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        surface: Surface,
        arguments: &Value,
    ) -> Result<Answer, EngineError> {
        let view = arguments["view"].as_str().unwrap_or("plan");
        let id = arguments["id"].as_str();
        let offset = arguments["offset"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let limit = arguments["limit"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(PAGE).clamp(1, 200);
        match view {
            "plan" => self.read_plan(plan, caller, surface, arguments["all"] == json!(true), offset, limit),
            "next" | "ready" => self.read_ready(plan, caller, if view == "next" { 1 } else { limit }),
            "todo" => self.read_todo(plan, required(id)?),
            "why" => self.read_why(plan, id),
            "history" => self.read_history(plan, caller, limit),
            other => {
                let what = format!("`{}` is none of plan, next, ready, todo, why, history", text::clip(other, 40));
                Err(Refusal::Invalid { at: "view".into(), what }.into())
            }
        }
    }

    fn read_plan(
        &self,
        plan: PlanId,
        caller: &Caller<'_>,
        surface: Surface,
        all: bool,
        offset: usize,
        limit: usize,
    ) -> Result<Answer, EngineError> {
        let now = self.now();
        self.read(plan, |snapshot| {
            let which = if all { Which::Live } else { Which::Open };
            let todos = snapshot.list(which, None, offset.saturating_add(limit).saturating_add(1))?;
            let mut part = Plan::slice(snapshot.row()?);
            todos.iter().for_each(|t| part.put(t.clone()));
            let page: Vec<_> = todos.iter().skip(offset).take(limit).collect();
            let mut lines: Vec<String> = page.iter().map(|t| render::line(t, now)).collect();
            let total = if all { part.row.counts.total() } else { part.row.counts.open() };
            let end = offset + page.len();
            if (end as u64) < total {
                lines.push(format!("… {} more: call again with offset {end}", total - end as u64));
            }
            if page.is_empty() {
                lines.push(if total == 0 { "Nothing is open.".into() } else { "No todos at this offset.".into() });
            }
            lines.push(render::progress(&part, &super::native::next(snapshot, caller, now)?));
            let rows = match surface {
                Surface::Extended => {
                    let record = |t: &&punch_core::Todo| Value::Object(punch_core::Record::of(&part, t, now).to_map());
                    page.iter().map(record).collect()
                }
                _ => page
                    .iter()
                    .map(|t| json!({"id": t.id, "content": t.content, "status": t.status_at(now).name()}))
                    .collect::<Value>(),
            };
            let structured = json!({"todos": rows, "total": total, "offset": offset});
            Ok(Answer { text: capped(&lines.join("\n")), structured, is_error: false, revision: part.row.revision })
        })
    }

    fn read_ready(&self, plan: PlanId, caller: &Caller<'_>, limit: usize) -> Result<Answer, EngineError> {
        let now = self.now();
        self.read(plan, |snapshot| {
            let part = Plan::slice(snapshot.row()?);
            let todos = if limit == 1 {
                super::native::next(snapshot, caller, now)?
            } else {
                snapshot.ready(now, None, limit)?
            };
            let mut lines: Vec<String> = todos.iter().map(|t| render::line(t, now)).collect();
            if todos.is_empty() {
                lines.push("Nothing is ready; view why tells what the open todos wait for.".into());
            }
            lines.push(render::progress(&part, &todos));
            let ids: Vec<&str> = todos.iter().map(|t| t.id.as_str()).collect();
            let structured = json!({"ready": ids});
            Ok(Answer { text: capped(&lines.join("\n")), structured, is_error: false, revision: part.row.revision })
        })
    }

    fn read_todo(&self, plan: PlanId, id: &str) -> Result<Answer, EngineError> {
        let uid = self.resolve(plan, id)?;
        let now = self.now();
        let whole = self.read(plan, |snapshot| {
            let mut part = Plan::slice(snapshot.row()?);
            let first = punch_core::Footprint { todos: [uid].into(), ..Default::default() };
            snapshot.load(&first, &mut part)?;
            let more = crate::submit::surroundings(&part, std::iter::once(uid));
            snapshot.load(&more, &mut part)?;
            Ok(part)
        })?;
        let todo = whole.get(uid).ok_or_else(|| EngineError::NotFound { given: id.to_owned(), near: Vec::new() })?;
        let record = Value::Object(punch_core::Record::of(&whole, todo, now).to_map());
        let text = capped(&serde_json::to_string_pretty(&record).unwrap_or_default());
        Ok(Answer { text, structured: json!({"todo": record}), is_error: false, revision: whole.row.revision })
    }

    fn read_why(&self, plan: PlanId, id: Option<&str>) -> Result<Answer, EngineError> {
        let now = self.now();
        let whole = self.whole(plan)?;
        let revision = whole.row.revision;
        let text = match id {
            Some(id) => {
                let uid = self.resolve(plan, id)?;
                reason::why(&whole, uid, now).map(|why| why.text()).unwrap_or_default()
            }
            None => {
                let blocked = whole.live().into_iter().filter(|t| t.is_blocked(now));
                let lines: Vec<String> =
                    blocked.take(10).filter_map(|t| reason::why(&whole, t.uid, now)).map(|why| why.text()).collect();
                if lines.is_empty() { "Nothing waits.".into() } else { lines.join("\n") }
            }
        };
        let structured = json!({"why": text});
        Ok(Answer { text: capped(&text), structured, is_error: false, revision })
    }

    fn read_history(&self, plan: PlanId, caller: &Caller<'_>, limit: usize) -> Result<Answer, EngineError> {
        let entries = self.history(plan, limit.min(20) as u64)?;
        let mut lines: Vec<String> = entries
            .iter()
            .map(|entry| {
                let kinds: Vec<&str> = entry.events.iter().take(5).map(|e| e.kind.name()).collect();
                format!("rev {}: {} by {}", entry.revision, kinds.join(", "), text::neutral(&entry.by))
            })
            .collect();
        let revision = entries.first().map_or(0, |entry| entry.revision);
        let mut structured = json!({"revisions": entries.iter().map(|e| e.revision).collect::<Vec<_>>()});
        if let Some(turn) = self.turn(plan, Some(&caller.session))? {
            let shown: Vec<String> = turn.open.iter().take(50).map(|id| text::neutral(id).into_owned()).collect();
            let more = turn.open.len().saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("This turn began at rev {}; open then: {}{more}", turn.revision, shown.join(", ")));
            structured["turnStartRevision"] = json!(turn.revision);
            structured["turnStartTodoIds"] = json!(turn.open.iter().take(200).collect::<Vec<_>>());
        }
        Ok(Answer { text: capped(&lines.join("\n")), structured, is_error: false, revision })
    }
}

fn required(id: Option<&str>) -> Result<&str, EngineError> {
    id.filter(|id| !id.is_empty())
        .ok_or_else(|| Refusal::Invalid { at: "id".into(), what: "missing; name the todo".into() }.into())
}

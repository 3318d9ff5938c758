//! Changes of a plan: writes, rehearsals, undo, and read markers. Ops are those of the native dialect and take the same
//! path as all other changes.

use punch_core::dialect::native::{self, NativeCall, TextLimits};
use punch_core::view::BoardRow;
use punch_core::{ApplyStop, MissingEvidence, Op, Plan, Policy, Uid};
use punch_engine::{EngineError, PlanChange, Proofs, READER, WriteRequest};
use serde_json::{Map, Value, json};

use crate::ApiProblem;
use crate::context::{ApiResult, PlanContext};
use crate::read::merge;

/// Characters of a key.
const KEY: usize = 200;
/// Rows of one answer.
const ROWS: usize = 10_000;

/// `POST …/ops`
pub(crate) fn ops(at: &PlanContext<'_>) -> ApiResult {
    let body = at.body(&["ops", "ifRevision", "key"])?;
    let call = parsed(at, body)?;
    let stored = submit(at, &call, if_revision(body)?, key(at, body)?.as_deref())?;
    shown(at, &stored)
}

/// `POST …/rehearse`
pub(crate) fn rehearse(at: &PlanContext<'_>) -> ApiResult {
    let body = at.body(&["ops", "ifRevision", "key"])?;
    let call = parsed(at, body)?;
    let request = WriteRequest { if_revision: if_revision(body)?, detail: true, ..request(at, None) };
    let mut make = ops_of(&call);
    let changed = at.on(|engine| engine.rehearse(at.id(), &request, &call.footprint(), &mut make))?;
    let mut out = json!({"schema": 1});
    merge(&mut out, summary(&changed));
    let reader = punch_core::reason::PlanReader::new(&changed.plan, changed.now);
    let touched = uids(&out);
    let todos = || touched.iter().filter_map(|uid| changed.plan.get(*uid));
    let rows: Vec<BoardRow> =
        todos().filter(|todo| todo.is_live()).take(ROWS).map(|todo| BoardRow::of(reader, todo)).collect();
    let gone: Vec<Uid> = todos().filter(|todo| !todo.is_live()).map(|todo| todo.uid).collect();
    merge(&mut out, json!({"rows": rows, "gone": gone}));
    without_uids(out)
}

/// `POST …/undo`
pub(crate) fn undo(at: &PlanContext<'_>) -> ApiResult {
    let body = at.body(&["revision", "any", "key"])?;
    let mut op = Map::from_iter([("op".to_owned(), json!("undo"))]);
    for name in ["revision", "any"] {
        op.extend(body.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    let call = native::parse(&json!({"ops": [op]}), &limits(at))?;
    let stored = submit(at, &call, None, key(at, body)?.as_deref())?;
    shown(at, &stored)
}

/// `POST …/seen`
pub(crate) fn seen(at: &PlanContext<'_>) -> ApiResult {
    let body = at.body(&["revision"])?;
    let wrong = || ApiProblem::bad_request("`revision` must be a whole number");
    let revision = body.get("revision").and_then(Value::as_u64).ok_or_else(wrong)?;
    at.on(|engine| engine.mark_seen(at.id(), READER, revision))?;
    let seen = at.on(|engine| engine.seen(at.id(), READER))?.map_or(0, |mark| mark.revision);
    // Others learn of it without waiting for the thread.
    drop(at.picture()?);
    Ok(json!({"schema": 1, "seen": seen}))
}

fn limits(at: &PlanContext<'_>) -> TextLimits {
    let settings = &at.app.setup.settings;
    TextLimits { content: settings.limits_content.value, long: settings.limits_long.value }
}

fn parsed(at: &PlanContext<'_>, body: &Map<String, Value>) -> Result<NativeCall, ApiProblem> {
    let ops = body.get("ops").filter(|ops| ops.is_array());
    let ops = ops.ok_or_else(|| ApiProblem::bad_request("`ops` must be a list of ops"))?;
    Ok(native::parse(&json!({"ops": ops}), &limits(at))?)
}

fn if_revision(body: &Map<String, Value>) -> Result<Option<u64>, ApiProblem> {
    match body.get("ifRevision") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            value.as_u64().map(Some).ok_or_else(|| ApiProblem::bad_request("`ifRevision` must be a whole number"))
        }
    }
}

/// The key of a write, apart from those of other callers and of tool calls.
fn key(at: &PlanContext<'_>, body: &Map<String, Value>) -> Result<Option<String>, ApiProblem> {
    match body.get("key") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) if !key.is_empty() && key.chars().count() <= KEY => {
            Ok(Some(format!("http:{}:{key}", at.caller.id())))
        }
        Some(_) => Err(ApiProblem::bad_request(format!("`key` must be a string of 1 to {KEY} characters"))),
    }
}

fn request<'a>(at: &'a PlanContext<'_>, commit: Option<&'a str>) -> WriteRequest<'a> {
    let setup = &at.app.setup;
    WriteRequest {
        // An op can carry evidence, so a completion that lacks it is refused rather than marked.
        preset: |policy| Policy { missing_evidence: MissingEvidence::Refuse, ..policy.for_user() },
        settings: Some(&setup.settings),
        tree: Some(&setup.tree.root),
        commit,
        ..WriteRequest::of(at.caller.actor())
    }
}

fn ops_of(call: &NativeCall) -> impl FnMut(&Plan, i64) -> Result<Vec<Op>, ApplyStop> + '_ {
    |part, _| {
        if call.replaces() {
            part.need_whole()?;
        }
        Ok(call.ops(part))
    }
}

/// Submits a batch. Todos that need proof are checked, one batch after the other, while other requests continue.
fn submit(
    at: &PlanContext<'_>,
    call: &NativeCall,
    if_revision: Option<u64>,
    key: Option<&str>,
) -> Result<Value, ApiProblem> {
    let setup = &at.app.setup;
    let completes = call.ops(&Plan::new()).iter().any(|op| matches!(op, Op::Done { .. }));
    let commit = if completes { setup.tree.commit() } else { None };
    let request = WriteRequest { if_revision, ..request(at, commit.as_deref()) };
    let attempt = |proofs: &Proofs| -> Result<String, EngineError> {
        let request = WriteRequest { proofs: Some(proofs), ..request.clone() };
        let (first, mut make) = (call.footprint(), ops_of(call));
        let engine = &at.feed.engine;
        match key {
            Some(key) => {
                engine.submit_once(at.id(), &request, key, (&first, &mut make), |changed| summary(changed).to_string())
            }
            None => {
                engine.submit_with(at.id(), &request, &first, &mut make).map(|changed| summary(&changed).to_string())
            }
        }
    };
    let stored = if completes {
        let _place =
            at.app.checks.try_acquire().map_err(|_| ApiProblem::busy("busy", "too many checks are running"))?;
        let ends = || at.app.end.is_cancelled();
        let checker = setup.tree.checker(setup.settings.verify_timeout.value, &ends);
        at.on(|engine| engine.proving(at.id(), &checker, attempt))?
    } else {
        at.on(|_| attempt(&Proofs::default()))?
    };
    serde_json::from_str(&stored).map_err(|_| ApiProblem::bug())
}

/// What a batch did, without the rows: this is stored with its key.
fn summary(changed: &PlanChange) -> Value {
    let (plan, outcome) = (&changed.plan, &changed.outcome);
    let ids =
        |uids: &[Uid]| -> Vec<&str> { uids.iter().filter_map(|uid| plan.get(*uid)).map(|t| t.id.as_str()).collect() };
    let warnings: Vec<String> = outcome
        .warnings
        .iter()
        .take(50)
        .map(|warning| punch_core::text::neutral(&warning.message()).into_owned())
        .collect();
    json!({
        "revision": outcome.plan.revision,
        "uids": outcome.rows.iter().map(|todo| todo.uid).take(ROWS).collect::<Vec<_>>(),
        "added": ids(&outcome.added),
        "unblocked": ids(&outcome.unblocked),
        "warnings": warnings,
        "undid": outcome.undone.as_ref().map(|undone| undone.change),
    })
}

/// The answer to a write: what it did, and the rows as they are now.
fn shown(at: &PlanContext<'_>, stored: &Value) -> ApiResult {
    let picture = at.picture()?;
    let mut out = json!({"schema": 1});
    merge(&mut out, stored.clone());
    let touched = uids(stored);
    let rows: Vec<BoardRow> = touched.iter().filter_map(|uid| picture.row(*uid)).collect();
    let gone: Vec<&Uid> = touched.iter().filter(|uid| picture.row(**uid).is_none()).collect();
    merge(&mut out, json!({"rows": rows, "gone": gone}));
    without_uids(out)
}

fn uids(stored: &Value) -> Vec<Uid> {
    stored["uids"].as_array().into_iter().flatten().filter_map(Value::as_u64).map(Uid).collect()
}

fn without_uids(mut out: Value) -> ApiResult {
    if let Some(map) = out.as_object_mut() {
        map.shift_remove("uids");
    }
    Ok(out)
}

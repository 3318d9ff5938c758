//! The native dialect: a batch of ops, references by id, strict. An empty or missing target never means "all".

use std::collections::{BTreeSet, HashMap, HashSet};
use std::slice;

use serde_json::{Map, Value};

use super::extended::complexity;
use super::input::{invalid, join, known_keys, list, number, object, text, texts};
use super::list::{RowName, match_rows};
use crate::{
    Add, Edit, Evidence, Footprint, Hold, HoldKind, Keep, Label, LabelEdit, ListPosition, Op, PhaseRef, Plan, Ref,
    Refusal, Status, Todo, Verify, text::clip,
};

/// How long texts may be, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// Content.
    pub content: usize,
    /// Description, criteria, note, reason.
    pub long: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self { content: 500, long: 8_000 }
    }
}

/// The fields that add and edit take.
const FIELDS: &[&str] = &[
    "content",
    "title",
    "activeForm",
    "description",
    "dependsOn",
    "blocks",
    "phase",
    "priority",
    "labels",
    "complexity",
    "estimatedTokens",
    "verificationCriteria",
    "verifyCommand",
    "files",
];
const PLACES: &[&str] = &["before", "after", "place"];

/// A call after reading. Only what a replacement comes to depends on the plan.
#[derive(Clone, Debug, Default)]
pub struct NativeCall {
    steps: Vec<NativeStep>,
    /// What the ops `done` and `fail` say that their todos took.
    pub usage: Vec<ReportedTokens>,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every step is an op, so a box would only add an allocation to each"
)]
enum NativeStep {
    Op(Op),
    Replace(Vec<ReplacementTodo>),
}

/// A todo of a replacement.
#[derive(Clone, Debug)]
struct ReplacementTodo {
    add: Add,
    status_given: bool,
}

/// `actualTokens` of one op.
#[derive(Clone, Debug)]
pub struct ReportedTokens {
    /// The todos of the op, which share the tokens.
    pub ids: Vec<String>,
    /// The op reports a failure.
    pub failed: bool,
    /// The sum over these todos.
    pub tokens: u64,
}

impl NativeCall {
    /// Returns true if the call replaces the list: the plan has to be loaded as a whole.
    pub fn replaces(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, NativeStep::Replace(_)))
    }

    /// Returns the part of the plan that the call names. Asked for one by one, many names would end in the whole plan.
    pub fn footprint(&self) -> Footprint {
        if self.replaces() {
            return Footprint::everything();
        }
        let ops = || self.steps.iter().filter_map(|step| if let NativeStep::Op(op) = step { Some(op) } else { None });
        let mut named = Footprint::of(ops());
        named.ids.extend(ops().filter_map(|op| if let Op::Add(add) = op { add.id.clone() } else { None }));
        named
    }

    /// Returns the ops that the call asks for. A replacement is matched against the todos of `plan`.
    pub fn ops(&self, plan: &Plan) -> Vec<Op> {
        let mut ops = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            match step {
                NativeStep::Op(op) => ops.push(op.clone()),
                NativeStep::Replace(todos) => replace(plan, todos.clone(), &mut ops),
            }
        }
        ops
    }
}

/// Makes `release` give back what the caller has claimed. Where a todo is in progress under the name of the caller, by the
/// plan or by an earlier op of the batch, there is no hold that it could end.
pub fn give_back(ops: &mut [Op], plan: &Plan, owner: &str, now: i64) {
    let is_own = |todo: &Todo| {
        let is_claimed = todo.status_at(now) == Status::InProgress && todo.hold_at(now).is_none();
        is_claimed && todo.owner.as_deref() == Some(owner)
    };
    let mut claimed: HashMap<String, bool> = HashMap::new();
    for op in ops {
        let id = match op {
            Op::Start(Ref::Id(id)) => {
                claimed.insert(id.clone(), true);
                continue;
            }
            Op::Release(Ref::Id(id)) | Op::Hold(Ref::Id(id), _) | Op::Fail(Ref::Id(id), _) => id.clone(),
            Op::Drop(Ref::Id(id)) | Op::Reopen(Ref::Id(id)) | Op::Rm(Ref::Id(id)) => id.clone(),
            Op::Done { target: Ref::Id(id), .. } => id.clone(),
            _ => continue,
        };
        let was = claimed.insert(id.clone(), false).unwrap_or_else(|| plan.by_id(&id).is_some_and(is_own));
        if was && matches!(op, Op::Release(_)) {
            *op = Op::Unclaim(Ref::Id(id));
        }
    }
}

/// What a model reads that sends a list in a form from elsewhere: enough to send the right one next time. Such a list is not
/// taken as a replacement, because that would archive todos that the model has never seen.
const OPS_MISSING: &str = "missing; send for example {\"ops\": [{\"op\": \"add\", \"content\": \"Write the parser\"}, \
                           {\"op\": \"start\", \"id\": \"T-1\"}, {\"op\": \"done\", \"id\": \"T-1\"}]}";

/// Reads `{"ops": […]}`.
pub fn parse(call: &Value, limits: &TextLimits) -> Result<NativeCall, Refusal> {
    let map = object(call, "")?;
    if !map.contains_key("ops") {
        return Err(invalid("ops", OPS_MISSING));
    }
    let items = list(map, "ops", "")?;
    if items.is_empty() {
        return Err(invalid("ops", "give at least one op"));
    }
    let mut call = NativeCall::default();
    for (n, item) in items.iter().enumerate() {
        parse_op(item, &format!("ops[{n}]"), limits, &mut call)?;
    }
    Ok(call)
}

/// Reads `{"ops": […]}` into the ops that it asks for on a plan.
pub fn read(plan: &Plan, call: &Value, limits: &TextLimits) -> Result<Vec<Op>, Refusal> {
    Ok(parse(call, limits)?.ops(plan))
}

fn parse_op(item: &Value, at: &str, limits: &TextLimits, call: &mut NativeCall) -> Result<(), Refusal> {
    let map = object(item, at)?;
    let Some(verb) = text(map, "op", at)? else { return Err(invalid(join(at, "op"), "missing")) };
    let known = |extra: &[&str]| only(map, at, extra);
    let NativeCall { steps, usage } = call;
    if verb == "replace" {
        known(&["todos"])?;
        steps.push(NativeStep::Replace(replacement(map, at, limits)?));
        return Ok(());
    }
    let mut push = |op| steps.push(NativeStep::Op(op));
    match verb {
        "add" => {
            known(&[&["id", "status"], FIELDS, PLACES].concat())?;
            push(Op::Add(add(map, at, limits)?));
        }
        "edit" => {
            known(&[&["id", "newId"], FIELDS].concat())?;
            let target = one(map, at)?;
            let mut edit = edit(map, at, limits)?;
            edit.id =
                Keep::from_option(text(map, "newId", at)?.map(|id| check_id(id, &join(at, "newId"))).transpose()?);
            push(Op::Edit(target, edit));
        }
        "move" => {
            known(&[&["id"], PLACES].concat())?;
            let place = place(map, at)?;
            push(Op::Move(one(map, at)?, place));
        }
        "start" | "drop" | "reopen" | "release" | "rm" => {
            known(&["id", "ids"])?;
            let make = match verb {
                "start" => Op::Start,
                "drop" => Op::Drop,
                "reopen" => Op::Reopen,
                "release" => Op::Release,
                _ => Op::Rm,
            };
            many(map, at)?.into_iter().map(make).for_each(push);
        }
        "done" => {
            known(&["id", "ids", "evidence", "fence", "actualTokens"])?;
            let tokens = number(map, "actualTokens", at)?;
            let evidence = text(map, "evidence", at)?.map(|e| long_text(e, "evidence", limits.long)).transpose()?;
            let fence = number(map, "fence", at)?;
            let done = |target| Op::Done {
                target,
                evidence: evidence.clone().map(|text| Evidence { text: Some(text), ..Evidence::default() }),
                fence,
            };
            let targets = many(map, at)?;
            usage.extend(tokens.map(|tokens| ReportedTokens { ids: ids(&targets), failed: false, tokens }));
            targets.into_iter().map(done).for_each(push);
        }
        "fail" => {
            known(&["id", "error", "text", "actualTokens"])?;
            let tokens = number(map, "actualTokens", at)?;
            let error = long_text(either(map, "error", at)?.unwrap_or_default(), "error", limits.long)?;
            let target = one(map, at)?;
            usage.extend(tokens.map(|tokens| ReportedTokens {
                ids: ids(slice::from_ref(&target)),
                failed: true,
                tokens,
            }));
            push(Op::Fail(target, error));
        }
        "hold" => {
            known(&["id", "kind", "reason", "text", "until"])?;
            push(Op::Hold(one(map, at)?, hold(map, at, limits)?));
        }
        "note" => {
            known(&["id", "text"])?;
            let note = text(map, "text", at)?.map(str::trim_end).filter(|t| !t.is_empty());
            let note = note.ok_or_else(|| invalid(join(at, "text"), "missing or empty"))?;
            push(Op::Note(one(map, at)?, long_text(note, "note", limits.long)?));
        }
        "undo" => {
            known(&["revision", "any"])?;
            let any = match map.get("any") {
                None | Some(Value::Null) => false,
                Some(value) => value.as_bool().ok_or_else(|| invalid(join(at, "any"), "must be true or false"))?,
            };
            push(Op::Undo { revision: number(map, "revision", at)?, any });
        }
        // The older name: it always says which.
        "revert" => {
            known(&["revision"])?;
            let revision = number(map, "revision", at)?.ok_or_else(|| invalid(join(at, "revision"), "missing"))?;
            push(Op::Undo { revision: Some(revision), any: false });
        }
        "redo" => {
            known(&[])?;
            push(Op::Redo);
        }
        other => {
            const VERBS: &str =
                "add, edit, start, done, drop, fail, reopen, hold, release, rm, note, move, replace, undo, redo";
            return Err(invalid(join(at, "op"), format!("`{}` is none of {VERBS}", clip(other, 40))));
        }
    }
    Ok(())
}

fn only(map: &Map<String, Value>, at: &str, known: &[&str]) -> Result<(), Refusal> {
    known_keys(map.keys().filter(|key| *key != "op"), at, known)
}

fn one(map: &Map<String, Value>, at: &str) -> Result<Ref, Refusal> {
    match text(map, "id", at)? {
        Some("") | None => Err(invalid(join(at, "id"), "missing or empty; name the todo")),
        Some(id) => Ok(Ref::Id(id.to_owned())),
    }
}

/// Reads a text under the name that its op has for it, or under `text`, the one name that the tool definition lists.
fn either<'a>(map: &'a Map<String, Value>, name: &str, at: &str) -> Result<Option<&'a str>, Refusal> {
    match (text(map, name, at)?, text(map, "text", at)?) {
        (Some(_), Some(_)) => Err(invalid(join(at, "text"), format!("give either {name} or text"))),
        (named, plain) => Ok(named.or(plain)),
    }
}

fn many(map: &Map<String, Value>, at: &str) -> Result<Vec<Ref>, Refusal> {
    let Some(ids) = texts(map, "ids", at)? else { return Ok(vec![one(map, at)?]) };
    if map.contains_key("id") {
        return Err(invalid(join(at, "ids"), "give either id or ids"));
    }
    if ids.is_empty() || ids.iter().any(String::is_empty) {
        return Err(invalid(join(at, "ids"), "empty; name the todos"));
    }
    Ok(ids.into_iter().map(Ref::Id).collect())
}

fn add(map: &Map<String, Value>, at: &str, limits: &TextLimits) -> Result<Add, Refusal> {
    let edit = edit(map, at, limits)?;
    if edit.content == Keep::Keep {
        return Err(invalid(join(at, "content"), "missing"));
    }
    let status = match text(map, "status", at)? {
        None => Status::Pending,
        Some(word) => Status::parse(word).ok_or_else(|| {
            let known = Status::ALL.map(Status::name).join(", ");
            invalid(join(at, "status"), format!("`{}` is none of {known}", clip(word, 40)))
        })?,
    };
    let id = text(map, "id", at)?.map(|id| check_id(id, &join(at, "id"))).transpose()?;
    Ok(Add { id, edit, place: place(map, at)?, status, ..Add::default() })
}

fn edit(map: &Map<String, Value>, at: &str, limits: &TextLimits) -> Result<Edit, Refusal> {
    let clears = |key: &str| map.get(key).is_some_and(Value::is_null);
    let long = |key: &'static str| -> Result<Keep<Option<String>>, Refusal> {
        if clears(key) {
            return Ok(Keep::Set(None));
        }
        let value = text(map, key, at)?.map(|value| long_text(value, key, limits.long)).transpose()?;
        Ok(value.map_or(Keep::Keep, |value| Keep::Set(Some(value))))
    };
    fn optional<T>(clears: bool, value: Option<T>) -> Keep<Option<T>> {
        if clears { Keep::Set(None) } else { value.map_or(Keep::Keep, |value| Keep::Set(Some(value))) }
    }
    let ids = |key: &str| -> Result<Option<Vec<Ref>>, Refusal> {
        let ids = texts(map, key, at)?;
        if ids.as_ref().is_some_and(|ids| ids.iter().any(String::is_empty)) {
            return Err(invalid(join(at, key), "an id must not be empty"));
        }
        Ok(ids.map(|ids| ids.into_iter().map(Ref::Id).collect()))
    };
    let active_form =
        text(map, "activeForm", at)?.map(|v| one_line(v, &join(at, "activeForm"), limits.content)).transpose()?;
    let phase = text(map, "phase", at)?.map(|v| one_line(v, &join(at, "phase"), limits.content)).transpose()?;
    Ok(Edit {
        content: Keep::from_option(content(map, at, limits)?),
        active_form: optional(clears("activeForm"), active_form),
        description: long("description")?,
        depends_on: if clears("dependsOn") { Keep::Set(Vec::new()) } else { Keep::from_option(ids("dependsOn")?) },
        blocks: ids("blocks")?.unwrap_or_default(),
        phase: optional(clears("phase"), phase.map(PhaseRef::Name)),
        priority: Keep::from_option(priority(map, at)?),
        labels: if clears("labels") { LabelEdit::Set(BTreeSet::new()) } else { labels(map, at)? },
        complexity: optional(clears("complexity"), complexity(map, at)?),
        estimated_tokens: optional(clears("estimatedTokens"), number(map, "estimatedTokens", at)?),
        criteria: long("verificationCriteria")?,
        verify: if clears("verifyCommand") { Keep::Set(None) } else { verify(map, "verifyCommand", at)? },
        files: if clears("files") { Keep::Set(Vec::new()) } else { Keep::from_option(texts(map, "files", at)?) },
        ..Edit::default()
    })
}

fn content(map: &Map<String, Value>, at: &str, limits: &TextLimits) -> Result<Option<String>, Refusal> {
    let (content, title) = (text(map, "content", at)?, text(map, "title", at)?);
    if let (Some(a), Some(b)) = (content, title)
        && a != b
    {
        return Err(invalid(join(at, "title"), "title and content are the same field and differ"));
    }
    content.or(title).map(|value| one_line(value, &join(at, "content"), limits.content)).transpose()
}

fn place(map: &Map<String, Value>, at: &str) -> Result<ListPosition, Refusal> {
    let anchor = |key: &str| -> Result<Option<Ref>, Refusal> {
        match text(map, key, at)? {
            Some("") => Err(invalid(join(at, key), "must not be empty")),
            other => Ok(other.map(|id| Ref::Id(id.to_owned()))),
        }
    };
    match (anchor("before")?, anchor("after")?, text(map, "place", at)?) {
        (None, None, None | Some("end")) => Ok(ListPosition::End),
        (None, None, Some("first")) => Ok(ListPosition::First),
        (Some(before), None, None) => Ok(ListPosition::Before(before)),
        (None, Some(after), None) => Ok(ListPosition::After(after)),
        (None, None, Some(_)) => Err(invalid(join(at, "place"), "use first or end")),
        _ => Err(invalid(join(at, "place"), "give one of before, after, place")),
    }
}

fn hold(map: &Map<String, Value>, at: &str, limits: &TextLimits) -> Result<Hold, Refusal> {
    let kind = match text(map, "kind", at)? {
        None => HoldKind::Human,
        Some(word) => HoldKind::parse(word).ok_or_else(|| {
            let known = HoldKind::ALL.map(HoldKind::name).join(", ");
            invalid(join(at, "kind"), format!("`{}` is none of {known}", clip(word, 40)))
        })?,
    };
    let reason = either(map, "reason", at)?.map(str::trim).filter(|r| !r.is_empty());
    // What is parked waits for nothing.
    let reason = reason.or((kind == HoldKind::Parked).then_some(Hold::PARKED));
    let reason = reason.ok_or_else(|| invalid(join(at, "reason"), "missing or empty; say what it waits for"))?;
    let until = number(map, "until", at)?.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    if (kind == HoldKind::Timer) != until.is_some() {
        return Err(invalid(join(at, "until"), "a timer, and only a timer, has an end (milliseconds)"));
    }
    Ok(Hold { kind, reason: long_text(reason, "reason", limits.long)?, until, by: String::new(), at: 0 })
}

fn ids(targets: &[Ref]) -> Vec<String> {
    targets.iter().filter_map(|target| if let Ref::Id(id) = target { Some(id.clone()) } else { None }).collect()
}

fn replacement(map: &Map<String, Value>, at: &str, limits: &TextLimits) -> Result<Vec<ReplacementTodo>, Refusal> {
    let mut todos: Vec<ReplacementTodo> = Vec::new();
    for (n, item) in list(map, "todos", at)?.iter().enumerate() {
        let at = format!("{}[{n}]", join(at, "todos"));
        let map = object(item, &at)?;
        only(map, &at, &[&["id", "status"], FIELDS].concat())?;
        todos.push(ReplacementTodo { add: add(map, &at, limits)?, status_given: map.contains_key("status") });
    }
    let mut seen = HashSet::new();
    match todos.iter().filter_map(|todo| todo.add.id.as_ref()).find(|id| !seen.insert(*id)) {
        Some(twice) => Err(Refusal::DuplicateId { id: twice.clone() }),
        None => Ok(todos),
    }
}

/// Replaces the list: todos are matched by id, then by content; the others are archived (rule 7).
fn replace(plan: &Plan, todos: Vec<ReplacementTodo>, ops: &mut Vec<Op>) {
    let live = plan.live();
    let uids = {
        let rows = todos.iter().map(|ReplacementTodo { add, .. }| RowName {
            uid: None,
            id: add.id.as_deref(),
            content: add.edit.content.as_set().map_or("", String::as_str),
        });
        let known = live.iter().map(|todo| RowName { uid: Some(todo.uid), id: Some(&todo.id), content: &todo.content });
        match_rows(&rows.collect::<Vec<_>>(), &known.collect::<Vec<_>>())
    };
    let kept: HashSet<_> = uids.iter().flatten().copied().collect();
    ops.extend(live.iter().filter(|t| !kept.contains(&t.uid)).map(|t| Op::Rm(Ref::Uid(t.uid))));
    let before = ops.iter().filter(|op| matches!(op, Op::Add(_))).count();
    let (mut order, mut statuses, mut new) = (Vec::new(), Vec::new(), before);
    for (ReplacementTodo { mut add, status_given }, uid) in todos.into_iter().zip(uids) {
        match uid {
            None => {
                order.push(Ref::New(new));
                new += 1;
                ops.push(Op::Add(add));
            }
            Some(uid) => {
                order.push(Ref::Uid(uid));
                if add.edit.depends_on == Keep::Keep {
                    add.edit.depends_on = Keep::Set(Vec::new());
                }
                // Matched by its content: it takes the id it is given, by which the rest of the payload names it.
                add.edit.id = Keep::from_option(add.id);
                ops.push(Op::Edit(Ref::Uid(uid), add.edit));
                if status_given && let Some(todo) = plan.get(uid) {
                    statuses.extend(super::list::status(uid, todo.status, add.status, Some(todo.status)));
                }
            }
        }
    }
    ops.push(Op::Arrange(order));
    ops.extend(statuses);
}

/// An id is one word-like line without surprises; what is stored by other dialects may be anything.
pub(super) fn check_id(id: &str, at: &str) -> Result<String, Refusal> {
    let ok = !id.is_empty() && id.chars().count() <= 200 && id.trim() == id && !id.chars().any(char::is_control);
    if ok {
        Ok(id.to_owned())
    } else {
        Err(invalid(at, "an id has 1 to 200 characters on one line, no space at its ends"))
    }
}

/// Native content: trimmed, one line, within the limit (rule 44).
pub(super) fn one_line(value: &str, at: &str, limit: usize) -> Result<String, Refusal> {
    let value = value.trim();
    if crate::text::is_blank(value) {
        return Err(invalid(at, "must not be empty"));
    }
    if value.contains(['\n', '\r']) {
        return Err(invalid(at, "must be one line; put the rest into description or a note"));
    }
    let length = value.chars().count();
    if length > limit {
        return Err(Refusal::TooLong { field: "content", length, limit });
    }
    Ok(value.to_owned())
}

/// A longer text within its limit.
pub(super) fn long_text(value: &str, field: &'static str, limit: usize) -> Result<String, Refusal> {
    let length = value.chars().count();
    if length > limit { Err(Refusal::TooLong { field, length, limit }) } else { Ok(value.to_owned()) }
}

/// 1 to 5.
pub(super) fn priority(map: &Map<String, Value>, at: &str) -> Result<Option<u8>, Refusal> {
    let Some(given) = number(map, "priority", at)? else { return Ok(None) };
    let priority = u8::try_from(given).ok().filter(|p| (1..=5).contains(p));
    priority.map(Some).ok_or_else(|| invalid(join(at, "priority"), format!("{given} is not between 1 and 5")))
}

/// The whole set of labels.
pub(super) fn labels(map: &Map<String, Value>, at: &str) -> Result<LabelEdit, Refusal> {
    let Some(words) = texts(map, "labels", at)? else { return Ok(LabelEdit::Keep) };
    Ok(LabelEdit::Set(Label::parse_all(words.iter().map(String::as_str))?))
}

/// A shell line or a list of arguments.
pub(super) fn verify(map: &Map<String, Value>, key: &str, at: &str) -> Result<Keep<Option<Verify>>, Refusal> {
    Ok(match map.get(key) {
        None | Some(Value::Null) => Keep::Keep,
        Some(Value::String(line)) if !line.trim().is_empty() => Keep::Set(Some(Verify::Shell(line.clone()))),
        Some(Value::Array(items)) if !items.is_empty() => {
            Keep::Set(Some(Verify::Argv(texts(map, key, at)?.unwrap_or_default())))
        }
        Some(_) => return Err(invalid(join(at, key), "expected a command line or a list of arguments")),
    })
}

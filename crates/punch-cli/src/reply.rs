//! The answer of a verb: text for users, or one JSON object with `"schema": 1`.

use punch_core::reason::{PlanReader, stranded};
use punch_core::view::{Layout, Plain, SpanRole, TodoRow, ViewLine, changes, spans, table};
use punch_core::{Dep, Footprint, Plan, Record, Records, Todo, Uid, text};
use punch_engine::{PlanChange, load_reasons};
use serde_json::{Map, Value, json};

use crate::failure::Exit;
use crate::project::Project;

/// The answer of a verb.
pub struct VerbReply {
    /// For users; printed to standard output.
    pub body: Body,
    /// For programs.
    pub json: Value,
    /// How it ends.
    pub exit: Exit,
    /// The plan was changed.
    pub wrote: bool,
    /// What users read on standard error after the text.
    pub remarks: Vec<String>,
}

impl VerbReply {
    /// An answer that ends well.
    pub fn new(body: impl Into<Body>, json: Value) -> Self {
        Self { body: body.into(), json: with_schema(json), exit: Exit::Ok, wrote: false, remarks: Vec::new() }
    }

    /// Nothing more to say: the verb has printed a document.
    pub fn printed() -> Self {
        Self { body: Body::default(), json: Value::Null, exit: Exit::Ok, wrote: false, remarks: Vec::new() }
    }

    /// Adds a remark about the text, such as that a list is not complete.
    #[must_use]
    pub fn with_remark(mut self, remark: String) -> Self {
        self.remarks.push(remark);
        self
    }

    /// Marks the answer as one of a verb that changed something.
    pub fn after_write(self) -> Self {
        Self { wrote: true, ..self }
    }
}

impl VerbReply {
    /// Says why nothing happened, where nothing did: `Nothing changed: already done.`
    #[must_use]
    pub fn or_unchanged(mut self, why: &str) -> Self {
        if !self.wrote {
            self.body.push(format!("Nothing changed: {why}."));
        }
        self
    }
}

/// What a verb prints: lines of spans with roles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(pub Vec<ViewLine>);

impl Body {
    /// The lines without colors.
    pub fn plain(&self) -> String {
        spans::text(&self.0)
    }

    /// Appends lines.
    pub fn push(&mut self, more: impl Into<Self>) {
        self.0.extend(more.into().0);
    }
}

impl From<Vec<ViewLine>> for Body {
    fn from(lines: Vec<ViewLine>) -> Self {
        Self(lines)
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        let line = |line: &str| match line.strip_prefix("note: ") {
            Some(rest) => ViewLine::default().with(SpanRole::Warning, "note: ").with(SpanRole::Text, rest),
            None => ViewLine::default().with(SpanRole::Text, line),
        };
        Self(text.trim_end_matches('\n').lines().map(line).collect())
    }
}

/// Nothing for an empty text, as `str::lines` has it.
impl From<String> for Body {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// Puts `"schema": 1` first.
pub fn with_schema(value: Value) -> Value {
    let mut out = Map::from_iter([("schema".to_owned(), json!(1))]);
    if let Value::Object(map) = value {
        out.extend(map);
    }
    Value::Object(out)
}

/// A todo in the extended format, with the fields that programs look for first always present.
pub fn record<'a>(plan: &'a Plan, todo: &'a Todo, now: i64) -> Value {
    Record::answer(plan, todo, now)
}

/// Many todos in that format.
pub fn records<'a>(plan: &'a Plan, todos: impl IntoIterator<Item = &'a Todo>, now: i64) -> Vec<Value> {
    Records::new(plan).answers(todos, now)
}

/// Todos on a line each: sign, id and text.
pub fn lines<'a>(reader: PlanReader<'a>, todos: impl IntoIterator<Item = &'a Todo>, layout: Layout) -> Vec<ViewLine> {
    todos.into_iter().map(|todo| TodoRow::of(reader, todo).line(layout.glyphs)).collect()
}

/// Todos in columns, with their marks and why they are not worked on.
pub fn table<'a>(reader: PlanReader<'a>, todos: impl IntoIterator<Item = &'a Todo>, layout: Layout) -> Vec<ViewLine> {
    let rows = todos.into_iter().map(|todo| TodoRow::of(reader, todo).with_error(todo).table_row(layout)).collect();
    table::lines(rows, layout)
}

/// Todos that a change made ready and that are named.
const READY_NOW: usize = 5;

/// Todos of one change whose fields are described.
const DESCRIBED: usize = 5;

/// The answer to a change of some todos: what they are now, what became ready, what to know. The JSON is only made
/// where it is asked for: records of many todos cost more than the change.
pub fn changed(changed: &PlanChange, uids: &[Uid], project: &Project) -> VerbReply {
    let as_json = project.global.json;
    let (plan, now, outcome) = (&changed.plan, changed.now, &changed.outcome);
    let reader = PlanReader::new(plan, now);
    let todos: Vec<&Todo> = uids.iter().filter_map(|uid| plan.get(*uid)).collect();
    let ids = |uids: &[Uid]| -> Vec<&str> { uids.iter().filter_map(|u| plan.get(*u)).map(|t| t.id.as_str()).collect() };
    let layout = project.layout(now);
    let mut body = Body::default();
    for todo in todos.iter().take(50) {
        body.push(lines(reader, [*todo], layout));
        if todos.len() <= DESCRIBED {
            body.push(changes::lines(plan, &outcome.events, todo.uid, layout));
        }
    }
    if todos.len() > 50 {
        body.push(format!("and {} more", todos.len() - 50));
    }
    let unblocked = ids(&outcome.unblocked);
    for todo in outcome.unblocked.iter().filter_map(|uid| plan.get(*uid)).take(READY_NOW) {
        let line = ViewLine::default().with(SpanRole::Text, "ready now: ").id(&Plain::id(&todo.id));
        let changed = todos.iter().any(|changed| changed.uid == todo.uid);
        let title = if changed { String::new() } else { format!("  {}", Plain::clipped(todo.content.trim(), 100)) };
        body.push(vec![line.with(SpanRole::Text, title)]);
    }
    if unblocked.len() > READY_NOW {
        body.push(format!("ready now: {} more", unblocked.len() - READY_NOW));
    }
    stranded(reader, &todos).into_iter().for_each(|stranded| body.push(format!("note: {stranded}")));
    let warnings: Vec<String> = outcome.warnings.iter().map(|w| text::neutral(&w.message()).into_owned()).collect();
    body.push(warnings.iter().take(10).map(|w| format!("note: {w}")).collect::<Vec<_>>().join("\n"));
    if warnings.len() > 10 {
        body.push(format!("note: {} more", warnings.len() - 10));
    }
    let mut json = Value::Null;
    if as_json {
        json = json!({"todo": todos.first().map(|t| record(plan, t, now))});
        if todos.len() > 1 {
            json["todos"] = records(plan, todos.iter().copied(), now).into();
        }
        json["unblocked"] = json!(unblocked);
        json["warnings"] = json!(warnings);
        json["revision"] = json!(outcome.plan.revision);
    }
    let wrote = !outcome.events.is_empty();
    VerbReply { wrote, ..VerbReply::new(body, json) }
}

/// Loads what the dependencies and the dependents of todos are called, so that records can name them.
pub fn load_names(
    snapshot: &dyn punch_store::Snapshot,
    plan: &mut Plan,
    uids: &[Uid],
) -> Result<(), punch_store::StoreError> {
    // One by one, a todo that waits for many of these would be read as often.
    if uids.len() > 64 && uids.len() as u64 > plan.row.counts.total() / 16 {
        return snapshot.load(&Footprint::everything(), plan);
    }
    let deps = uids.iter().filter_map(|uid| plan.get(*uid)).flat_map(|t| t.depends_on.iter());
    let todos = deps.filter_map(Dep::target).filter(|uid| plan.get(*uid).is_none()).collect();
    let dependents = uids.iter().copied().collect();
    snapshot.load(&Footprint { todos, dependents, ..Footprint::default() }, plan)?;
    load_reasons(snapshot, plan, uids)
}

/// `a, b and c`
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

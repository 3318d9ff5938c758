//! Everything about one todo, one line for each field that has a value. Users and models read the same lines.

use serde::Serialize;

use super::{Glyphs, Layout, Plain, SpanRole, TodoRow, ViewLine};
use crate::reason::{self, PlanReader};
use crate::time::ago;
use crate::{Hold, HoldKind, Label, Proof, Record, ShownStatus, Status, Todo, Verify, text};

/// Characters of one field.
const FIELD: usize = 2_000;
/// Characters of a field where work begins.
const SHORT: usize = 400;
/// Ids that are written out.
const NAMED: usize = 20;
/// Notes, statements of evidence and lines of a check's output that are shown, the newest.
const NOTES: usize = 10;
const STATEMENTS: usize = 3;
const OUTPUT: usize = 10;

/// A field of a todo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DetailField {
    /// The name of the field.
    pub name: &'static str,
    /// The value of the field.
    pub value: Plain,
}

/// A todo with everything that is written down about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TodoDetail {
    /// The todo as a row.
    pub row: TodoRow,
    /// What else there is, in reading order.
    pub fields: Vec<DetailField>,
}

impl TodoDetail {
    /// Everything about a todo. What it depends on and what it blocks is named as far as it is loaded.
    pub fn of<'a>(reader: PlanReader<'a>, todo: &'a Todo) -> Self {
        let (row, record) = (TodoRow::of(reader, todo), Record::of(reader.plan, todo, reader.now));
        let mut fields = DetailFields(Vec::new());
        let reasons = reader.reasons(todo).into_iter().filter(|reason| !(reason.is_own() && reason.cause.is_hold()));
        let left_out = reader.left_out(todo).filter(|_| row.status == ShownStatus::Ready);
        fields.put("why", &reason::summary(&reasons.chain(left_out).collect::<Vec<_>>(), NAMED).join("; "));
        fields.put("description", todo.description.as_deref().unwrap_or_default());
        fields.put("phase", record.phase.as_deref().unwrap_or_default());
        fields.put("priority", &priority(todo));
        fields.put("labels", &todo.labels.iter().map(Label::as_str).collect::<Vec<_>>().join(", "));
        fields.put("size", todo.complexity.map_or("", crate::Complexity::name));
        fields.put("tokens", &todo.estimated_tokens.map(text::grouped).unwrap_or_default());
        fields.put("needs", &names(&needs(reader, &record.depends_on)));
        fields.put("blocks", &names(&record.blocks));
        if let Some(hold) = todo.hold_at(reader.now).filter(|hold| hold.kind == HoldKind::Parked) {
            // The sign of the row says that it is parked.
            fields.put(hold.word(), if hold.is_parked_without_words() { "" } else { &hold.reason });
        } else if let Some(hold) = todo.hold_at(reader.now) {
            let layout = Layout { glyphs: Glyphs::Ascii, width: None, now: reader.now };
            fields.put(ON_HOLD, on_hold(hold, layout).as_str());
        }
        fields.put("owner", todo.owner.as_deref().unwrap_or_default());
        fields.put("criteria", todo.criteria.as_deref().unwrap_or_default());
        fields.put("verify", &todo.verify.as_ref().map(Verify::line).unwrap_or_default());
        fields.put("files", &names(&todo.files));
        fields.put("last error", todo.last_error.as_deref().unwrap_or_default());
        fields.notes(todo);
        fields.proof(todo, reader.now);
        Self { row, fields: fields.0 }
    }

    /// Adds what only users read: the texts of the todos that this one needs or blocks, a line for each, and times as the
    /// layout has them. A model that asks for one todo knows the others.
    #[must_use]
    pub fn for_user<'a>(mut self, reader: PlanReader<'a>, todo: &'a Todo, layout: Layout) -> Self {
        let record = Record::of(reader.plan, todo, reader.now);
        for (name, ids) in [("needs", &record.depends_on), ("blocks", &record.blocks)] {
            let Some(at) = self.fields.iter().position(|field| field.name == name) else { continue };
            let titled = ids.iter().take(NAMED).map(|id| titled(reader, id));
            let more = Some(ids.len().saturating_sub(NAMED)).filter(|more| *more > 0);
            let values = titled.chain(more.map(|more| Plain::clipped(&format!("{more} more"), FIELD)));
            self.fields.splice(at..=at, values.map(|value| DetailField { name, value }));
        }
        if let Some(why) = self.fields.iter_mut().find(|field| field.name == "why") {
            let moments = reader.reasons(todo).into_iter().filter_map(|reason| reason.until);
            why.value = Plain::clipped(&layout.with_moments(why.value.to_string(), moments), FIELD);
        }
        if let Some((hold, field)) = todo.hold_at(reader.now).zip(self.fields.iter_mut().find(|f| f.name == ON_HOLD)) {
            field.value = on_hold(hold, layout);
        }
        self
    }

    /// Adds a field at the end, unless it says nothing.
    #[must_use]
    pub fn with(self, name: &'static str, value: &str) -> Self {
        let mut fields = DetailFields(self.fields);
        fields.put(name, value);
        Self { fields: fields.0, ..self }
    }

    /// The row, then a line for each field.
    pub fn lines(&self, glyphs: Glyphs) -> Vec<ViewLine> {
        self.below(self.row.line(glyphs))
    }

    /// The row with its check box, then a line for each field, as models read them.
    pub fn model_lines(&self) -> Vec<ViewLine> {
        self.below(self.row.line_with(self.row.status.check_box()))
    }

    fn below(&self, head: ViewLine) -> Vec<ViewLine> {
        let field = |field: &DetailField| {
            let line = ViewLine::default().with(SpanRole::Heading, format!("  {}: ", field.name));
            line.with(SpanRole::Text, field.value.as_str())
        };
        std::iter::once(head).chain(self.fields.iter().map(field)).collect()
    }
}

/// What happened to a todo: attempts, tokens, times, and where its last evidence comes from. Only users ask for it.
pub fn history<'a>(reader: PlanReader<'a>, todo: &'a Todo) -> Vec<DetailField> {
    let mut fields = DetailFields(Vec::new());
    let ago = |what: &str, at: i64| format!("{what} {}", ago(reader.now.saturating_sub(at)));
    let group = Record::of(reader.plan, todo, reader.now).parallel_group.filter(|group| *group > 1);
    fields.put("parallel group", &group.map(|group| group.to_string()).unwrap_or_default());
    if todo.attempts > 0 {
        fields.put("attempts", &format!("{} failed", todo.attempts));
    }
    if todo.actual_tokens > 0 {
        fields.put("took", &format!("{} tokens", text::grouped(todo.actual_tokens)));
    }
    let commit = todo.evidence.last().and_then(|evidence| evidence.commit.as_deref()).unwrap_or_default();
    fields.put("commit", &text::clip(commit, 12));
    let mut times: Vec<String> = (todo.created_at > 0).then(|| ago("added", todo.created_at)).into_iter().collect();
    times.extend(todo.started_at.map(|at| ago("started", at)));
    times.extend(todo.finished_at.map(|at| ago("finished", at)));
    fields.put("times", &times.join(", "));
    fields.0
}

/// What someone who begins a todo must know besides its content: what it is about and when it counts as done.
pub fn work(todo: &Todo) -> Vec<DetailField> {
    let mut fields = DetailFields(Vec::new());
    let mut put = |name, text: &str| fields.put_short(name, text);
    put("description", todo.description.as_deref().unwrap_or_default());
    put("criteria", todo.criteria.as_deref().unwrap_or_default());
    put("verify", &todo.verify.as_ref().map(Verify::line).unwrap_or_default());
    fields.0
}

/// The last check of a todo: how it ended, when, at which commit, and which command it was.
pub fn last_check(todo: &Todo, now: i64) -> Option<Plain> {
    let check = todo.last_check()?;
    let command = check.command.as_ref().map(Verify::line).unwrap_or_default();
    let commit = check.commit.as_deref().map(|commit| format!(" at {}", Plain::clipped(commit, 10)));
    let when = ago(now.saturating_sub(check.at));
    let text = format!("{} {when}{}: `{}`", check.outcome(), commit.unwrap_or_default(), Plain::clipped(&command, 200));
    Some(Plain::clipped(&text, FIELD))
}

struct DetailFields(Vec<DetailField>);

impl DetailFields {
    fn put(&mut self, name: &'static str, value: &str) {
        if !value.is_empty() {
            self.0.push(DetailField { name, value: Plain::clipped(value, FIELD) });
        }
    }

    fn put_short(&mut self, name: &'static str, value: &str) {
        if !value.trim().is_empty() {
            self.0.push(DetailField { name, value: Plain::clipped(value.trim(), SHORT) });
        }
    }

    fn notes(&mut self, todo: &Todo) {
        let older = todo.notes.len().saturating_sub(NOTES);
        if older > 0 {
            self.put("notes", &format!("{older} older, not shown"));
        }
        for note in todo.notes.iter().skip(older) {
            self.put("note", &note.text);
        }
    }

    fn proof(&mut self, todo: &Todo, now: i64) {
        if let Some(value) = last_check(todo, now) {
            self.0.push(DetailField { name: "last check", value });
        }
        if let Some(proof) = todo.proof() {
            self.put("proof", &format!("{}: {}", proof.name(), because(proof)));
        }
        if let Some(observed) = todo.observed() {
            let files = if observed.changed == 1 { "file" } else { "files" };
            self.put("changed", &format!("{} {files}", observed.changed));
            self.put("outside its files", &names(&observed.outside));
        }
        let check = todo.last_check();
        let output = check.and_then(|check| check.text.as_deref()).unwrap_or_default();
        let output: Vec<&str> = output.trim_end().lines().collect();
        for line in &output[output.len().saturating_sub(OUTPUT)..] {
            self.put("output", line);
        }
        let statements =
            todo.evidence.iter().rev().filter(|evidence| Some(*evidence) != check && evidence.command.is_none());
        for evidence in statements.take(STATEMENTS) {
            self.put("evidence", evidence.text.as_deref().unwrap_or_default());
        }
    }
}

const fn because(proof: Proof) -> &'static str {
    match proof {
        Proof::Checked => "a check passed, and nothing was changed after it",
        Proof::Unchecked => "completed without a check whose result is known",
        Proof::Outdated => "files were changed after the last passing check",
        Proof::Failing => "the last check failed",
    }
}

fn priority(todo: &Todo) -> String {
    let acts_as = todo.effective_priority();
    match (acts_as < todo.priority, todo.priority) {
        (true, own) => format!("{own} (acts as {acts_as}: urgent work is waiting for it)"),
        (false, 3) => String::new(),
        (false, own) => own.to_string(),
    }
}

/// Characters of the text of a todo that is named.
const TITLE: usize = 100;

/// A todo that is named: its id, what it is about, and its status if it is closed.
fn titled(reader: PlanReader<'_>, id: &str) -> Plain {
    let name = needs(reader, &[id.to_owned()]).concat();
    let content = reader.plan.by_id(id).map(|todo| Plain::clipped(todo.content.trim(), TITLE).to_string());
    match (name.strip_prefix(id), content) {
        (Some(status), Some(content)) => Plain::clipped(&format!("{}  {content}{status}", Plain::id(id)), FIELD),
        _ => Plain::clipped(&name, FIELD),
    }
}

const ON_HOLD: &str = "on hold";

/// The reason of a hold, and when it ends by itself.
fn on_hold(hold: &Hold, layout: Layout) -> Plain {
    let until = hold.until.map(|until| format!(" until {}", layout.moment(until))).unwrap_or_default();
    Plain::clipped(&format!("{}{until}", Plain::clipped(&hold.described(), FIELD)), FIELD)
}

/// What a todo needs; what is closed already says so.
fn needs(reader: PlanReader<'_>, ids: &[String]) -> Vec<String> {
    let name = |id: &String| match reader.plan.by_id(id).map(|todo| todo.status) {
        Some(Status::Completed) => format!("{id} (done)"),
        Some(status @ (Status::Cancelled | Status::Failed)) => format!("{id} ({})", status.name()),
        Some(Status::Pending | Status::InProgress) | None => id.clone(),
    };
    ids.iter().map(name).collect()
}

fn names(ids: &[String]) -> String {
    let shown: Vec<String> = ids.iter().take(NAMED).map(|id| Plain::clipped(id, 200).to_string()).collect();
    match ids.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

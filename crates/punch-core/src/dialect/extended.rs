//! The extended format: replace or patch by id, `dependsOn` and `blocks`, sizes, groups, derived `blocked`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::input::{invalid, join, list, number, object, text, texts};
use super::native::{self, TextLimits};
use crate::{
    Add, Complexity, Dep, DepOnRunning, Edit, InProgressLimit, Keep, ListPosition, MissingDep, OnCycle, OnRemove, Op,
    PhaseRef, Plan, Policy, Ref, Refusal, StartGate, Status, Todo, Warning,
};

/// A call after reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedCall {
    /// The payload is the whole plan.
    pub replace: bool,
    /// The payload.
    pub todos: Vec<ExtendedTodo>,
}

/// A status as this format writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtendedStatus {
    /// One of the stored ones.
    Stored(Status),
    /// Blocked, whether by dependencies or on its own.
    Blocked,
}

/// One todo of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedTodo {
    /// Required.
    pub id: String,
    /// Required for a new one.
    pub title: Option<String>,
    /// Absent keeps.
    pub status: Option<ExtendedStatus>,
    /// Every other field; absent keeps.
    pub edit: Edit,
    /// Compared with the derived one.
    pub group: Option<u64>,
    /// What it took; nothing that is stored with the todo.
    pub actual: Option<u64>,
}

/// The policy of this dialect on a plan.
pub fn policy(plan: Policy) -> Policy {
    Policy {
        start_gate: StartGate::AtEnd,
        in_progress: InProgressLimit::Any,
        on_cycle: OnCycle::Refuse,
        missing_dep: MissingDep::Refuse,
        on_remove: OnRemove::Detach,
        dep_on_running: DepOnRunning::Demote,
        ..plan
    }
}

/// Reads a call; refuses the first item that has the wrong shape or repeats an id.
pub fn read(call: &Value, limits: &TextLimits) -> Result<ExtendedCall, Refusal> {
    let map = object(call, "")?;
    let replace = match text(map, "mode", "")? {
        Some("replace") => true,
        Some("patch") => false,
        Some(other) => {
            return Err(invalid("mode", format!("`{}` is neither replace nor patch", crate::text::clip(other, 40))));
        }
        None => return Err(invalid("mode", "missing; use replace or patch")),
    };
    let mut seen = HashSet::new();
    let mut todos = Vec::new();
    for (n, item) in list(map, "todos", "")?.iter().enumerate() {
        let given = read_item(item, &format!("todos[{n}]"), limits)?;
        if replace && given.title.is_none() {
            return Err(invalid(format!("todos[{n}].title"), "missing"));
        }
        if !seen.insert(given.id.clone()) {
            return Err(Refusal::DuplicateId { id: given.id });
        }
        todos.push(given);
    }
    Ok(ExtendedCall { replace, todos })
}

fn read_item(item: &Value, at: &str, limits: &TextLimits) -> Result<ExtendedTodo, Refusal> {
    let map = object(item, at)?;
    let id = match text(map, "id", at)? {
        Some("") | None => return Err(invalid(join(at, "id"), "missing or empty")),
        Some(id) => native::check_id(id, &join(at, "id"))?,
    };
    let title = title(map, at, limits)?;
    let status = match text(map, "status", at)? {
        None => None,
        Some("blocked") => Some(ExtendedStatus::Blocked),
        Some(word) => Some(ExtendedStatus::Stored(Status::parse(word).ok_or_else(|| {
            let known = "pending, in_progress, completed, blocked, cancelled, failed";
            invalid(join(at, "status"), format!("`{}` is none of {known}", crate::text::clip(word, 40)))
        })?)),
    };
    Ok(ExtendedTodo {
        id,
        status,
        edit: fields(map, at, limits, title.as_deref())?,
        title,
        group: number(map, "parallelGroup", at)?,
        actual: number(map, "actualTokens", at)?,
    })
}

/// `title` and `content` are two names of one thing; both given and different is refused (rule 44).
fn title(map: &Map<String, Value>, at: &str, limits: &TextLimits) -> Result<Option<String>, Refusal> {
    let (title, content) = (text(map, "title", at)?, text(map, "content", at)?);
    if let (Some(a), Some(b)) = (title, content)
        && a != b
    {
        return Err(invalid(join(at, "title"), "title and content are the same field and differ"));
    }
    let key = if title.is_some() { "title" } else { "content" };
    title.or(content).map(|value| native::one_line(value, &join(at, key), limits.content)).transpose()
}

fn fields(map: &Map<String, Value>, at: &str, limits: &TextLimits, title: Option<&str>) -> Result<Edit, Refusal> {
    let long = |key: &'static str| -> Result<Keep<Option<String>>, Refusal> {
        let value = text(map, key, at)?.map(|value| native::long_text(value, key, limits.long)).transpose()?;
        Ok(value.map_or(Keep::Keep, |value| Keep::Set(Some(value))))
    };
    Ok(Edit {
        content: Keep::from_option(title.map(str::to_owned)),
        active_form: Keep::from_option(text(map, "activeForm", at)?.map(|v| Some(v.to_owned()))),
        description: long("description")?,
        depends_on: Keep::from_option(texts(map, "dependsOn", at)?.map(|ids| ids.into_iter().map(Ref::Id).collect())),
        blocks: texts(map, "blocks", at)?.unwrap_or_default().into_iter().map(Ref::Id).collect(),
        phase: Keep::from_option(text(map, "phase", at)?.map(|name| Some(PhaseRef::Name(name.to_owned())))),
        priority: Keep::from_option(native::priority(map, at)?),
        labels: native::labels(map, at)?,
        complexity: Keep::from_option(complexity(map, at)?.map(Some)),
        estimated_tokens: Keep::from_option(number(map, "estimatedTokens", at)?.map(Some)),
        criteria: long("verificationCriteria")?,
        verify: native::verify(map, "verifyCommand", at)?,
        files: Keep::from_option(texts(map, "files", at)?),
        ..Edit::default()
    })
}

/// Reads the size class.
pub(super) fn complexity(map: &Map<String, Value>, at: &str) -> Result<Option<Complexity>, Refusal> {
    let Some(word) = text(map, "complexity", at)? else { return Ok(None) };
    let known = Complexity::parse(word);
    known.map(Some).ok_or_else(|| {
        let what = format!("`{}` is none of trivial, small, medium, large, epic", crate::text::clip(word, 40));
        invalid(join(at, "complexity"), what)
    })
}

/// The ops of a call on a whole plan.
pub fn ops(plan: &Plan, call: &ExtendedCall) -> Result<Vec<Op>, Refusal> {
    let mut ops = Vec::new();
    if call.replace {
        let named: HashSet<&str> = call.todos.iter().map(|g| g.id.as_str()).collect();
        let gone = plan.live().into_iter().filter(|t| !named.contains(t.id.as_str()));
        ops.extend(gone.map(|t| Op::Rm(Ref::Uid(t.uid))));
    }
    let mut statuses = Vec::new();
    for (n, given) in call.todos.iter().enumerate() {
        let target = Ref::Id(given.id.clone());
        let known = plan.by_id(&given.id);
        match known {
            Some(_) => {
                let mut edit = given.edit.clone();
                if call.replace && edit.depends_on == Keep::Keep {
                    edit.depends_on = Keep::Set(Vec::new());
                }
                ops.push(Op::Edit(target.clone(), edit));
            }
            None if given.title.is_none() => {
                return Err(invalid(
                    format!("todos[{n}].title"),
                    format!("missing; `{}` is new", crate::text::clip(&given.id, 80)),
                ));
            }
            None => ops.push(Op::Add(Add {
                id: Some(given.id.clone()),
                edit: given.edit.clone(),
                place: ListPosition::End,
                ..Add::default()
            })),
        }
        if let Some(wish) = given.status {
            statuses.extend(status(target, wish, known));
        }
    }
    if call.replace {
        ops.push(Op::Arrange(call.todos.iter().map(|g| Ref::Id(g.id.clone())).collect()));
    }
    ops.extend(statuses);
    Ok(ops)
}

fn status(target: Ref, wish: ExtendedStatus, known: Option<&Todo>) -> Vec<Op> {
    let mut ops = Vec::new();
    // Any status first ends a hold; only `blocked` may put one (back) on.
    if known.is_some_and(|t| t.hold.is_some()) && wish != ExtendedStatus::Blocked {
        ops.push(Op::Release(target.clone()));
    }
    if wish == ExtendedStatus::Stored(Status::InProgress) && known.is_some_and(|t| t.status == Status::Completed) {
        ops.push(Op::Reopen(target.clone()));
    }
    ops.push(match wish {
        ExtendedStatus::Blocked => Op::Block(target),
        ExtendedStatus::Stored(Status::Pending) => Op::Reopen(target),
        ExtendedStatus::Stored(Status::InProgress) => Op::Start(target),
        ExtendedStatus::Stored(Status::Completed) => Op::Done { target, evidence: None, fence: None },
        ExtendedStatus::Stored(Status::Cancelled) => Op::Drop(target),
        ExtendedStatus::Stored(Status::Failed) => Op::Fail(target, String::new()),
    });
    ops
}

/// Groups in the input that differ from the derived ones (rule 22).
pub fn group_warnings(plan: &Plan, call: &ExtendedCall) -> Vec<Warning> {
    let given = call.todos.iter().filter_map(|g| Some((g.group?, plan.by_id(&g.id)?)));
    given
        .filter(|(group, todo)| *group != u64::from(todo.derived.level))
        .map(|(given, todo)| Warning::Group { id: todo.id.clone(), given, derived: todo.derived.level })
        .collect()
}

/// The plan in this format, in list order, `blocked` where it is derived.
pub fn rows(plan: &Plan, now: i64) -> Value {
    let live = plan.live();
    let mut blocks: HashMap<&str, Vec<&str>> = HashMap::new();
    for todo in &live {
        for dep in &todo.depends_on {
            blocks.entry(name(plan, dep)).or_default().push(&todo.id);
        }
    }
    live.iter()
        .map(|todo| {
            json!({
                "id": todo.id,
                "title": todo.content,
                "status": if todo.is_blocked(now) { "blocked" } else { todo.status_at(now).name() },
                "priority": todo.priority,
                "dependsOn": todo.depends_on.iter().map(|dep| name(plan, dep)).collect::<Vec<_>>(),
                "blocks": blocks.get(todo.id.as_str()).cloned().unwrap_or_default(),
                "parallelGroup": todo.derived.level,
            })
        })
        .collect()
}

fn name<'p>(plan: &'p Plan, dep: &'p Dep) -> &'p str {
    match dep {
        Dep::On(to) | Dep::Suspended(to) => plan.get(*to).map_or("", |t| &t.id),
        Dep::Dangling(id) => id,
    }
}

/// Ready ids by (own priority, position), as this format orders them (rule 25).
pub fn ready(plan: &Plan, now: i64) -> Vec<String> {
    let reader = crate::reason::PlanReader::new(plan, now);
    let mut ready: Vec<&Todo> = plan.live().into_iter().filter(|t| reader.is_ready(t)).collect();
    ready.sort_by_key(|t| (t.priority, t.position, t.uid));
    ready.into_iter().map(|t| t.id.clone()).collect()
}

//! `punch edit`: fields of one todo; without arguments the whole plan in the editor.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use punch_core::view::edit_sheet::SheetTodos;
use punch_core::{
    ApplyStop, Dep, Edit as Fields, Footprint, Keep, Label, LabelEdit, MissingDep, Op, Plan, Policy, Record, Ref,
    Refusal, Uid, text,
};
use punch_engine::{EngineError, WriteRequest};
use serde_json::{Map, Value, json};

use super::add::{FieldFlags, referred};
use super::edit_one::{FIELDS, TodoText};
use super::{edit_whole, show};
use crate::editor::EditorDraft;
use crate::failure::Failure;
use crate::input;
use crate::named_todos::native;
use crate::project::Project;
use crate::reply::{self, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch edit T-3 --text 'Write the parser' --priority 1
  punch edit T-3 --add-needs T-1 --drop-needs T-2
  punch edit T-3 --needs T-1 --needs T-4        # exactly these
  punch edit T-3 --label docs --no-label draft
  punch edit T-3 --new-id parser --clear description
  punch edit T-3                                # one todo in $VISUAL or $EDITOR
  punch edit                                    # the whole plan, one line per todo";

/// The arguments of `punch edit`.
#[derive(Args, Default)]
#[command(after_help = EXAMPLES)]
pub struct EditArgs {
    /// An id, or a part of the text; without it you edit the whole plan
    #[arg(value_name = "TODO")]
    todo: Option<String>,
    /// What to do
    #[arg(long = "text", short = 'c', alias = "content", value_name = "TEXT")]
    content: Option<String>,
    /// A new id
    #[arg(long, value_name = "ID")]
    new_id: Option<String>,
    /// One more todo that must be done first; `T-3,T-4` (repeatable)
    #[arg(long, value_name = "TODO", conflicts_with = "needs")]
    add_needs: Vec<String>,
    /// A todo that it no longer needs (repeatable)
    #[arg(long, alias = "no-needs", value_name = "TODO", conflicts_with = "needs")]
    drop_needs: Vec<String>,
    /// Remove a label; `--label` adds one. `docs,web` (repeatable)
    #[arg(long, alias = "drop-label", value_name = "LABEL", value_delimiter = ',')]
    no_label: Vec<String>,
    /// Clear this field (repeatable)
    #[arg(long, value_name = "FIELD", value_enum)]
    clear: Vec<Clear>,
    /// Resume a draft saved by a failed edit
    #[arg(long, value_name = "FILE")]
    again: Option<PathBuf>,
    /// Include completed and cancelled todos in the editor
    #[arg(long, short, conflicts_with = "todo")]
    all: bool,
    #[command(flatten)]
    fields: FieldFlags,
}

/// A field that can be empty.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Clear {
    Needs,
    Phase,
    Priority,
    Labels,
    Complexity,
    Tokens,
    Criteria,
    Verify,
    Files,
    Description,
    ActiveForm,
}

impl Clear {
    const fn key(self) -> &'static str {
        match self {
            Self::Needs => "dependsOn",
            Self::Phase => "phase",
            Self::Priority => "priority",
            Self::Labels => "labels",
            Self::Complexity => "complexity",
            Self::Tokens => "estimatedTokens",
            Self::Criteria => "verificationCriteria",
            Self::Verify => "verifyCommand",
            Self::Files => "files",
            Self::Description => "description",
            Self::ActiveForm => "activeForm",
        }
    }
}

impl EditArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let map = self.map()?;
        let needs = !(self.fields.needs.is_empty() && self.add_needs.is_empty() && self.drop_needs.is_empty());
        let unchanged = map.is_empty() && !needs && self.no_label.is_empty();
        let Some(todo) = self.todo.clone() else {
            if !unchanged {
                return Err(Failure::usage("no todo given for these fields", "name it: `punch edit T-3 …`"));
            }
            let shown = if self.all { SheetTodos::All } else { SheetTodos::Unfinished };
            return edit_whole::run(project, self.again.as_deref(), shown);
        };
        if unchanged {
            return self.in_editor(project, &todo);
        }
        if self.again.is_some() {
            return Err(Failure::usage("`--again` cannot be combined with fields", "change them in the draft"));
        }
        self.one(project, &todo, map)
    }

    /// The fields in the words of the native dialect.
    fn map(&self) -> Result<Map<String, Value>, Failure> {
        let mut map = self.fields.to_map();
        let given = [("content", &self.content), ("newId", &self.new_id)];
        map.extend(given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), json!(value.as_ref()?)))));
        for field in &self.clear {
            let empty = if *field == Clear::Priority { json!(3) } else { Value::Null };
            let both = *field == Clear::Needs && !(self.fields.needs.is_empty() && self.add_needs.is_empty());
            if map.insert(field.key().to_owned(), empty).is_some_and(|v| !v.is_null()) || both {
                let name = field.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
                let flag = match field {
                    Clear::Labels => "label",
                    Clear::Needs if self.fields.needs.is_empty() => "add-needs",
                    _ => name.as_str(),
                };
                let message = format!("`--{flag}` and `--clear {name}` cannot be combined");
                return Err(Failure::usage(&message, "drop one of them"));
            }
        }
        Ok(map)
    }

    /// Labels that come and go, one by one: those that the todo has besides stay.
    fn labels(&self, given: LabelEdit) -> Result<LabelEdit, Failure> {
        let remove = Label::parse_all(self.no_label.iter().map(String::as_str)).map_err(EngineError::from)?;
        Ok(match given {
            LabelEdit::Keep if remove.is_empty() => LabelEdit::Keep,
            LabelEdit::Set(add) if !add.is_empty() => LabelEdit::Change { add, remove },
            LabelEdit::Keep => LabelEdit::Change { add: BTreeSet::new(), remove },
            cleared => cleared,
        })
    }

    /// Lets the user edit one todo, and submits what they changed.
    fn in_editor(self, project: Project, todo: &str) -> Result<VerbReply, Failure> {
        let open = project.open_named(&[todo.to_owned()])?;
        let uid = open.engine.resolve(open.plan, todo)?;
        let plan = show::around(&open.engine, open.plan, uid)?;
        let missing = || EngineError::NotFound { given: todo.to_owned(), near: Vec::new() };
        let found = plan.get(uid).ok_or_else(missing)?;
        let id = found.id.clone();
        let invalid = |what: String| Failure::refused("invalid", what, "fix the line and try again");
        let (draft, before) = match &self.again {
            Some(file) => {
                let (draft, base) = EditorDraft::again(file)?;
                if base.starts_with('{') {
                    let message = format!("`{}` is a draft of the whole plan", file.display());
                    return Err(Failure::usage(&message, "continue with it without a todo: `punch edit --again FILE`"));
                }
                (draft, TodoText::parse(&base).map_err(invalid)?)
            }
            None => {
                let before = TodoText::of(&Record::of(&plan, found, open.engine.now()));
                let text = before.write();
                (EditorDraft::new("todo.md", &text, &text)?, before)
            }
        };
        let changed = draft.edit().and_then(|written| {
            let after = TodoText::read(&written).map_err(invalid)?;
            let submit = |edit: Self| edit.map().and_then(|map| edit.one(open.project, &id, map));
            match Self::between(&before, &after).map_err(|failure| after.placed(failure))? {
                Some(edit) => submit(edit).map_err(|failure| after.placed(failure)),
                None => Ok(VerbReply::new("Nothing changed.", json!({"todo": null}))),
            }
        });
        match changed {
            Ok(reply) => {
                draft.close();
                Ok(reply)
            }
            Err(failure) => {
                draft.keep(&format!("punch edit {} --again", text::shell(&id)));
                Err(failure)
            }
        }
    }

    /// The edit that leads from one text to another.
    fn between(before: &TodoText, after: &TodoText) -> Result<Option<Self>, Failure> {
        let content = (before.content != after.content).then(|| after.content.clone());
        let mut edit = Self { content, ..Self::default() };
        let fields = &mut edit.fields;
        let list = |value: &str| -> Vec<String> {
            value.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
        };
        let invalid =
            |name: &str, what: String| Failure::from(EngineError::from(Refusal::Invalid { at: name.to_owned(), what }));
        for name in FIELDS {
            let (old, new) = (before.field(name).unwrap_or_default(), after.field(name).unwrap_or_default());
            if old == new {
                continue;
            }
            let gone = new.is_empty();
            match name {
                "phase" if gone => edit.clear.push(Clear::Phase),
                "phase" => fields.phase = Some(new.to_owned()),
                "priority" if gone => edit.clear.push(Clear::Priority),
                "priority" => fields.priority = Some(input::priority(new).map_err(|what| invalid(name, what))?),
                "needs" if gone => edit.clear.push(Clear::Needs),
                "needs" => fields.needs = list(new),
                "labels" => {
                    let (old, new) = (list(old), list(new));
                    fields.labels = new.iter().filter(|label| !old.contains(label)).cloned().collect();
                    edit.no_label = old.into_iter().filter(|label| !new.contains(label)).collect();
                }
                "size" if gone => edit.clear.push(Clear::Complexity),
                "size" => fields.complexity = Some(input::complexity(new).map_err(|what| invalid(name, what))?),
                "tokens" if gone => edit.clear.push(Clear::Tokens),
                "tokens" => fields.tokens = Some(input::tokens(new).map_err(|what| invalid(name, what))?),
                "criteria" if gone => edit.clear.push(Clear::Criteria),
                "criteria" => fields.criteria = Some(new.to_owned()),
                "verify" if gone => edit.clear.push(Clear::Verify),
                "verify" => fields.verify = Some(new.to_owned()),
                _ if gone => edit.clear.push(Clear::Files),
                _ => fields.files = list(new),
            }
        }
        if before.description != after.description {
            match after.description.is_empty() {
                true => edit.clear.push(Clear::Description),
                false => edit.fields.description = Some(after.description.clone()),
            }
        }
        let same = edit.map()?.is_empty() && edit.fields.needs.is_empty() && edit.no_label.is_empty();
        Ok((!same).then_some(edit))
    }

    fn one(&self, project: Project, todo: &str, mut map: Map<String, Value>) -> Result<VerbReply, Failure> {
        if let Some(id) = &self.new_id {
            input::check_id("--new-id", id)?;
        }
        map.insert("op".into(), json!("edit"));
        map.insert("id".into(), json!(todo));
        let mut edit = match native(&project, Value::Object(map))?.pop() {
            Some(Op::Edit(_, edit)) => edit,
            _ => Fields::default(),
        };
        edit.labels = self.labels(edit.labels)?;
        let open = project.open_named(&[todo.to_owned()])?;
        let uid = open.engine.resolve(open.plan, todo)?;
        let wires = Wires {
            uid,
            exact: referred(&open.engine, open.plan, &self.fields.needs)?,
            add: referred(&open.engine, open.plan, &self.add_needs)?,
            // What is dropped may be an unknown name.
            drop: self
                .drop_needs
                .iter()
                .map(|name| (name.clone(), open.engine.resolve(open.plan, name)))
                .collect::<Vec<_>>(),
        };
        // Names that were missing before may stay so; everything named here was found.
        let preset = |plan| Policy { missing_dep: MissingDep::Dangle, ..plan };
        let request = WriteRequest { preset, ..open.project.request() };
        let first = Footprint { todos: [uid].into_iter().chain(wires.named()).collect(), ..Footprint::default() };
        let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, ApplyStop> {
            let mut edit = edit.clone();
            if let Some(deps) = wires.depends_on(plan)? {
                edit.depends_on = Keep::Set(deps);
            }
            Ok(vec![Op::Edit(Ref::Uid(uid), edit)])
        };
        let changed = open.engine.submit_with(open.plan, &request, &first, &mut ask)?;
        Ok(reply::changed(&changed, &[uid], &open.project))
    }
}

/// What is asked about dependencies.
struct Wires {
    uid: Uid,
    exact: Vec<Uid>,
    add: Vec<Uid>,
    drop: Vec<(String, Result<Uid, EngineError>)>,
}

impl Wires {
    fn named(&self) -> impl Iterator<Item = Uid> {
        self.exact.iter().chain(&self.add).copied()
    }

    /// The whole new list, on the plan as it is in the transaction.
    fn depends_on(&self, plan: &Plan) -> Result<Option<Vec<Ref>>, ApplyStop> {
        for uid in self.named() {
            // It was there a moment ago.
            if plan.find_uid(uid)?.is_none() {
                let id = plan.get(uid).map(|t| t.id.clone()).unwrap_or_default();
                return Err(Refusal::UnknownTodo { id, near: Vec::new() }.into());
            }
        }
        if !self.exact.is_empty() {
            return Ok(Some(self.exact.iter().copied().map(Ref::Uid).collect()));
        }
        if self.add.is_empty() && self.drop.is_empty() {
            return Ok(None);
        }
        let mut deps = plan.need(self.uid)?.depends_on.clone();
        for (name, uid) in &self.drop {
            let before = deps.len();
            deps.retain(|dep| match dep {
                Dep::Dangling(id) => id != name,
                Dep::On(to) | Dep::Suspended(to) => Ok(*to) != uid.as_ref().copied(),
            });
            if deps.len() == before {
                let what = format!("`{}` does not need `{name}`", plan.need(self.uid)?.id);
                return Err(Refusal::Invalid { at: "--drop-needs".into(), what }.into());
            }
        }
        let remaining = deps.into_iter().map(|dep| match dep {
            Dep::Dangling(id) => Ref::Id(id),
            Dep::On(to) | Dep::Suspended(to) => Ref::Uid(to),
        });
        Ok(Some(remaining.chain(self.add.iter().copied().map(Ref::Uid)).collect()))
    }
}

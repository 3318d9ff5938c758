//! `punch edit`: fields of one todo; without arguments the whole plan in the editor.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use punch_core::{Dep, Edit as Fields, Footprint, Keep, MissingDep, Op, Plan, Policy, Ref, Refusal, Stop, Uid};
use punch_engine::{Engine, EngineError, Request};
use punch_store::PlanId;
use serde_json::{Map, Value, json};

use super::add::FieldFlags;
use super::edit_whole;
use crate::failure::Failure;
use crate::named_todos::native;
use crate::project::Project;
use crate::reply::{self, Reply};

const EXAMPLES: &str = "\
Examples:
  punch edit T-3 --content 'Write the parser' --priority 1
  punch edit T-3 --add-needs T-1 --drop-needs T-2
  punch edit T-3 --needs T-1 --needs T-4        # exactly these
  punch edit T-3 --new-id parser --clear description
  punch edit                                    # the whole plan in $VISUAL or $EDITOR";

/// The arguments of `punch edit`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Edit {
    /// An id, or a part of the content; without it the whole plan is edited as Markdown
    #[arg(value_name = "TODO")]
    todo: Option<String>,
    /// What is to be done
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// Another id
    #[arg(long, value_name = "ID")]
    new_id: Option<String>,
    /// One more todo that must be done first; may be given several times
    #[arg(long, value_name = "TODO", conflicts_with = "needs")]
    add_needs: Vec<String>,
    /// A todo that need not be done first any longer; may be given several times
    #[arg(long, value_name = "TODO", conflicts_with = "needs")]
    drop_needs: Vec<String>,
    /// Empty this field; may be given several times
    #[arg(long, value_name = "FIELD", value_enum)]
    clear: Vec<Clear>,
    /// Go on with a text that was kept when the whole plan was edited
    #[arg(long, value_name = "FILE", conflicts_with = "todo")]
    again: Option<PathBuf>,
    #[command(flatten)]
    fields: FieldFlags,
}

/// A field that can be empty.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Clear {
    Needs,
    Phase,
    Priority,
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

impl Edit {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let map = self.map()?;
        let needs = !(self.fields.needs.is_empty() && self.add_needs.is_empty() && self.drop_needs.is_empty());
        let Some(todo) = self.todo.clone() else {
            if !map.is_empty() || needs {
                return Err(Failure::usage("fields are given, but no todo", "name it: `punch edit T-3 …`"));
            }
            return edit_whole::run(project, self.again.as_deref());
        };
        if map.is_empty() && !needs {
            let hint = "give at least one field, see `punch edit --help`; `punch edit` alone edits the whole plan";
            return Err(Failure::usage("nothing to change", hint));
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
                return Err(Failure::usage("a field is both given and cleared", "say one of the two"));
            }
        }
        Ok(map)
    }

    fn one(&self, project: Project, todo: &str, mut map: Map<String, Value>) -> Result<Reply, Failure> {
        map.insert("op".into(), json!("edit"));
        map.insert("id".into(), json!(todo));
        let edit = match native(&project, Value::Object(map))?.pop() {
            Some(Op::Edit(_, edit)) => edit,
            _ => Fields::default(),
        };
        let open = project.open_named(&[todo.to_owned()])?;
        let uid = open.engine.resolve(open.plan, todo)?;
        let wires = Wires {
            uid,
            exact: found(&open.engine, open.plan, &self.fields.needs)?,
            add: found(&open.engine, open.plan, &self.add_needs)?,
            // What is dropped may be an unknown name.
            drop: self
                .drop_needs
                .iter()
                .map(|name| (name.clone(), open.engine.resolve(open.plan, name)))
                .collect::<Vec<_>>(),
        };
        // Names that were missing before may stay so; everything named here was found.
        let preset = |plan| Policy { missing_dep: MissingDep::Dangle, ..plan };
        let request = Request { preset, ..open.project.request() };
        let first = Footprint { todos: [uid].into_iter().chain(wires.named()).collect(), ..Footprint::default() };
        let mut ask = |plan: &Plan, _| -> Result<Vec<Op>, Stop> {
            let mut edit = edit.clone();
            if let Some(deps) = wires.depends_on(plan)? {
                edit.depends_on = Keep::Set(deps);
            }
            Ok(vec![Op::Edit(Ref::Uid(uid), edit)])
        };
        let changed = open.engine.submit_with(open.plan, &request, &first, &mut ask)?;
        Ok(reply::changed(&changed, &[uid], open.project.global.json))
    }
}

fn found(engine: &Engine, plan: PlanId, names: &[String]) -> Result<Vec<Uid>, Failure> {
    names.iter().map(|name| Ok(engine.resolve(plan, name)?)).collect()
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
    fn depends_on(&self, plan: &Plan) -> Result<Option<Vec<Ref>>, Stop> {
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
                let what = format!("it does not depend on `{name}`");
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

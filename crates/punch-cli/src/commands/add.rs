//! `punch add`: new todos, one or many, from arguments or standard input.

use std::io::Read;

use clap::Args;
use punch_core::{Keep, ListPosition, Op, Ref};
use punch_engine::{Changed, EngineError};
use serde_json::{Map, Value, json};

use super::move_to::PlaceFlags;
use crate::failure::Failure;
use crate::named_todos::native;
use crate::project::{Open, Project};
use crate::reply::{self, Reply};

const EXAMPLES: &str = "\
Examples:
  punch add 'Write the parser' 'Test the parser'
  punch add 'Release' --id release --needs T-1 --needs T-2 --priority 1
  punch add 'Port the store' --phase Core --complexity large --files 'src/store/**'
  git diff --name-only | sed 's/^/Review /' | punch add -";

/// The arguments of `punch add`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Add {
    /// What is to be done, one todo each; `-` reads one per line from standard input
    #[arg(required = true, value_name = "CONTENT")]
    contents: Vec<String>,
    /// The id, instead of the next T-1, T-2, …; for one todo only
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    fields: FieldFlags,
    #[command(flatten)]
    place: PlaceFlags,
}

/// Fields that `add` and `edit` share.
#[derive(Args, Clone, Default)]
pub struct FieldFlags {
    /// A todo that must be done first; may be given several times
    #[arg(long, value_name = "TODO")]
    pub needs: Vec<String>,
    /// A todo that must wait for this one; may be given several times
    #[arg(long, value_name = "ID")]
    pub blocks: Vec<String>,
    /// The phase it belongs to; made if there is none of that name
    #[arg(long, value_name = "NAME")]
    pub phase: Option<String>,
    /// 1 (first) to 5 (if time allows)
    #[arg(long, value_name = "1-5")]
    pub priority: Option<u64>,
    /// trivial, small, medium, large or epic
    #[arg(long, value_name = "SIZE")]
    pub complexity: Option<String>,
    /// Estimated tokens
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,
    /// How completion is judged
    #[arg(long, value_name = "TEXT")]
    pub criteria: Option<String>,
    /// The command that proves it
    #[arg(long, value_name = "COMMAND")]
    pub verify: Option<String>,
    /// A file or glob the work will touch; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub files: Vec<String>,
    /// More about it
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// The content in the present tense, shown while it runs
    #[arg(long, value_name = "TEXT")]
    pub active_form: Option<String>,
}

impl FieldFlags {
    /// The fields in the words of the native dialect, dependencies left out.
    pub fn to_map(&self) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        put("blocks", (!self.blocks.is_empty()).then(|| json!(self.blocks)));
        put("phase", self.phase.as_ref().map(|v| json!(v)));
        put("priority", self.priority.map(|v| json!(v)));
        put("complexity", self.complexity.as_ref().map(|v| json!(v)));
        put("estimatedTokens", self.tokens.map(|v| json!(v)));
        put("verificationCriteria", self.criteria.as_ref().map(|v| json!(v)));
        put("verifyCommand", self.verify.as_ref().map(|v| json!(v)));
        put("files", (!self.files.is_empty()).then(|| json!(self.files)));
        put("description", self.description.as_ref().map(|v| json!(v)));
        put("activeForm", self.active_form.as_ref().map(|v| json!(v)));
        map
    }
}

impl Add {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Reply, Failure> {
        let contents = contents(&self.contents)?;
        if contents.is_empty() {
            return Err(Failure::usage("nothing to add: standard input has no lines", "give one todo per line"));
        }
        if self.id.is_some() && contents.len() > 1 {
            return Err(Failure::usage("--id names one todo, several were given", "add them one by one"));
        }
        let mut ops = Vec::with_capacity(contents.len());
        for content in contents {
            let mut op = self.fields.to_map();
            op.insert("op".into(), json!("add"));
            op.insert("content".into(), json!(content));
            if let Some(id) = &self.id {
                op.insert("id".into(), json!(id));
            }
            ops.extend(native(&project, Value::Object(op))?);
        }
        let open = project.write()?;
        let by_id: Vec<Ref> = self.fields.needs.iter().cloned().map(Ref::Id).collect();
        let changed = match submit(&open, &ops, &by_id, &self.place.place()) {
            Err(Failure::Engine(error)) if error.code() == "unknown_dependency" => {
                let refs = by_content(&open, &self.fields.needs, error)?;
                submit(&open, &ops, &refs, &self.place.place())?
            }
            other => other?,
        };
        Ok(reply::changed(&changed, &changed.outcome.added, open.project.global.json))
    }
}

/// A name that is no id may be part of a content; if it fits nothing, the first refusal stands.
pub fn by_content(open: &Open, names: &[String], first: EngineError) -> Result<Vec<Ref>, Failure> {
    let mut refs = Vec::with_capacity(names.len());
    for name in names {
        match open.engine.resolve(open.plan, name) {
            Ok(uid) => refs.push(Ref::Uid(uid)),
            Err(EngineError::NotFound { .. }) => return Err(first.into()),
            Err(other) => return Err(other.into()),
        }
    }
    Ok(refs)
}

fn submit(open: &Open, ops: &[Op], needs: &[Ref], place: &ListPosition) -> Result<Changed, Failure> {
    let complete = |(n, op): (usize, &Op)| {
        let Op::Add(add) = op else { return op.clone() };
        let mut add = add.clone();
        add.edit.depends_on = Keep::Set(needs.to_vec());
        // Several todos go to the place together, in their order.
        add.place =
            if n == 0 || *place == ListPosition::End { place.clone() } else { ListPosition::After(Ref::New(n - 1)) };
        Op::Add(add)
    };
    let ops: Vec<Op> = ops.iter().enumerate().map(complete).collect();
    Ok(open.engine.submit(open.plan, &open.project.request(), &ops)?)
}

fn contents(given: &[String]) -> Result<Vec<String>, Failure> {
    let mut out = Vec::new();
    for content in given {
        if content == "-" {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text).map_err(Failure::Input)?;
            out.extend(text.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned));
        } else {
            out.push(content.clone());
        }
    }
    Ok(out)
}

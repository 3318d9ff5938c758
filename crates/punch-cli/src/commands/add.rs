//! `punch add`: new todos, one or many, from arguments or standard input.

use std::io::{IsTerminal, Read};

use clap::Args;
use punch_core::format::pasted_list::{self, PastedTodo};
use punch_core::{Keep, ListPosition, Op, Ref, Todo, Uid, Warning};
use punch_engine::{Engine, EngineError, PlanChange};
use punch_store::PlanId;
use serde_json::{Map, Value, json};

use super::move_to::PlaceFlags;
use crate::failure::Failure;
use crate::named_todos::native;
use crate::project::{OpenProject, Project};
use crate::reply::{self, VerbReply};
use crate::{files, input, safety};

const EXAMPLES: &str = "\
Examples:
  punch add 'Write the parser' 'Test the parser'
  punch add 'Release' --id release --needs T-1,T-2 -p high
  punch add 'Port the store' --phase Core --label backend --files 'src/store/**'
  git diff --name-only | sed 's/^/Review /' | punch add -
  punch add < notes.md       # a Markdown list: `# phase`, `- [ ] text #label`";

/// The arguments of `punch add`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct AddArgs {
    /// What to do, one todo each; `-` reads a list from standard input
    #[arg(value_name = "TEXT")]
    contents: Vec<String>,
    /// The id instead of the next T-1, T-2, …; for one todo only
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
    /// Todos that must be done first: ids or parts of their texts; `T-3,T-4` (repeatable)
    #[arg(long, short, value_name = "TODO")]
    pub needs: Vec<String>,
    /// A todo that needs this one (repeatable)
    #[arg(long, value_name = "ID")]
    pub blocks: Vec<String>,
    /// The phase it belongs to; created if it does not exist
    #[arg(long, value_name = "NAME")]
    pub phase: Option<String>,
    /// 1 (most urgent) to 5, or urgent, high, medium, low, lowest
    #[arg(long, short, value_name = "1-5", value_parser = input::priority)]
    pub priority: Option<u64>,
    /// A label, for example `docs` or `area/store`; `docs,web` (repeatable)
    #[arg(long = "label", short, value_name = "LABEL", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// trivial, small, medium, large or epic
    #[arg(long, value_name = "SIZE", value_parser = input::complexity)]
    pub complexity: Option<String>,
    /// Estimated tokens, for example 20k
    #[arg(long, value_name = "N", value_parser = input::tokens)]
    pub tokens: Option<u64>,
    /// Acceptance criteria
    #[arg(long, value_name = "TEXT")]
    pub criteria: Option<String>,
    /// Check command; must exit with 0
    #[arg(long, value_name = "COMMAND")]
    pub verify: Option<String>,
    /// A file or glob the work will touch (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub files: Vec<String>,
    /// Details
    #[arg(long, short, value_name = "TEXT")]
    pub description: Option<String>,
    /// The text in the present tense, shown while it runs
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
        put("labels", (!self.labels.is_empty()).then(|| json!(self.labels)));
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

impl AddArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let (contents, closed) = self.contents()?;
        if contents.is_empty() {
            return Err(Failure::usage(
                "nothing to add",
                "`punch add 'What to do'`, or one todo per line on standard input",
            ));
        }
        self.check(&contents)?;
        if self.id.is_some() && contents.len() > 1 {
            return Err(Failure::usage("--id works with a single todo", "add them one by one"));
        }
        let mut ops = Vec::with_capacity(contents.len());
        for PastedTodo { phase, content, labels } in contents {
            let mut op = self.fields.to_map();
            op.insert("op".into(), json!("add"));
            op.insert("content".into(), json!(content));
            if let Some(phase) = phase.filter(|_| self.fields.phase.is_none()) {
                op.insert("phase".into(), json!(phase));
            }
            if !labels.is_empty() {
                let labels = self.fields.labels.iter().cloned().chain(labels.iter().map(ToString::to_string));
                op.insert("labels".into(), labels.collect());
            }
            if let Some(id) = &self.id {
                op.insert("id".into(), json!(id));
            }
            ops.extend(native(&project, Value::Object(op))?);
        }
        let open = project.write()?;
        let by_id: Vec<Ref> = self.fields.needs.iter().cloned().map(Ref::Id).collect();
        let mut changed = match submit(&open, &ops, &by_id, &self.place.place()) {
            Err(Failure::Engine(error)) if error.code() == "unknown_dependency" => {
                let refs = by_content(&open, &self.fields.needs)?;
                submit(&open, &ops, &refs, &self.place.place())?
            }
            other => other?,
        };
        warn_same_text(&open, &mut changed);
        let mut reply = reply::changed(&changed, &changed.outcome.added, &open.project);
        if closed > 0 {
            let lines = safety::count(closed as u64, "line");
            reply.body.push(format!("note: skipped {lines} already checked off; `punch import` keeps them"));
        }
        Ok(reply)
    }
}

/// New todos that are looked up by their text.
const COMPARED: usize = 50;

/// Warns about open todos that say the same as a new one: often the same work twice. The new todos are stored, so a store that
/// has become unreachable since then costs the warning and is not an error.
fn warn_same_text(open: &OpenProject, changed: &mut PlanChange) {
    let added: Vec<&Todo> =
        changed.outcome.added.iter().take(COMPARED).filter_map(|uid| changed.plan.get(*uid)).collect();
    let contents = added.iter().map(|todo| todo.content.clone()).collect();
    let Ok(found) = open.engine.read(open.plan, |snapshot| Ok(snapshot.find_open_by_content(&contents)?)) else {
        return;
    };
    let mut warnings = Vec::new();
    for todo in added {
        let same = |other: &&Todo| other.content == todo.content && !changed.outcome.added.contains(&other.uid);
        if let Some(other) = found.iter().find(same) {
            warnings.push(Warning::SameContent { id: todo.id.clone(), other: other.id.clone() });
        }
    }
    changed.outcome.warnings.extend(warnings);
}

/// Finds the todos that names refer to; names may be ids or parts of contents.
pub fn by_content(open: &OpenProject, names: &[String]) -> Result<Vec<Ref>, Failure> {
    match referred(&open.engine, open.plan, names) {
        Ok(uids) => Ok(uids.into_iter().map(Ref::Uid).collect()),
        Err(Failure::Engine(error @ EngineError::NotFound { .. })) => Err(Failure::refused(
            "unknown_dependency",
            error.message(),
            "`punch list` shows the ids; add the missing todo first, or leave the dependency out",
        )),
        Err(other) => Err(other),
    }
}

/// Finds the todos that names refer to: ids, parts of contents, or several of them separated by commas.
pub fn referred(engine: &Engine, plan: PlanId, names: &[String]) -> Result<Vec<Uid>, Failure> {
    let mut uids = Vec::with_capacity(names.len());
    for name in names {
        match engine.resolve(plan, name) {
            Ok(uid) => uids.push(uid),
            Err(EngineError::NotFound { .. }) if name.contains(',') => {
                for part in name.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                    uids.push(engine.resolve(plan, part)?);
                }
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(uids)
}

fn submit(open: &OpenProject, ops: &[Op], needs: &[Ref], place: &ListPosition) -> Result<PlanChange, Failure> {
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

impl AddArgs {
    /// The texts with the phases that headings of a list give them, and how many lines of the list were checked off.
    fn contents(&self) -> Result<(Vec<PastedTodo>, usize), Failure> {
        let (mut out, mut closed) = (Vec::new(), 0);
        let reads_input = self.contents.is_empty() && !std::io::stdin().is_terminal();
        for content in self.contents.iter().map(String::as_str).chain(reads_input.then_some("-")) {
            if content == "-" {
                let mut text = String::new();
                files::standard_input().read_to_string(&mut text).map_err(Failure::Input)?;
                let (open, done) = pasted_list::read(&text);
                out.extend(open);
                closed += done;
            } else {
                out.push(PastedTodo { content: content.to_owned(), ..PastedTodo::default() });
            }
        }
        Ok((out, closed))
    }

    /// Refuses what was meant otherwise.
    fn check(&self, contents: &[PastedTodo]) -> Result<(), Failure> {
        if contents.iter().any(|todo| todo.content.trim().is_empty()) {
            return Err(Failure::usage("a todo needs a text", "say what to do: `punch add 'Write the parser'`"));
        }
        let is_id = |text: &str| text.strip_prefix("T-").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if let Some(id) = contents.iter().map(|todo| &todo.content).find(|text| is_id(text)) {
            let hint = match self.fields.needs.first() {
                Some(first) => format!("separate ids with commas: `--needs {first},{id}`"),
                None => format!("`punch show {id}` shows the todo of that id"),
            };
            return Err(Failure::usage(&format!("`{id}` is an id, not something to do"), &hint));
        }
        self.id.as_deref().map_or(Ok(()), |id| input::check_id("--id", id))
    }
}

//! `punch verify`: runs the checks of todos, and stores the results.

use clap::Args;
use punch_core::{Evidence, Footprint, Status, Todo, text};
use punch_engine::{EngineError, VerifyError, command_line};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::guard;
use crate::project::{OpenProject, Project, ProjectPlan};
use crate::reply::{self, VerbReply};

const EXAMPLES: &str = "\
Examples:
  punch verify T-3             # run its command; if it passes, T-3 is done
  punch verify --allow T-3     # approve its command to run in this project from now on
  punch verify --all           # check everything completed again
  punch verify --stale         # only todos not verified at this commit
  punch verify --withdraw T-3  # withdraw the approval of its command

A completed todo that fails is marked stale and stays completed.";

/// The arguments of `punch verify`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// Ids, or parts of their texts
    #[arg(value_name = "TODO", required_unless_present_any = ["all", "stale"])]
    todos: Vec<String>,
    /// Every completed todo that has a command
    #[arg(long, conflicts_with_all = ["todos", "stale"])]
    all: bool,
    /// Completed todos whose last check failed, is missing, or was made at another commit
    #[arg(long, conflicts_with = "todos")]
    stale: bool,
    /// Approve the commands of these todos to run in this project; runs nothing
    #[arg(long, conflicts_with_all = ["all", "stale", "fence"])]
    allow: bool,
    /// Withdraw the approval of the commands of these todos; runs nothing
    #[arg(long, conflicts_with_all = ["all", "stale", "allow", "fence"])]
    withdraw: bool,
    /// The fence of the claim; refused if someone else has claimed it since
    #[arg(long, value_name = "N")]
    fence: Option<u64>,
}

impl VerifyArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let open = match project.read()? {
            ProjectPlan::Plan(open) => open,
            ProjectPlan::Empty(_) if self.todos.is_empty() => return Ok(again(&[], 0)),
            ProjectPlan::Empty(project) => project.open_named(&self.todos)?,
        };
        if self.all || self.stale {
            let todos = open.engine.to_recheck(open.plan, &open.project.checker(), self.stale)?;
            return Ok(each(&open, &todos, self.fence)?);
        }
        let mut todos = Vec::with_capacity(self.todos.len());
        for name in &self.todos {
            let uid = open.engine.resolve(open.plan, name)?;
            let slice = open.engine.slice(open.plan, &Footprint { todos: [uid].into(), ..Footprint::default() })?;
            let todo = slice.get(uid).cloned();
            todos.push(todo.ok_or_else(|| EngineError::NotFound { given: name.clone(), near: Vec::new() })?);
        }
        if self.withdraw {
            return withdraw(&open.project, &todos);
        }
        if self.allow {
            return allow(&open.project, &todos);
        }
        match &todos[..] {
            [todo] if todo.status != Status::Completed => {
                let (request, checker) = (open.project.request(), open.project.checker());
                let changed = open.engine.verify(open.plan, &request, &checker, todo, self.fence)?;
                let mut reply = reply::changed(&changed, &[todo.uid], &open.project);
                if let Some(line) = open.check_plan()? {
                    reply.body.push(line);
                }
                Ok(reply)
            }
            _ => Ok(each(&open, &todos, self.fence)?),
        }
    }
}

/// Approves the commands of todos and prints them. All of them or, if one has none, none; whatever state the todos are
/// in, and without running anything.
fn allow(project: &Project, todos: &[Todo]) -> Result<VerbReply, Failure> {
    guard::only_user("approve commands")?;
    let Some(consents) = project.consents() else {
        let hint = "set HOME or XDG_STATE_HOME";
        return Err(Failure::refused("needs_consent", "there is no state folder to store approvals in", hint));
    };
    let command = |todo: &Todo| {
        let missing = || EngineError::from(VerifyError::NoCommand { id: todo.id.clone() });
        todo.verify.clone().ok_or_else(missing)
    };
    let commands = todos.iter().map(command).collect::<Result<Vec<_>, _>>()?;
    let mut lines = Vec::with_capacity(todos.len());
    for (todo, command) in todos.iter().zip(&commands) {
        consents.give(command).map_err(|cause| Failure::File("approvals in the state folder".into(), cause))?;
        lines.push(format!("Approved for {}: {}", text::neutral(&todo.id), text::neutral(&command_line(command))));
    }
    let rows: Vec<Value> =
        todos.iter().zip(&commands).map(|(todo, command)| json!({"id": todo.id, "command": command})).collect();
    Ok(VerbReply::new(lines.join("\n"), json!({"approved": rows})))
}

fn withdraw(project: &Project, todos: &[Todo]) -> Result<VerbReply, Failure> {
    let mut ids = Vec::new();
    for (todo, command) in todos.iter().filter_map(|todo| Some((todo, todo.verify.as_ref()?))) {
        let withdrawn = project.consents().map_or(Ok(false), |consents| consents.withdraw(command));
        if withdrawn.map_err(|cause| Failure::File("approvals in the state folder".into(), cause))? {
            ids.push(todo.id.as_str());
        }
    }
    let text = match ids.len() {
        0 => "There was no approval to withdraw.".to_owned(),
        _ => format!("No longer approved: the check of {}", text::neutral(&ids.join(", "))),
    };
    Ok(VerbReply::new(text, json!({"withdrawn": ids})))
}

/// Checks one after the other. One that cannot be checked says nothing about the others.
fn each(open: &OpenProject, todos: &[Todo], fence: Option<u64>) -> Result<VerbReply, EngineError> {
    let mut rows: Vec<(String, Value, bool)> = Vec::with_capacity(todos.len());
    for todo in todos {
        let (request, checker) = (open.project.request(), open.project.checker());
        let checked = match todo.status {
            Status::Completed => open.engine.recheck(open.plan, &request, &checker, todo).map(|checked| {
                let word = if checked.passed { "passed" } else { "failed" };
                (word, checked.passed, Some(checked.evidence))
            }),
            _ => open.engine.verify(open.plan, &request, &checker, todo, fence).map(|changed| {
                let evidence = changed.plan.get(todo.uid).and_then(|todo| todo.evidence.last().cloned());
                ("done", true, evidence)
            }),
        };
        rows.push(match checked {
            Ok((word, passed, evidence)) => result_row(todo, word, passed, evidence.as_ref()),
            Err(EngineError::Store(error)) => return Err(error.into()),
            Err(error) => {
                let message = error.message();
                let first = message.lines().next().unwrap_or_default().to_owned();
                let passed = if error.code() == "verify_failed" { json!(false) } else { Value::Null };
                let details = json!({"code": error.code(), "message": message, "hint": error.hint()});
                let row = json!({"id": todo.id, "passed": passed, "error": details});
                let hint = error.hint();
                let hint = if hint.is_empty() { hint } else { format!("\n         hint: {hint}") };
                (format!("unknown  {}  {first}{hint}", text::neutral(&todo.id)), row, false)
            }
        });
    }
    Ok(again(&rows, todos.len()))
}

fn result_row(todo: &Todo, word: &str, passed: bool, evidence: Option<&Evidence>) -> (String, Value, bool) {
    let content = text::clip(&text::neutral(&todo.content), 100).into_owned();
    let row = json!({
        "id": todo.id,
        "passed": passed,
        "exitCode": evidence.and_then(|e| e.exit_code),
        "tail": evidence.and_then(|e| e.text.as_ref()),
        "outputHash": evidence.and_then(|e| e.output_hash.as_ref()),
        "commit": evidence.and_then(|e| e.commit.as_ref()),
    });
    let mut line = format!("{word:7}  {}  {content}", text::neutral(&todo.id));
    if let Some(evidence) = evidence.filter(|_| !passed) {
        let command = evidence.command.as_ref().map(command_line).unwrap_or_default();
        line.push_str(&format!("\n         `{}` {}", text::clip(&text::neutral(&command), 200), evidence.outcome()));
        line.push_str("; the todo stays completed and is marked stale");
    }
    (line, row, passed)
}

fn again(rows: &[(String, Value, bool)], total: usize) -> VerbReply {
    let lines: Vec<&str> = rows.iter().map(|(line, _, _)| line.as_str()).collect();
    let passed = rows.iter().filter(|(_, _, passed)| *passed).count();
    let text = match total {
        0 => "Nothing to check.".to_owned(),
        _ => format!("{}\n{passed} of {total} passed", lines.join("\n")),
    };
    let checks: Vec<&Value> = rows.iter().map(|(_, row, _)| row).collect();
    let exit = if passed == total { Exit::Ok } else { Exit::Refused };
    VerbReply {
        exit,
        wrote: total > 0,
        ..VerbReply::new(text, json!({"checks": checks, "passed": passed, "total": total}))
    }
}

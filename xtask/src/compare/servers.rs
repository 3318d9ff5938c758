//! MCP servers of todo tools: how each is started, and how a plan of twenty todos is worked off with its tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::LIMIT;
use super::install::{ComparedTools, OWN};
use super::mcp::McpProcess;
use crate::process;

/// Todos in a session. Each depends on the one before.
pub const TODOS: u32 = 20;

/// A server of a tool.
pub struct ComparedServer {
    /// For the table.
    pub name: &'static str,
    program: PathBuf,
    path: PathBuf,
    kind: ServerKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerKind {
    Punch,
    TaskMaster,
    Backlog,
    Shrimp,
    Beads,
}

/// One call of a tool and its answer, as they stand in a model's context.
pub struct Exchange {
    /// Name and arguments.
    pub call: String,
    /// What the tool answered.
    pub answer: String,
}

/// The servers that are there, ours first.
pub fn all(installed: &ComparedTools) -> Vec<ComparedServer> {
    let server = |name, program: PathBuf, kind| ComparedServer { name, program, path: installed.programs(name), kind };
    let mut out = vec![server(OWN, installed.punch.clone(), ServerKind::Punch)];
    let npm = [
        ("Backlog.md", "backlog", ServerKind::Backlog),
        ("Task Master", "task-master-ai", ServerKind::TaskMaster),
        ("Shrimp", "mcp-shrimp-task-manager", ServerKind::Shrimp),
    ];
    for (name, program, kind) in npm {
        if installed.has(name) {
            out.push(server(name, installed.programs(name).join(program), kind));
        }
    }
    if let Some(program) = &installed.beads_mcp {
        out.push(server("beads-mcp", program.clone(), ServerKind::Beads));
    }
    out
}

impl ComparedServer {
    /// Makes an empty project.
    pub fn prepare(&self, folder: &Path) -> Result<(), String> {
        fs::create_dir_all(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
        for words in [&["init", "--quiet"][..], &["config", "user.name", "x"], &["config", "user.email", "x@localhost"]]
        {
            process::read(Command::new("git").args(words).current_dir(folder))?;
        }
        match self.kind {
            ServerKind::Backlog => {
                let words = ["init", "plan", "--defaults", "--agent-instructions", "none"];
                process::read_within(LIMIT, &mut self.command(folder, &words))?;
                process::read_within(LIMIT, &mut self.command(folder, &["config", "set", "remoteOperations", "false"]))
                    .map(|_| ())
            }
            ServerKind::TaskMaster => {
                let tasks = folder.join(".taskmaster/tasks");
                let empty = "{\"master\":{\"tasks\":[],\"metadata\":{}}}\n";
                fs::create_dir_all(&tasks)
                    .and_then(|()| fs::write(tasks.join("tasks.json"), empty))
                    .map_err(|cause| format!("{}: {cause}", tasks.display()))
            }
            _ => Ok(()),
        }
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(folder).env_clear().env("HOME", folder);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.path.display()));
        command
    }

    /// Starts the server.
    pub fn open(&self, folder: &Path) -> Result<McpProcess, String> {
        let mut command = match self.kind {
            ServerKind::Punch => self.command(folder, &["mcp"]),
            ServerKind::Backlog => self.command(folder, &["mcp", "start"]),
            ServerKind::TaskMaster | ServerKind::Shrimp | ServerKind::Beads => self.command(folder, &[]),
        };
        // The smallest set of tools that can add a task.
        command.env("TASK_MASTER_TOOLS", "standard").env("DATA_DIR", folder.join("data")).env("TEMPLATES_USE", "en");
        McpProcess::open(&mut command)
    }

    /// Adds one todo.
    pub fn add(&self, connection: &mut McpProcess, folder: &Path, n: u32) -> Result<(), String> {
        let text = format!("Something that came up, number {n}");
        match self.kind {
            ServerKind::Punch => connection.call("todo_write", &json!({"ops": [{"op": "add", "content": text}]})),
            ServerKind::Backlog => connection.call("task_create", &json!({"title": text})),
            ServerKind::TaskMaster => {
                connection.call("add_task", &json!({"title": text, "description": text, "projectRoot": folder}))
            }
            ServerKind::Shrimp => connection.call("split_tasks", &shrimp(&[step(n, text)])),
            ServerKind::Beads => return Err("beads-mcp needs `bd`".into()),
        }
        .map(|_| ())
    }

    /// Reads the list.
    pub fn list(&self, connection: &mut McpProcess, folder: &Path) -> Result<String, String> {
        let (tool, arguments) = self.listing(folder);
        connection.call(tool, &arguments)
    }

    fn listing(&self, folder: &Path) -> (&'static str, Value) {
        match self.kind {
            ServerKind::Punch => ("todo_read", json!({})),
            ServerKind::Backlog => ("task_list", json!({})),
            ServerKind::TaskMaster => ("get_tasks", json!({"projectRoot": folder})),
            ServerKind::Shrimp => ("list_tasks", json!({"status": "all"})),
            ServerKind::Beads => ("list", json!({})),
        }
    }

    /// Returns true if the server can do the work of a session here.
    pub fn works(&self) -> bool {
        self.kind != ServerKind::Beads
    }

    /// A session: twenty todos are created, each is started and finished, and the list is read at the end.
    pub fn session(&self, connection: &mut McpProcess, folder: &Path) -> Result<Vec<Exchange>, String> {
        let mut out = Vec::new();
        let mut call = |tool: &str, arguments: Value| -> Result<String, String> {
            let answer = connection.call(tool, &arguments)?;
            out.push(Exchange { call: format!("{tool} {arguments}"), answer: answer.clone() });
            Ok(answer)
        };
        let title = |n: u32| format!("Step {n} of the migration");
        match self.kind {
            ServerKind::Punch => {
                let add = |n: u32| match n {
                    1 => json!({"op": "add", "id": "s1", "content": title(1)}),
                    n => {
                        json!({"op": "add", "id": format!("s{n}"), "content": title(n), "dependsOn": [format!("s{}", n - 1)]})
                    }
                };
                call("todo_write", json!({"ops": (1..=TODOS).map(add).collect::<Vec<_>>()}))?;
                for n in 1..=TODOS {
                    call("todo_write", json!({"ops": [{"op": "start", "id": format!("s{n}")}]}))?;
                    call("todo_write", json!({"ops": [{"op": "done", "id": format!("s{n}")}]}))?;
                }
            }
            ServerKind::Backlog => {
                for n in 1..=TODOS {
                    let dependencies: Vec<String> = (n > 1).then(|| format!("task-{}", n - 1)).into_iter().collect();
                    call("task_create", json!({"title": title(n), "dependencies": dependencies}))?;
                }
                for n in 1..=TODOS {
                    call("task_edit", json!({"id": format!("task-{n}"), "status": "In Progress"}))?;
                    call("task_edit", json!({"id": format!("task-{n}"), "status": "Done"}))?;
                }
            }
            ServerKind::TaskMaster => {
                for n in 1..=TODOS {
                    let mut task = json!({"title": title(n), "description": title(n), "projectRoot": folder});
                    if n > 1 {
                        task["dependencies"] = json!((n - 1).to_string());
                    }
                    call("add_task", task)?;
                }
                for n in 1..=TODOS {
                    for status in ["in-progress", "done"] {
                        call("set_task_status", json!({"id": n.to_string(), "status": status, "projectRoot": folder}))?;
                    }
                }
            }
            ServerKind::Shrimp => {
                let steps: Vec<Value> = (1..=TODOS).map(|n| step(n, title(n))).collect();
                call("split_tasks", shrimp(&steps))?;
                let stored = shrimp_ids(folder)?;
                for id in stored {
                    call("execute_task", json!({"taskId": id}))?;
                    let summary = "The step is finished, and its tests pass on this machine.";
                    call("verify_task", json!({"taskId": id, "score": 95, "summary": summary}))?;
                }
            }
            ServerKind::Beads => return Err("beads-mcp needs `bd`".into()),
        }
        let (tool, arguments) = self.listing(folder);
        call(tool, arguments)?;
        Ok(out)
    }
}

fn step(n: u32, title: String) -> Value {
    let before: Vec<String> = (n > 1).then(|| format!("Step {} of the migration", n - 1)).into_iter().collect();
    json!({"name": title, "description": title, "implementationGuide": "as usual", "dependencies": before})
}

fn shrimp(steps: &[Value]) -> Value {
    json!({"updateMode": "append", "tasksRaw": Value::from(steps).to_string(), "globalAnalysisResult": "a migration"})
}

/// The ids that Shrimp gave, in the order of the steps.
fn shrimp_ids(folder: &Path) -> Result<Vec<String>, String> {
    let mut open = vec![folder.join("data")];
    while let Some(folder) = open.pop() {
        for entry in crate::sources::entries(&folder)? {
            if entry.is_dir() {
                open.push(entry);
            } else if entry.file_name().is_some_and(|name| name == "tasks.json") {
                let text = fs::read_to_string(&entry).map_err(|cause| format!("{}: {cause}", entry.display()))?;
                let json: Value = serde_json::from_str(&text).map_err(|cause| cause.to_string())?;
                let mut tasks: Vec<(u32, String)> = json["tasks"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|task| {
                        let number = task["name"].as_str()?.split_whitespace().nth(1)?.parse().ok()?;
                        Some((number, task["id"].as_str()?.to_owned()))
                    })
                    .collect();
                tasks.sort();
                return Ok(tasks.into_iter().map(|(_, id)| id).collect());
            }
        }
    }
    Err("Shrimp stored no tasks".into())
}

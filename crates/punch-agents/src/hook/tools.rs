//! Classifies tools by the names that agents give them. Most agents share some names; those of a single agent are in
//! its own file.

use punch_core::drive::ToolKind;
use serde_json::Value;

use crate::Adapter;

/// The tools of our server, as the last part of whatever a client makes of their names.
const OURS: &[&str] = &["todo_write", "todo_read", "todo_claim", "todo_checkpoint", "TodoWrite"];

/// Tools that change files.
const EDITS: &[&str] = &[
    "Edit",
    "Write",
    "MultiEdit",
    "NotebookEdit",
    "apply_patch",
    "patch",
    "write",
    "edit",
    "multiedit",
    "write_file",
    "replace",
    "edit_file",
    "create_file",
    "delete_file",
    "search_replace",
    "str_replace",
    "notebook_edit",
    "Delete",
    "EditNotebook",
    "StrReplace",
    "ApplyPatch",
];

/// Tools that run a command, or hand work to a subagent.
const COMMANDS: &[&str] = &[
    "Bash",
    "PowerShell",
    "Task",
    "Agent",
    "shell",
    "local_shell",
    "exec",
    "exec_command",
    "write_stdin",
    "spawn_agent",
    "run_shell_command",
    "task",
    "agent",
    "Shell",
    "run_terminal_cmd",
    "bash",
];

/// How the tools of other servers begin: what they do is unknown, so it may be work.
const SERVED: &[&str] = &["mcp__", "mcp_", "MCP:"];

/// Tools that ask the user.
const QUESTIONS: &[&str] = &[
    "AskUserQuestion",
    "ExitPlanMode",
    "ask_user",
    "ask_user_question",
    "request_user_input",
    "question",
    "AskQuestion",
];

/// What a tool of that name means. `report` may say which server it belongs to.
pub fn kind(agent: &Adapter, name: &str, report: &Value) -> ToolKind {
    if is_ours(name, report) {
        ToolKind::Ours
    } else if agent.todo_tool(name).is_some() {
        ToolKind::HostTodo
    } else if EDITS.contains(&name) || agent.tools.edits.contains(&name) {
        ToolKind::Edit
    } else if COMMANDS.contains(&name)
        || agent.tools.commands.contains(&name)
        || SERVED.iter().any(|start| name.starts_with(start))
    {
        ToolKind::Command
    } else if QUESTIONS.contains(&name) || agent.tools.questions.contains(&name) {
        ToolKind::Question
    } else {
        ToolKind::Other
    }
}

/// `mcp__punch__todo_write`, `mcp__plugin_punch_todo__todo_write`, `mcp_punch_todo_write`, `punch_todo_write`,
/// `MCP:todo_write`; or a bare name that the report says comes from a server.
fn is_ours(name: &str, report: &Value) -> bool {
    let served = ["mcp_server", "mcp_context", "namespace", "server"].iter().any(|key| report.get(key).is_some());
    OURS.iter().any(|tool| match name.strip_suffix(tool) {
        Some("") => served,
        Some(before) => before.ends_with(['_', ':', '.', '/', '-']),
        None => false,
    })
}

/// The last part of one of our names: whether it reads or writes.
pub fn writes(name: &str) -> bool {
    !name.ends_with("todo_read")
}

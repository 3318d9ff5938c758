//! The table of formats.

use std::collections::BTreeSet;

use super::{
    beads, checklist, claude, codex, cursor, document, phases, plan_file, session, spec, taskmaster, taskmaster_write,
    taskwarrior, todo_list,
};
use crate::{Document, ParsedDocument, Refusal};

/// A format of whole plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JSON with everything a plan has.
    Extended,
    /// A checklist with everything a plan has, most of it in comments.
    Markdown,
    /// A plan file of Cursor.
    CursorPlan,
    /// A plain Markdown list.
    Checklist,
    /// The list of the TodoWrite tool.
    TodoWrite,
    /// A folder of Claude Code's tasks, one JSON file each.
    ClaudeTasks,
    /// A plan of Codex, or the last one in a session file.
    Codex,
    /// Task Master's `tasks.json`.
    TaskMaster,
    /// Issues of beads, one JSON object a line.
    Beads,
    /// `tasks.md` of Kiro and spec-kit.
    Spec,
    /// The todos of an OpenCode session.
    OpenCode,
    /// The output of `task export`.
    Taskwarrior,
    /// Cursor's `TodoItem` of tool calls (aiserver.v1).
    CursorTodos,
    /// Cursor's `TodoItem` of agent state (agent.v1).
    CursorAgent,
    /// The Markdown of oh-my-pi's `/todo export`.
    Phases,
    /// A session file of oh-my-pi; the last list in it.
    PhasesSession,
}

/// What is known about a format.
#[derive(Debug)]
pub struct FormatSpec {
    /// The format that the row is about.
    pub format: Format,
    /// The name on the command line.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Endings of usual file names.
    pub files: &'static [&'static str],
    /// The keys of the extended format that it can carry, each at least in part.
    pub carries: &'static [&'static str],
    pub(super) read: fn(&str) -> Result<ParsedDocument, Refusal>,
    pub(super) write: Option<fn(&Document, &mut BTreeSet<String>) -> String>,
}

/// Everything that a record has.
const ALL: &[&str] = &[
    "content",
    "status",
    "activeForm",
    "phase",
    "priority",
    "labels",
    "dependsOn",
    "blocks",
    "description",
    "hold",
    "complexity",
    "estimatedTokens",
    "actualTokens",
    "parallelGroup",
    "verificationCriteria",
    "verifyCommand",
    "files",
    "evidence",
    "notes",
    "owner",
    "leaseUntil",
    "fence",
    "attempts",
    "lastError",
    "hidden",
    "flags",
];

/// In the order of the variants.
pub(super) const TABLE: &[FormatSpec] = &[
    FormatSpec {
        format: Format::Extended,
        name: "extended",
        about: "JSON with everything a plan has",
        files: &[".json"],
        carries: ALL,
        read: Document::from_json,
        write: Some(document::json),
    },
    FormatSpec {
        format: Format::Markdown,
        name: "markdown",
        about: "a checklist with everything a plan has, most of it in comments",
        files: &[".md"],
        carries: ALL,
        read: crate::view::markdown_read::read,
        write: Some(document::markdown),
    },
    FormatSpec {
        format: Format::CursorPlan,
        name: "cursor-plan",
        about: "Cursor's plan file: todos in YAML front matter above Markdown",
        files: &[".plan.md"],
        carries: &["content", "status", "phase", "dependsOn"],
        read: plan_file::read,
        write: Some(plan_file::write),
    },
    FormatSpec {
        format: Format::Checklist,
        name: "checklist",
        about: "a plain Markdown list, nested or numbered, with or without boxes",
        files: &[".md"],
        carries: &["content", "status", "phase", "dependsOn", "description", "notes"],
        read: checklist::read,
        write: Some(checklist::write),
    },
    FormatSpec {
        format: Format::TodoWrite,
        name: "todowrite",
        about: "the list of the TodoWrite tool, `{\"todos\": [{content, status, activeForm}]}`",
        files: &[".json"],
        carries: &["content", "status", "activeForm"],
        read: todo_list::read_todowrite,
        write: Some(todo_list::write_todowrite),
    },
    FormatSpec {
        format: Format::ClaudeTasks,
        name: "claude-tasks",
        about: "a folder of Claude Code's tasks, one JSON file each",
        files: &[],
        carries: &["content", "status", "activeForm", "dependsOn", "blocks", "description"],
        read: claude::read,
        write: Some(claude::write),
    },
    FormatSpec {
        format: Format::Codex,
        name: "codex",
        about: "a plan of Codex, `{\"plan\": [{step, status}]}`, or the last one in a session file",
        files: &[".jsonl"],
        carries: &["content", "status"],
        read: codex::read,
        write: Some(codex::write),
    },
    FormatSpec {
        format: Format::TaskMaster,
        name: "task-master",
        about: "Task Master's tasks.json, tagged or not, with subtasks",
        files: &["tasks.json"],
        carries: &[
            "content",
            "status",
            "phase",
            "priority",
            "dependsOn",
            "description",
            "hold",
            "complexity",
            "verificationCriteria",
        ],
        read: taskmaster::read,
        write: Some(taskmaster_write::write),
    },
    FormatSpec {
        format: Format::Beads,
        name: "beads",
        about: "issues of beads, one JSON object a line",
        files: &["issues.jsonl", "beads.jsonl"],
        carries: &[
            "content",
            "status",
            "priority",
            "labels",
            "dependsOn",
            "blocks",
            "description",
            "hold",
            "verificationCriteria",
            "notes",
        ],
        read: beads::read,
        write: Some(beads::write),
    },
    FormatSpec {
        format: Format::Spec,
        name: "spec",
        about: "tasks.md of Kiro (`1.1 …`) and spec-kit (`T001 [P] [US1] …`)",
        files: &["tasks.md"],
        carries: &["content", "status", "phase", "dependsOn", "description"],
        read: spec::read,
        write: Some(spec::write),
    },
    FormatSpec {
        format: Format::OpenCode,
        name: "opencode",
        about: "the todos of an OpenCode session, `[{content, status, priority}]`",
        files: &[".json"],
        carries: &["content", "status", "priority"],
        read: todo_list::read_opencode,
        write: Some(todo_list::write_opencode),
    },
    FormatSpec {
        format: Format::Taskwarrior,
        name: "taskwarrior",
        about: "what `task export` writes",
        files: &[".json"],
        carries: &["content", "status", "phase", "priority", "labels", "dependsOn", "hold", "notes"],
        read: taskwarrior::read,
        write: Some(taskwarrior::write),
    },
    FormatSpec {
        format: Format::CursorTodos,
        name: "cursor-todos",
        about: "Cursor's TodoItem of tool calls in JSON (aiserver.v1)",
        files: &[".json"],
        carries: &["content", "status", "dependsOn"],
        read: cursor::read,
        write: Some(cursor::write_simple),
    },
    FormatSpec {
        format: Format::CursorAgent,
        name: "cursor-agent",
        about: "Cursor's TodoItem of agent state in JSON (agent.v1)",
        files: &[".json"],
        carries: &["content", "status", "dependsOn"],
        read: cursor::read_agent,
        write: Some(cursor::write_agent),
    },
    FormatSpec {
        format: Format::Phases,
        name: "phases",
        about: "the Markdown of oh-my-pi's /todo export",
        files: &["TODO.md"],
        carries: &["content", "status", "phase", "notes"],
        read: phases::read,
        write: Some(phases::write),
    },
    FormatSpec {
        format: Format::PhasesSession,
        name: "phases-session",
        about: "a session file of oh-my-pi; the last list in it",
        files: &[".jsonl"],
        carries: &[],
        read: session::read,
        write: None,
    },
];

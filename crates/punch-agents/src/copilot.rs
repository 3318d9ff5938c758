//! GitHub Copilot CLI. Measured with 1.0.102, `copilot -p` and a scripted model: reports, answers, files, variables and the
//! cap of continuations. From its documentation: files of standing advice, and the event before a compaction. Not tried:
//! whether it shows `systemMessage` on its screen.

use std::path::PathBuf;

use punch_core::drive::HostEffect;
use serde_json::{Map, Value, json};

use crate::adapter::{
    Adapter, AssignCommand, Environment, HookForm, Meaning, Naming, ReportFields, SettingsForm, ToolNames, names,
};
use crate::claude_form::{self, AnswerForm, PATIENCE};
use crate::hook::{HookReport, exit_code};
use crate::settings::{AgentConnection, ConnectionLevel, SettingsEntry, SettingsFile, SettingsRoots, Syntax, path};
use crate::usage_limit::LimitText;

const HOME: &str = "COPILOT_HOME";
const SESSION: &str = "COPILOT_AGENT_SESSION_ID";
const PROJECT: &str = "COPILOT_PROJECT_DIR";

/// Names in Pascal case get reports in the form of Claude Code. `PermissionRequest` is left out: it fires for every tool,
/// even if the user is not asked.
const MEANINGS: [(&str, Meaning); 11] = [
    ("SessionStart", Meaning::SessionStart),
    ("SessionEnd", Meaning::SessionEnd),
    ("UserPromptSubmit", Meaning::Prompt),
    ("PreToolUse", Meaning::ToolStart),
    ("PostToolUse", Meaning::ToolEnd),
    ("PostToolUseFailure", Meaning::ToolFailure),
    ("Notification", Meaning::Notice),
    ("Stop", Meaning::Stop),
    ("SubagentStart", Meaning::SubagentStart),
    ("SubagentStop", Meaning::SubagentStop),
    ("PreCompact", Meaning::Compact),
];

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "copilot",
    title: "GitHub Copilot CLI",
    program: "copilot",
    hooks: HookForm {
        events: &names(&MEANINGS),
        meanings: &MEANINGS,
        fields: ReportFields {
            // Inside a subagent, `session_id` names the subagent.
            session: &["parent_agent_id", "session_id", "sessionId"],
            tool_output: &["tool_result"],
            ..claude_form::FIELDS
        },
        naming: Naming::AtStart(SESSION),
        echoes: true,
        stop_cap: Some(8),
        // A subagent's first prompt is not the user's, and its end is reported again by `SubagentStop`: a block at `Stop`
        // did not continue it.
        ignores: |meaning, report| {
            matches!(meaning, Meaning::Prompt | Meaning::Stop) && report.get("parent_agent_id").is_some()
        },
        exit_code: exit_code::from_last_line,
        answer,
        handler: |command, _| json!({"type": "command", "bash": command, "timeoutSec": PATIENCE}),
        ..claude_form::HOOKS
    },
    // Its own list is a table that the model changes by SQL.
    todo_tools: &[],
    tools: ToolNames::NONE,
    context: None,
    earlier_turn: None,
    settings: SettingsForm {
        syntax: Syntax::LENIENT,
        home_variable: Some(HOME),
        files,
        guide_file: |level, roots| {
            Some(match level {
                ConnectionLevel::Personal | ConnectionLevel::Shared => roots.project.join("AGENTS.md"),
                ConnectionLevel::User => user_folder(roots).join("copilot-instructions.md"),
            })
        },
        guide_tools: "`punch-todo_write` and `punch-todo_read`",
        note: |level| {
            (level != ConnectionLevel::User).then_some(
                "Copilot CLI reads this only in a trusted folder (start `copilot` here once), and the server only in a \
                 project without `.mcp.json`; otherwise use `--user`",
            )
        },
        plugin: None,
        folder_trust: None,
        hook_trust: None,
    },
    environment: Environment {
        marks: &["COPILOT_CLI"],
        session: Some(SESSION),
        project: Some(PROJECT),
        private: &[SESSION, PROJECT],
    },
    assign: Some(AssignCommand { before_prompt: &["-p"], resume_flag: None }),
    usage_limits: &[
        LimitText::seen("you have no quota", "https://github.com/github/copilot-cli/issues/730"),
        LimitText::seen("exceeded your copilot token usage", "https://github.com/github/copilot-cli/issues/793"),
    ],
    headless: None,
};

/// The folder of the user's settings.
fn user_folder(roots: &SettingsRoots) -> PathBuf {
    roots.moved(HOME).cloned().unwrap_or_else(|| roots.home.join(".copilot"))
}

fn files(connection: &AgentConnection<'_>) -> Vec<SettingsFile> {
    let project = connection.roots.project.join(".github");
    let (server, hooks) = match connection.level {
        ConnectionLevel::Personal => (project.join("mcp.json"), project.join("copilot/settings.local.json")),
        // VS Code reads this file, too.
        ConnectionLevel::Shared => (project.join("mcp.json"), project.join("hooks/punch.json")),
        ConnectionLevel::User => {
            let folder = user_folder(connection.roots);
            (folder.join("mcp-config.json"), folder.join("settings.json"))
        }
    };
    let entry = json!({"command": connection.program.0, "args": connection.server_args()});
    let mut entries = Vec::new();
    if connection.level == ConnectionLevel::Shared {
        entries.push(SettingsEntry::Default(path(["version"]), json!(1)));
    }
    entries.push(connection.hooks());
    vec![
        connection.json(server, vec![SettingsEntry::Server(path(["mcpServers", "punch"]), entry)]),
        connection.json(hooks, entries),
    ]
}

/// Context belongs at the top of an answer; only before a tool Copilot reads it where Claude Code does.
fn answer(report: &HookReport, effect: &HostEffect) -> Map<String, Value> {
    let mut out = claude_form::answer(report, effect, AnswerForm::BLOCK);
    if report.meaning != Meaning::ToolStart
        && let Some(mut own) = out.shift_remove("hookSpecificOutput")
    {
        out.insert("additionalContext".into(), own["additionalContext"].take());
    }
    out
}

//! Claude Code.

mod stream;
mod turns;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::adapter::{
    Adapter, AssignCommand, Catalog, Environment, FolderTrust, HookForm, Listing, Naming, Plugin, PluginEvidence,
    SettingsForm, TodoCall, TodoTool, ToolNames,
};
use crate::claude_form::{self, AnswerForm};
use crate::hook::field::{number, string, truth};
use crate::hook::{ContextReading, HookReport, exit_code};
use crate::marketplace::{self, MARKETPLACE};
use crate::settings::{
    AgentConnection, ConnectionLevel, FileContent, PluginSource, SettingsEntry, SettingsFile, SettingsRoots, Syntax,
    path,
};
use crate::usage_limit::LimitText;

const HOME: &str = "CLAUDE_CONFIG_DIR";
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    hooks: HookForm {
        events: &[
            "SessionStart",
            "SessionEnd",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PermissionRequest",
            "Notification",
            "Stop",
            "StopFailure",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "TaskCompleted",
        ],
        naming: Naming::AtStart(SESSION),
        stop_cap: Some(8),
        stop_cap_variable: Some("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
        // A job in the background has ended. The report names no source then.
        own_prompts: &["<task-notification>"],
        exit_code: exit_code::from_event,
        // Context counts like a block, but is said once and without the word "error".
        answer: |report, effect| {
            claude_form::answer(report, effect, AnswerForm { continues: None, ..AnswerForm::BLOCK })
        },
        ..claude_form::HOOKS
    },
    todo_tools: &[
        TodoTool::list("TodoWrite", "TodoWrite"),
        TodoTool { name: "TaskCreate", list: "Tasks", is_shared: true, call: TodoCall::Create },
        TodoTool { name: "TaskUpdate", list: "Tasks", is_shared: true, call: TodoCall::Update },
    ],
    tools: ToolNames::NONE,
    context: Some(context),
    earlier_turn: Some(turns::earlier),
    settings: SettingsForm {
        syntax: Syntax { byte_order_mark: true, ..Syntax::STRICT },
        home_variable: Some(HOME),
        files,
        guide_file: |level, roots| {
            Some(match level {
                ConnectionLevel::Personal => roots.project.join("CLAUDE.local.md"),
                ConnectionLevel::Shared => roots.project.join("CLAUDE.md"),
                ConnectionLevel::User => user_folder(roots).join("CLAUDE.md"),
            })
        },
        guide_tools: "`mcp__punch__todo_write` and `mcp__punch__todo_read`",
        note: |level| {
            (level != ConnectionLevel::User)
                .then_some("Claude Code reads this only in a trusted folder: start `claude` here once")
        },
        plugin: Some(Plugin {
            listing: Some(Listing { name: "punch", catalog: Catalog::Claude, has_commands: true }),
            files: |_| Vec::new(),
            targets: plugin,
            evidence: PluginEvidence::Settings,
            notes: |_| vec!["the command is `/punch:todo`".to_owned()],
            removal_note: None,
        }),
        folder_trust: Some(FolderTrust {
            file: own_file,
            trusts: |record, folder| {
                let known = folder.to_str().map(|folder| &record["projects"][folder]["hasTrustDialogAccepted"]);
                known.and_then(Value::as_bool) == Some(true)
            },
            advice: "it reads a project's settings only in a trusted folder: start `claude` here once",
        }),
        hook_trust: None,
    },
    environment: Environment {
        marks: &["CLAUDECODE"],
        session: Some(SESSION),
        project: Some("CLAUDE_PROJECT_DIR"),
        private: &[SESSION, "CLAUDECODE", "CLAUDE_PROJECT_DIR"],
    },
    assign: Some(AssignCommand { before_prompt: &["-p"], resume_flag: None }),
    usage_limits: &[
        LimitText::seen("usage limit reached", "https://github.com/anthropics/claude-code/issues/2087"),
        LimitText::seen("hit your limit", "https://github.com/anthropics/claude-code/issues/54698"),
        LimitText::seen("hit your session limit", "https://github.com/anthropics/claude-code/issues/74079"),
        LimitText::untried("hit your weekly limit"),
        LimitText::seen("out of extra usage", "https://github.com/gastownhall/gastown/issues/1066"),
    ],
    headless: Some(|| Box::new(stream::Print)),
};

fn context(report: &HookReport, line: &Value) -> Option<ContextReading> {
    // In the file of the main agent a subagent's messages may stand too, and have a context of their own.
    if report.subagent.is_none() && truth(line, "isSidechain") {
        return None;
    }
    let message = line.get("message").filter(|_| string(line, &["type"]) == Some("assistant"))?;
    let usage = message.get("usage")?;
    let count = |name: &str| number(usage, &[name]).unwrap_or_default();
    let used = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]
        .iter()
        .fold(0_u64, |sum, name| sum.saturating_add(count(name)));
    Some(ContextReading { used, limit: None, model: string(message, &["model"]).map(str::to_owned) })
}

/// The folder of the user's settings.
fn user_folder(roots: &SettingsRoots) -> PathBuf {
    roots.moved(HOME).cloned().unwrap_or_else(|| roots.home.join(".claude"))
}

/// The file in which it keeps what it knows by itself, among it local servers by project.
fn own_file(roots: &SettingsRoots) -> PathBuf {
    roots.moved(HOME).unwrap_or(&roots.home).join(".claude.json")
}

fn files(connection: &AgentConnection<'_>) -> Vec<SettingsFile> {
    let (level, roots) = (connection.level, connection.roots);
    let settings = match level {
        ConnectionLevel::Personal => roots.project.join(".claude/settings.local.json"),
        ConnectionLevel::Shared => roots.project.join(".claude/settings.json"),
        ConnectionLevel::User => user_folder(roots).join("settings.json"),
    };
    // Our tools write nothing but the plan, so Claude Code need not ask the user about each call.
    let mut entries = vec![allowed("mcp__punch")];
    if level == ConnectionLevel::Shared {
        // Otherwise users are asked first, and without a terminal no one can answer.
        entries.push(SettingsEntry::Item(path(["enabledMcpjsonServers"]), json!("punch")));
    }
    entries.push(connection.hooks());
    // Otherwise the model only gets the names of the tools.
    let server = json!({"command": connection.program.0, "args": connection.server_args(), "alwaysLoad": true});
    // Local settings are filed under the path of the main worktree.
    let project = roots.main_project.display().to_string();
    let (file, at) = match level {
        ConnectionLevel::Personal => (own_file(roots), path(["projects", &project, "mcpServers", "punch"])),
        ConnectionLevel::Shared => (roots.project.join(".mcp.json"), path(["mcpServers", "punch"])),
        ConnectionLevel::User => (own_file(roots), path(["mcpServers", "punch"])),
    };
    let mut server = connection.json(file, vec![SettingsEntry::Server(at, server)]);
    server.project = (level == ConnectionLevel::Personal).then(|| roots.main_project.clone());
    vec![server, connection.json(settings, entries)]
}

fn plugin(source: &PluginSource<'_>) -> Vec<SettingsFile> {
    let market: &Path = &marketplace::folder(source.roots);
    let entries = vec![
        SettingsEntry::Member(
            path(["extraKnownMarketplaces", MARKETPLACE]),
            json!({"source": {"source": "directory", "path": market}}),
        ),
        SettingsEntry::Member(path(["enabledPlugins", "punch@punchlist"]), json!(true)),
        allowed("mcp__plugin_punch_punch"),
    ];
    let mut out = marketplace::targets(source);
    out.push(SettingsFile::new(user_folder(source.roots).join("settings.json"), FileContent::Json(&ADAPTER, entries)));
    out
}

fn allowed(tools: &str) -> SettingsEntry {
    SettingsEntry::Item(path(["permissions", "allow"]), json!(tools))
}

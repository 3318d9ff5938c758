//! Codex.

mod stream;
mod turns;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::adapter::{
    Adapter, AssignCommand, Catalog, Environment, HookForm, HookTrust, Listing, Naming, Plugin, PluginEvidence,
    SettingsForm, TodoTool, ToolNames,
};
use crate::claude_form::{self, PATIENCE};
use crate::hook::field::{number, string};
use crate::hook::{ContextReading, HookReport, exit_code};
use crate::marketplace;
use crate::settings::{AgentConnection, ConnectionLevel, FileContent, SettingsFile, SettingsRoots, Syntax};
use crate::usage_limit::LimitText;

const HOME: &str = "CODEX_HOME";

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "codex",
    title: "Codex",
    program: "codex",
    hooks: HookForm {
        events: &[
            "SessionStart",
            "SessionEnd",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PermissionRequest",
            "Stop",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
            "Interrupt",
        ],
        naming: Naming::EveryCall,
        exit_code: exit_code::from_header,
        // It allows no more than 3 seconds at the end, and complains.
        handler: |command, event| {
            claude_form::handler(command, if matches!(event, "SessionEnd" | "Interrupt") { 3 } else { PATIENCE })
        },
        ..claude_form::HOOKS
    },
    todo_tools: &[TodoTool::list("update_plan", "update_plan")],
    tools: ToolNames::NONE,
    context: Some(context),
    earlier_turn: Some(turns::earlier),
    settings: SettingsForm {
        syntax: Syntax::STRICT,
        home_variable: Some(HOME),
        files,
        guide_file: |level, roots| {
            let folder = if level == ConnectionLevel::User { user_folder(roots) } else { roots.project.clone() };
            Some(folder.join("AGENTS.md"))
        },
        guide_tools: "`todo_write` and `todo_read` of the MCP server `punch`",
        note: |level| {
            Some(match level {
                ConnectionLevel::User => {
                    "Codex runs hooks only once you trust them: start `codex`, type `/hooks` and trust punch's hooks"
                }
                ConnectionLevel::Personal | ConnectionLevel::Shared => {
                    "Codex reads this only in a project that you trust, and runs hooks only once you trust them: start \
                     `codex` here, type `/hooks` and trust punch's hooks"
                }
            })
        },
        plugin: Some(Plugin {
            listing: Some(Listing { name: "punch-codex", catalog: Catalog::Codex, has_commands: false }),
            files: |_| Vec::new(),
            targets: marketplace::targets,
            // It records by itself which plugins it has.
            evidence: PluginEvidence::Registration(|roots| {
                (user_folder(roots).join("config.toml"), "[plugins.\"punch-codex@punchlist\"]".to_owned())
            }),
            notes: |roots| {
                let add = "then `codex plugin add punch-codex@punchlist`, start `codex`, type `/hooks` and trust \
                           punch's hooks";
                let folder = marketplace::folder(roots);
                vec![format!("now run `codex plugin marketplace add '{}'`", folder.display()), add.to_owned()]
            },
            removal_note: Some("Codex has a copy of the plugin: `codex plugin remove punch-codex@punchlist`"),
        }),
        folder_trust: None,
        hook_trust: Some(HookTrust {
            arguments: &["app-server"],
            requests: trust_requests,
            id: 2,
            read: trusted_hooks,
            advice: |trust| match trust {
                None => Some("type `/hooks` inside `codex` to see whether its hooks are trusted"),
                Some((0, _)) => {
                    Some("it does not see them yet: start `codex` here, trust the project, then type `/hooks`")
                }
                Some((known, trusted)) if trusted < known => {
                    Some("hooks that are not trusted do not run: start `codex` here and type `/hooks`")
                }
                Some(_) => None,
            },
        }),
    },
    environment: Environment {
        marks: &["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI"],
        session: Some("CODEX_THREAD_ID"),
        project: None,
        private: &[],
    },
    assign: Some(AssignCommand { before_prompt: &["exec"], resume_flag: None }),
    usage_limits: &[
        LimitText::seen(
            "hit your usage limit",
            "https://github.com/openai/codex/blob/5d61c5e/codex-rs/protocol/src/error_tests.rs",
        ),
        LimitText::seen(
            "your workspace is out of credits",
            "https://github.com/openai/codex/blob/5d61c5e/codex-rs/protocol/src/error_tests.rs",
        ),
        LimitText::seen(
            "you hit your spend cap",
            "https://github.com/openai/codex/blob/5d61c5e/codex-rs/protocol/src/error_tests.rs",
        ),
    ],
    headless: Some(|| Box::new(stream::CodexExec::default())),
};

fn context(_report: &HookReport, line: &Value) -> Option<ContextReading> {
    let payload = line.get("payload").filter(|payload| string(payload, &["type"]) == Some("token_count"))?;
    let info = payload.get("info")?;
    let used = number(info.get("last_token_usage")?, &["total_tokens"])?;
    let limit = number(info, &["model_context_window"]).filter(|limit| *limit > 0);
    Some(ContextReading { used, limit, model: None })
}

/// The folder of the user's settings.
fn user_folder(roots: &SettingsRoots) -> PathBuf {
    roots.moved(HOME).cloned().unwrap_or_else(|| roots.home.join(".codex"))
}

fn files(connection: &AgentConnection<'_>) -> Vec<SettingsFile> {
    let folder = match connection.level {
        ConnectionLevel::User => user_folder(connection.roots),
        ConnectionLevel::Personal | ConnectionLevel::Shared => connection.folder(".codex"),
    };
    let fields = vec![("command", json!(connection.program.0)), ("args", json!(connection.server_args()))];
    let server = FileContent::Table(vec!["mcp_servers", "punch"], fields);
    vec![
        SettingsFile::new(folder.join("config.toml"), server),
        connection.json(folder.join("hooks.json"), vec![connection.hooks()]),
    ]
}

fn trust_requests(folder: &Path) -> Vec<Value> {
    let client = json!({"name": "punch", "version": env!("CARGO_PKG_VERSION")});
    vec![
        json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}),
        json!({"method": "initialized"}),
        json!({"id": 2, "method": "hooks/list", "params": {"cwds": [folder]}}),
    ]
}

fn trusted_hooks(result: &Value) -> Option<(usize, usize)> {
    let folders = result["data"].as_array()?;
    let hooks = folders.iter().filter_map(|folder| folder["hooks"].as_array()).flatten();
    let ours = |hook: &&Value| hook["command"].as_str().is_some_and(|command| command.contains(" hook --agent codex "));
    let ours: Vec<&Value> = hooks.filter(ours).collect();
    let trusted = |hook: &&&Value| hook["trustStatus"] == "trusted" || hook["isManaged"] == true;
    Some((ours.len(), ours.iter().filter(trusted).count()))
}

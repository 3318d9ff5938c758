//! Cursor. Its forms are taken from its documentation; nothing here was tried.

use punch_core::drive::HostEffect;
use serde_json::{Map, Value, json};

use crate::adapter::{
    Adapter, AssignCommand, Environment, HookForm, Meaning, ReportFields, SettingsForm, TodoTool, ToolNames, names,
};
use crate::claude_form;
use crate::hook::{HookReport, marked, put};
use crate::settings::{AgentConnection, ConnectionLevel, SettingsEntry, SettingsFile, Syntax, path};
use crate::usage_limit::LimitText;

const MEANINGS: [(&str, Meaning); 10] = [
    ("sessionStart", Meaning::SessionStart),
    ("sessionEnd", Meaning::SessionEnd),
    ("beforeSubmitPrompt", Meaning::Prompt),
    ("preToolUse", Meaning::ToolStart),
    ("postToolUse", Meaning::ToolEnd),
    ("postToolUseFailure", Meaning::ToolFailure),
    ("stop", Meaning::Stop),
    ("subagentStart", Meaning::SubagentStart),
    ("subagentStop", Meaning::SubagentStop),
    ("preCompact", Meaning::Compact),
];

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "cursor",
    title: "Cursor",
    program: "cursor-agent",
    hooks: HookForm {
        events: &names(&MEANINGS),
        meanings: &MEANINGS,
        fields: ReportFields { session: &["conversation_id", "session_id"], ..claude_form::FIELDS },
        echoes: true,
        stop_cap: Some(5),
        answer,
        handler: |command, _| json!({"command": command}),
        ..claude_form::HOOKS
    },
    todo_tools: &[TodoTool::list("todo_write", "todo_write"), TodoTool::list("TodoWrite", "todo_write")],
    tools: ToolNames::NONE,
    context: None,
    earlier_turn: None,
    settings: SettingsForm {
        syntax: Syntax::LENIENT,
        home_variable: None,
        files,
        // It has advice for all projects only in its own settings.
        guide_file: |level, roots| (level != ConnectionLevel::User).then(|| roots.project.join("AGENTS.md")),
        guide_tools: "`todo_write` and `todo_read` of the MCP server `punch`",
        note: |_| Some("Cursor may ask you to switch the server on: Settings, MCP"),
        plugin: None,
        folder_trust: None,
        hook_trust: None,
    },
    environment: Environment {
        marks: &["CURSOR_AGENT"],
        session: None,
        project: Some("CURSOR_PROJECT_DIR"),
        private: &["CURSOR_PROJECT_DIR"],
    },
    assign: Some(AssignCommand { before_prompt: &["-p"], resume_flag: None }),
    usage_limits: &[LimitText::untried("hit your usage limit")],
    headless: None,
};

fn files(connection: &AgentConnection<'_>) -> Vec<SettingsFile> {
    let server = json!({"command": connection.program.0, "args": connection.server_args()});
    let server = vec![SettingsEntry::Server(path(["mcpServers", "punch"]), server)];
    let hooks = vec![SettingsEntry::Default(path(["version"]), json!(1)), connection.hooks()];
    let folder = connection.folder(".cursor");
    vec![connection.json(folder.join("mcp.json"), server), connection.json(folder.join("hooks.json"), hooks)]
}

fn answer(report: &HookReport, effect: &HostEffect) -> Map<String, Value> {
    let mut out = Map::new();
    match report.meaning {
        Meaning::Stop | Meaning::SubagentStop => {
            let text = effect.go_on.as_ref().map(|text| marked(&ADAPTER, text));
            put(&mut out, "followup_message", text.as_ref());
        }
        Meaning::ToolStart | Meaning::SubagentStart => {
            if let Some(reason) = &effect.refuse {
                out.insert("permission".into(), "deny".into());
                out.insert("agent_message".into(), reason.clone().into());
                put(&mut out, "user_message", effect.tell.as_ref());
            }
        }
        Meaning::Prompt => {
            if let Some(text) = &effect.context {
                out.insert("continue".into(), true.into());
                out.insert("additional_context".into(), text.clone().into());
            }
        }
        Meaning::SessionStart | Meaning::ToolEnd => put(&mut out, "additional_context", effect.context.as_ref()),
        Meaning::Compact => put(&mut out, "user_message", effect.tell.as_ref()),
        Meaning::ToolFailure
        | Meaning::TaskEnd
        | Meaning::Question
        | Meaning::Notice
        | Meaning::TurnFailure
        | Meaning::Interrupt
        | Meaning::Compacted
        | Meaning::SessionEnd => {}
    }
    out
}

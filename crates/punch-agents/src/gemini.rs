//! Gemini CLI, and what Qwen Code has in common with it: the file of settings.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::adapter::{
    Adapter, AssignCommand, Environment, HookForm, Meaning, Plugin, PluginEvidence, SettingsForm, TodoTool, ToolNames,
    names,
};
use crate::claude_form::{self, AnswerForm, PATIENCE};
use crate::hook::field::{number, string};
use crate::hook::{ContextReading, HookReport, exit_code};
use crate::marketplace::{ABOUT, TELL, TODO, VERSION, below, call, hooks, pretty};
use crate::settings::{
    AgentConnection, ConnectionLevel, PluginSource, SettingsEntry, SettingsFile, SettingsRoots, Syntax, path,
};
use crate::usage_limit::LimitText;

const MEANINGS: [(&str, Meaning); 8] = [
    ("SessionStart", Meaning::SessionStart),
    ("SessionEnd", Meaning::SessionEnd),
    ("BeforeAgent", Meaning::Prompt),
    ("AfterAgent", Meaning::Stop),
    ("BeforeTool", Meaning::ToolStart),
    ("AfterTool", Meaning::ToolEnd),
    ("PreCompress", Meaning::Compact),
    ("Notification", Meaning::Notice),
];

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    hooks: HookForm {
        events: &names(&MEANINGS),
        meanings: &MEANINGS,
        echoes: true,
        // PreCompress fires before every request; only the user's own wish to compact says something.
        ignores: |meaning, report| meaning == Meaning::Compact && string(report, &["trigger"]) != Some("manual"),
        exit_code: exit_code::from_trailer,
        answer: |report, effect| {
            let form = AnswerForm { continues: Some("deny"), refuses: Some("deny"), context_before_tool: false };
            claude_form::answer(report, effect, form)
        },
        // In milliseconds.
        handler: |command, _| claude_form::handler(command, PATIENCE * 1_000),
        ..claude_form::HOOKS
    },
    todo_tools: &[TodoTool::list("write_todos", "write_todos")],
    tools: ToolNames::NONE,
    context: Some(context),
    earlier_turn: None,
    settings: SettingsForm {
        syntax: Syntax { comments: true, ..Syntax::STRICT },
        home_variable: None,
        files: |connection| files(connection, ".gemini", &[]),
        guide_file: |level, roots| Some(guide_folder(level, roots, ".gemini").join("GEMINI.md")),
        guide_tools: "`mcp_punch_todo_write` and `mcp_punch_todo_read`",
        note: |level| {
            (level != ConnectionLevel::User)
                .then_some("Gemini CLI reads this only in a trusted folder: start `gemini` here once")
        },
        plugin: Some(Plugin {
            listing: None,
            files: extension,
            targets: |source| below(&source.roots.home.join(".gemini/extensions/punch"), extension(source)),
            evidence: PluginEvidence::Files,
            notes: |_| vec!["the command is `/todo`".to_owned()],
            removal_note: None,
        }),
        folder_trust: None,
        hook_trust: None,
    },
    environment: Environment {
        marks: &["GEMINI_CLI"],
        session: None,
        project: Some("GEMINI_PROJECT_DIR"),
        private: &["GEMINI_PROJECT_DIR"],
    },
    assign: Some(AssignCommand { before_prompt: &["-p"], resume_flag: None }),
    usage_limits: &[
        LimitText::seen(
            "exhausted your capacity on this model",
            "https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/utils/googleQuotaErrors.ts",
        ),
        LimitText::seen("exhausted your daily quota", "https://github.com/google-gemini/gemini-cli/issues/15576"),
    ],
    headless: None,
};

fn context(_report: &HookReport, line: &Value) -> Option<ContextReading> {
    let used = number(line.get("tokens")?, &["total"])?;
    Some(ContextReading { used, limit: None, model: string(line, &["model"]).map(str::to_owned) })
}

/// One file with the server and the hooks. `more` are further fields of the server.
pub(crate) fn files(connection: &AgentConnection<'_>, folder: &str, more: &[(&str, Value)]) -> Vec<SettingsFile> {
    let mut server = json!({"command": connection.program.0, "args": connection.server_args(), "trust": true});
    for (name, value) in more {
        server[*name] = value.clone();
    }
    let entries = vec![SettingsEntry::Server(path(["mcpServers", "punch"]), server), connection.hooks()];
    vec![connection.json(connection.folder(folder).join("settings.json"), entries)]
}

/// Where standing advice is looked for.
pub(crate) fn guide_folder(level: ConnectionLevel, roots: &SettingsRoots, folder: &str) -> PathBuf {
    match level {
        ConnectionLevel::Personal | ConnectionLevel::Shared => roots.project.clone(),
        ConnectionLevel::User => roots.home.join(folder),
    }
}

/// Paths and texts of the extension.
fn extension(source: &PluginSource<'_>) -> Vec<(String, String)> {
    let program = source.program;
    let server = json!({"command": program.0, "args": ["mcp"]});
    let about = json!({
        "name": "punch", "version": VERSION, "description": ABOUT,
        "mcpServers": {"punch": server}, "contextFileName": "GEMINI.md",
    });
    let prompt = format!("!{{{} {{{{args}}}}}}\n\n{TELL}\n", call(program));
    let todo = format!("description = {}\nprompt = {}\n", json!(TODO), json!(prompt));
    vec![
        ("gemini-extension.json".to_owned(), pretty(&about)),
        ("GEMINI.md".to_owned(), (source.guide)(Some(&ADAPTER))),
        ("hooks/hooks.json".to_owned(), pretty(&hooks(&ADAPTER, program))),
        ("commands/todo.toml".to_owned(), todo),
    ]
}

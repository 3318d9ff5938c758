//! OpenCode, through a plugin of ours that subscribes to its events by itself and takes effects as they are.

use punch_core::drive::HostEffect;
use serde_json::{Map, Value, json};

use crate::adapter::{
    Adapter, AssignCommand, Environment, HookForm, Meaning, Naming, SettingsForm, TodoTool, ToolNames,
};
use crate::claude_form;
use crate::hook::{HookReport, marked, put};
use crate::settings::{AgentConnection, ConnectionLevel, FileContent, SettingsEntry, SettingsFile, Syntax, path};
use crate::usage_limit::LimitText;

/// The plugin, what it begins with, and how it finds our program.
const PLUGIN: &str = include_str!("../opencode_plugin.js");
const PLUGIN_HEAD: &str = "// Punchlist in OpenCode:";
const PLUGIN_PROGRAM: &str = r#"process.env.PUNCH_PROGRAM || "punch""#;

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    hooks: HookForm {
        meanings: &[
            ("session.created", Meaning::SessionStart),
            ("chat.message", Meaning::Prompt),
            ("tool.execute.before", Meaning::ToolStart),
            ("tool.execute.after", Meaning::ToolEnd),
            ("permission.ask", Meaning::Question),
            ("permission.asked", Meaning::Question),
            ("session.idle", Meaning::Stop),
            ("session.error", Meaning::TurnFailure),
            ("session.interrupted", Meaning::Interrupt),
            ("session.compacting", Meaning::Compact),
            ("session.compacted", Meaning::Compacted),
            ("session.deleted", Meaning::SessionEnd),
        ],
        naming: Naming::EveryCall,
        echoes: true,
        // The plugin passes on what the tool says about its process.
        exit_code: |_, report, _| report.get("exit").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok()),
        answer,
        ..claude_form::HOOKS
    },
    todo_tools: &[TodoTool::list("todowrite", "todowrite")],
    tools: ToolNames::NONE,
    context: None,
    earlier_turn: None,
    settings: SettingsForm {
        syntax: Syntax::LENIENT,
        home_variable: None,
        files,
        guide_file: |level, roots| {
            let folder =
                if level == ConnectionLevel::User { roots.config.join("opencode") } else { roots.project.clone() };
            Some(folder.join("AGENTS.md"))
        },
        guide_tools: "`punch_todo_write` and `punch_todo_read`",
        note: |_| None,
        plugin: None,
        folder_trust: None,
        hook_trust: None,
    },
    environment: Environment { marks: &["OPENCODE"], session: None, project: None, private: &[] },
    assign: Some(AssignCommand { before_prompt: &["run"], resume_flag: Some("--session") }),
    usage_limits: &[
        LimitText::seen("free usage exceeded", "https://github.com/anomalyco/opencode/issues/50093"),
        LimitText::seen("the usage limit has been reached", "https://github.com/anomalyco/opencode/issues/47239"),
    ],
    headless: None,
};

fn files(connection: &AgentConnection<'_>) -> Vec<SettingsFile> {
    let (roots, program) = (connection.roots, &connection.program.0);
    let own = roots.config.join("opencode");
    let (settings, plugins) = match connection.level {
        ConnectionLevel::Personal | ConnectionLevel::Shared => (roots.project.clone(), roots.project.join(".opencode")),
        ConnectionLevel::User => (own.clone(), own),
    };
    let commented = settings.join("opencode.jsonc");
    let settings = if (connection.exists)(&commented) { commented } else { settings.join("opencode.json") };
    let command: Vec<&str> = [program.as_str()].into_iter().chain(connection.server_args()).collect();
    let server = json!({"type": "local", "command": command, "enabled": true});
    let ours = PLUGIN_PROGRAM.replace("\"punch\"", &json!(program).to_string());
    let plugin = FileContent::Whole { text: PLUGIN.replace(PLUGIN_PROGRAM, &ours), head: PLUGIN_HEAD };
    vec![
        connection.json(settings, vec![SettingsEntry::Server(path(["mcp", "punch"]), server)]),
        SettingsFile::new(plugins.join("plugin").join("punch.js"), plugin),
    ]
}

fn answer(_report: &HookReport, effect: &HostEffect) -> Map<String, Value> {
    let mut out = Map::new();
    put(&mut out, "context", effect.context.as_ref());
    put(&mut out, "go_on", effect.go_on.as_ref().map(|text| marked(&ADAPTER, text)).as_ref());
    put(&mut out, "refuse", effect.refuse.as_ref());
    put(&mut out, "tell", effect.tell.as_ref());
    out
}

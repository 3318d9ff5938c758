//! Configuration of agents with our parts in it and out of it again, over texts as people write them.

use std::path::{Path, PathBuf};

use crate::agents::agent;
use proptest::prelude::*;
use punch_agents::settings::{self, ConnectionLevel, FileContent, PluginSource, Program, SettingsFile, SettingsRoots};
use punch_agents::{AGENTS, Adapter, marketplace};
use punch_serve::guide::standing;
use punch_serve::wiring::{ConnectionState, FileEditor as _, TextPatch, changes, plugin};
use serde_json::{Map, Value, json};

pub fn roots() -> SettingsRoots {
    let home = PathBuf::from("/home/x");
    SettingsRoots {
        project: "/p".into(),
        main_project: "/p".into(),
        config: home.join(".config"),
        moved: Vec::new(),
        data: home.join(".local/share"),
        home,
    }
}

pub fn targets(host: &'static Adapter, level: ConnectionLevel, program: &str) -> Vec<SettingsFile> {
    settings::files(host, level, &roots(), (&Program(program.to_owned()), None), &|_| false)
}

/// Every file of every agent at every level that is JSON.
fn json_contents() -> Vec<FileContent> {
    let all = AGENTS.into_iter().flat_map(|host| ConnectionLevel::ALL.map(|level| targets(host, level, "punch")));
    // The editor takes everything; which agent takes what is another test.
    let json = |target: SettingsFile| match target.content {
        FileContent::Json(_, entries) => Some(FileContent::Json(agent("opencode"), entries)),
        _ => None,
    };
    all.flatten().filter_map(json).collect()
}

/// How the user writes JSON.
#[derive(Clone, Debug)]
pub struct Hand {
    indent: String,
    newline: &'static str,
    comments: u8,
    trailing_commas: bool,
    one_line: bool,
    mark: bool,
    final_newline: bool,
}

impl Hand {
    /// Drops everything from the style that an agent may refuse.
    pub fn plain(self) -> Self {
        Self { comments: 0, trailing_commas: false, mark: false, ..self }
    }

    pub fn write(&self, value: &Value) -> String {
        let mut count = 0;
        let mark = if self.mark { "\u{feff}" } else { "" };
        let end = if self.final_newline { self.newline } else { "" };
        format!("{mark}{}{}{end}", self.remark(&mut count, true), self.value(value, 0, &mut count))
    }

    /// Now and then a comment: `// …` where the line ends, `/* … */` anywhere.
    fn remark(&self, count: &mut usize, line_ends: bool) -> String {
        *count += 1;
        match (self.comments, *count % 5) {
            (0, _) => String::new(),
            (_, 1) if line_ends && !self.one_line => format!(" // it's \"so\" {count}, {{\u{a0}{}", self.newline),
            (2, 3) => format!(" /* a, \"b\" {count} */ "),
            _ => String::new(),
        }
    }

    fn value(&self, value: &Value, depth: usize, count: &mut usize) -> String {
        let (open, close, parts): (_, _, Vec<String>) = match value {
            Value::Object(map) => {
                let part = |(key, value): (&String, &Value)| {
                    format!(
                        "{}:{}{}",
                        json!(key),
                        if depth.is_multiple_of(2) { " " } else { "" },
                        self.value(value, depth + 1, count)
                    )
                };
                ('{', '}', map.iter().map(part).collect())
            }
            Value::Array(items) => ('[', ']', items.iter().map(|item| self.value(item, depth + 1, count)).collect()),
            other => return other.to_string(),
        };
        let (line, outer) = match self.one_line {
            true => (String::new(), String::new()),
            false => (
                format!("{}{}", self.newline, self.indent.repeat(depth + 1)),
                format!("{}{}", self.newline, self.indent.repeat(depth)),
            ),
        };
        if parts.is_empty() {
            return match count.is_multiple_of(3) {
                true => format!("{open}{}{close}", self.remark(count, true)),
                false => format!("{open}{close}"),
            };
        }
        let mut out = open.to_string();
        let last = parts.len() - 1;
        for (index, part) in parts.iter().enumerate() {
            let comma = if index < last || self.trailing_commas { "," } else { "" };
            let (before, behind) = (self.remark(count, false), self.remark(count, true));
            out.push_str(&format!("{line}{part}{before}{comma}{behind}"));
        }
        format!("{out}{outer}{close}")
    }
}

pub fn hands() -> impl Strategy<Value = Hand> {
    let indents = prop_oneof![Just(""), Just(" "), Just("  "), Just("    "), Just("\t")];
    let newlines = prop_oneof![Just("\n"), Just("\r\n")];
    let flags = any::<(bool, bool, bool, bool)>();
    (indents, newlines, 0_u8..3, flags).prop_map(|(indent, newline, comments, flags)| Hand {
        indent: indent.to_owned(),
        newline,
        comments,
        trailing_commas: flags.0,
        one_line: flags.1,
        mark: flags.2,
        final_newline: flags.3,
    })
}

fn any_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z/*\",{}\\\\ é\u{1F980}]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z\"/ ]{0,6}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Settings as an agent may have them: other things, and places where ours go with others in them.
fn settings() -> impl Strategy<Value = Value> {
    let others = prop::collection::vec(("x[a-z]{0,4}", any_values()), 0..4);
    let group = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "lint hook --agent x"}]});
    let places = prop_oneof![
        Just(json!({})),
        Just(json!({"mcpServers": {}, "hooks": {}, "mcp": {}, "permissions": {}})),
        Just(json!({"mcpServers": {"other": {"command": "x"}}, "permissions": {"allow": [], "deny": ["Bash"]}})),
        Just(
            json!({"mcp": {"other": {"type": "remote"}}, "hooks": {"Stop": [], "AfterAgent": [group], "stop": [{"command": "x"}]}})
        ),
        Just(json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "version": 1})),
    ];
    (others, places).prop_map(|(others, places)| {
        let mut out: Map<String, Value> = others.into_iter().collect();
        if let Value::Object(places) = places {
            out.extend(places);
        }
        Value::Object(out)
    })
}

/// Comments and trailing commas out, character by character, sharing nothing with what is tested.
pub fn naive(text: &str) -> Value {
    let text: Vec<char> = text.trim_start_matches('\u{feff}').chars().collect();
    let (mut out, mut at, mut quoted) = (String::new(), 0, false);
    while at < text.len() {
        let pair = (text[at], text.get(at + 1).copied().unwrap_or(' '));
        match pair {
            ('\\', next) if quoted => {
                out.push('\\');
                out.push(next);
                at += 1;
            }
            ('"', _) => {
                quoted = !quoted;
                out.push('"');
            }
            ('/', '/') if !quoted => {
                while at + 1 < text.len() && text[at + 1] != '\n' {
                    at += 1;
                }
            }
            ('/', '*') if !quoted => {
                at += 2;
                while (text[at], text[at + 1]) != ('*', '/') {
                    at += 1;
                }
                at += 1;
            }
            (close @ ('}' | ']'), _) if !quoted => {
                let trimmed = out.trim_end();
                if trimmed.ends_with(',') {
                    out.truncate(trimmed.len() - 1);
                }
                out.push(close);
            }
            (other, _) => out.push(other),
        }
        at += 1;
    }
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// What `value` must be with our parts in it, told by the finished configuration of an empty file.
fn merged(value: &Value, ours: &Value) -> Value {
    match (value, ours) {
        (Value::Object(have), Value::Object(more)) => {
            let mut out = have.clone();
            for (name, value) in more {
                let with = have.get(name).map_or_else(|| value.clone(), |have| merged(have, value));
                out.insert(name.clone(), with);
            }
            Value::Object(out)
        }
        (Value::Array(have), Value::Array(more)) => Value::from([have.clone(), more.clone()].concat()),
        (have, _) => have.clone(),
    }
}

fn comments(text: &str) -> usize {
    text.matches("it's \"so\"").count() + text.matches("/* a, \"b\"").count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out_to_the_byte_and_nothing_else_changes(
        hand in hands(), value in settings(), which in 0_usize..64
    ) {
        let contents = json_contents();
        let content = &contents[which % contents.len()];
        let before = hand.write(&value);
        prop_assert_eq!(&naive(&before), &value);
        let after = content.wire(Some(&before)).unwrap();
        let ours = naive(&content.wire(None).unwrap());
        prop_assert_eq!(&naive(&after), &merged(&value, &ours), "{}\n{}", before, after);
        prop_assert_eq!(&content.wire(Some(&after)).unwrap(), &after, "twice is once");
        prop_assert_eq!(comments(&after), comments(&before));
        prop_assert_eq!(content.look(Some(&after)).unwrap(), ConnectionState::Yes);
        prop_assert_eq!(content.look(Some(&before)).unwrap(), ConnectionState::No);
        let patch = TextPatch::back(&before, &after);
        let patch = TextPatch::from_json(&patch.to_json()).unwrap();
        prop_assert_eq!(patch.undo(&after), Some(before.clone()));
        // The way without a record: the same values, the same comments.
        let out = content.unwire(&after, &content.containers(Some(&before))).unwrap().unwrap();
        let mut left = naive(&out);
        if value.get("version").is_none() {
            left.as_object_mut().unwrap().remove("version");
        }
        prop_assert_eq!(&left, &value, "{}\n{}", after, out);
        prop_assert_eq!(comments(&out), comments(&before), "{}\n{}", before, out);
    }

    #[test]
    fn texts_that_are_no_configuration_are_refused_and_never_panic(text in "[\\[\\]{}\",:/*a1 \\n\\\\é\u{feff}]{0,40}") {
        for content in json_contents().iter().take(2) {
            let _ = content.wire(Some(&text));
            let _ = content.unwire(&text, &[]);
        }
        let table = &targets(agent("codex"), ConnectionLevel::User, "punch")[0].content;
        let _ = table.wire(Some(&text));
        let _ = table.unwire(&text, &[]);
        let block = FileContent::Block("x".to_owned());
        let _ = block.wire(Some(&text));
    }

    #[test]
    fn a_patch_leads_back_between_any_two_texts(before in "[ab\\r\\n]{0,30}", after in "[ab\\r\\n]{0,30}") {
        prop_assert_eq!(TextPatch::back(&before, &after).undo(&after), Some(before));
    }
}

#[test]
fn new_files_look_like_a_person_wrote_them() {
    let mut out = String::new();
    for host in AGENTS {
        for target in targets(host, ConnectionLevel::Shared, "punch") {
            let text = target.content.wire(None).unwrap();
            let lines: Vec<&str> = text.lines().take(6).collect();
            out.push_str(&format!(
                "== {}: {} lines\n{}\n",
                target.path.display(),
                text.lines().count(),
                lines.join("\n")
            ));
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn a_diff_shows_what_would_be_written() {
    let before = "{\n  // mine\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" } // why\n  }\n}\n";
    let content = &targets(agent("cursor"), ConnectionLevel::User, "/opt/my tools/punch")[0].content;
    insta::assert_snapshot!(changes(before, &content.wire(Some(before)).unwrap()));
}

#[test]
fn an_entry_for_another_program_is_mended_and_what_a_person_added_stays() {
    let mine = json!({"mcpServers": {"punch": {"command": "/old/punch", "args": ["mcp"], "env": {"A": "1"}}}});
    let content = &targets(agent("cursor"), ConnectionLevel::User, "punch")[0].content;
    assert_eq!(content.look(Some(&mine.to_string())).unwrap(), ConnectionState::Partly);
    let after = naive(&content.wire(Some(&mine.to_string())).unwrap());
    assert_eq!(after["mcpServers"]["punch"], json!({"command": "punch", "args": ["mcp"], "env": {"A": "1"}}));
}

#[test]
fn hooks_of_an_earlier_place_are_replaced_and_others_in_their_group_stay() {
    let old = "/old/punch hook --agent claude Stop";
    let group = json!({"hooks": [{"type": "command", "command": old}, {"type": "command", "command": "say"}]});
    let text = json!({"hooks": {"Stop": [group, {"hooks": [{"type": "command", "command": old}]}]}}).to_string();
    let content = &targets(agent("claude"), ConnectionLevel::Shared, "punch")[1].content;
    let after = naive(&content.wire(Some(&text)).unwrap());
    let stop = after["hooks"]["Stop"].as_array().unwrap();
    assert_eq!(stop.len(), 2, "{after}");
    assert_eq!(stop[0], json!({"hooks": [{"type": "command", "command": "say"}]}));
    assert!(stop[1].to_string().contains("punch hook --agent claude Stop"), "{after}");
    let left = naive(&content.unwire(&after.to_string(), &[]).unwrap().unwrap());
    assert_eq!(left, json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}}));
}

#[test]
fn places_of_the_wrong_kind_are_refused_with_line_and_column() {
    let content = &targets(agent("claude"), ConnectionLevel::Shared, "punch")[1].content;
    let told = |text: &str| content.wire(Some(text)).unwrap_err().message();
    assert_eq!(told("{\n  \"hooks\": []\n}"), "line 2, column 12: expected an object");
    assert_eq!(told("{\n  \"hooks\": {\"Stop\": 1}\n}"), "line 2, column 21: `hooks.Stop` is not an array");
    assert_eq!(told("[]"), "line 1, column 1: expected an object");
    assert_eq!(told("{\"hooks\": {}, \"hooks\": {}}"), "line 1, column 15: `hooks` occurs twice");
    assert_eq!(told("{\n  \"a\": 1\n  \"b\": 2\n}"), "line 3, column 3: expected `,` or `}`");
    assert_eq!(told("{ /* never ends"), "line 1, column 3: key must be a string");
    assert!(told(&format!("{}{}", "[".repeat(5_000), "]".repeat(5_000))).contains("recursion limit"));
}

#[test]
fn a_table_goes_into_toml_and_out_to_the_byte() {
    let content = &targets(agent("codex"), ConnectionLevel::User, "punch")[0].content;
    for before in [
        "",
        "model = \"x\"",
        "model = \"x\"\n",
        "\u{feff}# mine\r\nmodel = \"x\"\r\n\r\n[a]\r\nb = 1\r\n",
        "[mcp_servers.other]\ncommand = \"x\" # why\n\n[mcp_servers.other.env]\nA = \"1\"\n\n\n",
        "[mcp_servers]\nother = { command = \"x\" }\n# the end",
    ] {
        let after = content.wire(Some(before)).unwrap_or_else(|wrong| panic!("{before:?}: {wrong:?}"));
        assert_eq!(content.wire(Some(&after)).unwrap(), after);
        assert_eq!(content.look(Some(&after)).unwrap(), ConnectionState::Yes);
        assert_eq!(content.look(Some(before)).unwrap(), ConnectionState::No);
        assert_eq!(TextPatch::back(before, &after).undo(&after).as_deref(), Some(before));
        let out = content.unwire(&after, &[]).unwrap().unwrap();
        assert_eq!(out.trim_end(), before.trim_end(), "{after:?}");
    }
}

#[test]
fn a_table_for_another_program_is_mended_and_its_inner_tables_go_along() {
    let content = &targets(agent("codex"), ConnectionLevel::User, "punch")[0].content;
    let text = "[mcp_servers.punch]\n# mine\ncommand = '/old/punch'\nx = 1\n\n[mcp_servers.punch.env]\nA = \"1\"\n\n[z]\ny = 2\n";
    let after = content.wire(Some(text)).unwrap();
    assert_eq!(
        after,
        "[mcp_servers.punch]\nargs = [\"mcp\"]\n# mine\ncommand = \"punch\"\nx = 1\n\n[mcp_servers.punch.env]\nA = \"1\"\n\n[z]\ny = 2\n"
    );
    assert_eq!(content.unwire(&after, &[]).unwrap().unwrap().trim_start(), "[z]\ny = 2\n");
}

#[test]
fn toml_that_takes_no_more_is_refused() {
    let content = &targets(agent("codex"), ConnectionLevel::User, "punch")[0].content;
    let told = |text: &str| content.wire(Some(text)).unwrap_err().message();
    assert!(told("mcp_servers = { a = { command = \"x\" } }\n").contains("cannot be extended"));
    assert!(told("mcp_servers.punch = 1\n").starts_with("line 1, column"), "{}", told("mcp_servers.punch = 1\n"));
    assert!(told("a = \n").starts_with("line 1, column 5"), "{}", told("a = \n"));
}

#[test]
fn a_block_goes_between_its_markers() {
    let block = FileContent::Block("Use the list.\n".to_owned());
    for before in ["", "# Mine\n", "# Mine", "# Mine\r\n\r\ntext\r\n", "\u{feff}x\n\n\n"] {
        let after = block.wire(Some(before)).unwrap();
        assert_eq!(block.wire(Some(&after)).unwrap(), after);
        assert_eq!(TextPatch::back(before, &after).undo(&after).as_deref(), Some(before));
        assert_eq!(block.unwire(&after, &[]).unwrap().unwrap().trim_end(), before.trim_end());
        let changed = FileContent::Block("Other words.".to_owned()).wire(Some(&after)).unwrap();
        assert!(changed.contains("Other words.") && !changed.contains("Use the list"));
    }
    assert!(block.wire(Some("<!-- punch: end --> <!-- punch: begin -->")).is_err());
    assert!(block.wire(Some("<!-- punch: begin -->\n")).is_err());
}

#[test]
fn a_file_of_ours_is_replaced_and_a_stranger_is_not() {
    let plugin = &targets(agent("opencode"), ConnectionLevel::User, "/opt/punch \"x\"")[1].content;
    let text = plugin.wire(None).unwrap();
    assert!(text.contains(r#"const PROGRAM = process.env.PUNCH_PROGRAM || "/opt/punch \"x\"""#));
    assert_eq!(plugin.unwire(&text, &[]).unwrap(), None);
    assert_eq!(plugin.look(Some("// Punchlist in OpenCode: of old")).unwrap(), ConnectionState::Partly);
    assert_eq!(plugin.wire(Some("// Punchlist in OpenCode: of old")).unwrap(), text);
    assert!(plugin.wire(Some("export const Mine = 1")).is_err());
}

#[test]
fn opencode_keeps_the_file_that_it_has() {
    let exists = |path: &Path| path.ends_with("opencode.jsonc");
    let found = settings::files(
        agent("opencode"),
        ConnectionLevel::Shared,
        &roots(),
        (&Program("punch".to_owned()), None),
        &exists,
    );
    assert_eq!(found[0].path, Path::new("/p/opencode.jsonc"));
}

/// The repository is a marketplace itself; after a change: `UPDATE_DOCS=1 cargo test -p punch-serve marketplace`.
#[test]
fn the_marketplace_in_the_repository_is_the_one_that_is_installed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = Program("punch".to_owned());
    let roots = roots();
    let source = PluginSource { roots: &roots, program: &program, guide: &standing };
    let gemini = agent("gemini").settings.plugin.as_ref().unwrap();
    let gemini = (gemini.files)(&source).into_iter().map(|(path, text)| (format!("plugins/gemini/{path}"), text));
    for (path, wanted) in marketplace::files(&source).into_iter().chain(gemini) {
        let path = root.join(path);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &wanted).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert_eq!(written, wanted, "{}: run the test with UPDATE_DOCS=1", path.display());
    }
}

#[test]
fn a_plugin_goes_into_settings_by_name_and_out_again() {
    let files = plugin(agent("claude"), &roots(), &Program("punch".to_owned())).unwrap();
    let settings = &files.last().unwrap().content;
    let before = "{\n  \"enabledPlugins\": { \"other@x\": true }\n}\n";
    let after = settings.wire(Some(before)).unwrap();
    insta::assert_snapshot!(changes(before, &after));
    assert_eq!(settings.unwire(&after, &settings.containers(Some(before))).unwrap().as_deref(), Some(before));
    assert!(plugin(agent("cursor"), &roots(), &Program("punch".to_owned())).is_none());
}

#[test]
fn what_an_agent_would_ignore_is_refused_at_its_place() {
    let wired = |host: &'static Adapter, text: &str| {
        let targets = targets(host, ConnectionLevel::Shared, "punch");
        let content = &targets.iter().rfind(|target| matches!(target.content, FileContent::Json(..))).unwrap().content;
        content.wire(Some(text)).map(drop).map_err(|wrong| wrong.message())
    };
    let (comment, comma, mark) = ("{\n  // c\n  \"a\": 1\n}", "{\n  \"a\": 1,\n}", "\u{feff}{}");
    let ignored = |place: &str, what: &str, who: &str| {
        Err(format!("{place}: {what}: {who} ignores the whole file because of it"))
    };
    assert_eq!(wired(agent("claude"), comment), ignored("line 2, column 3", "a comment", "Claude Code"));
    assert_eq!(wired(agent("codex"), comma), ignored("line 2, column 9", "a trailing comma", "Codex"));
    assert_eq!(wired(agent("gemini"), mark), ignored("line 1, column 1", "a byte order mark", "Gemini CLI"));
    for host in AGENTS {
        let taken: Vec<bool> = [comment, comma, mark].iter().map(|text| wired(host, text).is_ok()).collect();
        let wanted = match host.name {
            "claude" => [false, false, true],
            "codex" => [false, false, false],
            "gemini" => [true, false, false],
            "qwen" => [true, false, true],
            "cursor" | "opencode" | "copilot" | "droid" => [true, true, true],
            other => panic!("what does {other} read?"),
        };
        assert_eq!(taken, wanted, "{}", host.name);
    }
}

//! A settings file over its life: installs of several versions of punch, edits by the user, rewrites by the agent, and
//! uninstalls, in any order. A naive model knows only what the user wrote.

use std::collections::BTreeSet;

use crate::agents::agent;
use proptest::prelude::*;
use punch_agents::settings::{self, ConnectionLevel, FileContent, Program, SettingsEntry, SettingsFile, SettingsRoots};
use punch_agents::{AGENTS, Adapter};
use punch_serve::wiring::OtherEntries;
use punch_serve::wiring::{DisconnectedFile, FileEditor as _, FileHistory, connect, disconnect};
use serde_json::{Map, Value, json};

use crate::wiring::{Hand, hands, naive, roots, targets};

/// What can happen to a file.
#[derive(Clone, Debug)]
enum Act {
    /// A version of punch installs itself.
    Install(Version),
    Uninstall,
    /// The user sets one of four settings.
    Set(u8, Value),
    /// The user removes one of them.
    Unset(u8),
    /// The user adds a hook of their own to an event, in a group of its own.
    AddHook(u8),
    /// The user adds a hook of their own to every group of ours.
    JoinGroups,
    /// The user adds an MCP server and a permission.
    AddServer,
    /// The agent writes the whole file again with a number of its own.
    Rewrite(Hand, u8),
    /// The file is deleted.
    Delete,
}

/// How an installed version differs from this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    This,
    OneEventLess,
    OneEventMore,
    OtherProgram,
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("opus")),
        Just(json!({})),
        Just(json!([])),
        Just(json!({"deep": [1, {"a": null}]})),
        any::<i16>().prop_map(Value::from),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let version = prop_oneof![
        3 => Just(Version::This),
        1 => Just(Version::OneEventLess),
        1 => Just(Version::OneEventMore),
        1 => Just(Version::OtherProgram),
    ];
    let act = prop_oneof![
        4 => version.prop_map(Act::Install),
        2 => Just(Act::Uninstall),
        3 => (0_u8..4, values()).prop_map(|(name, value)| Act::Set(name, value)),
        1 => (0_u8..4).prop_map(Act::Unset),
        1 => (0_u8..3).prop_map(Act::AddHook),
        1 => Just(Act::JoinGroups),
        1 => Just(Act::AddServer),
        1 => (plain_hands(), any::<u8>()).prop_map(|(hand, number)| Act::Rewrite(hand, number)),
        1 => Just(Act::Delete),
    ];
    prop::collection::vec(act, 1..12)
}

/// Hands that write what every agent reads.
fn plain_hands() -> impl Strategy<Value = Hand> {
    hands().prop_map(Hand::plain)
}

/// Every JSON file of every agent at every level, by agent and level.
fn files() -> Vec<(&'static Adapter, ConnectionLevel, usize)> {
    let mut out = Vec::new();
    for host in AGENTS {
        for level in ConnectionLevel::ALL {
            for (index, target) in targets(host, level, "punch").iter().enumerate() {
                if matches!(target.content, FileContent::Json(..)) {
                    out.push((host, level, index));
                }
            }
        }
    }
    out
}

fn content((host, level, index): (&'static Adapter, ConnectionLevel, usize), version: Version) -> FileContent {
    let program = if version == Version::OtherProgram { "/opt/old/punch" } else { "punch" };
    let FileContent::Json(_, mut entries) = targets(host, level, program).swap_remove(index).content else {
        panic!("not JSON");
    };
    for entry in &mut entries {
        let SettingsEntry::Hooks(hooks) = entry else { continue };
        match version {
            Version::OneEventLess => drop(hooks.events.remove(0)),
            Version::OneEventMore => {
                let text = hooks.events[0].1.to_string().replace(&hooks.events[0].0, "Retired");
                hooks.events.push(("Retired".to_owned(), serde_json::from_str(&text).unwrap()));
            }
            Version::This | Version::OtherProgram => {}
        }
    }
    FileContent::Json(host, entries)
}

/// A file, what punch remembers about it, and what the user wrote.
#[derive(Default)]
struct Life {
    text: Option<String>,
    history: Option<FileHistory>,
    model: Value,
    /// What the file must be after the next uninstall, to the byte, if no one edited it since.
    origin: Option<Option<String>>,
}

impl Life {
    fn edit(&mut self, hand: &Hand, change: impl Fn(&mut Map<String, Value>)) {
        let mut value = self.text.as_deref().map_or_else(|| json!({}), naive);
        change(value.as_object_mut().unwrap());
        change(self.model.as_object_mut().unwrap());
        self.text = Some(hand.write(&value));
        self.origin = None;
    }

    fn act(
        &mut self,
        file: (&'static Adapter, ConnectionLevel, usize),
        hand: &Hand,
        act: &Act,
    ) -> Result<(), TestCaseError> {
        match act {
            Act::Install(version) => {
                let content = content(file, *version);
                let (text, history) =
                    connect(&content, self.text.as_deref(), self.history.as_ref(), OtherEntries::Absent)
                        .map_err(|wrong| TestCaseError::fail(wrong.message()))?;
                if self.history.is_none() {
                    self.origin = Some(self.text.clone());
                }
                (self.text, self.history) = (Some(text), Some(history));
            }
            Act::Uninstall => {
                let Some(text) = self.text.clone() else {
                    self.history = None;
                    return Ok(());
                };
                let content = content(file, Version::This);
                let DisconnectedFile { text, history } =
                    disconnect(&content, &text, self.history.as_ref(), OtherEntries::Absent)
                        .map_err(|wrong| TestCaseError::fail(wrong.message()))?;
                prop_assert_eq!(history, None);
                let ours = text.as_deref().is_some_and(|text| text.contains("punch"));
                prop_assert!(!ours, "something of ours is left: {:?}", text);
                if let (Some(origin), true) = (self.origin.take(), self.history.is_some()) {
                    prop_assert_eq!(&text, &origin);
                }
                (self.text, self.history) = (text, None);
            }
            Act::Set(name, value) => self.edit(hand, |map| drop(map.insert(format!("x{name}"), value.clone()))),
            Act::Unset(name) => self.edit(hand, |map| drop(map.shift_remove(&format!("x{name}")))),
            Act::AddHook(event) => self.edit(hand, |map| {
                let hooks = map.entry("hooks").or_insert_with(|| json!({}));
                let event = ["Stop", "Own", "stop"][usize::from(*event)];
                let groups = hooks.as_object_mut().unwrap().entry(event).or_insert_with(|| json!([]));
                groups.as_array_mut().unwrap().push(json!({"hooks": [{"type": "command", "command": "say done"}]}));
            }),
            Act::JoinGroups => self.join_groups(hand),
            Act::AddServer => self.edit(hand, |map| {
                map.entry("mcpServers").or_insert_with(|| json!({}))["other"] = json!({"command": "x"});
                map.entry("permissions").or_insert_with(|| json!({}))["allow"] = json!(["Bash(ls)"]);
            }),
            Act::Rewrite(hand, number) => {
                self.edit(hand, |map| drop(map.insert("$version".to_owned(), json!(number))));
            }
            Act::Delete => {
                (self.text, self.model, self.origin) = (None, json!({}), None);
            }
        }
        Ok(())
    }

    /// The user's handler lands in a group of ours; in the model it stands alone.
    fn join_groups(&mut self, hand: &Hand) {
        let Some(text) = &self.text else { return };
        let mut value = naive(text);
        let mine = json!({"type": "command", "command": "say joined"});
        let mut joined = Vec::new();
        for (event, groups) in value.get_mut("hooks").and_then(Value::as_object_mut).into_iter().flatten() {
            for group in groups.as_array_mut().into_iter().flatten() {
                let ours = group.to_string().contains("hook --agent") && !group.to_string().contains("say joined");
                if let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut).filter(|_| ours) {
                    handlers.push(mine.clone());
                    joined.push(event.clone());
                }
            }
        }
        for event in joined {
            let hooks = self.model.as_object_mut().unwrap().entry("hooks").or_insert_with(|| json!({}));
            let groups = hooks.as_object_mut().unwrap().entry(event).or_insert_with(|| json!([]));
            groups.as_array_mut().unwrap().push(json!({"hooks": [mine]}));
        }
        self.text = Some(hand.write(&value));
        self.origin = None;
    }
}

/// What the user has in a file, told by looking for words rather than by the code under test. Empty containers that punch
/// may have made do not count, nor does the version number that Cursor wants.
fn users_part(value: &Value) -> Value {
    fn is_ours(value: &Value) -> bool {
        let text = value.to_string();
        text.contains("punch") && !text.contains("say joined")
    }
    fn walk(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let parts =
                    map.iter().filter(|(name, value)| *name != "punch" && !(value.is_string() && is_ours(value)));
                Value::Object(parts.map(|(name, value)| (name.clone(), walk(value))).collect())
            }
            Value::Array(items) => {
                let ours = |item: &&Value| {
                    !(is_ours(item) || item["command"].as_str().is_some_and(|command| command.contains("hook --agent")))
                };
                let mut items: Vec<Value> = items.iter().filter(ours).map(walk).collect();
                items.sort_by_key(Value::to_string);
                Value::Array(items)
            }
            other => other.clone(),
        }
    }
    let mut out = walk(value);
    let map = out.as_object_mut().unwrap();
    for name in ["hooks", "mcpServers", "mcp", "permissions", "projects", "enabledMcpjsonServers"] {
        if let Some(value) = map.get_mut(name) {
            *value = without_empty(value);
        }
    }
    map.retain(|name, value| {
        let empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
        let neutral = empty && !name.starts_with('x');
        let version = name == "version" && *value == 1;
        !neutral && !version
    });
    out
}

fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let parts = map.iter().map(|(name, value)| (name.clone(), without_empty(value)));
            let full = |value: &Value| !(*value == json!({}) || *value == json!([]));
            Value::Object(parts.filter(|(_, value)| full(value)).collect())
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_life_of_a_file_keeps_what_the_user_wrote_and_nothing_of_ours(
        which in 0_usize..64, hand in plain_hands(), acts in acts()
    ) {
        let files = files();
        let file = files[which % files.len()];
        let mut life = Life { model: json!({}), ..Life::default() };
        for act in acts.iter().chain([&Act::Uninstall]) {
            let before = life.text.clone();
            life.act(file, &hand, act)?;
            let has = life.text.as_deref().map_or_else(|| json!({}), naive);
            prop_assert_eq!(
                users_part(&has), users_part(&life.model), "{:?} {:?}: {:?}\nbefore: {:?}\nafter: {:?}",
                file, act, life.model, before, life.text
            );
        }
    }

    /// `~/.claude.json` holds entries for all projects and for the user: each comes and goes alone.
    #[test]
    fn entries_of_several_projects_in_one_file_come_and_go_alone(
        acts in prop::collection::vec((0_usize..4, any::<bool>()), 1..16), hand in plain_hands(), made in any::<bool>()
    ) {
        let contents: Vec<FileContent> = (0..4).map(claude_file).collect();
        let start = (!made).then(|| hand.write(&json!({"theme": "dark", "projects": {"/a": {"history": []}}})));
        let (mut text, mut history, mut there): (_, Option<FileHistory>, _) = (start.clone(), None, BTreeSet::new());
        let removals = (0..4).map(|index| (index, false));
        for (index, install) in acts.into_iter().map(|(index, kind)| (index, kind || index == 3)).chain(removals) {
            if index == 3 && install {
                // The agent writes the file again.
                if let Some(now) = &text {
                    text = Some(format!("{:#}", naive(now)));
                }
                continue;
            }
            if install {
                let others = others(there.iter().filter(|other| **other != index).count());
                let (after, known) = connect(&contents[index], text.as_deref(), history.as_ref(), others).unwrap();
                (text, history) = (Some(after), Some(known));
                there.insert(index);
            } else if let Some(now) = text.clone() {
                there.remove(&index);
                let others = others(there.len());
                let gone = disconnect(&contents[index], &now, history.as_ref(), others).unwrap();
                (text, history) = (gone.text, gone.history);
            }
            let has = text.as_deref().map_or_else(|| json!({}), naive);
            for (index, place) in [&has["projects"]["/a"], &has["projects"]["/b"], &has].into_iter().enumerate() {
                prop_assert_eq!(place["mcpServers"]["punch"].is_object(), there.contains(&index), "{:?}", text);
            }
            prop_assert_eq!(&has["theme"], &if made { Value::Null } else { json!("dark") });
        }
        match (text, start) {
            (None, start) => prop_assert_eq!(start, None),
            (Some(left), start) => {
                let empty = json!({});
                let (left, start) = (naive(&left), start.map_or(empty, |start| naive(&start)));
                prop_assert_eq!(left, start);
            }
        }
    }

    /// Codex has a TOML file, which is edited as lines of text: none of the user's lines may be lost.
    #[test]
    fn a_toml_file_keeps_every_line_of_the_user(
        acts in prop::collection::vec((0_u8..5, 0_u8..4), 1..14), newline in prop_oneof![Just("\n"), Just("\r\n")]
    ) {
        let at = |program: &str| targets(agent("codex"), ConnectionLevel::User, program).swap_remove(0).content;
        let (mut text, mut history, mut mine): (Option<String>, Option<FileHistory>, BTreeSet<u8>) = (None, None, BTreeSet::new());
        for (act, which) in acts.into_iter().chain([(2, 0)]) {
            let line = |which: u8| format!("[own{which}]{newline}value = {which} # mine{newline}");
            match act {
                0 | 1 => {
                    let content = at(if which == 0 { "/opt/old/punch" } else { "punch" });
                    let (after, known) = connect(&content, text.as_deref(), history.as_ref(), OtherEntries::Absent).unwrap();
                    (text, history) = (Some(after), Some(known));
                }
                2 => {
                    if let Some(now) = text.clone() {
                        text = disconnect(&at("punch"), &now, history.as_ref(), OtherEntries::Absent).unwrap().text;
                    }
                    history = None;
                    prop_assert!(!text.as_deref().unwrap_or_default().contains("punch"), "{:?}", text);
                }
                3 if mine.insert(which) => text = Some(text.unwrap_or_default() + &line(which)),
                4 if mine.remove(&which) => text = text.map(|text| text.replace(&line(which), "")),
                _ => {}
            }
            let now = text.clone().unwrap_or_default();
            for which in 0..4 {
                prop_assert_eq!(now.contains(&line(which)), mine.contains(&which), "{}", now);
            }
        }
    }

    /// Lines of several files in one block of `.git/info/exclude`.
    #[test]
    fn lines_come_and_go_one_by_one(
        acts in prop::collection::vec((any::<bool>(), 0_u8..4), 0..12), own in prop_oneof![Just(""), Just("# mine\n*.o"), Just("a\r\nb\r\n")]
    ) {
        let line = |which: u8| format!("/file{which}");
        let (mut text, mut there) = (own.to_owned(), BTreeSet::new());
        for (add, which) in acts.into_iter().chain((0..4).map(|which| (false, which))) {
            let content = FileContent::Lines(vec![line(which)]);
            text = match add {
                true => content.wire(Some(&text)).unwrap(),
                false => content.unwire(&text, &[]).unwrap().unwrap(),
            };
            if add { there.insert(which) } else { there.remove(&which) };
            let have: BTreeSet<u8> = (0..4).filter(|which| text.lines().any(|have| have == line(*which))).collect();
            prop_assert_eq!(&have, &there, "{}", text);
            prop_assert!(text.starts_with(own));
        }
        prop_assert_eq!(text.trim_end(), own.trim_end());
    }
}

fn others(count: usize) -> OtherEntries {
    if count == 0 { OtherEntries::Absent } else { OtherEntries::Present }
}

/// Our entry in `~/.claude.json`: for project `/a`, for project `/b`, for the user.
fn claude_file(index: usize) -> FileContent {
    let main_project = if index == 0 { "/a" } else { "/b" }.into();
    let level = if index == 2 { ConnectionLevel::User } else { ConnectionLevel::Personal };
    let roots = SettingsRoots { main_project, ..roots() };
    let found: Vec<SettingsFile> =
        settings::files(agent("claude"), level, &roots, (&Program("punch".to_owned()), None), &|_| false);
    found[0].content.clone()
}

#[test]
fn a_server_of_the_same_name_that_is_not_ours_is_never_touched() {
    for (host, file, text) in [
        (agent("cursor"), 0, r#"{"mcpServers": {"punch": {"command": "/bin/hole-punch"}}}"#),
        (agent("opencode"), 0, r#"{"mcp": {"punch": {"type": "remote", "url": "https://punch.example"}}}"#),
        (agent("codex"), 0, "[mcp_servers.punch]\ncommand = \"counterpunch\"\n"),
    ] {
        let content = targets(host, ConnectionLevel::User, "punch").swap_remove(file).content;
        let refused = connect(&content, Some(text), None, OtherEntries::Absent).unwrap_err();
        assert!(refused.message().contains("another server"), "{}", refused.message());
        let left = disconnect(&content, text, None, OtherEntries::Absent).unwrap();
        assert_eq!(left.text.as_deref(), Some(text));
    }
    let hooks = targets(agent("cursor"), ConnectionLevel::User, "punch").swap_remove(1).content;
    let own = r#"{"hooks": {"stop": [{"command": "counterpunch hook --agent cursor stop"}]}}"#;
    assert_eq!(disconnect(&hooks, own, None, OtherEntries::Absent).unwrap().text.as_deref(), Some(own));
}

#[test]
fn hooks_for_a_team_do_nothing_without_punch_and_are_recognized() {
    let settings = targets(agent("claude"), ConnectionLevel::Shared, "/opt/mine/punch").swap_remove(1).content;
    let text = settings.wire(None).unwrap();
    let command = "command -v punch >/dev/null 2>&1 || exit 0; exec punch hook --agent claude Stop";
    assert_eq!(naive(&text)["hooks"]["Stop"][0]["hooks"][0]["command"], command);
    let left = disconnect(&settings, &text, None, OtherEntries::Absent).unwrap();
    assert_eq!(naive(left.text.as_deref().unwrap()), json!({}));
}

/// `punch hook` reads these arguments without building its parser.
#[test]
fn every_hook_ends_in_the_form_that_is_read_fast() {
    for (host, level) in AGENTS.into_iter().flat_map(|host| ConnectionLevel::ALL.map(|level| (host, level))) {
        let entries = targets(host, level, "punch").into_iter().filter_map(|target| match target.content {
            FileContent::Json(_, entries) => Some(entries),
            _ => None,
        });
        let hooks = entries.flatten().filter_map(|entry| match entry {
            SettingsEntry::Hooks(hooks) => Some(hooks.events),
            _ => None,
        });
        for (event, group) in hooks.flatten() {
            let handler = if group["hooks"].is_array() { &group["hooks"][0] } else { &group };
            let command = handler["command"].as_str().or_else(|| handler["bash"].as_str()).unwrap();
            let call = format!("punch hook --agent {} {event}", host.name);
            assert_eq!(command.rsplit("exec ").next(), Some(call.as_str()), "{command}");
        }
    }
}

#[test]
fn a_copy_is_needed_as_long_as_it_has_something_that_the_file_lost() {
    let content = targets(agent("gemini"), ConnectionLevel::User, "punch").swap_remove(0).content;
    let earlier = r#"{"theme": "dark", "hooks": {"Stop": []}}"#;
    for (now, holds) in [
        (Some(r#"{"model": "x", "theme": "dark"}"#), true),
        (Some(r#"{"theme": "light"}"#), false),
        (Some("{"), false),
        (None, false),
    ] {
        assert_eq!(content.still_holds(now, earlier), holds, "{now:?}");
    }
    assert!(content.still_holds(None, "{}"));
}

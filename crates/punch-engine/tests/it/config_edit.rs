//! `config set` and `config unset` change their own bytes and no others.

use std::{fs, path::Path, thread};

use proptest::prelude::*;
use punch_engine::config::{Config, ConfigInputs, KEYS, SettingScope, set, unset};

use crate::sandbox::Sandbox;

/// The text after setting a name in it.
fn after_set(text: &str, name: &str, value: &str) -> String {
    let sandbox = Sandbox::new();
    let path = sandbox.file("config.toml", text);
    set(&path, SettingScope::Project, name, value).unwrap();
    fs::read_to_string(path).unwrap()
}

fn after_unset(text: &str, name: &str) -> Option<String> {
    let sandbox = Sandbox::new();
    let path = sandbox.file("config.toml", text);
    unset(&path, SettingScope::Project, name).unwrap().then(|| fs::read_to_string(path).unwrap())
}

fn value(path: &Path, name: &str) -> Option<String> {
    Config::load(&ConfigInputs { project: Some(path.to_owned()), ..ConfigInputs::default() })
        .unwrap()
        .get(name)
        .unwrap()
        .value
}

#[test]
fn set_replaces_the_value_and_keeps_everything_else() {
    let text = "# top\r\n  lease  =  \"5m\"   # why\r\n\r\n[ view ] # v\r\nascii=false\r\n# end";
    assert_eq!(after_set(text, "lease", "1h"), text.replace("\"5m\"", "\"1h\""));
    assert_eq!(after_set(text, "view.ascii", "yes"), text.replace("false", "true"));
}

#[test]
fn set_adds_a_setting_where_it_belongs() {
    let table = [
        ("", "lease", "lease = \"1h\"\n"),
        ("# only\n", "lease", "# only\nlease = \"1h\"\n"),
        ("# only", "lease", "# only\nlease = \"1h\"\n"),
        ("plan = \"p\" # c", "lease", "plan = \"p\" # c\nlease = \"1h\"\n"),
        ("# head\n\n# of view\n[view]\n", "lease", "# head\n\nlease = \"1h\"\n\n# of view\n[view]\n"),
        ("[view]\r\n", "lease", "lease = \"1h\"\r\n\r\n[view]\r\n"),
        ("\u{feff}[view]\n", "lease", "\u{feff}lease = \"1h\"\n\n[view]\n"),
        ("plan = \"p\"\n\n[view]\n", "lease", "plan = \"p\"\nlease = \"1h\"\n\n[view]\n"),
        ("", "view.ascii", "[view]\nascii = true\n"),
        ("plan = \"p\"", "view.ascii", "plan = \"p\"\n\n[view]\nascii = true\n"),
        ("[view] # v\n\n[policy]\n", "view.ascii", "[view] # v\nascii = true\n\n[policy]\n"),
        ("[view]", "view.ascii", "[view]\nascii = true\n"),
        ("[view]\ncolor = \"auto\" # c\n# end\n", "view.ascii", "[view]\ncolor = \"auto\" # c\nascii = true\n# end\n"),
        ("view.color = \"auto\"\n[policy]\n", "view.ascii", "view.color = \"auto\"\nview.ascii = true\n[policy]\n"),
        ("view = { color = \"auto\" } # c\n", "view.ascii", "view = { color = \"auto\", ascii = true } # c\n"),
        ("view = {}\n", "view.ascii", "view = { ascii = true }\n"),
        (
            "agents = { a.keep_going.enabled = true }\n",
            "agents.b.keep_going.enabled",
            "agents = { a.keep_going.enabled = true, b.keep_going.enabled = true }\n",
        ),
        (
            "[agents.a]\nkeep_going.token_limit = 1\n",
            "agents.a.keep_going.enabled",
            "[agents.a]\nkeep_going.token_limit = 1\nkeep_going.enabled = true\n",
        ),
        ("[agents.a]\n", "agents.a.keep_going.enabled", "[agents.a]\n\n[agents.a.keep_going]\nenabled = true\n"),
        (
            "[agents.a.keep_going]\n",
            "agents.b.keep_going.enabled",
            "[agents.a.keep_going]\n\n[agents.b.keep_going]\nenabled = true\n",
        ),
    ];
    for (text, name, expected) in table {
        assert_eq!(after_set(text, name, if name == "lease" { "1h" } else { "true" }), expected, "{name} in {text:?}");
    }
}

#[test]
fn unset_takes_the_line_and_keeps_comments() {
    let table = [
        ("# a\nlease = \"1h\" # c\n# b\nplan = \"p\"\n", "lease", Some("# a\n# b\nplan = \"p\"\n")),
        ("plan = \"p\"\nlease = \"1h\"", "lease", Some("plan = \"p\"\n")),
        ("\u{feff}lease = \"1h\"\r\nplan = \"p\"\r\n", "lease", Some("\u{feff}plan = \"p\"\r\n")),
        ("[view]\nascii = true\n\n[policy]\n", "view.ascii", Some("[view]\n\n[policy]\n")),
        ("view.ascii = true\nview.color = \"auto\"\n", "view.ascii", Some("view.color = \"auto\"\n")),
        ("view = { ascii = true, color = \"auto\" }\n", "view.ascii", Some("view = { color = \"auto\" }\n")),
        ("view = { color = \"auto\", ascii = true }\n", "view.ascii", Some("view = { color = \"auto\" }\n")),
        ("view = { ascii = true }\n", "view.ascii", Some("view = { }\n")),
        ("plan = '''\na'''\nleese = 1\n", "leese", Some("plan = '''\na'''\n")),
        ("plan = \"p\"\n", "lease", None),
        ("", "lease", None),
    ];
    for (text, name, expected) in table {
        assert_eq!(after_unset(text, name).as_deref(), expected, "{name} in {text:?}");
    }
}

#[test]
fn a_wrong_name_or_value_or_file_changes_nothing() {
    let sandbox = Sandbox::new();
    let text = "lease = \"1m\"\nleese = 3\n";
    let path = sandbox.file("config.toml", text);
    let code = |name: &str, value: &str| set(&path, SettingScope::Project, name, value).unwrap_err().code();
    assert_eq!(code("lees", "1m"), "config_unknown_key");
    assert_eq!(code("view", "1m"), "config_unknown_key");
    assert_eq!(code("lease", "soon"), "config_bad_value");
    assert_eq!(code("lease", "2m"), "config_unknown_key", "the other line of the file is wrong");
    assert_eq!(unset(&path, SettingScope::Project, "lees").unwrap_err().code(), "config_unknown_key");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(unset(&path, SettingScope::Project, "leese").unwrap(), "the way out");
    set(&path, SettingScope::Project, "lease", "2m").unwrap();
    set(&path, SettingScope::Project, "lease", "2m").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "lease = \"2m\"\n");

    let missing = sandbox.path("none/config.toml");
    assert_eq!(set(&missing, SettingScope::User, "lease", "soon").unwrap_err().code(), "config_bad_value");
    assert!(!unset(&missing, SettingScope::User, "lease").unwrap());
    assert_eq!(set(&missing, SettingScope::Project, "lease", "1m").unwrap_err().code(), "config_not_written");
    assert!(!sandbox.path("none").exists());
    set(&missing, SettingScope::User, "lease", "1m").unwrap();
    assert_eq!(value(&missing, "lease").as_deref(), Some("\"1m\""));
    assert_eq!(fs::read_dir(sandbox.path("none")).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn an_empty_name_is_the_same_as_unset() {
    assert_eq!(after_set("owner = \"me\"\nplan = \"p\"\n", "owner", ""), "plan = \"p\"\n");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay_as_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = sandbox.path("new.toml");
    set(&path, SettingScope::Project, "lease", "1m").unwrap();
    assert_eq!(mode(&path), 0o600);
    let own = sandbox.path("config/punch/config.toml");
    set(&own, SettingScope::User, "lease", "1m").unwrap();
    assert_eq!([mode(own.parent().unwrap()), mode(&sandbox.path("config"))], [0o700; 2], "whatever the umask");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = sandbox.path("link.toml");
    symlink("new.toml", &link).unwrap();
    set(&link, SettingScope::User, "lease", "2m").unwrap();
    assert!(link.is_symlink());
    assert_eq!((mode(&path), value(&path, "lease").as_deref()), (0o640, Some("\"2m\"")));
    for (target, before) in [("new.toml", "lease = \"2m\"\n"), ("empty.toml", "")] {
        fs::write(sandbox.path(target), before).unwrap();
        let planted = sandbox.path("planted.toml");
        let _ = fs::remove_file(&planted);
        symlink(target, &planted).unwrap();
        set(&planted, SettingScope::Project, "lease", "3m").unwrap_err();
        assert!(before.is_empty() || unset(&planted, SettingScope::Project, "lease").is_err());
        assert_eq!(fs::read_to_string(sandbox.path(target)).unwrap(), before, "the project's file is not a link");
        assert!(planted.is_symlink());
    }
}

#[test]
fn concurrent_changes_are_all_kept() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("new/config.toml");
    let values = ["limits.content", "limits.long", "limits.open_todos", "keep_going.max_continuations"];
    thread::scope(|scope| {
        for name in values {
            let path = &path;
            scope.spawn(move || (1..=10).for_each(|n| set(path, SettingScope::User, name, &n.to_string()).unwrap()));
        }
    });
    for name in values {
        assert_eq!(value(&path, name).as_deref(), Some("10"), "{name}");
    }
}

/// Files in every form: sections, dotted lines, braces, comments, blank lines, both line ends.
fn files() -> impl Strategy<Value = String> {
    let keys = prop::sample::subsequence((0..KEYS.len()).collect::<Vec<_>>(), 0..8);
    let form = prop_oneof![Just("section"), Just("dotted"), Just("braces")];
    (keys, form, "(# [a-z]{0,3}\n|\n){0,3}", any::<bool>(), any::<bool>()).prop_map(
        |(keys, form, noise, crlf, ended)| {
            let toml = |key: usize| {
                let default = KEYS[key].default;
                let bare = default.parse::<f64>().is_ok() || default.parse::<bool>().is_ok();
                (KEYS[key].name, if bare { default.to_owned() } else { format!("\"{default}\"") })
            };
            let all: Vec<(&str, String)> = keys.into_iter().map(toml).collect();
            let mut text = String::new();
            for (name, value) in all.iter().filter(|(name, _)| !name.contains('.')) {
                text.push_str(&format!("{noise}{name} = {value} # of {name}\n"));
            }
            let mut sections: Vec<&str> = all.iter().filter_map(|(name, _)| Some(name.split_once('.')?.0)).collect();
            sections.dedup();
            for section in sections {
                let own: Vec<(&str, &str)> = all
                    .iter()
                    .filter_map(|(name, value)| Some((name.strip_prefix(section)?.strip_prefix('.')?, value.as_str())))
                    .collect();
                text.push_str(&noise);
                match form {
                    "section" => {
                        text.push_str(&format!("[{section}] # s\n"));
                        own.iter().for_each(|(leaf, value)| text.push_str(&format!("{noise}{leaf}={value}\n")));
                    }
                    "dotted" => own
                        .iter()
                        .for_each(|(leaf, value)| text.push_str(&format!("{section}.{leaf} = {value}\n{noise}"))),
                    _ => {
                        let pairs: Vec<String> = own.iter().map(|(leaf, value)| format!("{leaf} = {value}")).collect();
                        text.push_str(&format!("{section} = {{{}}} # b\n", pairs.join(" , ")));
                    }
                }
            }
            text.push_str(&noise);
            if !ended {
                text.truncate(text.trim_end().len());
            }
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever a file looks like, a change keeps every other value and only adds or replaces bytes in one place.
    #[test]
    fn a_change_is_one_piece_and_comes_back(text in files(), key in 0..KEYS.len()) {
        let key = &KEYS[key];
        let given = if key.default.is_empty() { "someone" } else { key.default };
        let sandbox = Sandbox::new();
        let path = sandbox.file("config.toml", &text);
        let had = unset(&path, SettingScope::Project, key.name).unwrap();
        let without = fs::read_to_string(&path).unwrap();
        prop_assert!(had || without == text);
        prop_assert_eq!(without.matches('#').count() + usize::from(had && !key.name.contains('.')), text.matches('#').count());
        set(&path, SettingScope::Project, key.name, given).unwrap();
        let with = fs::read_to_string(&path).unwrap();
        let front = without.bytes().zip(with.bytes()).take_while(|(a, b)| a == b).count();
        let back = without.bytes().rev().zip(with.bytes().rev()).take_while(|(a, b)| a == b).count();
        prop_assert!(front + back >= without.len(), "{without:?} {with:?}");
    }

    /// Anything may stand in the file: it is understood and changed, or refused and left alone.
    #[test]
    fn any_text_is_changed_or_left_alone(text in "([a-z.=\\[\\]{}\"'#, 0-9\n]|lease|view|ascii|true| = ){0,24}") {
        let sandbox = Sandbox::new();
        let path = sandbox.file("config.toml", &text);
        match set(&path, SettingScope::Project, "view.ascii", "on") {
            Ok(()) => prop_assert_eq!(value(&path, "view.ascii"), Some("true".to_owned())),
            Err(_) => prop_assert_eq!(fs::read_to_string(&path).unwrap(), text),
        }
    }
}

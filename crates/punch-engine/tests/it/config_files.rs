//! Files that cannot be used: each error names the file, the line and what was expected.

use std::fs;

use punch_engine::config::{Config, ConfigError, ConfigInputs, SettingSource};

use crate::sandbox::Sandbox;

/// The message for a text as project file, with `FILE` for its path.
fn message(text: impl AsRef<[u8]>) -> String {
    let sandbox = Sandbox::new();
    let path = sandbox.file("config.toml", text);
    let error = load(&path).unwrap_err();
    assert!(!error.hint().is_empty());
    error.message().replace(path.to_str().unwrap(), "FILE")
}

fn load(path: &std::path::Path) -> Result<Config, ConfigError> {
    Config::load(&ConfigInputs { project: Some(path.to_owned()), ..ConfigInputs::default() })
}

#[test]
fn unknown_names_are_refused_with_the_nearest_known_one() {
    let table = [
        ("# c\n\nleese = \"1m\"\n", "`FILE` line 3: unknown setting `leese` (did you mean `lease`?)"),
        ("[view]\nasci = true\n", "`FILE` line 2: unknown setting `view.asci` (did you mean `view.ascii`?)"),
        ("[veiw]\nascii = true\n", "`FILE` line 2: unknown setting `veiw.ascii` (did you mean `view.ascii`?)"),
        (
            "max_continuations = 1\n",
            "`FILE` line 1: unknown setting `max_continuations` (did you mean `keep_going.max_continuations`?)",
        ),
        ("\n[nothing]\n", "`FILE` line 2: unknown setting `nothing`"),
        ("\"view.ascii\" = true\n", "`FILE` line 1: unknown setting `\"view.ascii\"` (did you mean `view.ascii`?)"),
        (
            "agents.Claude.keep_going.enabled = true\n",
            "`FILE` line 1: unknown setting `agents.Claude.keep_going.enabled` (did you mean `agents.claude.keep_going.enabled`?)",
        ),
        (
            "[agents.claude]\nlease = \"1m\"\n",
            "`FILE` line 2: unknown setting `agents.claude.lease` (did you mean `lease` or `worker.lease`?)",
        ),
        ("lease.a.b.c.d.e = 1\n", "`FILE` line 1: unknown setting `lease.a.b.c`"),
        (
            "view = { ascii = true, colr = \"never\" }\n",
            "`FILE` line 1: unknown setting `view.colr` (did you mean `view.color`?)",
        ),
        ("\"\\u001b[31m\" = 1\n", "`FILE` line 1: unknown setting `␛[31m`"),
    ];
    for (text, expected) in table {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn wrong_values_are_refused_with_what_was_expected() {
    let duration = "expected a duration such as \"15m\" or \"1h30m\", from 100ms to 30d";
    let table = [
        ("lease = 900\n", format!("`lease` is `900`, {duration}")),
        ("lease = \"15\"\n", format!("`lease` is `\"15\"`, {duration}")),
        ("lease = \"31d\"\n", format!("`lease` is `\"31d\"`, {duration}")),
        ("lease = [1]\n", format!("`lease` is an array, {duration}")),
        ("lease = 2026-11-15\n", format!("`lease` is a date, {duration}")),
        ("[lease]\n", format!("`lease` is a table, {duration}")),
        ("view.ascii = \"true\"\n", "`view.ascii` is `\"true\"`, expected `true` or `false`".into()),
        ("view.clear_delay = -2\n", "`view.clear_delay` is `-2`, expected a whole number from -1 to 31622400".into()),
        ("view.clear_delay = 1.5\n", "`view.clear_delay` is `1.5`, expected a whole number from -1 to 31622400".into()),
        ("view.color = \"red\"\n", "`view.color` is `\"red\"`, expected \"auto\", \"always\" or \"never\"".into()),
        (
            "policy.start_gate = \"AtEnd\"\n",
            "`policy.start_gate` is `\"AtEnd\"`, expected \"strict\", \"at_end\" or \"warn\"".into(),
        ),
        ("keep_going.token_limit = 90\n", "`keep_going.token_limit` is `90`, expected a number from 0 to 1".into()),
        ("keep_going.token_limit = nan\n", "`keep_going.token_limit` is `NaN`, expected a number from 0 to 1".into()),
        ("keep_going = true\n", "`keep_going` is `true`, expected a section, as in `[keep_going]`".into()),
        ("[[keep_going]]\n", "`keep_going` is an array of tables, expected a section, as in `[keep_going]`".into()),
        ("agents = 1\n", "`agents` is `1`, expected a section, as in `[agents]`".into()),
        ("plan = \"a\\nb\"\n", "`plan` is `\"a b\"`, expected text of at most 200 visible characters".into()),
        (
            "agents.a.keep_going.enabled = 1\n",
            "`agents.a.keep_going.enabled` is `1`, expected `true` or `false`".into(),
        ),
    ];
    for (text, expected) in table {
        assert_eq!(message(text), format!("`FILE` line 1: {expected}"), "{text}");
    }
    let long = message(format!("plan = \"{}\"\n", "x".repeat(10_000)));
    assert!(long.len() < 300, "{long}");
}

#[test]
fn what_is_no_toml_or_no_text_is_named_with_its_line() {
    assert!(message("lease = \"1m\"\nview\n").starts_with("`FILE` line 2: invalid TOML: "));
    assert!(message("plan = main\n").starts_with("`FILE` line 1: invalid TOML: "));
    assert!(message("plan = \"a\"\nplan = \"b\"\n").starts_with("`FILE` line 2: invalid TOML: duplicate key"));
    assert!(message("\u{0}").starts_with("`FILE` line 1: invalid TOML: "));
    assert_eq!(message(b"# a\n# \xff\n"), "`FILE` line 2 is not UTF-8 text");
    assert_eq!(message("#".repeat(300_000)), "cannot read `FILE`: it has more than 262144 bytes");
}

#[test]
fn deep_nesting_is_refused_in_a_small_stack() {
    let run = || {
        for text in [
            format!("a{} = 1\n", ".a".repeat(100_000)),
            format!("[a{}]\n", ".a".repeat(100_000)),
            format!("a = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000)),
            format!("a = {}b = 1{}\n", "{ a = ".repeat(20_000), "}".repeat(20_000)),
        ] {
            assert!(message(text).starts_with("`FILE` line 1: invalid TOML: "));
        }
    };
    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn what_is_no_file_is_named() {
    let sandbox = Sandbox::new();
    let folder = sandbox.folder("config.toml");
    let error = load(&folder).unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        ("config_unreadable", format!("cannot read `{}`: it is a folder", folder.display()))
    );
    #[cfg(unix)]
    {
        use std::os::unix::{fs::symlink, net::UnixListener};
        let link = sandbox.path("link.toml");
        symlink(sandbox.path("gone"), &link).unwrap();
        assert_eq!(
            load(&link).unwrap_err().message(),
            format!("cannot read `{}`: the link leads nowhere", link.display())
        );
        let socket = sandbox.path("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(
            load(&socket).unwrap_err().message(),
            format!("cannot read `{}`: it is not a regular file", socket.display())
        );
        load(std::path::Path::new("/dev/null")).unwrap();
        assert_eq!(load(std::path::Path::new("/dev/zero")).unwrap_err().code(), "config_unreadable");
    }
}

#[test]
fn an_error_in_the_users_file_is_told_even_when_the_project_overrides_it() {
    let sandbox = Sandbox::new();
    let project = sandbox.file("p.toml", "lease = \"1m\"\n");
    let user = sandbox.file("u.toml", "lease = 1\n");
    let mut inputs =
        ConfigInputs { project: Some(project.clone()), user: Some(user.clone()), ..ConfigInputs::default() };
    assert!(Config::load(&inputs).unwrap_err().message().contains(user.to_str().unwrap()));
    fs::write(&user, "\u{feff}[view]\r\n").unwrap();
    assert_eq!(Config::load(&inputs).unwrap().settings.lease.source, SettingSource::Project(project));
    inputs.project = None;
    assert_eq!(Config::load(&inputs).unwrap().settings.lease.source, SettingSource::Default);
}

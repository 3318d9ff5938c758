//! Which source wins, for every setting.

use std::time::Duration;

use punch_core::StartGate;
use punch_engine::config::{
    Authority, Color, Config, ConfigError, ConfigInputs, KEYS, SettingOrigin, SettingSource, SettingValue, Subagents,
};

use crate::sandbox::Sandbox;

/// Four values for every setting, as a flag or variable has them and as a file has them.
fn samples(name: &str) -> [(&'static str, &'static str); 4] {
    match name {
        "plans" => {
            [("session", "\"session\""), ("shared", "\"shared\""), ("session", "\"session\""), ("shared", "\"shared\"")]
        }
        "owner" | "plan" => [("a", "\"a\""), ("b c", "\"b c\""), ("é", "\"é\""), ("d", "\"d\"")],
        "lease" | "verify.timeout" => {
            [("1s", "\"1s\""), ("1h30m", "\"1h30m\""), ("250ms", "\"250ms\""), ("2d", "\"2d\"")]
        }
        "view.clear_delay" => [("-1", "-1"), ("0", "0"), ("5", "5"), ("600", "600")],
        "view.color" => {
            [("always", "\"always\""), ("never", "\"never\""), ("auto", "\"auto\""), ("never", "\"never\"")]
        }
        "limits.request_bytes" => [("1024", "1024"), ("2048", "2048"), ("4096", "4096"), ("8192", "8192")],
        name if name.starts_with("limits.") => [("1", "1"), ("2", "2"), ("3", "3"), ("4", "4")],
        "policy.start_gate" => {
            [("warn", "\"warn\""), ("at_end", "\"at_end\""), ("strict", "\"strict\""), ("warn", "\"warn\"")]
        }
        "policy.in_progress" => [("any", "\"any\""), ("one", "\"one\""), ("any", "\"any\""), ("one", "\"one\"")],
        "policy.on_cycle" => {
            [("suspend", "\"suspend\""), ("refuse", "\"refuse\""), ("suspend", "\"suspend\""), ("refuse", "\"refuse\"")]
        }
        "policy.missing_dep" => {
            [("dangle", "\"dangle\""), ("refuse", "\"refuse\""), ("dangle", "\"dangle\""), ("refuse", "\"refuse\"")]
        }
        "policy.cancelled_dep" => {
            [("satisfy", "\"satisfy\""), ("cascade", "\"cascade\""), ("block", "\"block\""), ("satisfy", "\"satisfy\"")]
        }
        "policy.on_remove" => {
            [("dangle", "\"dangle\""), ("detach", "\"detach\""), ("dangle", "\"dangle\""), ("detach", "\"detach\"")]
        }
        "policy.dep_on_running" => {
            [("demote", "\"demote\""), ("keep", "\"keep\""), ("demote", "\"demote\""), ("keep", "\"keep\"")]
        }
        "policy.verify" => {
            [("trust", "\"trust\""), ("command", "\"command\""), ("claim", "\"claim\""), ("trust", "\"trust\"")]
        }
        "checkpoint.batches" => {
            [("off", "\"off\""), ("groups", "\"groups\""), ("given", "\"given\""), ("off", "\"off\"")]
        }
        "subagents" => [
            ("off", "\"off\""),
            ("aggressive", "\"aggressive\""),
            ("conservative", "\"conservative\""),
            ("off", "\"off\""),
        ],
        "keep_going.max_continuations" | "keep_going.check_interval_ms" => {
            [("0", "0"), ("1", "1"), ("2", "2"), ("3", "3")]
        }
        "keep_going.no_progress" | "keep_going.absolute_max" | "keep_going.max_minutes" | "reminders.tokens" => {
            [("4", "4"), ("1", "1"), ("2", "2"), ("5", "5")]
        }
        "run.agents" | "run.attempts" | "run.limit_exit" | "run.max_tokens" | "run.max_turns" | "run.todo_tokens"
        | "run.todo_turns" => [("4", "4"), ("1", "1"), ("2", "2"), ("5", "5")],
        "run.context" => [("1024", "1024"), ("2048", "2048"), ("4096", "4096"), ("8192", "8192")],
        "run.agent" | "run.allow" | "run.limit_text" | "run.setup" | "run.copy" | "notify.command" | "verify.plan"
        | "verify.checks" => [("a", "\"a\""), ("b", "\"b\""), ("c", "\"c\""), ("d", "\"d\"")],
        "run.max_cost" | "run.todo_cost" => [("0.5", "0.5"), ("0", "0.0"), ("0.25", "0.25"), ("1", "1.0")],
        "run.max_time" | "run.todo_time" | "run.idle" | "run.grace" | "run.backoff" | "run.ask_wait"
        | "run.limit_wait" | "run.limit_pause" => {
            [("1s", "\"1s\""), ("2s", "\"2s\""), ("3s", "\"3s\""), ("4s", "\"4s\"")]
        }
        "worker.remote" => [("a", "\"a\""), ("b", "\"b\""), ("c", "\"c\""), ("d", "\"d\"")],
        "worker.lease" => [("5s", "\"5s\""), ("6s", "\"6s\""), ("7s", "\"7s\""), ("8s", "\"8s\"")],
        "verify.where" => {
            let [worker, coordinator] = [("worker", "\"worker\""), ("coordinator", "\"coordinator\"")];
            [coordinator, worker, coordinator, worker]
        }
        "run.permission" => [("deny", "\"deny\""), ("allow", "\"allow\""), ("ask", "\"ask\""), ("deny", "\"deny\"")],
        "keep_going.token_limit" => [("0.5", "0.5"), ("0", "0.0"), ("1", "1.0"), ("0.25", "0.25")],
        _ => [("false", "false"), ("true", "true"), ("false", "false"), ("true", "true")],
    }
}

#[test]
fn every_setting_comes_from_the_first_source_that_has_it() {
    let sandbox = Sandbox::new();
    for key in KEYS {
        let [(flag, flag_toml), (env, env_toml), (_, project), (_, user)] = samples(key.name);
        let project_file = sandbox.file("p/config.toml", format!("{} = {project}\n", key.name));
        let user_file = sandbox.file("u/config.toml", format!("{} = {user}\n", key.name));
        let variable = key.env()[0].clone();
        let mut inputs = ConfigInputs {
            flags: vec![(key.name.into(), flag.into())],
            env: vec![(variable.clone(), env.into())],
            project: Some(project_file.clone()),
            user: Some(user_file.clone()),
            ..ConfigInputs::default()
        };
        let shown = |inputs: &ConfigInputs| {
            let shown = Config::load(inputs).unwrap().get(key.name).unwrap();
            (shown.value, shown.source)
        };
        assert_eq!(shown(&inputs), (Some(flag_toml.into()), SettingSource::Flag));
        inputs.flags.clear();
        let expected = match key.authority {
            Authority::OwnFile => (Some(project.into()), SettingSource::Project(project_file.clone())),
            _ => (Some(env_toml.into()), SettingSource::Env(variable)),
        };
        assert_eq!(shown(&inputs), expected);
        inputs.env = vec![(key.env()[0].clone(), "".into())];
        // No one approved what the project's file says about commands.
        let expected = match key.authority {
            Authority::Approval { rank: None } => (Some(user.into()), SettingSource::User(user_file.clone())),
            _ => (Some(project.into()), SettingSource::Project(project_file)),
        };
        assert_eq!(shown(&inputs), expected, "{}: an empty variable says nothing", key.name);
        inputs.project = Some(sandbox.path("none.toml"));
        assert_eq!(shown(&inputs), (Some(user.into()), SettingSource::User(user_file)));
        inputs.user = None;
        assert_eq!(shown(&inputs).1, SettingSource::Default);
    }
}

#[test]
fn defaults_are_what_the_documentation_promises() {
    let set = Config::load(&ConfigInputs::default()).unwrap().settings;
    fn default<T>(value: T) -> SettingValue<T> {
        SettingValue { value, source: SettingSource::Default }
    }
    assert_eq!(set.owner, default(None));
    assert_eq!(set.lease, default(Duration::from_secs(900)));
    assert_eq!(set.view_clear_delay, default(60));
    assert_eq!(set.view_color, default(Color::Auto));
    assert_eq!((set.limits_content, set.limits_long), (default(500), default(8000)));
    assert_eq!((set.limits_open_todos, set.limits_request_bytes), (default(10_000), default(1_048_576)));
    assert_eq!(set.policy_start_gate, default(StartGate::Strict));
    assert_eq!(set.subagents, default(Subagents::Conservative));
    assert_eq!((set.keep_going_enabled, set.keep_going_max_continuations), (default(true), default(10)));
    assert_eq!((set.keep_going_check_interval_ms, set.keep_going_token_limit), (default(0), default(0.9)));
}

#[test]
fn short_and_general_variables_mean_the_same_and_the_short_one_wins() {
    let load = |env: &[(&str, &str)]| {
        let env = env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Config::load(&ConfigInputs { env, ..ConfigInputs::default() }).unwrap().settings
    };
    let both = [("PUNCH_KEEP_GOING_ENABLED", "on"), ("PUNCH_KEEP_GOING", "0"), ("PUNCH_OTHER", "?"), ("HOME", "/")];
    assert_eq!(
        load(&both).keep_going_enabled,
        SettingValue { value: false, source: SettingSource::Env("PUNCH_KEEP_GOING".into()) }
    );
    assert!(load(&both[..1]).keep_going_enabled.value);
    for (name, value) in [("PUNCH_MAX_CONTINUATIONS", "3"), ("PUNCH_KEEP_GOING_MAX_CONTINUATIONS", "3")] {
        assert_eq!(load(&[(name, value)]).keep_going_max_continuations.value, 3);
    }
    let named = load(&[("PUNCH_PLAN", "main"), ("PUNCH_OWNER", "me"), ("PUNCH_LEASE", "1h")]);
    assert_eq!((named.plan.value.as_deref(), named.owner.value.as_deref()), (Some("main"), Some("me")));
    assert_eq!(named.lease.value, Duration::from_secs(3600));
}

#[test]
fn an_agent_has_its_own_settings_inside_a_source_but_not_across() {
    let sandbox = Sandbox::new();
    let project =
        sandbox.file("p.toml", "[keep_going]\nenabled = false\n\n[agents.claude.keep_going]\nenabled = true\n");
    let user = sandbox.file("u.toml", "agents.codex.keep_going = { enabled = true, max_continuations = 3 }\n");
    let mut inputs =
        ConfigInputs { project: Some(project.clone()), user: Some(user.clone()), ..ConfigInputs::default() };
    let enabled =
        |inputs: &ConfigInputs, agent: &str| Config::load(inputs).unwrap().for_agent(agent).keep_going_enabled.clone();
    assert_eq!(
        enabled(&inputs, "claude"),
        SettingValue { value: true, source: SettingSource::Project(project.clone()) }
    );
    assert_eq!(
        enabled(&inputs, "codex"),
        SettingValue { value: false, source: SettingSource::Project(project.clone()) }
    );
    assert_eq!(
        enabled(&inputs, "gemini"),
        SettingValue { value: false, source: SettingSource::Project(project.clone()) }
    );
    let config = Config::load(&inputs).unwrap();
    assert_eq!(config.for_agent("codex").keep_going_max_continuations.value, 3);
    assert_eq!(config.settings.keep_going_max_continuations.value, 10);

    inputs.env = vec![("PUNCH_KEEP_GOING".into(), "off".into())];
    assert!(!enabled(&inputs, "claude").value, "the switch in the environment stops every agent");
    let own = "PUNCH_AGENTS_CLAUDE_KEEP_GOING_ENABLED";
    inputs.env.push((own.into(), "on".into()));
    assert_eq!(enabled(&inputs, "claude"), SettingValue { value: true, source: SettingSource::Env(own.into()) });
    inputs.flags = vec![("agents.claude.keep_going.enabled".into(), "false".into())];
    assert_eq!(enabled(&inputs, "claude"), SettingValue { value: false, source: SettingSource::Flag });
}

#[test]
fn show_prints_every_setting_with_its_source_as_a_valid_file() {
    let sandbox = Sandbox::new();
    let project = sandbox.file("p.toml", "plan = \"a \\\"b\\\"\"\n[agents.codex.keep_going]\ntoken_limit = 1\n");
    let env = vec![("PUNCH_LEASE".into(), "90s".into())];
    let inputs = ConfigInputs { project: Some(project.clone()), env, ..ConfigInputs::default() };
    let lines: Vec<String> = Config::load(&inputs).unwrap().show().iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), KEYS.len() + 1);
    assert_eq!(lines[0], "# owner is not set");
    assert_eq!(lines[1], format!("plan = 'a \"b\"'  # project, {}", project.display()));
    assert_eq!(lines[3], "lease = \"1m30s\"  # PUNCH_LEASE");
    assert!(lines.contains(&"view.clear_delay = 60  # default".to_owned()));
    assert_eq!(
        *lines.last().unwrap(),
        format!("agents.codex.keep_going.token_limit = 1.0  # project, {}", project.display())
    );
    let again = sandbox.file("again.toml", lines.join("\n"));
    Config::load(&ConfigInputs { user: Some(again), ..ConfigInputs::default() }).unwrap();
}

#[test]
fn wrong_flags_and_variables_name_themselves() {
    let flag = |name: &str, value: &str| {
        let flags = vec![(name.to_owned(), value.to_owned())];
        Config::load(&ConfigInputs { flags, ..ConfigInputs::default() }).unwrap_err()
    };
    assert_eq!(
        flag("leese", "1m"),
        ConfigError::UnknownKey { place: SettingOrigin::Flag, key: "leese".into(), near: vec!["lease".into()] }
    );
    assert_eq!(
        flag("keep_going", "off").message(),
        "command line: unknown setting `keep_going` (did you mean `keep_going.enabled` or \
         `keep_going.max_continuations` or `keep_going.check_interval_ms`?)"
    );
    assert_eq!(
        flag("lease", "15").message(),
        "command line: `lease` is `15`, expected a duration such as \"15m\" or \"1h30m\", from 100ms to 30d"
    );
    let env = vec![("PUNCH_MAX_CONTINUATIONS".to_owned(), "many\u{1b}[31m".into())];
    let error = Config::load(&ConfigInputs { env, ..ConfigInputs::default() }).unwrap_err();
    assert_eq!(
        error.message(),
        "variable `PUNCH_MAX_CONTINUATIONS`: `keep_going.max_continuations` is `many␛[31m`, expected a whole number \
         from 0 to 1000"
    );
    assert_eq!(error.hint(), "fix it, or run `unset PUNCH_MAX_CONTINUATIONS`");
    #[cfg(unix)]
    {
        use std::{ffi::OsString, os::unix::ffi::OsStringExt};
        let env = vec![("PUNCH_PLAN".to_owned(), OsString::from_vec(vec![0xff]))];
        let error = Config::load(&ConfigInputs { env, ..ConfigInputs::default() }).unwrap_err();
        assert_eq!(error, ConfigError::NotUtf8 { place: SettingOrigin::Env("PUNCH_PLAN".into()) });
    }
}

#[test]
fn the_variables_of_an_agent_tighten_a_check_and_never_loosen_it() {
    let sandbox = Sandbox::new();
    let user = sandbox.file("u.toml", "policy.verify = \"claim\"\nrun.agent = \"claude\"\n");
    let load = |variable: &str, value: &str, is_agent: bool| {
        let env = vec![(variable.to_owned(), value.into())];
        Config::load(&ConfigInputs { env, user: Some(user.clone()), is_agent, ..ConfigInputs::default() }).unwrap()
    };
    let verify =
        |value: &str, is_agent: bool| load("PUNCH_POLICY_VERIFY", value, is_agent).get("policy.verify").unwrap();
    let shown = |value: &str, is_agent: bool| verify(value, is_agent).value.unwrap();
    assert_eq!(shown("trust", false), "\"trust\"", "the user's own shell");
    assert_eq!(shown("trust", true), "\"claim\"");
    assert_eq!(shown("command", true), "\"command\"");
    let config = load("PUNCH_RUN_AGENT", "exec:touch x", true);
    assert_eq!(config.get("run.agent").unwrap().value.as_deref(), Some("\"claude\""));
    assert_eq!(
        config.settings.ignored[0].message(),
        "`run.agent` in variable `PUNCH_RUN_AGENT` is ignored: it needs your approval, and this shell belongs to \
         an agent"
    );
    assert!(!load("PUNCH_KEEP_GOING", "0", true).settings.keep_going_enabled.value, "the user's switch for an agent");
}

#[test]
fn a_project_tightens_the_limits_of_runs_and_loosens_them_only_with_approval() {
    let sandbox = Sandbox::new();
    let limits = KEYS.iter().filter(|key| key.name.starts_with("run.max_") || key.name.starts_with("run.todo_"));
    let mut tried = 0;
    for key in limits {
        let written = |value: u32| if key.name.ends_with("time") { format!("\"{value}s\"") } else { value.to_string() };
        let file = |name: &str, value: u32| sandbox.file(name, format!("{} = {}\n", key.name, written(value)));
        for (user, project, counts) in
            [(None, 5, true), (Some(5), 4, true), (Some(5), 6, false), (Some(5), 0, false), (Some(0), 9, true)]
        {
            let inputs = ConfigInputs {
                project: Some(file("p.toml", project)),
                user: user.map(|user| file("u.toml", user)),
                ..ConfigInputs::default()
            };
            let config = Config::load(&inputs).unwrap();
            let from_project = matches!(config.get(key.name).unwrap().source, SettingSource::Project(_));
            assert_eq!(
                (from_project, config.settings.ignored.is_empty()),
                (counts, counts),
                "{} {user:?} {project}",
                key.name
            );
        }
        tried += 1;
    }
    assert_eq!(tried, 8);
}

#[test]
fn answers_from_other_machines_are_allowed_only_in_the_user_s_own_file() {
    let sandbox = Sandbox::new();
    let line = "run.remote_answers = true\n";
    let (project, user) = (sandbox.file("p.toml", line), sandbox.file("u.toml", line));
    let flags = vec![("run.remote_answers".to_owned(), "true".to_owned())];
    let env = vec![("PUNCH_RUN_REMOTE_ANSWERS".to_owned(), "true".into())];
    let elsewhere = ConfigInputs { flags, env, project: Some(project), ..ConfigInputs::default() };
    let config = Config::load(&elsewhere).unwrap();
    assert!(!config.settings.run_remote_answers.value);
    let (messages, hints): (Vec<_>, Vec<_>) =
        config.settings.ignored.iter().map(|ignored| (ignored.message(), ignored.hint())).unzip();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages.iter().all(|text| text.ends_with("is ignored: it counts only in your own settings file")));
    assert!(hints.iter().all(|hint| hint == "if you want it, run `punch config set run.remote_answers true`"));
    let config = Config::load(&ConfigInputs { user: Some(user), ..elsewhere }).unwrap();
    assert!(config.settings.run_remote_answers.value);
}

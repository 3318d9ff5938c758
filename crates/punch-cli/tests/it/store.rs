//! The verbs that care for the store: init, config, doctor, store, completions, demo.

use std::fs;

use insta::assert_snapshot;

use crate::world::World;

/// Sizes, times and random names differ from run to run.
fn steady(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let sized =
            |n: usize| words.get(n + 1).is_some_and(|next| ["KB", "MB", "bytes"].iter().any(|u| next.starts_with(u)));
        let unit = |word: &str| word.replace("KB", "bytes").replace("MB", "bytes");
        let shown = |(n, word): (usize, &&str)| match word.strip_prefix('(') {
            Some(_) if sized(n) => "(N".to_owned(),
            None if sized(n) => "N".to_owned(),
            _ => unit(&nameless(word)),
        };
        words.iter().enumerate().map(shown).collect::<Vec<_>>().join(" ") + "\n"
    });
    lines.collect()
}

/// Hashes and seconds since the epoch inside a word.
fn nameless(word: &str) -> String {
    let parts = word.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).map(|part| {
        let name = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let digits = name.bytes().all(|byte| byte.is_ascii_digit());
        match (name.len(), name.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            (10, _) if digits => part.replace(name, "SECONDS"),
            (16.., true) => part.replace(name, "NAME"),
            _ => part.to_owned(),
        }
    });
    parts.collect()
}

#[test]
fn init_says_where_and_why() {
    let world = World::with_git();
    assert_snapshot!(world.script("init\ninit\ninit --json\ninit --in-tree"), @r#"
    $ punch init
    Created `$ROOT/p/.git/punch/store.db` with the plan `main`.
    It lives inside .git: shared by all worktrees, safe from `git clean` and `git stash`, never committed.
    Try next:
      punch add 'Write the parser' 'Test the parser'
      punch
    $ punch init
    Already set up: `$ROOT/p/.git/punch/store.db` with the plan `main`.
    It lives inside .git: shared by all worktrees, safe from `git clean` and `git stash`, never committed.
    Try next:
      punch add 'Write the parser' 'Test the parser'
      punch
    $ punch init --json
    {"schema":1,"store":"$ROOT/p/.git/punch/store.db","kind":"git","plan":"main","created":false}
    $ punch init --in-tree
    2> error: two stores for one worktree: `$ROOT/p/.punch` and `$ROOT/p/.git/punch`
    2> hint: choose one with `--store '$ROOT/p/.punch'` or `PUNCH_STORE='$ROOT/p/.git/punch'`, then move the other away
    exit 1
    "#);
    let outside = World::new();
    assert_snapshot!(outside.script(r"
        init --plan first --json
        list --plan first
        init --in-tree --store x
    "), @r#"
    $ punch init --plan first --json
    {"schema":1,"store":"$ROOT/p/.punch/store.db","kind":"outside","plan":"first","created":true}
    $ punch list --plan first
    No todos yet: `punch add 'First thing'` adds one.
    $ punch init --in-tree --store x
    2> error: the argument '--in-tree' cannot be used with '--store <DIR>'
    2>
    2> Usage: punch init --in-tree
    2>
    2> For more information, try '--help'.
    exit 2
    "#);
    let in_tree = World::with_git();
    assert_snapshot!(in_tree.script("init --in-tree\nadd x\nlist"), @r#"
    $ punch init --in-tree
    Created `$ROOT/p/.punch/store.db` with the plan `main`.
    It lives beside the code, which suits sandboxes that protect `.git`; git ignores it.
    Try next:
      punch add 'Write the parser' 'Test the parser'
      punch
    $ punch add x
    [ ] T-1  x
    $ punch list
    [ ] T-1  x
    "#);
    assert_eq!(in_tree.git(&["status", "--porcelain"]), "");
}

#[test]
fn settings_name_their_source() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        config get lease
        config get owner
        config set view.ascii yes
        config set --user lease 1h30m
        config set lease 5m
        config set --user lease 2h
        config get lease --json
        config unset lease
        config unset lease
        config get lease
        config set laese 1m
        config set lease soon
        config unset nonsense
        config get nonsense
    "), @r#"
    $ punch config get lease
    15m
    $ punch config get owner
    $ punch config set view.ascii yes
    view.ascii = true (in `$ROOT/p/.punch/config.toml`)
    $ punch config set --user lease 1h30m
    lease = 1h30m (in `$ROOT/home/.config/punch/config.toml`)
    $ punch config set lease 5m
    lease = 5m (in `$ROOT/p/.punch/config.toml`)
    $ punch config set --user lease 2h
    lease = 2h (in `$ROOT/home/.config/punch/config.toml`)
    note: in effect: lease = "5m"  # project, $ROOT/p/.punch/config.toml
    $ punch config get lease --json
    {"schema":1,"key":"lease","value":"5m","source":"project, $ROOT/p/.punch/config.toml"}
    $ punch config unset lease
    `lease` is unset in `$ROOT/p/.punch/config.toml`
    note: in effect: lease = "2h"  # user, $ROOT/home/.config/punch/config.toml
    $ punch config unset lease
    `lease` was not set in `$ROOT/p/.punch/config.toml`
    note: in effect: lease = "2h"  # user, $ROOT/home/.config/punch/config.toml
    $ punch config get lease
    2h
    $ punch config set laese 1m
    2> error: unknown setting `laese` (did you mean `lease`?)
    2> hint: `punch config show` lists every setting
    exit 1
    $ punch config set lease soon
    2> error: invalid value for `lease`: `soon`, expected a duration such as "15m" or "1h30m", from 100ms to 30d
    2> hint: `punch config show` lists every setting
    exit 2
    $ punch config unset nonsense
    2> error: unknown setting `nonsense`
    2> hint: `punch config show` lists every setting
    exit 1
    $ punch config get nonsense
    2> error: unknown setting `nonsense`
    2> hint: `punch config show` lists every setting
    exit 1
    "#);
    let shown = world.ok(&["config", "show", "--owner", "me"]);
    assert!(shown.contains("owner = \"me\"  # flag\n"), "{shown}");
    assert!(shown.contains("# plan is not set\n"), "{shown}");
    let shown = world.hide_paths(&shown);
    assert!(shown.contains("lease = \"2h\"  # user, $ROOT/home/.config/punch/config.toml\n"), "{shown}");
    assert!(shown.contains("view.ascii = true  # project, $ROOT/p/.punch/config.toml\n"), "{shown}");
    // What is shown is a file that can be used.
    fs::write(world.project.join(".punch/config.toml"), world.ok(&["config", "show"])).unwrap();
    assert_eq!(world.ok(&["config", "get", "lease"]), "2h\n");
    let rows = world.json(&["config", "show"])["settings"].clone();
    let keys: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["key", "value", "source"]);
}

#[test]
fn a_wrong_setting_stops_every_verb_and_can_be_mended() {
    let world = World::new();
    world.ok(&["add", "x"]);
    fs::write(world.project.join(".punch/config.toml"), "lease = \"15m\"\n[view]\nasci = true\n").unwrap();
    assert_snapshot!(world.script("list\ndoctor --json\nconfig unset view.asci\nlist"), @r#"
    $ punch list
    2> error: `$ROOT/p/.punch/config.toml` line 3: unknown setting `view.asci` (did you mean `view.ascii`?)
    2> hint: `punch config show` lists every setting
    exit 1
    $ punch doctor --json
    {"schema":1,"store":"$ROOT/p/.punch/store.db","damaged":false,"findings":[{"what":"settings","severity":"note","detail":"`$ROOT/p/.punch/config.toml` line 3: unknown setting `view.asci` (did you mean `view.ascii`?)\n`punch config show` lists every setting"},{"what":"store","severity":"ok","detail":"`$ROOT/p/.punch/store.db` (outside)"},{"what":"permissions","severity":"ok","detail":"writable, and private to this user"},{"what":"writes","severity":"ok","detail":"no stored changes are missing"},{"what":"versions","severity":"ok","detail":"punch 0.1.0, SQLite 3.54.1, schema 3.2"},{"what":"integrity","severity":"ok","detail":"the database file is sound"},{"what":"plan main: history","severity":"ok","detail":"complete up to revision 1"},{"what":"plan main: derived values","severity":"ok","detail":"consistent (1 todo)"},{"what":"size","severity":"ok","detail":"212.0 KB; 1 plan, 1 todo, 1 event (1 a day)"},{"what":"copy","severity":"ok","detail":"`$ROOT/home/.local/state/punch/copies/NAME.db`, a moment ago; `punch store restore --copy` restores it"},{"what":"agents","severity":"note","detail":"none on PATH; `punch install NAME` connects one anyway"}],"agents":[{"agent":"claude","program":null,"version":null,"personal":"no","shared":"no","user":"no","hooks":null,"folderTrusted":null,"todo":[]},{"agent":"codex","program":null,"version":null,"personal":"no","shared":"no","user":"no","hooks":null,"folderTrusted":null,"todo":[]},{"agent":"qwen","program":null,"version":null,"personal":"no","shared":"no","user":"no","hooks":null,"folderTrusted":null,"todo":[]},{"agent":"gemini","program":null,"version":null,"personal":"no","shared":"no","user":"no","hooks":null,"folderTrusted":null,"todo":[]},{"agent":"cursor","program":null,"version":null,"personal":"no","shared":"no","user":"no","hooks":null,"folderTrusted":null,"todo":[]},{"agent":"opencode","program":null,"version":null,"personal":"no","shared":"no","user":"no","hooks":null,"folderTrusted":null,"todo":[]},{"agent":"copilot","program":null,"version":null,"personal":"no","shared":"no","user":"no","hooks":null,"folderTrusted":null,"todo":[]},{"agent":"droid","program":null,"version":null,"personal":"no","shared":"no","user":"no","hooks":null,"folderTrusted":null,"todo":[]}],"reachable":null}
    exit 1
    $ punch config unset view.asci
    `view.asci` is unset in `$ROOT/p/.punch/config.toml`
    $ punch list
    [ ] T-1  x
    "#);
}

#[test]
fn doctor_tells_what_it_looked_at() {
    let world = World::with_git();
    assert_snapshot!(world.script("doctor"), @r#"
    $ punch doctor
    note      store: none at `$ROOT/p/.git/punch/store.db` (git) yet; the first change creates it
    note      copy: none yet; the next change creates one
    note      agents: none on PATH; `punch install NAME` connects one anyway
    No problems found.
    "#);
    world.ok(&["add", "a", "b"]);
    world.ok(&["done", "T-1"]);
    assert_snapshot!(steady(&world.script("doctor\ndoctor --repair")), @r#"
    $ punch doctor
    ok        store: `$ROOT/p/.git/punch/store.db` (git)
    ok        permissions: writable, and private to this user
    ok        writes: no stored changes are missing
    ok        versions: punch 0.1.0, SQLite 3.54.1, schema 3.2
    ok        integrity: the database file is sound
    ok        plan main: history: complete up to revision 2
    ok        plan main: derived values: consistent (2 todos)
    ok        size: N bytes; 1 plan, 2 todos, 3 events (3 a day)
    ok        copy: `$ROOT/home/.local/state/punch/copies/NAME.db`, a moment ago; `punch store restore --copy` restores it
    note      agents: none on PATH; `punch install NAME` connects one anyway
    No problems found.
    $ punch doctor --repair
    ok        store: `$ROOT/p/.git/punch/store.db` (git)
    ok        permissions: writable, and private to this user
    ok        writes: no stored changes are missing
    ok        versions: punch 0.1.0, SQLite 3.54.1, schema 3.2
    ok        integrity: the database file is sound
    ok        plan main: history: complete up to revision 2
    ok        plan main: derived values: consistent (2 todos)
    ok        size: N bytes; 1 plan, 2 todos, 3 events (3 a day)
    ok        copy: `$ROOT/home/.local/state/punch/copies/NAME.db`, a moment ago; `punch store restore --copy` restores it
    note      agents: none on PATH; `punch install NAME` connects one anyway
    No problems found.
    "#);
    let answer = world.json(&["doctor"]);
    assert_eq!(answer["damaged"], false);
    let fields: Vec<&String> = answer["findings"][0].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["what", "severity", "detail"]);
}

#[test]
fn the_store_is_copied_restored_and_pruned() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        store info
        store backup
        store restore nothing.db
        store restore --copy
        store restore
        store prune
    "), @r"
    $ punch store info
    store: $ROOT/p/.punch/store.db (outside)
    holds: nothing yet; the first change creates it
    $ punch store backup
    2> error: cannot use the store `$ROOT/p/.punch/store.db`: it does not exist yet
    2> hint: run `punch init`, or `punch add` a first todo
    exit 1
    $ punch store restore nothing.db
    2> error: no copy at `nothing.db`
    2> hint: `punch store info` lists the copies
    exit 1
    $ punch store restore --copy
    2> error: no copy at `$ROOT/home/.local/state/punch/copies/NAME.db`
    2> hint: `punch store info` lists the copies
    exit 1
    $ punch store restore
    2> error: the following required arguments were not provided:
    2>   <FILE|--copy>
    2>
    2> Usage: punch store restore <FILE|--copy>
    2>
    2> For more information, try '--help'.
    exit 2
    $ punch store prune
    2> error: cannot use the store `$ROOT/p/.punch/store.db`: it does not exist yet
    2> hint: run `punch init`, or `punch add` a first todo
    exit 1
    ");
    world.ok(&["add", "a", "b"]);
    world.ok(&["done", "T-1"]);
    assert_snapshot!(steady(&world.script(r"
        store info
        store backup ../copy.db
        store backup ../copy.db
        store backup ../copy.db --force
        store backup
        done T-2
        store prune --before 2 --export ../old.jsonl
        store prune --before 2
        store prune
        doctor
        store restore ../copy.db
        list
        doctor
    ")), @r#"
    $ punch store info
    store: $ROOT/p/.punch/store.db (outside)
    id: NAME, schema 3.2, SQLite 3.54.1
    size: N bytes
    holds: 1 plan, 2 todos, 3 events, 0 sessions
    copy: $ROOT/home/.local/state/punch/copies/NAME.db (a moment ago)
    $ punch store backup ../copy.db
    Copied to `../copy.db` (N bytes).
    $ punch store backup ../copy.db
    2> error: `../copy.db` already exists
    2> hint: choose another name, or replace it with `--force`
    exit 1
    $ punch store backup ../copy.db --force
    Copied to `../copy.db` (N bytes).
    $ punch store backup
    Copied to `$ROOT/p/.punch/backups/store-SECONDS.db` (N bytes).
    $ punch done T-2
    [x] T-2  b
    $ punch store prune --before 2 --export ../old.jsonl
    Moved 2 events older than revision 2 to `../old.jsonl`.
    $ punch store prune --before 2
    No events before revision 2 of 3; `--before REV` sets another limit.
    $ punch store prune
    No events before revision 0 of 3; `--before REV` sets another limit.
    $ punch doctor
    ok        store: `$ROOT/p/.punch/store.db` (outside)
    ok        permissions: writable, and private to this user
    ok        writes: no stored changes are missing
    ok        versions: punch 0.1.0, SQLite 3.54.1, schema 3.2
    ok        integrity: the database file is sound
    ok        plan main: history: complete up to revision 3
    ok        plan main: derived values: consistent (2 todos)
    ok        size: N bytes; 1 plan, 2 todos, 2 events (2 a day)
    ok        copy: `$ROOT/home/.local/state/punch/copies/NAME.db`, a moment ago; `punch store restore --copy` restores it
    note      agents: none on PATH; `punch install NAME` connects one anyway
    No problems found.
    $ punch store restore ../copy.db
    Restored `$ROOT/p/.punch/store.db` from `../copy.db`: 1 plan, 2 todos.
    The previous store is in `$ROOT/p/.punch/backups/replaced-SECONDS.db`
    $ punch list
    [ ] T-2  b
    $ punch doctor
    ok        store: `$ROOT/p/.punch/store.db` (outside)
    ok        permissions: writable, and private to this user
    ok        writes: no stored changes are missing
    ok        versions: punch 0.1.0, SQLite 3.54.1, schema 3.2
    ok        integrity: the database file is sound
    ok        plan main: history: complete up to revision 2
    ok        plan main: derived values: consistent (2 todos)
    ok        size: N bytes; 1 plan, 2 todos, 3 events (3 a day)
    ok        copy: `$ROOT/home/.local/state/punch/copies/NAME.db`, a moment ago; `punch store restore --copy` restores it
    note      agents: none on PATH; `punch install NAME` connects one anyway
    No problems found.
    "#);
    assert_eq!(fs::read_to_string(world.root.join("old.jsonl")).unwrap().lines().count(), 2);
}

/// A folder that the user names with `--store` may be one that everyone can read.
#[cfg(unix)]
#[test]
fn files_beside_a_store_in_an_open_folder_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let folder = world.root.join("open");
    fs::create_dir(&folder).unwrap();
    let store = folder.display().to_string();
    let (list, aside) = (["--store", &store, "list"], world.root.join("aside.db").display().to_string());
    for verb in [
        &["add", "a", "b"][..],
        &["done", "T-1"],
        &["done", "T-2"],
        &["config", "set", "view.ascii", "true"],
        &["store", "prune", "--before", "2"],
        &["store", "backup"],
        &["store", "backup", &aside],
        &["store", "restore", &aside],
    ] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        world.ok(&[&["--store", &store][..], verb].concat());
    }
    assert_eq!(world.ok(&list), "Nothing is open; `punch list --all` shows what is closed.\n");
    let mut seen = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (mode, name) = (entry.metadata().unwrap().permissions().mode() & 0o777, entry.file_name());
            let is_folder = entry.file_type().unwrap().is_dir();
            assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{name:?}");
            seen.push(name.to_string_lossy().into_owned());
            folders.extend(is_folder.then(|| entry.path()));
        }
    }
    for made in ["store.db", "config.toml", "backups", "events-", "store-", "replaced-"] {
        assert!(seen.iter().any(|name| name.starts_with(made)), "{made}: {seen:?}");
    }
}

#[test]
fn only_the_last_replaced_stores_are_kept() {
    let world = World::new();
    world.ok(&["add", "a"]);
    world.ok(&["store", "backup", "../copy.db"]);
    let oldest = world.json(&["store", "restore", "../copy.db"])["replaced"].as_str().unwrap().to_owned();
    for _ in 0..11 {
        world.ok(&["store", "restore", "../copy.db"]);
    }
    let names = || fs::read_dir(world.project.join(".punch/backups")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(names().filter(|path| path.to_string_lossy().contains("replaced-")).count(), 10);
    assert!(!fs::exists(oldest).unwrap());
    // The one that is restored stays, however old it is.
    let from = names().min_by_key(|path| (path.to_string_lossy().len(), path.clone())).unwrap();
    world.ok(&["store", "restore", &from.display().to_string()]);
    assert!(from.exists());
    assert_eq!(world.ok(&["list"]), "[ ] T-1  a\n");
}

#[test]
fn completions_name_the_verbs() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.ok(&["completions", shell]);
        assert!(script.contains("claim") && script.contains("in-tree"), "{shell}");
    }
    assert_snapshot!(world.script("completions tcsh"), @r#"
    $ punch completions tcsh
    2> error: invalid value 'tcsh' for '[SHELL]'
    2>   [possible values: bash, zsh, fish, elvish, powershell]
    2>
    2>   tip: a similar value exists: 'zsh'
    2>
    2> For more information, try '--help'.
    exit 2
    "#);
}

/// The real verbs play the story and have tests of their own; here it must run, be short and clean up.
#[test]
fn the_demo_runs_and_leaves_nothing_behind() {
    let world = World::new();
    let temporary = world.root.join("tmp");
    fs::create_dir(&temporary).unwrap();
    let demo = |arguments: &[&str], path: &str| {
        let mut command = world.command(arguments);
        command.env("TMPDIR", &temporary).env("PUNCH_OWNER", "nobody").env("PUNCH_PLAN", "none");
        if !path.is_empty() {
            command.env("PATH", path);
        }
        crate::world::finished(command.output().unwrap())
    };
    let run = demo(&["demo"], "");
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    assert!(run.stdout.contains("$ punch done release\nerror: "), "{}", run.stdout);
    assert!(run.stdout.contains("Try next, in a project of yours"), "{}", run.stdout);
    let chapters: Vec<&str> = run.stdout.split("# Chapter ").skip(1).collect();
    assert_eq!(chapters.len(), 7);
    chapters.iter().for_each(|chapter| assert!(chapter.lines().count() <= 60, "{chapter}"));
    assert_eq!(run.stdout.matches("error: ").count(), 1, "only the error that is meant: {}", run.stdout);
    // The first agent is kept going to the end, the second is stopped, with the reason.
    assert!(
        run.stdout.contains("punch:  finished, all 3 todos are closed.\n$ punch list --all\n[x] "),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("$ punch keep-going why\nclaude demo-stuck was allowed to stop, "), "{}", run.stdout);
    // The third one calls unfinished work done: the check fails, is explained, and passes.
    assert!(
        run.stdout.contains("punch:  T-1 is not done: its check `cat CHANGES.md` failed with exit code 1"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("  last check: passed"), "{}", run.stdout);
    // The reset loses the exporter, and only that is open again.
    assert!(
        run.stdout.contains("valid    importer (") && run.stdout.contains("\nreopened: exporter\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("[x] importer  Write the importer\n[ ] exporter"), "{}", run.stdout);
    // The run: one crash, one claim that does not pass, and all eleven are done.
    assert!(run.stdout.contains("T-5 failed, retrying: exit code 137"), "{}", run.stdout);
    assert!(run.stdout.contains("T-7 failed, retrying: the check of `T-7` failed"), "{}", run.stdout);
    assert!(run.stdout.contains("\ndone: run 1, 11 completed"), "{}", run.stdout);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    // Without git, and as data.
    let run = demo(&["demo", "--json"], "/nowhere");
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    assert!(run.stdout.contains("\"steps\""), "{}", run.stdout);
    assert_eq!(demo(&["demo", "--keep"], "").exit, Some(0));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 1);
}

#[test]
fn a_setting_for_an_unknown_agent_is_stored_with_a_warning() {
    let world = World::new();
    let set = |key: &str| world.punch(&["config", "set", key, "false"]);
    let run = set("agents.cluade.keep_going.enabled");
    assert_eq!(run.exit, Some(0));
    assert!(run.stderr.contains("unknown agent `cluade` (did you mean `claude`?)"), "{}", run.stderr);
    assert_eq!(set("agents.claude.keep_going.enabled").stderr, "");
}

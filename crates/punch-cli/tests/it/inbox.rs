//! `punch inbox`: what needs the user, on the command line, in the tools and in hooks; and what is new in the log.

use insta::assert_snapshot;
use punch_engine::{Engine, READER};
use punch_store::{OpenMode, PlanId, Question, QuestionState, SqliteStore};
use serde_json::json;

use crate::mcp::client::Client;
use crate::world::{World, eventually};

/// A project with a failed todo, a held one and a waiting question.
fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Port the store", "--id", "store"]);
    world.ok(&["add", "Ship it", "--needs", "store"]);
    world.ok(&["add", "Choose a color"]);
    world.ok(&["add", "Run the tests"]);
    world.ok(&["fail", "store", "the tests do not pass"]);
    world.ok(&["fail", "store", "--error", "the tests do not pass"]);
    world.ok(&["hold", "T-2", "red or blue?"]);
    let engine = engine(&world);
    let todo = engine.resolve(PlanId(1), "T-3").unwrap();
    engine
        .store()
        .write(PlanId(1), punch_store::Durability::Full, &mut |tx| {
            let question = Question {
                id: 0,
                asked_at: 5,
                run: Some(1),
                seat: Some(1),
                session: None,
                todo: Some(todo),
                agent: "claude".into(),
                text: "May I run `npm test`?\nIt takes a while.".into(),
                options: "[]".into(),
                state: QuestionState::Open,
            };
            tx.put_question(&question).map(drop)
        })
        .unwrap();
    world
}

fn engine(world: &World) -> Engine {
    let store = SqliteStore::open(&world.project.join(".punch/store.db"), OpenMode::Existing).unwrap();
    Engine::new(Box::new(store), Box::new(|| 1_000))
}

#[test]
fn the_inbox_lists_what_needs_you_with_the_command_to_type() {
    let world = world();
    assert_snapshot!(world.script("inbox\nstatus"), @r#"
    $ punch inbox
    question  T-3  Run the tests: claude asks: May I run `npm test`? It takes a while.
              punch watch
    hold      T-2  Choose a color: red or blue?
              punch unhold T-2 --note '…'
    failed    store  Port the store: the tests do not pass (blocks 1 open todo)
              punch reopen store
    $ punch status
    main: 0 of 4 done (0%)
    Needs you    ? T-3  Run the tests: claude asks: May I run `npm test`? It takes a while.  (punch watch)
                 [|] T-2  Choose a color: red or blue?
                   punch unhold T-2 --note '…'
    Failed       [!] store  Port the store: the tests do not pass (blocks 1)  (punch reopen store)
    Stuck        [#] T-1  Ship it  (stuck behind store, which failed; punch why T-1)
    No agent is connected: `punch install` connects the ones you use
    "#);
    let answer = world.json(&["inbox"]);
    let kinds: Vec<&str> = answer["items"].as_array().unwrap().iter().map(|i| i["kind"].as_str().unwrap()).collect();
    assert_eq!((&answer["schema"], kinds), (&json!(1), vec!["question", "hold", "failed"]));
    assert_eq!(answer["items"][2]["blocks"], 1);
    assert_eq!(world.json(&["status"])["inbox"], 3);
    // Every command works.
    for item in answer["items"].as_array().unwrap().iter().skip(1) {
        let action = item["action"].as_str().unwrap();
        world.ok(&action.split(' ').skip(1).collect::<Vec<_>>());
    }
    let left = world.json(&["inbox"]);
    assert_eq!(left["items"].as_array().unwrap().len(), 1, "{left}");
}

#[test]
fn an_empty_inbox_says_so() {
    let world = World::new();
    assert_eq!(world.ok(&["inbox"]), "Nothing needs you.\n");
    assert_eq!(world.json(&["inbox"]), json!({"schema": 1, "items": []}));
    world.ok(&["add", "One"]);
    assert_eq!(world.ok(&["inbox"]), "Nothing needs you.\n");
}

#[test]
fn a_check_waits_for_approval_until_it_has_it() {
    let world = World::new();
    world.ok(&["add", "One", "Two", "--verify", "true"]);
    world.ok(&["add", "Three", "--verify", "true", "--needs", "T-1"]);
    world.ok(&["hold", "T-2", "--kind", "parked"]);
    assert_snapshot!(world.ok(&["inbox"]), @"
    approval  T-1  One: its check is not approved (1 more todo uses it): true (blocks 2 open todos)
              punch verify --allow T-1
    ");
    world.ok(&["verify", "T-1", "--allow"]);
    assert_eq!(world.ok(&["inbox"]), "Nothing needs you.\n");
}

/// A check and a setting of the project that wait for approval are listed by everything that shows or counts the inbox.
#[cfg(target_os = "linux")]
#[test]
fn what_waits_for_approval_is_the_same_on_every_surface() {
    let world = World::with_git();
    let told = world.root.join("told");
    let notify = format!("cat >> '{}'", told.display());
    world.ok(&["config", "set", "--user", "notify.command", &notify]);
    world.ok(&["add", "One"]);
    world.ok(&["notify-inbox"]);
    world.ok(&["edit", "T-1", "--verify", "true"]);
    std::fs::write(world.project.join(".git/punch/config.toml"), "verify.plan = \"make check\"\n").unwrap();
    let texts = |world: &World| -> Vec<String> {
        let inbox = world.json_of(&["inbox", "--json"]);
        let items = inbox["items"].as_array().unwrap().iter();
        items.map(|item| format!("{} {}", item["kind"].as_str().unwrap(), item["text"].as_str().unwrap())).collect()
    };
    let wanted = texts(&world);
    assert_eq!(wanted.len(), 2, "{wanted:?}");
    assert!(wanted.iter().all(|text| text.starts_with("approval ")), "{wanted:?}");
    assert!(wanted.iter().any(|text| text.contains("verify.plan")), "{wanted:?}");
    // The tools.
    let shown: Vec<String> =
        world.punch(&["inbox"]).stdout.lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect();
    let mut client = Client::spawn(world.command(&["mcp"]));
    client.begin();
    let mut asked = || -> Vec<String> {
        let answer = client.call("todo_read", json!({"view": "inbox"}));
        answer.lines().filter(|line| !line.starts_with("rev ")).map(str::to_owned).collect()
    };
    assert_eq!(asked(), shown);
    // The library.
    let state = world.root.join("home/.local/state");
    let options = punchlist::Options::new("library").consents(state);
    let library = punchlist::Session::open_project(&world.project, options).unwrap();
    let listed = |library: &punchlist::Session| -> Vec<String> {
        library.inbox().unwrap().iter().map(|item| format!("{} {}", item.kind.name(), item.text)).collect()
    };
    assert_eq!(listed(&library), wanted);
    // The board in the browser; that in the terminal asks in the same way.
    let board = crate::serve::read(&world, "/plans/main/inbox");
    assert_eq!(board["items"].as_array().unwrap().len(), 2, "{board}");
    // The hook, and the notification.
    let report = json!({"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}).to_string();
    let hook = world.feed(&["hook", "--agent", "claude", "SessionStart"], &report);
    assert!(hook.stdout.contains("2 things need you"), "{}", hook.render());
    world.ok(&["notify-inbox"]);
    // A server or hook may have looked first; then its notification is on the way.
    let told = || std::fs::read_to_string(&told).unwrap_or_default();
    eventually("the user is notified", || told().contains("2 things need you") && told().contains("verify.plan"));
    // What is approved waits no more, also for those that were started before.
    world.ok(&["config", "set", "verify.plan", "make check"]);
    assert_eq!((texts(&world).len(), listed(&library).len()), (1, 1));
    client.call("todo_write", json!({"ops": [{"op": "note", "id": "T-1", "text": "x"}]}));
    assert_eq!(client.call("todo_read", json!({"view": "inbox"})).matches("approval").count(), 1);
}

#[test]
fn a_finished_plan_is_listed_until_you_look() {
    let world = World::new();
    world.ok(&["add", "One"]);
    let done = world.command(&["done", "T-1"]).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(crate::world::finished(done).exit, Some(0));
    assert_snapshot!(world.ok(&["inbox"]), @"
    finished  the plan `main` is finished: 1 of 1 done
              punch log --new
    ");
    let new = |world: &World| -> Vec<u64> {
        let answer = world.json(&["log", "--new"]);
        answer["revisions"].as_array().unwrap().iter().map(|r| r["revision"].as_u64().unwrap()).collect()
    };
    assert_eq!(new(&world), [2, 1]);
    assert_eq!(new(&world), [0; 0]);
    assert_eq!(world.ok(&["log", "--new"]), "Nothing has happened since you last looked.\n");
    assert_eq!(world.ok(&["inbox"]), "Nothing needs you.\n");
    world.ok(&["note", "T-1", "more"]);
    assert_eq!(new(&world), [3]);
    world.ok(&["reopen", "T-1"]);
    world.ok(&["done", "T-1"]);
    assert_eq!(world.ok(&["inbox"]), "Nothing needs you.\n", "you did it yourself");
    assert_eq!(new(&world), [5, 4]);
    // A board marks as not seen again.
    let engine = engine(&world);
    engine.mark_seen(PlanId(1), READER, 1).unwrap();
    assert_eq!(engine.seen(PlanId(1), READER).unwrap().unwrap().revision, 1);
    assert_eq!(new(&world), [5, 4, 3, 2]);
    engine.mark_seen(PlanId(1), READER, 99).unwrap();
    assert_eq!(engine.seen(PlanId(1), READER).unwrap().unwrap().revision, 5, "not beyond the newest");
}

#[test]
fn an_agent_that_looks_hides_nothing_from_you() {
    let world = World::new();
    world.ok(&["add", "One"]);
    let agent = |arguments: &[&str]| {
        let run = crate::world::finished(world.command(arguments).env("CLAUDECODE", "1").output().unwrap());
        assert_eq!(run.exit, Some(0), "{}", run.render());
        run.stdout
    };
    assert!(agent(&["log", "--new"]).contains("T-1 added"));
    assert!(world.ok(&["log", "--new"]).contains("T-1 added"));
}

#[test]
fn the_tools_show_the_inbox_without_commands() {
    let world = world();
    let mut client = Client::spawn(world.command(&["mcp"]));
    client.begin();
    let answer = client.call("todo_read", json!({"view": "inbox"}));
    assert_snapshot!(answer, @r#"
    question  T-3  Run the tests: claude asks: May I run `npm test`? It takes a while.
    hold      T-2  Choose a color: red or blue?
    failed    store  Port the store: the tests do not pass (blocks 1 open todo)
    rev 7
    "#);
}

#[test]
fn a_session_that_begins_tells_the_user_how_many_things_need_them() {
    let world = world();
    let begin = |source: &str| {
        let report = json!({"session_id": "s", "hook_event_name": "SessionStart", "source": source}).to_string();
        let run = world.feed(&["hook", "--agent", "claude", "SessionStart"], &report);
        assert_eq!(run.exit, Some(0), "{}", run.render());
        serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap_or_default()["systemMessage"].clone()
    };
    assert_eq!(begin("startup"), "punch: plan main, 3 of 4 todos are open, next T-3; 3 things need you: `punch inbox`");
    assert_eq!(begin("compact"), serde_json::Value::Null);
}

//! The same question on every surface: what a plan means is worked out once, so command line, JSON, tree, tools, hooks and
//! library give the same answer wherever they show it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use punch_core::ShownStatus;
use punch_core::view::Progress;
use punch_testkit::work::SplitMix;
use punchlist::{Options, Session, View};
use serde_json::{Value, json};

use crate::mcp::client::Client;
use crate::world::{World, finished};

/// How many plans are generated.
const PLANS: u64 = 6;
/// The conversation that asks through tools and hooks.
const SESSION: &str = "asker";

/// One fact as every surface shows it.
struct Fact<T> {
    name: String,
    shown: Vec<(&'static str, T)>,
}

impl<T: PartialEq + Debug> Fact<T> {
    fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), shown: Vec::new() }
    }

    fn on(mut self, surface: &'static str, value: T) -> Self {
        self.shown.push((surface, value));
        self
    }

    /// All surfaces show the same.
    fn agrees(self, plan: &str) {
        let (first, rest) = self.shown.split_first().unwrap();
        for (surface, value) in rest {
            assert_eq!(value, &first.1, "{}: {surface} and {} differ in {plan}", self.name, first.0);
        }
    }
}

fn pick<'a>(random: &mut SplitMix, of: &[&'a str]) -> &'a str {
    of[random.below(of.len())]
}

/// Todos with everything that can stand in the way of work: dependencies, missing ones, cycles, holds, files, no content.
fn todos(random: &mut SplitMix) -> Value {
    let count = 4 + random.below(9);
    let mut out = Vec::new();
    for n in 0..count {
        let statuses = ["pending", "pending", "pending", "pending", "completed", "cancelled", "failed", "in_progress"];
        let status = pick(random, &statuses);
        let content = if random.below(12) == 0 { String::new() } else { format!("work {n}") };
        let mut needs = BTreeSet::new();
        for _ in 0..random.below(3) {
            // A later one may close a cycle.
            let to = if random.below(10) == 0 { random.below(count) } else { random.below(n.max(1)) };
            needs.extend((to != n).then(|| format!("t{to}")));
        }
        if random.below(12) == 0 {
            needs.insert("ghost".to_owned());
        }
        let mut todo = json!({"id": format!("t{n}"), "content": content, "status": status, "dependsOn": needs});
        if random.below(3) == 0 {
            todo["priority"] = json!(1 + random.below(5));
        }
        if random.below(3) == 0 {
            todo["files"] = json!([pick(random, &["src/**", "src/a.rs", "docs/*"])]);
        }
        if random.below(4) == 0 {
            todo["phase"] = json!(pick(random, &["One", "Two"]));
        }
        if random.below(5) == 0 {
            todo["labels"] = json!(["bug"]);
        }
        if status == "pending" && random.below(4) == 0 {
            let kind = pick(random, &["human", "external", "timer", "job", "other", "parked", "conflict"]);
            todo["hold"] = json!({"kind": kind, "reason": "because"});
            if kind == "timer" {
                todo["hold"]["until"] = json!([1_000_i64, 4_102_444_800_000][random.below(2)]);
            }
        }
        out.push(todo);
    }
    Value::Array(out)
}

struct Asked {
    world: World,
    mcp: Client,
    library: Session,
    /// The plan, for messages.
    plan: String,
    ids: BTreeSet<String>,
}

impl Asked {
    fn new(seed: u64) -> Self {
        let random = &mut SplitMix::new(seed);
        let (world, todos) = (World::with_git(), todos(random));
        assert_eq!(world.feed(&["import", "-", "--circles"], &todos.to_string()).exit, Some(0));
        if random.below(2) == 0 {
            world.punch(&["claim", "--owner", "other"]);
        }
        // Every surface asks the same policy.
        if seed.is_multiple_of(2) {
            world.ok(&["config", "set", "policy.cancelled_dep", "satisfy"]);
        }
        let mut server = world.command(&["mcp"]);
        server.env("CLAUDE_CODE_SESSION_ID", SESSION);
        let mut mcp = Client::spawn(server);
        mcp.begin();
        let library = Session::open_project(&world.project, Options::new("library")).unwrap();
        let ids = world.ids().into_iter().collect();
        Self { plan: format!("plan {seed}: {todos}"), world, mcp, library, ids }
    }

    /// What a command prints on a terminal that is wide enough for everything.
    fn text(&self, arguments: &[&str]) -> String {
        let run = finished(
            self.world.command(arguments).env("COLUMNS", "1000").env("PUNCH_VIEW_ASCII", "false").output().unwrap(),
        );
        assert_eq!(run.exit, Some(0), "{arguments:?}: {}", run.render());
        run.stdout
    }

    /// What the reading tool answers, without the receipt.
    fn read(&mut self, arguments: Value) -> String {
        let text = self.mcp.call("todo_read", arguments);
        text.lines().filter(|line| !line.starts_with("rev ")).map(|line| line.to_owned() + "\n").collect()
    }

    /// Answers of a hook; null if it prints nothing.
    fn hook(&self, event: &str, report: &Value) -> Value {
        let run = self.world.feed(&["hook", "--agent", "claude", event], &report.to_string());
        assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{event}");
        if run.stdout.trim().is_empty() { Value::Null } else { serde_json::from_str(&run.stdout).unwrap() }
    }

    /// The lines of todos: sign and remarks, by id. Priorities are not for models.
    fn rows(&self, text: &str) -> BTreeMap<String, (String, Vec<String>)> {
        let row = |line: &str| {
            let line = line.trim_start();
            let end = if line.starts_with('[') { 3 } else { line.chars().next()?.len_utf8() };
            let (sign, rest) = line.split_at_checked(end)?;
            let id = rest.split_whitespace().next().filter(|id| self.ids.contains(*id))?;
            let remarks = rest.split_once(" (").and_then(|(_, remarks)| remarks.strip_suffix(')')).unwrap_or_default();
            let remarks = remarks
                .split(" · ")
                .flat_map(|part| part.split("; "))
                .filter(|remark| !remark.is_empty())
                .map(str::to_owned);
            let is_priority = |remark: &String| remark.len() == 2 && remark.starts_with('P');
            Some((id.to_owned(), (sign.to_owned(), remarks.filter(|remark| !is_priority(remark)).collect())))
        };
        text.lines().filter_map(row).collect()
    }
}

fn ids(todos: &Value) -> Vec<String> {
    let id = |todo: &Value| todo.get("id").unwrap_or(todo).as_str().unwrap().to_owned();
    todos.as_array().unwrap().iter().map(id).collect()
}

fn signs<T>(rows: &BTreeMap<String, (String, T)>) -> BTreeMap<&String, &String> {
    rows.iter().map(|(id, (sign, _))| (id, sign)).collect()
}

fn remarks<T>(rows: &BTreeMap<String, (T, Vec<String>)>) -> BTreeMap<&String, &Vec<String>> {
    rows.iter().map(|(id, (_, remarks))| (id, remarks)).collect()
}

fn named(name: &str) -> ShownStatus {
    ShownStatus::all().find(|status| status.name() == name).unwrap()
}

/// Statuses, signs, and what each todo waits for.
fn todos_are_one(asked: &mut Asked) {
    let listed = asked.world.json(&["list", "--all"]);
    let records: BTreeMap<String, Value> =
        ids(&listed["todos"]).into_iter().zip(listed["todos"].as_array().unwrap().iter().cloned()).collect();
    let graph = asked.world.json(&["graph", "--all"]);
    let shown = |todos: &Value| -> BTreeMap<String, Value> {
        ids(todos).into_iter().zip(todos.as_array().unwrap().iter().map(|todo| todo["shown"].clone())).collect()
    };
    let statuses = shown(&listed["todos"]);
    Fact::of("status")
        .on("list --json", statuses.clone())
        .on("graph --json", shown(&graph["todos"]))
        .agrees(&asked.plan);
    let sign = |sign: fn(ShownStatus) -> &'static str| -> BTreeMap<String, String> {
        statuses.iter().map(|(id, name)| (id.clone(), sign(named(name.as_str().unwrap())).to_owned())).collect()
    };
    let (signs_of, boxes) = (sign(ShownStatus::sign), sign(ShownStatus::check_box));
    let list = asked.rows(&asked.text(&["--ascii", "list", "--all"]));
    let tree = asked.rows(&asked.text(&["tree", "--all", "--expand"]));
    let groups = asked.rows(&asked.text(&["graph", "--all"]));
    let library = asked.rows(&asked.library.view(View::Tree).unwrap());
    let tool = asked.read(json!({"all": true, "limit": 100}));
    let tool = asked.rows(&tool);
    Fact::of("sign")
        .on("list --json", signs_of.iter().collect())
        .on("tree", signs(&tree))
        .on("graph", signs(&groups))
        .on("library", signs(&library))
        .agrees(&asked.plan);
    Fact::of("check box")
        .on("list --json", boxes.iter().collect())
        .on("list", signs(&list))
        .on("tools", signs(&tool))
        .agrees(&asked.plan);
    Fact::of("remarks")
        .on("list", remarks(&list))
        .on("tree", remarks(&tree))
        .on("library", remarks(&library))
        .on("tools", remarks(&tool))
        .agrees(&asked.plan);
    for (id, record) in &records {
        let (why, todo) = (asked.world.json(&["why", id]), asked.world.json(&["show", id])["todo"].clone());
        Fact::of(format!("status of {id}"))
            .on("list --json", &record["shown"])
            .on("show --json", &todo["shown"])
            .on("why --json", &why["shown"])
            .agrees(&asked.plan);
        Fact::of(format!("reasons of {id}"))
            .on("list --json", record.get("reasons"))
            .on("show --json", todo.get("reasons"))
            .agrees(&asked.plan);
        let own = |reason: &&Value| reason["id"] != json!(id) || reason["cause"] == "circle";
        let reasons = record.get("reasons").and_then(Value::as_array).into_iter().flatten().filter(own);
        let waits = |reasons: &mut dyn Iterator<Item = &Value>| -> Vec<(Value, Value)> {
            reasons.map(|reason| (reason["id"].clone(), reason["cause"].clone())).collect()
        };
        Fact::of(format!("what {id} waits for"))
            .on("list --json", waits(&mut reasons.into_iter()))
            .on("why --json", waits(&mut why["waitsFor"].as_array().unwrap().iter()))
            .agrees(&asked.plan);
        let (text, show) = (asked.text(&["why", id]), asked.text(&["--ascii", "show", id]));
        // Times and the group are for users only.
        let own = ["  times: ", "  parallel group: ", "  attempts: "];
        let tools = asked.read(json!({"view": "todo", "id": id}));
        // For users every todo that is named has its text beside it.
        for name in ["  needs: ", "  blocks: "] {
            let ids = |text: &str, each: &dyn Fn(&str) -> Vec<String>| -> Vec<String> {
                text.lines().filter_map(|line| line.strip_prefix(name)).flat_map(each).collect()
            };
            let first = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
            Fact::of(format!("{name} of {id}"))
                .on("show", ids(&show, &|line| vec![first(line)]))
                .on("tools", ids(&tools, &|line| line.split(", ").map(first).collect()))
                .agrees(&asked.plan);
        }
        let without = |text: &str, left_out: &[&str]| -> String {
            let is_shared = |line: &&str| !left_out.iter().any(|own| line.starts_with(own));
            text.lines().filter(is_shared).map(|line| line.to_owned() + "\n").collect()
        };
        Fact::of(format!("everything about {id}"))
            .on("show", without(&show, &[&own[..], &["  needs: ", "  blocks: "]].concat()))
            .on("tools", without(&tools, &["  needs: ", "  blocks: "]))
            .agrees(&asked.plan);
        let bare = without_titles(&text);
        for line in asked.read(json!({"view": "why", "id": id})).lines() {
            assert!(bare.lines().any(|own| own == line), "why {id}: tools say `{line}`, the command line says {text}");
        }
    }
}

/// The answer of `punch why` without the texts of todos, which stand in quotes.
fn without_titles(text: &str) -> String {
    text.split(" \"")
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('"').unwrap().1 })
        .collect()
}

/// What can be started, what is next, and what a claim gives.
fn work_is_one(asked: &mut Asked) {
    let ready = ids(&asked.world.json(&["ready"])["todos"]);
    let lines = |text: &str| -> Vec<String> {
        let line = |line: &str| line.strip_prefix("[ ] ").and_then(|rest| rest.split(' ').next()).map(str::to_owned);
        text.lines().filter_map(line).collect()
    };
    let library = asked.library.ready(100).unwrap().into_iter().filter_map(|record| record.id).collect();
    let shown = asked.world.json(&["list", "--all"]);
    let mut by_status: Vec<String> = ids(&shown["todos"]);
    by_status.retain(|id| shown["todos"].as_array().unwrap().iter().any(|t| t["id"] == **id && t["shown"] == "ready"));
    let (mut sorted, tool) = (ready.clone(), asked.read(json!({"view": "ready", "limit": 100})));
    Fact::of("ready")
        .on("ready --json", ready.clone())
        .on("ready", lines(&asked.text(&["--ascii", "ready"])))
        .on("why --json", ids(&asked.world.json(&["why"])["ready"]))
        .on("library", library)
        .on("tools", lines(&tool))
        .agrees(&asked.plan);
    sorted.sort();
    by_status.sort();
    Fact::of("ready by status").on("ready", sorted).on("list --json", by_status).agrees(&asked.plan);
    let blocked = ids(&asked.world.json(&["schedule"])["blocked"]);
    assert!(ready.iter().all(|id| !blocked.contains(id)), "the schedule leaves out {blocked:?} of {}", asked.plan);

    let next = |asked: &Asked| asked.world.json(&["next", "--owner", SESSION])["todo"]["id"].clone();
    let (tool, line) = (asked.read(json!({"view": "next"})), asked.read(json!({})));
    let first = |asked: &Asked, text: &str| {
        let mut ids = text.lines().filter_map(|line| asked.rows(line).pop_first());
        ids.next().map_or(Value::Null, |(id, _)| json!(id))
    };
    let last = |text: &str| {
        let named = ["; next: ", "; in progress: "].iter().find_map(|words| text.split_once(words));
        named.and_then(|(_, rest)| rest.split_whitespace().next()).map_or(Value::Null, |id| json!(id))
    };
    Fact::of("next")
        .on("next --json", next(asked))
        .on("tools, next", first(asked, &tool))
        .on("tools, plan", last(&line))
        .agrees(&asked.plan);
    // A session that has written something is kept going.
    let note = asked.ids.first().unwrap().clone();
    let wrote = asked.mcp.call("todo_write", json!({"ops": [{"op": "note", "id": note, "text": "looked at"}]}));
    let stop = asked.hook("Stop", &json!({"session_id": SESSION, "hook_event_name": "Stop"})).to_string();
    let sent = stop.split_once("<todo id=\\\"").and_then(|(_, rest)| rest.split('\\').next());
    Fact::of("next of a session")
        .on("next --json", next(asked))
        .on("tools, write", last(&wrote))
        .on("hooks", sent.map_or(Value::Null, |id| json!(id)))
        .agrees(&asked.plan);
    // What another session was sent to comes last.
    let free = ready.iter().find(|id| sent != Some(id)).or(ready.first());
    let claimed = asked.world.json(&["claim", "--owner", "claimer"])["todo"]["id"].clone();
    Fact::of("claim").on("ready", json!(free)).on("claim", claimed).agrees(&asked.plan);
}

/// Completed, all that count, and open.
fn counts_are_one(asked: &mut Asked) {
    let status = asked.world.json(&["status"]);
    let number = |value: &Value| value.as_u64().unwrap();
    let numbers = |text: &str| -> Vec<u64> {
        let word = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok();
        text.split(|c: char| c.is_whitespace() || c == '/').filter_map(word).collect()
    };
    let Progress { completed, total } = asked.library.progress().unwrap();
    let (text, tool) = (asked.text(&["status"]), asked.read(json!({})));
    let line = asked.text(&["status", "--line"]);
    let of_tool = tool.lines().last().and_then(|line| line.split_once(" done")).unwrap().0.to_owned();
    Fact::of("progress")
        .on("status --json", (number(&status["completed"]), number(&status["total"])))
        .on("status", (numbers(&text)[0], numbers(&text)[1]))
        .on("status --line", (numbers(&line)[0], numbers(&line)[1]))
        .on("library", (completed, total))
        .on("tools", (numbers(&of_tool)[0], numbers(&of_tool)[1]))
        .agrees(&asked.plan);
    let shown = asked.world.json(&["list", "--all"]);
    let open = shown["todos"].as_array().unwrap().iter().filter(|todo| {
        let blank = todo["content"].as_str().unwrap().trim().is_empty();
        named(todo["shown"].as_str().unwrap()).is_open() && !blank
    });
    let open = open.count() as u64;
    Fact::of("open")
        .on("list --json", open)
        .on("status --json", number(&status["open"]))
        .on("why --json", number(&asked.world.json(&["why"])["open"]))
        .agrees(&asked.plan);
    let running = |name: &Value| matches!(name.as_str().unwrap(), "in_progress" | "stalled" | "reported");
    let of = |wanted: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let todos = shown["todos"].as_array().unwrap();
        todos.iter().filter(|todo| wanted(&todo["shown"])).map(|todo| todo["id"].as_str().unwrap().to_owned()).collect()
    };
    for (name, wanted) in [("failed", "failed"), ("stuck", "stuck"), ("held", "held")] {
        let mut expected = of(&|shown| shown == wanted);
        expected.truncate(3);
        Fact::of(name).on("list --json", expected).on("status --json", ids(&status[name])).agrees(&asked.plan);
    }
    Fact::of("in progress")
        .on("list --json", of(&running).into_iter().collect::<BTreeSet<_>>())
        .on("status --json", ids(&status["inProgressAll"]).into_iter().collect())
        .agrees(&asked.plan);
    // How far a session was told that the plan is.
    let stop = asked.hook("Stop", &json!({"session_id": SESSION, "hook_event_name": "Stop"}));
    if let Some(told) = stop["systemMessage"].as_str().filter(|told| told.contains("continuation")) {
        let numbers = numbers(told.split_once(", ").unwrap().1);
        Fact::of("open of all").on("status --json", vec![open, total]).on("hooks", numbers).agrees(&asked.plan);
    }
}

/// What needs the user.
fn inbox_is_one(asked: &mut Asked) {
    let items = asked.world.json(&["inbox"])["items"].as_array().unwrap().clone();
    let text = asked.text(&["inbox"]);
    let (lines, actions): (Vec<_>, Vec<_>) = text.lines().enumerate().partition(|(at, _)| at % 2 == 0);
    let lines: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
    let tool = asked.read(json!({"view": "inbox"}));
    if items.is_empty() {
        assert_eq!((text.as_str(), tool.as_str()), ("Nothing needs you.\n", "Nothing needs the user.\n"));
    } else {
        Fact::of("inbox").on("inbox", &lines).on("tools", &tool).agrees(&asked.plan);
        let word = |line: &str| line.split_whitespace().next().unwrap().to_owned();
        Fact::of("kinds")
            .on("inbox --json", items.iter().map(|item| item["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>())
            .on("inbox", lines.lines().map(word).collect())
            .agrees(&asked.plan);
        Fact::of("actions")
            .on("inbox --json", items.iter().map(|item| item["action"].as_str().unwrap()).collect::<Vec<_>>())
            .on("inbox", actions.iter().map(|(_, action)| action.trim()).collect())
            .agrees(&asked.plan);
    }
    let (web, board) = (crate::serve::read(&asked.world, "/plans/main/inbox"), asked.text(&["watch", "--once"]));
    Fact::of("inbox").on("inbox --json", &items).on("API", web["items"].as_array().unwrap()).agrees(&asked.plan);
    let first = items.iter().filter_map(|item| item["todo"].as_str()).next().unwrap_or("Nothing needs you");
    assert!(board.contains(first), "the board does not show {first} of {}:\n{board}", asked.plan);
    let start = json!({"session_id": "new", "hook_event_name": "SessionStart", "source": "startup"});
    let told = asked.hook("SessionStart", &start)["systemMessage"].as_str().unwrap_or_default().to_owned();
    // Before it stands how many todos are open.
    let told = told.rsplit("; ").find(|part| part.contains("need")).unwrap_or_default().to_owned();
    let number = |text: &str| text.split_whitespace().find_map(|word| word.parse::<usize>().ok()).unwrap_or(0);
    Fact::of("inbox, counted")
        .on("inbox --json", items.len())
        .on("status --json", asked.world.json(&["status"])["inbox"].as_u64().unwrap() as usize)
        .on("hooks", number(&told))
        .agrees(&asked.plan);
}

#[test]
fn every_surface_gives_the_same_answer_to_the_same_question() {
    for seed in 1..=PLANS {
        let mut asked = Asked::new(seed);
        todos_are_one(&mut asked);
        inbox_is_one(&mut asked);
        work_is_one(&mut asked);
        counts_are_one(&mut asked);
    }
}

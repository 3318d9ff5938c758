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

/// How many plans are generated. `PUNCH_PLANS` chooses another number, for a longer search.
const PLANS: u64 = 8;
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

/// Todos with everything that can stand in the way of work: dependencies, missing ones, cycles, holds, files, size, checks that
/// nobody approved, no content.
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
            todo["estimatedTokens"] = json!([900_000, 140_001, 140_000, 9_000][random.below(4)]);
        }
        if random.below(6) == 0 {
            todo["verifyCommand"] = json!(pick(random, &["true", "test -e made"]));
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
    /// A server whose clients write in the extended format.
    extended: Client,
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
        if seed.is_multiple_of(3) {
            // Fails what it can start, unless a check is not approved.
            let mut run = world.command(&["run", "--agent", "exec:false", "--agents", "1"]);
            run.env("PUNCH_RUN_ATTEMPTS", "1").env("PUNCH_RUN_BACKOFF", "10ms").env("PUNCH_RUN_IDLE", "1s");
            assert!(finished(run.output().unwrap()).exit.is_some());
        }
        let serve = |dialect: &[&str], session: &str| {
            let mut server = world.command(&[&["mcp"], dialect].concat());
            server.env("CLAUDE_CODE_SESSION_ID", session);
            let mut mcp = Client::spawn(server);
            mcp.begin();
            mcp
        };
        let (mcp, extended) = (serve(&["--tools", "claim"], SESSION), serve(&["--dialect", "extended"], "other asker"));
        let library = Session::open_project(&world.project, Options::new("library")).unwrap();
        let ids = world.ids().into_iter().collect();
        Self { plan: format!("plan {seed}: {todos}"), world, mcp, extended, library, ids }
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

    /// What the reading tool of the extended format answers, without the receipt.
    fn read_extended(&mut self, arguments: Value) -> String {
        let text = self.extended.call("todo_read", arguments);
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
    let (signs_of, ascii) = (sign(ShownStatus::sign), sign(ShownStatus::ascii_sign));
    let boxes = sign(ShownStatus::check_box);
    let list = asked.rows(&asked.text(&["--ascii", "list", "--all"]));
    let tree = asked.rows(&asked.text(&["tree", "--all", "--expand"]));
    let groups = asked.rows(&asked.text(&["graph", "--all"]));
    let library = asked.rows(&asked.library.view(View::Tree).unwrap());
    let tool = asked.read(json!({"all": true, "limit": 100}));
    let tool = asked.rows(&tool);
    let extended = asked.read_extended(json!({"all": true, "limit": 100}));
    let extended = asked.rows(&extended);
    Fact::of("sign")
        .on("list --json", signs_of.iter().collect())
        .on("tree", signs(&tree))
        .on("graph", signs(&groups))
        .on("library", signs(&library))
        .agrees(&asked.plan);
    Fact::of("check box")
        .on("list --json", boxes.iter().collect())
        .on("tools", signs(&tool))
        .on("tools, extended", signs(&extended))
        .agrees(&asked.plan);
    Fact::of("ASCII sign").on("list --json", ascii.iter().collect()).on("list", signs(&list)).agrees(&asked.plan);
    // What users read of a todo that failed ends with the error.
    let without_error = |mut rows: BTreeMap<String, (String, Vec<String>)>| {
        for (id, (_, remarks)) in &mut rows {
            let error = records[id]["lastError"].as_str();
            remarks.retain(|remark| Some(remark.as_str()) != error);
        }
        rows
    };
    let (list, tree) = (without_error(list), without_error(tree));
    Fact::of("remarks")
        .on("list", remarks(&list))
        .on("tree", remarks(&tree))
        .on("library", remarks(&library))
        .on("tools", remarks(&tool))
        .on("tools, extended", remarks(&extended))
        .agrees(&asked.plan);
    let is_oversize = |remarks: &[String]| remarks.iter().any(|remark| remark == "oversize");
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
        let shown = record["shown"].as_str().unwrap();
        let flags = |todo: &Value| todo["flags"].as_array().is_some_and(|flags| flags.contains(&json!("oversize")));
        let left_out = if shown == "ready" { why["leftOut"]["cause"] == "oversize" } else { flags(&todo) };
        Fact::of(format!("size of {id}"))
            .on("list --json", flags(record))
            .on("list", list.get(id).is_some_and(|(_, remarks)| is_oversize(remarks)))
            .on("show --json", flags(&todo))
            .on("why --json", left_out)
            .agrees(&asked.plan);
        refusal_is_one(asked, id, record);
        let (text, show) = (asked.text(&["why", id]), asked.text(&["--ascii", "show", id]));
        // Times, the group and earlier attempts are for users only.
        let private = ["  times: ", "  parallel group: ", "  attempts: ", "  earlier error: "];
        let tools = asked.read(json!({"view": "todo", "id": id}));
        let extended = asked.read_extended(json!({"view": "todo", "id": id}));
        // For users every todo that is named has its text beside it.
        let links = ["  needs: ", "  blocks: "];
        for name in links {
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
        // Signs have a fact of their own.
        let unsigned = |text: String| text.get(3..).map(str::to_owned);
        Fact::of(format!("everything about {id}"))
            .on("show", unsigned(without(&show, &[&private[..], &links[..]].concat())))
            .on("tools", unsigned(without(&tools, &links)))
            .on("tools, extended", unsigned(without(&extended, &links)))
            .agrees(&asked.plan);
        let bare = without_titles(&text);
        for line in asked.read(json!({"view": "why", "id": id})).lines() {
            assert!(bare.lines().any(|own| own == line), "why {id}: tools say `{line}`, the command line says {text}");
        }
    }
}

/// A claim of a todo that cannot be started is refused for the reasons that lists name.
fn refusal_is_one(asked: &mut Asked, id: &str, record: &Value) {
    if !matches!(record["shown"].as_str().unwrap(), "waiting" | "stuck" | "held" | "parked" | "empty") {
        return;
    }
    let run = asked.world.punch(&["claim", id, "--owner", "refused", "--json"]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let (code, message) = (answer["error"]["code"].as_str().unwrap(), answer["error"]["message"].as_str().unwrap());
    let tool = asked.mcp.call("todo_claim", json!({"id": id}));
    Fact::of(format!("refused claim of {id}"))
        .on("claim", format!("Error {code}: {message}"))
        .on("tools", tool.lines().next().unwrap_or_default().to_owned())
        .agrees(&asked.plan);
    for reason in record["reasons"].as_array().unwrap().iter().take(5) {
        let (cause, about, text) = (reason["cause"].as_str().unwrap(), &reason["id"], reason["text"].as_str().unwrap());
        let words = match cause {
            "blank" => "empty".to_owned(),
            "held" if *about == *id => "because".to_owned(),
            _ => format!("`{}` ({text})", about.as_str().unwrap()),
        };
        assert!(message.contains(&words), "{id}: a list says {words}, the refusal {message} in {}", asked.plan);
    }
}

/// A schedule leaves out what lists show as blocked, for the same causes, and what no window can hold.
fn schedule_is_one(asked: &Asked, ready: &[String]) {
    let listed = asked.world.json(&["list", "--all"]);
    let records: BTreeMap<String, &Value> =
        ids(&listed["todos"]).into_iter().zip(listed["todos"].as_array().unwrap()).collect();
    let made = asked.world.json(&["schedule"]);
    let causes: BTreeMap<String, &str> = ids(&made["blocked"])
        .into_iter()
        .zip(made["blocked"].as_array().unwrap().iter().map(|blocked| blocked["cause"].as_str().unwrap()))
        .collect();
    let is_oversize = |id: &String| records[id]["flags"].as_array().is_some_and(|f| f.contains(&json!("oversize")));
    for id in ready {
        Fact::of(format!("whether a schedule leaves out {id}"))
            .on("list --json", is_oversize(id).then_some("oversize"))
            .on("schedule --json", causes.get(id).copied())
            .agrees(&asked.plan);
    }
    for (id, cause) in &causes {
        let record = records[id];
        let named = |wanted: &str| {
            record["reasons"].as_array().is_some_and(|reasons| reasons.iter().any(|reason| reason["cause"] == wanted))
        };
        let holds = match *cause {
            "oversize" => is_oversize(id) || record["shown"] == "in_progress" || record["shown"] == "stalled",
            "waiting" => !ready.contains(id),
            // A list names what it waits for instead.
            "blank" => record["content"] == "",
            _ if matches!(record["shown"].as_str().unwrap(), "in_progress" | "stalled" | "reported") => true,
            cause => named(cause),
        };
        assert!(holds, "{id}: a schedule says {cause}, a list {record} in {}", asked.plan);
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
    schedule_is_one(asked, &ready);
    let extended = asked.read_extended(json!({"view": "ready", "limit": 100}));
    Fact::of("ready").on("ready --json", ready.clone()).on("tools, extended", lines(&extended)).agrees(&asked.plan);

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
    let Progress { completed, total, .. } = asked.library.progress().unwrap();
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
    // Programs that embed the library have no approvals.
    let known = |item: &&Value| item["kind"] != "approval";
    let library: Vec<Value> =
        asked.library.inbox().unwrap().iter().map(|item| serde_json::to_value(item).unwrap()).collect();
    let said = |item: &Value| [&item["kind"], &item["todo"], &item["text"], &item["blocks"]].map(Value::clone);
    Fact::of("inbox")
        .on("inbox --json", items.iter().filter(known).map(said).collect::<Vec<_>>())
        .on("library", library.iter().map(said).collect())
        .agrees(&asked.plan);
    board_shows(&board, &items, &asked.plan);
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

/// The board shows the items in their order, as many as have room.
fn board_shows(board: &str, items: &[Value], plan: &str) {
    if items.is_empty() {
        assert!(board.contains("Nothing needs you"), "{plan}:\n{board}");
        return;
    }
    let heading = format!("Needs you ({})", items.len());
    let lines: Vec<&str> = board.lines().skip_while(|line| !line.contains(&heading)).skip(1).collect();
    let lines: Vec<&str> = lines.into_iter().take_while(|line| line.contains(['│', '|'])).collect();
    assert!(!lines.is_empty(), "the board does not say `{heading}` for {plan}:\n{board}");
    for (line, item) in lines.iter().zip(items) {
        let (kind, todo) = (item["kind"].as_str().unwrap(), item["todo"].as_str().unwrap_or_default());
        let is_more = line.contains(" more");
        assert!(is_more || line.contains(kind) && line.contains(todo), "{kind} {todo} of {plan}:\n{board}");
    }
}

#[test]
fn every_surface_gives_the_same_answer_to_the_same_question() {
    let plans = std::env::var("PUNCH_PLANS").ok().and_then(|plans| plans.parse().ok()).unwrap_or(PLANS);
    for seed in 1..=plans {
        let mut asked = Asked::new(seed);
        todos_are_one(&mut asked);
        inbox_is_one(&mut asked);
        work_is_one(&mut asked);
        counts_are_one(&mut asked);
    }
}

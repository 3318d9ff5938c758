//! Conversations that change inside a running agent: `/clear`, `/new`, `/resume`. One server process, several sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::agents::agent;
use proptest::prelude::*;
use punch_agents::hook::HookReport;
use punch_core::{Status, Uid};
use punch_engine::call::{CallResult, Dialect, Tool};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, PlanChoice};
use punch_serve::hook::HookRunner;
use punch_serve::{PlanToolService, ProjectStore, ServedProject, ToolRequest, ToolService};
use punch_store::{MemoryStore, SessionKey};
use serde_json::{Value, json};

use crate::equals_engine::Shared;

fn shared() -> Shared {
    let shared = Shared(Arc::new(MemoryStore::new()), Arc::new(AtomicI64::new(1_000)));
    shared.open(true).unwrap().unwrap().choose_or_create(&PlanChoice::default()).unwrap();
    shared
}

fn engine(project: &Shared) -> Engine {
    project.open(false).unwrap().unwrap()
}

/// An agent that runs, with our server and our hooks.
struct Window<'a> {
    project: &'a Shared,
    host: &'static str,
    service: PlanToolService,
    server: SessionKey,
    /// What the host started the server with.
    started_for: Option<SessionKey>,
    /// The conversation in the window.
    current: String,
    calls: usize,
    name: String,
    /// The hook before a tool runs.
    announces: bool,
}

impl<'a> Window<'a> {
    fn open(project: &'a Shared, host: &'static str, name: &str, session: &str) -> Self {
        let key = SessionKey::new(session, None);
        let started_for = (host == "claude").then_some(key);
        let opened = ServedProject {
            project: Box::new(Shared(project.0.clone(), project.1.clone())),
            settings: Config::load(&ConfigInputs::default()).unwrap().settings,
            worktree: None,
            tree: None,
            role: None,
            assigned: None,
            is_driven: false,
            started_for: started_for.clone(),
            checks: None,
            after_write: None,
        };
        let window = Self {
            project,
            host,
            service: PlanToolService::new(opened),
            server: SessionKey::new(format!("mcp-{name}"), None),
            started_for,
            current: session.to_owned(),
            calls: 0,
            name: name.to_owned(),
            announces: true,
        };
        window.report("SessionStart", &json!({"source": "startup"}));
        window
    }

    fn report(&self, event: &str, more: &Value) {
        let config = Config::load(&ConfigInputs::default()).unwrap();
        let mut report = json!({"session_id": self.current});
        more.as_object().into_iter().flatten().for_each(|(key, value)| report[key] = value.clone());
        let heard = HookReport::read(agent(self.host), event, &report).unwrap();
        let settings = config.for_agent(self.host);
        let hook = HookRunner {
            project: self.project,
            settings,
            worktree: None,
            root: None,
            host_cap: agent(self.host).stop_cap(None),
            assigned: None,
            consents: None,
            checks: None,
        };
        assert_eq!(hook.run(&heard).unwrap().problems.len(), 0);
    }

    fn switch(&mut self, session: &str, source: &str) {
        self.report("SessionEnd", &json!({"reason": source}));
        self.current = session.to_owned();
        self.report("SessionStart", &json!({"source": source}));
    }

    /// The host's names for the hooks before and after a tool.
    fn events(&self) -> (&'static str, &'static str) {
        if self.host == "gemini" { ("BeforeTool", "AfterTool") } else { ("PreToolUse", "PostToolUse") }
    }

    fn used(&self, arguments: &Value) -> Value {
        let name = if self.host == "gemini" { "mcp_punch_todo_write" } else { "mcp__punch__todo_write" };
        json!({"tool_name": name, "tool_input": arguments, "tool_use_id": self.id()})
    }

    fn id(&self) -> String {
        format!("toolu_{}_{}", self.name, self.calls)
    }

    /// A call as the server gets it, without its hooks.
    fn send(&self, arguments: &Value) -> (String, u64) {
        let ask = ToolRequest {
            dialect: Dialect::Native,
            tool: Tool::Write,
            arguments: arguments.clone(),
            session: self.started_for.clone().unwrap_or_else(|| self.server.clone()),
            server: Some(self.server.clone()),
            id: (self.host == "claude").then(|| self.id()),
            ..ToolRequest::reading(Value::Null)
        };
        let CallResult::Answered(reply) = self.service.call(&ask).unwrap() else { panic!("no check is wanted") };
        (reply.text, reply.revision)
    }

    fn before(&mut self, arguments: &Value) {
        self.calls += 1;
        if self.announces {
            self.report(self.events().0, &self.used(arguments));
        }
    }

    fn after(&self, arguments: &Value, revision: u64) {
        let mut used = self.used(arguments);
        used["tool_response"] = json!({"llmContent": [{"text": format!("ok\nrev {revision}")}]});
        self.report(self.events().1, &used);
    }

    /// A call with its hooks.
    fn call(&mut self, arguments: &Value) -> String {
        self.before(arguments);
        let (text, revision) = self.send(arguments);
        self.after(arguments, revision);
        text
    }

    fn ops(&mut self, ops: Value) -> String {
        self.call(&json!({"ops": ops}))
    }
}

/// The conversations whose work a todo is.
fn lists_of(project: &Shared, id: &str) -> Vec<String> {
    let engine = engine(project);
    let plan = engine.choose(&PlanChoice::default()).unwrap().unwrap();
    let uid: Uid = engine.whole(plan.id).unwrap().by_id(id).unwrap().uid;
    let sessions = engine.browse(|catalogue| catalogue.sessions(None, i64::MIN, usize::MAX)).unwrap();
    let mut names: Vec<String> = sessions.into_iter().map(|session| session.key.session_id().to_owned()).collect();
    names.retain(|name| engine.session(&SessionKey::new(name.clone(), None)).unwrap().unwrap().1.scope.contains(&uid));
    names.sort();
    names
}

fn owner_of(project: &Shared, id: &str) -> Option<String> {
    let engine = engine(project);
    let plan = engine.choose(&PlanChoice::default()).unwrap().unwrap();
    engine.whole(plan.id).unwrap().by_id(id).unwrap().owner.clone()
}

fn status_of(project: &Shared, id: &str) -> (Status, bool, Option<String>) {
    let engine = engine(project);
    let plan = engine.choose(&PlanChoice::default()).unwrap().unwrap();
    let whole = engine.whole(plan.id).unwrap();
    let todo = whole.by_id(id).unwrap();
    (todo.status, todo.flags.resume, todo.owner.clone().filter(|_| todo.status == Status::InProgress))
}

#[test]
fn what_an_ended_conversation_had_in_progress_waits_for_it_unless_it_is_taken() {
    for host in HOSTS {
        let project = shared();
        let mut window = Window::open(&project, host, "w", "one");
        let started = |id: &str| json!([{"op": "add", "id": id, "content": id}, {"op": "start", "id": id}]);
        window.ops(started("a"));
        window.switch("two", "clear");
        assert_eq!(status_of(&project, "a"), (Status::Pending, true, None), "{}", host);
        assert_eq!(lists_of(&project, "a"), ["one"], "it stays in the list of its conversation");
        window.switch("one", "resume");
        assert_eq!(status_of(&project, "a").2.as_deref(), Some("one"), "{}", host);
        window.switch("three", "clear");
        window.ops(json!([{"op": "start", "id": "a"}]));
        assert_eq!(status_of(&project, "a").2.as_deref(), Some("three"), "free to be taken");
        let mut other = Window::open(&project, host, "w2", "one");
        other.switch("one", "resume");
        assert_eq!(status_of(&project, "a").2.as_deref(), Some("three"), "taken");
        other.report("SessionEnd", &json!({"reason": "exit"}));
        assert_eq!(status_of(&project, "a").2.as_deref(), Some("three"), "an end gives back only one's own");
    }
}

#[test]
fn a_conversation_that_has_ended_is_not_written_for_by_a_server_that_bears_its_name() {
    let project = shared();
    let mut window = Window::open(&project, "claude", "w", "one");
    window.announces = false;
    window.ops(json!([{"op": "add", "id": "a", "content": "a"}, {"op": "start", "id": "a"}]));
    window.switch("two", "clear");
    let arguments = json!({"ops": [{"op": "add", "id": "b", "content": "b"}, {"op": "start", "id": "b"}]});
    window.before(&arguments);
    let (text, revision) = window.send(&arguments);
    assert!(!text.starts_with("Error"), "{text}");
    assert_eq!(lists_of(&project, "b"), ["mcp-w"]);
    window.after(&arguments, revision);
    assert_eq!((lists_of(&project, "b"), owner_of(&project, "b")), (vec!["two".into()], Some("two".into())));
}

const HOSTS: [&str; 3] = ["claude", "gemini", "qwen"];

#[test]
fn after_clear_and_resume_the_first_call_is_already_the_new_conversation_s() {
    for host in HOSTS {
        let project = shared();
        let mut window = Window::open(&project, host, "w", "one");
        window.ops(json!([{"op": "add", "id": "a", "content": "a"}, {"op": "start", "id": "a"}]));
        assert_eq!(owner_of(&project, "a").as_deref(), Some("one"), "{}", host);
        window.switch("two", "clear");
        let answer = window.ops(json!([{"op": "add", "id": "b", "content": "b"}, {"op": "start", "id": "b"}]));
        assert!(!answer.contains("in_progress_limit"), "{}: {answer}", host);
        assert_eq!(owner_of(&project, "b").as_deref(), Some("two"), "{}", host);
        window.ops(json!([{"op": "done", "id": "b"}, {"op": "add", "id": "c", "content": "c"}]));
        window.switch("one", "resume");
        window.ops(json!([{"op": "add", "id": "d", "content": "d"}]));
        let lists = |id: &str| lists_of(&project, id);
        assert_eq!((lists("b"), lists("c"), lists("d")), (vec!["two".into()], vec!["two".into()], vec!["one".into()]));
    }
}

#[test]
fn a_conversation_that_nobody_announced_is_recognised_by_its_receipt() {
    for host in HOSTS {
        let project = shared();
        let mut window = Window::open(&project, host, "w", "one");
        window.announces = false;
        window.ops(json!([{"op": "add", "id": "a", "content": "a"}]));
        window.switch("two", "clear");
        window.ops(json!([{"op": "add", "id": "b", "content": "b"}, {"op": "start", "id": "b"}]));
        assert_eq!(lists_of(&project, "b"), ["two"], "{}", host);
        assert_eq!(owner_of(&project, "b").as_deref(), Some("two"), "{}", host);
        // The next call is right from the beginning.
        let arguments = json!({"ops": [{"op": "add", "id": "c", "content": "c"}]});
        window.before(&arguments);
        window.send(&arguments);
        assert_eq!(lists_of(&project, "c"), ["two"], "{}", host);
        assert_eq!(lists_of(&project, "a"), ["one"], "{}", host);
    }
}

#[test]
fn the_same_call_from_two_windows_at_once_is_not_mixed_up() {
    for host in ["gemini", "qwen"] {
        let project = shared();
        let mut first = Window::open(&project, host, "w1", "one");
        let mut second = Window::open(&project, host, "w2", "two");
        let arguments = json!({"ops": [{"op": "add", "content": "same"}]});
        first.before(&arguments);
        second.before(&arguments);
        for window in [&first, &second] {
            let (_, revision) = window.send(&arguments);
            window.after(&arguments, revision);
        }
        assert_eq!((lists_of(&project, "T-1"), lists_of(&project, "T-2")), (vec!["one".into()], vec!["two".into()]));
    }
}

#[test]
fn an_announcement_is_written_only_where_the_server_cannot_know() {
    let project = shared();
    let written = |window: &mut Window<'_>, id: &str| {
        let arguments = json!({"ops": [{"op": "add", "id": id, "content": id}]});
        window.before(&arguments);
        let pending = engine(&project).browse(|catalogue| catalogue.expected_calls()).unwrap();
        let (_, revision) = window.send(&arguments);
        window.after(&arguments, revision);
        let left = engine(&project).browse(|catalogue| catalogue.expected_calls()).unwrap();
        assert_eq!(left, [], "{id}");
        !pending.is_empty()
    };
    let mut claude = Window::open(&project, "claude", "c", "one");
    assert!(!written(&mut claude, "a"), "its server was started with this session");
    claude.switch("two", "clear");
    assert!(written(&mut claude, "b"), "the first call after a change");
    assert!(!written(&mut claude, "c"), "known by then");
    let mut gemini = Window::open(&project, "gemini", "g", "three");
    assert!(written(&mut gemini, "d"), "nobody told its server");
    assert!(!written(&mut gemini, "e"), "known by then");
}

#[test]
fn what_was_announced_and_never_called_is_forgotten() {
    let project = shared();
    let mut first = Window::open(&project, "gemini", "w1", "one");
    let arguments = json!({"ops": [{"op": "add", "content": "x"}]});
    first.before(&arguments);
    project.1.fetch_add(120_000, Ordering::Relaxed);
    let mut second = Window::open(&project, "gemini", "w2", "two");
    second.announces = false;
    second.call(&arguments);
    assert_eq!(lists_of(&project, "T-1"), ["two"]);
}

/// What happens in one of three windows.
#[derive(Clone, Debug)]
enum Step {
    Call,
    Clear,
    Resume(usize),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_call_is_the_work_of_the_conversation_in_its_window(
        steps in prop::collection::vec(
            (0..3_usize, prop_oneof![4 => Just(Step::Call), 1 => Just(Step::Clear), 1 => (0..4_usize).prop_map(Step::Resume)]),
            1..24,
        ),
        announced in prop::bool::weighted(0.7),
    ) {
        let project = shared();
        let mut windows: Vec<Window<'_>> =
            HOSTS.iter().enumerate().map(|(n, host)| Window::open(&project, host, &format!("w{n}"), &format!("s{n}-0"))).collect();
        let mut known: Vec<Vec<String>> = windows.iter().map(|window| vec![window.current.clone()]).collect();
        for (n, (at, step)) in steps.into_iter().enumerate() {
            let window = &mut windows[at];
            window.announces = announced;
            match step {
                Step::Clear => {
                    let session = format!("s{at}-{}", known[at].len());
                    known[at].push(session.clone());
                    window.switch(&session, "clear");
                }
                Step::Resume(which) => {
                    let session = known[at][which % known[at].len()].clone();
                    window.switch(&session, "resume");
                }
                Step::Call => {
                    let id = format!("t{n}");
                    let arguments = json!({"ops": [{"op": "add", "id": id, "content": id}]});
                    window.before(&arguments);
                    let (_, revision) = window.send(&arguments);
                    if announced {
                        prop_assert_eq!(lists_of(&project, &id), [window.current.clone()]);
                    }
                    window.after(&arguments, revision);
                    prop_assert_eq!(lists_of(&project, &id), [window.current.clone()]);
                }
            }
        }
    }
}

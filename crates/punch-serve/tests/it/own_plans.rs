//! The setting `plans`: whether conversations share a plan, for tools and for hooks.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use crate::agents::agent;
use punch_agents::hook::HookReport;
use punch_engine::Engine;
use punch_engine::call::{CallResult, Dialect, Tool};
use punch_engine::config::{Config, ConfigInputs, Settings};
use punch_serve::hook::HookRunner;
use punch_serve::{PlanToolService, ProjectStore, ServedProject, ToolRequest, ToolService};
use punch_store::{MemoryStore, SessionKey};
use serde_json::{Value, json};

use crate::equals_engine::Shared;

struct World {
    project: Shared,
    settings: Settings,
}

fn world(plans: &str) -> World {
    let flags = [("plans".to_owned(), plans.to_owned())].into();
    let settings = Config::load(&ConfigInputs { flags, ..ConfigInputs::default() }).unwrap().settings;
    World { project: Shared(Arc::new(MemoryStore::new()), Arc::new(AtomicI64::new(1_000))), settings }
}

impl World {
    /// A call of a server of its own, as every conversation has.
    fn call(&self, session: &str, dialect: Dialect, tool: Tool, arguments: Value) -> String {
        let opened = ServedProject {
            project: Box::new(Shared(self.project.0.clone(), self.project.1.clone())),
            settings: self.settings.clone(),
            worktree: None,
            tree: None,
            role: None,
            assigned: None,
            is_driven: false,
            started_for: None,
            checks: None,
            after_write: None,
        };
        let session = SessionKey::new(session, None);
        let ask = ToolRequest { dialect, tool, arguments, session, ..ToolRequest::reading(Value::Null) };
        let CallResult::Answered(answer) = PlanToolService::new(opened).call(&ask).unwrap() else {
            panic!("no check is wanted")
        };
        answer.text
    }

    fn report(&self, event: &str, report: &Value) -> Option<String> {
        let heard = HookReport::read(agent("claude"), event, report).unwrap();
        let (project, settings) = (&self.project, &self.settings);
        let hook = HookRunner {
            project,
            settings,
            worktree: None,
            root: None,
            host_cap: None,
            assigned: None,
            consents: None,
            checks: None,
        };
        hook.run(&heard).unwrap().effect.context
    }

    /// Every plan with its todos.
    fn plans(&self) -> Vec<(String, Vec<String>)> {
        let engine: Engine = self.project.open(false).unwrap().unwrap();
        let plans = engine.plans().unwrap().into_iter();
        let todos = |plan| engine.whole(plan).unwrap().live().iter().map(|t| t.content.clone()).collect();
        plans.map(|plan| (plan.name, todos(plan.id))).collect()
    }
}

fn add(content: &str) -> Value {
    json!({"ops": [{"op": "add", "content": content}]})
}

#[test]
fn tools_work_on_the_shared_plan_or_on_one_for_every_conversation() {
    for (plans, expected) in [
        ("shared", vec![("main", vec!["a", "b", "a again"])]),
        ("session", vec![("session-one", vec!["a", "a again"]), ("session-two", vec!["b"])]),
    ] {
        let world = world(plans);
        world.call("one", Dialect::Native, Tool::Write, add("a"));
        let read = world.call("two", Dialect::Native, Tool::Read, json!({}));
        assert_eq!(read.contains("T-1 a"), plans == "shared", "{read}");
        world.call("two", Dialect::Native, Tool::Write, add("b"));
        world.call("one", Dialect::Native, Tool::Write, add("a again"));
        let found = world.plans();
        let found: Vec<(&str, Vec<&str>)> =
            found.iter().map(|(name, todos)| (name.as_str(), todos.iter().map(String::as_str).collect())).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn hooks_copy_lists_into_the_shared_plan_or_into_one_for_every_conversation() {
    for (plans, expected) in [
        ("shared", vec![("main", vec!["of one", "of two"])]),
        ("session", vec![("session-one", vec!["of one"]), ("session-two", vec!["of two"])]),
    ] {
        let world = world(plans);
        for session in ["one", "two"] {
            let started = world.report("SessionStart", &json!({"session_id": session, "source": "startup"}));
            assert_eq!(started.is_some(), plans == "shared" && session == "two", "{started:?}");
            let input =
                json!({"todos": [{"content": format!("of {session}"), "status": "pending", "activeForm": "x"}]});
            let used = json!({"session_id": session, "tool_name": "TodoWrite", "tool_input": input});
            world.report("PostToolUse", &used);
        }
        // The server of a conversation finds the plan that its hooks have made.
        let read = world.call("two", Dialect::Native, Tool::Read, json!({}));
        assert!(read.contains("of two"), "{read}");
        let found = world.plans();
        let found: Vec<(&str, Vec<&str>)> =
            found.iter().map(|(name, todos)| (name.as_str(), todos.iter().map(String::as_str).collect())).collect();
        assert_eq!(found, expected);
    }
}

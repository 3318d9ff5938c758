//! What hooks see of an agent's work: changed files, checks and their results, and what that means for a todo. Each agent
//! reports in its own form, as real ones do.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use punch_agents::hook::{HookReport, answer};
use punch_core::{Edit, Keep, Op, Proof, Ref, Status, Todo};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, PlanChoice, WriteRequest};
use punch_serve::ProjectStore;
use punch_serve::hook::HookRunner;
use punch_store::{MemoryStore, PlanId};
use serde_json::{Value, json};

use crate::agents::agent;
use crate::equals_engine::Shared;

/// How an agent reports its tools.
struct Form {
    host: &'static str,
    stop: &'static str,
    list: fn(Value) -> (&'static str, Value),
    edit: fn(&str) -> (&'static str, Value),
    run: fn(&str, i32) -> (&'static str, Value),
    /// It reports exit codes.
    knows: bool,
}

const OUTPUT: &str = "running 42 tests\ntest result: ok. 42 passed; 0 failed";

fn tool(event: &'static str, name: &str, input: Value, response: Value) -> (&'static str, Value) {
    (event, json!({"tool_name": name, "tool_input": input, "tool_response": response}))
}

const FORMS: [Form; 7] = [
    Form {
        host: "claude",
        stop: "Stop",
        list: |rows| tool("PostToolUse", "TodoWrite", json!({"todos": rows}), json!({})),
        edit: |path| {
            tool("PostToolUse", "Edit", json!({"file_path": format!("/repo/{path}")}), json!({"filePath": path}))
        },
        run: |line, code| {
            let input = json!({"command": line, "description": "Run a command"});
            if code == 0 {
                let response = json!({"stdout": OUTPUT, "stderr": "", "interrupted": false, "isImage": false});
                return tool("PostToolUse", "Bash", input, response);
            }
            let error = format!("Exit code {code}\n{OUTPUT}");
            let report = json!({"tool_name": "Bash", "tool_input": input, "error": error, "is_interrupt": false});
            ("PostToolUseFailure", report)
        },
        knows: true,
    },
    Form {
        host: "codex",
        stop: "Stop",
        list: |rows| tool("PostToolUse", "update_plan", json!({"plan": rows}), json!("Plan updated")),
        edit: |path| {
            let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch");
            tool("PostToolUse", "apply_patch", json!({"command": patch}), json!("Success."))
        },
        run: |line, _| tool("PostToolUse", "Bash", json!({"command": line}), json!(OUTPUT)),
        knows: false,
    },
    Form {
        host: "gemini",
        stop: "AfterAgent",
        list: |rows| tool("AfterTool", "write_todos", json!({"todos": rows}), json!({"llmContent": "ok"})),
        edit: |path| {
            let input = json!({"file_path": format!("/repo/{path}"), "old_string": "a", "new_string": "b"});
            tool(
                "AfterTool",
                "replace",
                input,
                json!({"llmContent": "Successfully modified file", "returnDisplay": {}}),
            )
        },
        run: |line, code| {
            let code = if code == 0 { String::new() } else { format!("\nExit Code: {code}") };
            let text =
                format!("<untrusted_context>\nOutput: {OUTPUT}{code}\nProcess Group PGID: 4711\n</untrusted_context>");
            let response = json!({"llmContent": text, "returnDisplay": OUTPUT});
            tool("AfterTool", "run_shell_command", json!({"command": line}), response)
        },
        knows: true,
    },
    Form {
        host: "qwen",
        stop: "Stop",
        list: |rows| tool("PostToolUse", "todo_write", json!({"todos": rows}), json!({"llmContent": "ok"})),
        edit: |path| {
            let input = json!({"file_path": format!("/repo/{path}"), "content": "b"});
            tool("PostToolUse", "write_file", input, json!({"llmContent": "Successfully overwrote file"}))
        },
        run: |line, code| {
            let text = format!(
                "Command: {line}\nDirectory: (root)\nOutput: {OUTPUT}\nError: (none)\nExit Code: {code}\nSignal: (none)\n\
                 Process Group PGID: 4711"
            );
            if code == 0 {
                return tool("PostToolUse", "run_shell_command", json!({"command": line}), json!({"llmContent": text}));
            }
            let input = json!({"command": line});
            let report =
                json!({"tool_name": "run_shell_command", "tool_input": input, "error": text, "is_interrupt": false});
            ("PostToolUseFailure", report)
        },
        knows: true,
    },
    Form {
        host: "opencode",
        stop: "session.idle",
        list: |rows| ("tool.execute.after", json!({"tool": "todowrite", "args": {"todos": rows}, "output": "[]"})),
        edit: |path| {
            let args = json!({"filePath": format!("/repo/{path}"), "oldString": "a", "newString": "b"});
            ("tool.execute.after", json!({"tool": "edit", "args": args, "output": "Edit applied successfully."}))
        },
        run: |line, code| {
            let args = json!({"command": line, "description": "Runs a command"});
            ("tool.execute.after", json!({"tool": "bash", "args": args, "exit": code, "output": OUTPUT}))
        },
        knows: true,
    },
    Form {
        host: "droid",
        stop: "Stop",
        list: |rows| tool("PostToolUse", "TodoWrite", json!({"todos": rows}), json!("ok")),
        edit: |path| {
            tool("PostToolUse", "Create", json!({"file_path": format!("/repo/{path}"), "content": "x"}), json!("ok"))
        },
        run: |line, code| {
            let response = json!(format!("{OUTPUT}\n\n[Process exited with code {code}]"));
            tool("PostToolUse", "Execute", json!({"command": line, "riskLevel": "low"}), response)
        },
        knows: true,
    },
    Form {
        host: "cursor",
        stop: "stop",
        list: |rows| {
            ("postToolUse", json!({"tool_name": "TodoWrite", "tool_input": {"todos": rows}, "tool_output": "{}"}))
        },
        edit: |path| {
            let input = json!({"file_path": format!("/repo/{path}")});
            ("postToolUse", json!({"tool_name": "Write", "tool_input": input, "tool_output": "{}"}))
        },
        run: |line, code| {
            let output = json!({"exitCode": code, "stdout": OUTPUT}).to_string();
            ("postToolUse", json!({"tool_name": "Shell", "tool_input": {"command": line}, "tool_output": output}))
        },
        knows: true,
    },
];

/// An agent with hooks in a project.
struct Agent<'a> {
    form: &'a Form,
    project: Shared,
    flags: Vec<(String, String)>,
    calls: std::cell::Cell<u32>,
}

impl<'a> Agent<'a> {
    fn new(form: &'a Form, flags: &[(&str, &str)]) -> Self {
        let project = Shared(Arc::new(MemoryStore::new()), Arc::new(AtomicI64::new(1_000)));
        let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Self { form, project, flags, calls: Default::default() }
    }

    fn report(&self, (event, more): (&str, Value)) -> String {
        self.calls.set(self.calls.get() + 1);
        let call = format!("call-{}", self.calls.get());
        let mut report = json!({"session_id": "s", "conversation_id": "s", "cwd": "/repo", "tool_use_id": call});
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let config = Config::load(&ConfigInputs { flags: self.flags.clone(), ..ConfigInputs::default() }).unwrap();
        let heard = HookReport::read(agent(self.form.host), event, &report).unwrap();
        let hook = HookRunner {
            project: &self.project,
            settings: config.for_agent(self.form.host),
            worktree: None,
            root: Some(PathBuf::from("/repo")),
            host_cap: None,
            assigned: None,
            consents: None,
            checks: None,
        };
        let done = hook.run(&heard).unwrap();
        assert!(done.problems.is_empty(), "{:?}", done.problems);
        answer(&heard, &done.effect)
    }

    /// The agent's own list with one todo.
    fn list(&self, status: &str) -> String {
        let row = json!({"id": "1", "content": "write it", "description": "write it", "step": "write it",
            "activeForm": "writing it", "status": status});
        self.report((self.form.list)(json!([row])))
    }

    fn edit(&self, path: &str) -> String {
        self.report((self.form.edit)(path))
    }

    fn run(&self, line: &str, code: i32) -> String {
        self.report((self.form.run)(line, code))
    }

    fn stop(&self) -> String {
        self.report((self.form.stop, json!({})))
    }

    fn engine(&self) -> Engine {
        self.project.open(false).unwrap().unwrap()
    }

    fn plan(&self) -> PlanId {
        self.engine().choose(&PlanChoice::default()).unwrap().unwrap().id
    }

    fn todo(&self) -> Todo {
        self.engine().whole(self.plan()).unwrap().live()[0].clone()
    }
}

#[test]
fn a_completed_todo_carries_what_hooks_saw_of_the_work() {
    for form in &FORMS {
        let of = |steps: &[(&str, i32)]| {
            let agent = Agent::new(form, &[]);
            agent.list("in_progress");
            for (step, code) in steps {
                match step.strip_prefix("edit ") {
                    Some(path) => drop(agent.edit(path)),
                    None => drop(agent.run(step, *code)),
                }
            }
            let said = agent.list("completed");
            let todo = agent.todo();
            assert_eq!(todo.status, Status::Completed, "{}", form.host);
            (todo.proof(), todo, said)
        };
        let expected = |proof| Some(if form.knows { proof } else { Proof::Unchecked });
        let (proof, todo, _) = of(&[("edit src/a.rs", 0), ("cd x && cargo test", 0)]);
        assert_eq!(proof, expected(Proof::Checked), "{}", form.host);
        assert_eq!(todo.observed().unwrap().changed, 1, "{}", form.host);
        if form.knows {
            let check = todo.last_check().unwrap();
            assert_eq!((check.command.as_ref().unwrap().line(), check.exit_code), ("cargo test".to_owned(), Some(0)));
        }
        let (proof, _, said) = of(&[("edit src/a.rs", 0), ("cargo test", 101)]);
        assert_eq!(proof, expected(Proof::Failing), "{}", form.host);
        let warned = said.contains("is marked done, but its check `cargo test` failed with exit code 101");
        assert_eq!(warned, form.knows, "{}: {said}", form.host);
        let (proof, ..) = of(&[("edit src/a.rs", 0), ("cargo test", 0), ("edit src/a.rs", 0)]);
        assert_eq!(proof, expected(Proof::Outdated), "{}", form.host);
        let (proof, ..) = of(&[("edit src/a.rs", 0), ("cargo test | tail", 0), ("echo cargo test passed", 0)]);
        assert_eq!(proof, Some(Proof::Unchecked), "{}", form.host);
        let (proof, ..) = of(&[("ls -la", 0)]);
        assert_eq!(proof, None, "{}: nothing was changed and nothing was checked", form.host);
        let (proof, ..) = of(&[("edit ../elsewhere/a.rs", 0)]);
        assert_eq!(proof, None, "{}: a file of another project", form.host);
    }
}

#[test]
fn the_plan_asks_once_for_a_check() {
    for form in &FORMS {
        let agent = Agent::new(form, &[("policy.verify", "evidence")]);
        agent.list("in_progress");
        agent.edit("src/a.rs");
        let said = agent.list("completed");
        assert_eq!(agent.todo().status, Status::InProgress, "{}", form.host);
        assert!(said.contains("no passing check was seen"), "{}: {said}", form.host);
        agent.run("ls", 0);
        assert_eq!(agent.todo().status, Status::InProgress, "{}", form.host);
        agent.run("cargo test", 0);
        if form.knows {
            assert_eq!(agent.todo().proof(), Some(Proof::Checked), "{}: the check completes it", form.host);
            continue;
        }
        let said = agent.stop();
        assert_eq!(agent.todo().proof(), Some(Proof::Unchecked), "{}: {said}", form.host);
    }
}

#[test]
fn a_todo_that_is_ticked_without_having_been_started_needs_a_check_too() {
    for form in &FORMS {
        let agent = Agent::new(form, &[("policy.verify", "evidence")]);
        agent.list("pending");
        agent.edit("src/a.rs");
        let said = agent.list("completed");
        assert!(said.contains("no passing check was seen"), "{}: {said}", form.host);
        assert_eq!(agent.todo().status, Status::InProgress, "{}", form.host);
        agent.run("cargo test", 0);
        if form.knows {
            assert_eq!(agent.todo().proof(), Some(Proof::Checked), "{}: the check completes it", form.host);
            continue;
        }
        agent.stop();
        assert_eq!(agent.todo().proof(), Some(Proof::Unchecked), "{}", form.host);
    }
}

#[test]
fn an_agent_that_stops_without_a_check_is_asked_once_more() {
    for form in &FORMS {
        let agent = Agent::new(form, &[("policy.verify", "evidence")]);
        agent.list("in_progress");
        agent.edit("src/a.rs");
        agent.list("completed");
        let said = agent.stop();
        let asked = "no passing check was seen: T-1 (write it). Run their tests";
        assert!(said.contains(asked), "{}: {said}", form.host);
        assert_eq!(agent.todo().status, Status::InProgress, "{}", form.host);
        let said = agent.stop();
        assert!(!said.contains(asked), "{}: {said}", form.host);
        assert_eq!(agent.todo().proof(), Some(Proof::Unchecked), "{}: {said}", form.host);
    }
}

#[test]
fn a_todo_that_waits_for_its_check_is_not_the_one_that_the_agent_works_on() {
    let agent = Agent::new(&FORMS[0], &[("policy.verify", "evidence")]);
    let list = |first: &str, second: &str| {
        let row = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
        agent.report((agent.form.list)(json!([row("write it", first), row("test it", second)])))
    };
    list("in_progress", "pending");
    agent.edit("src/a.rs");
    let said = list("completed", "in_progress");
    assert!(said.contains("T-1 is not done yet"), "{said}");
    let said = agent.run("ls missing", 2);
    assert!(said.contains("while T-2 is in progress"), "{said}");
    let said = agent.report(("SessionStart", json!({"source": "compact"})));
    assert!(said.contains("You were working on T-2."), "{said}");
}

#[test]
fn an_agent_that_may_stop_is_not_asked_again() {
    let agent = Agent::new(&FORMS[0], &[("policy.verify", "evidence"), ("keep_going.enabled", "false")]);
    agent.list("in_progress");
    agent.edit("src/a.rs");
    agent.list("completed");
    assert_eq!(agent.stop(), "");
    assert_eq!(agent.todo().proof(), Some(Proof::Unchecked));
}

#[test]
fn a_failing_check_keeps_the_todo_open_until_it_passes() {
    for form in FORMS.iter().filter(|form| form.knows) {
        let agent = Agent::new(form, &[("policy.verify", "evidence")]);
        agent.list("in_progress");
        agent.edit("src/a.rs");
        agent.run("cargo test", 101);
        let refused = "is not done: `cargo test` failed with exit code 101";
        let said = agent.list("completed");
        assert!(said.contains(refused), "{}: {said}", form.host);
        let said = agent.stop();
        assert!(said.contains(refused), "{}: {said}", form.host);
        assert_eq!(agent.todo().status, Status::InProgress, "{}", form.host);
        agent.run("cargo clippy", 0);
        assert_eq!(agent.todo().status, Status::InProgress, "{}: a lint covers no tests", form.host);
        agent.edit("src/a.rs");
        agent.run("cargo test", 0);
        assert_eq!(agent.todo().proof(), Some(Proof::Checked), "{}", form.host);
    }
}

#[test]
fn edits_outside_the_declared_files_are_reported_once_and_shown() {
    for form in &FORMS {
        let agent = Agent::new(form, &[]);
        agent.list("in_progress");
        let edit = Edit { files: Keep::Set(vec!["src/parser/**".into(), "Cargo.toml".into()]), ..Edit::default() };
        let op = Op::Edit(Ref::Uid(agent.todo().uid), edit);
        agent.engine().submit(agent.plan(), &WriteRequest::by("user", None), &[op]).unwrap();
        for inside in ["src/parser/a.rs", "Cargo.toml", "Cargo.lock"] {
            let said = agent.edit(inside);
            assert!(!said.contains("not among the files"), "{}: {inside}: {said}", form.host);
        }
        let said = agent.edit("src/lexer.rs");
        assert!(said.contains("src/lexer.rs is not among the files of T-1"), "{}: {said}", form.host);
        assert_eq!(agent.todo().observed().unwrap().outside, ["src/lexer.rs"], "{}", form.host);
        let said = agent.edit("src/other.rs");
        assert!(!said.contains("not among the files"), "{}: once is enough: {said}", form.host);
        agent.list("completed");
        let todo = agent.todo();
        assert_eq!(todo.observed().unwrap().outside, ["src/lexer.rs", "src/other.rs"], "{}", form.host);
    }
}

#[test]
fn commands_of_the_user_count_as_checks() {
    let form = &FORMS[0];
    for (setting, proof) in [("just ci, ./scripts/check.sh", Proof::Checked), ("just ci", Proof::Unchecked)] {
        let agent = Agent::new(form, &[("verify.checks", setting)]);
        agent.list("in_progress");
        agent.edit("src/a.rs");
        agent.run("./scripts/check.sh --fast", 0);
        agent.list("completed");
        assert_eq!(agent.todo().proof(), Some(proof), "{setting}");
    }
}

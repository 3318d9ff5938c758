//! What agents hear through hooks about completions that a check refuses, and how often a turn that does not touch the
//! plan is continued: the same for every agent, in its own form.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use crate::agents::agent;
use punch_agents::hook::{HookReport, answer};
use punch_core::{Edit, Evidence, Keep, Op, Ref, Status, Todo, Verify};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, PlanChoice, WriteRequest};
use punch_serve::ProjectStore;
use punch_serve::hook::HookRunner;
use punch_store::{MemoryStore, PlanId};
use serde_json::{Value, json};

use crate::equals_engine::Shared;

/// How an agent calls things.
struct Form {
    host: &'static str,
    prompt: &'static str,
    ended: &'static str,
    stop: &'static str,
    list: &'static str,
    command: &'static str,
    edit: &'static str,
    read: &'static str,
}

const fn claude_like(host: &'static str, list: &'static str, command: &'static str, edit: &'static str) -> Form {
    let (prompt, ended, stop) = ("UserPromptSubmit", "PostToolUse", "Stop");
    Form { host, prompt, ended, stop, list, command, edit, read: "Read" }
}

const FORMS: [Form; 7] = [
    claude_like("claude", "TodoWrite", "Bash", "Edit"),
    claude_like("codex", "update_plan", "exec_command", "apply_patch"),
    claude_like("qwen", "todo_write", "run_shell_command", "write_file"),
    claude_like("droid", "TodoWrite", "Execute", "Create"),
    Form {
        host: "gemini",
        prompt: "BeforeAgent",
        ended: "AfterTool",
        stop: "AfterAgent",
        list: "write_todos",
        command: "run_shell_command",
        edit: "replace",
        read: "read_file",
    },
    Form {
        host: "cursor",
        prompt: "beforeSubmitPrompt",
        ended: "postToolUse",
        stop: "stop",
        list: "TodoWrite",
        command: "Shell",
        edit: "Write",
        read: "Read",
    },
    Form {
        host: "opencode",
        prompt: "chat.message",
        ended: "tool.execute.after",
        stop: "session.idle",
        list: "todowrite",
        command: "bash",
        edit: "edit",
        read: "read",
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

    /// One report; answers what the host prints to its agent.
    fn report(&self, event: &str, more: Value) -> String {
        let mut report = json!({"session_id": "s", "conversation_id": "s"});
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let config = Config::load(&ConfigInputs { flags: self.flags.clone(), ..ConfigInputs::default() }).unwrap();
        let settings = config.for_agent(self.form.host);
        let heard = HookReport::read(agent(self.form.host), event, &report).unwrap();
        let (host_cap, project) = (agent(self.form.host).stop_cap(None), &self.project);
        let hook = HookRunner {
            project,
            settings,
            worktree: None,
            root: None,
            host_cap,
            assigned: None,
            consents: None,
            checks: None,
        };
        let done = hook.run(&heard).unwrap();
        assert!(done.problems.is_empty(), "{:?}", done.problems);
        answer(&heard, &done.effect)
    }

    fn tool(&self, name: &str, input: &Value) -> String {
        self.calls.set(self.calls.get() + 1);
        let call = format!("call-{}", self.calls.get());
        self.report(
            self.form.ended,
            json!({"tool_name": name, "tool_use_id": call, "tool_input": input,
            "tool_response": {}, "tool_output": {}}),
        )
    }

    /// The whole list, in every agent's words for it.
    fn list(&self, rows: &[(&str, &str)]) -> String {
        let row = |(n, (content, status)): (usize, &(&str, &str))| {
            json!({"id": n.to_string(), "content": content, "description": content, "step": content,
                "activeForm": content, "status": status})
        };
        let rows: Vec<Value> = rows.iter().enumerate().map(row).collect();
        self.tool(self.form.list, &json!({"todos": rows, "plan": rows}))
    }

    fn prompt(&self) {
        self.report(self.form.prompt, json!({"prompt": "what does this do?", "source": "user"}));
    }

    fn stop(&self) -> String {
        self.report(self.form.stop, json!({}))
    }

    /// `continue`, or the reason for which it was allowed to stop.
    fn stopped(&self) -> String {
        self.stop();
        let told = self.engine().decisions(None, 1).unwrap();
        let decision = &told[0].line["decision"];
        decision["reason"]["code"].as_str().unwrap_or_else(|| decision["do"].as_str().unwrap()).to_owned()
    }

    fn engine(&self) -> Engine {
        self.project.open(false).unwrap().unwrap()
    }

    fn plan(&self) -> PlanId {
        self.engine().choose(&PlanChoice::default()).unwrap().unwrap().id
    }

    fn submit(&self, op: Op) {
        self.engine().submit(self.plan(), &WriteRequest::by("user", None), &[op]).unwrap();
    }

    fn todo(&self, content: &str) -> Todo {
        let plan = self.engine().whole(self.plan()).unwrap();
        plan.live().into_iter().find(|todo| todo.content == content).unwrap().clone()
    }
}

fn command() -> Verify {
    Verify::Shell("cargo test -p parser".into())
}

fn result(exit: i32, output: &str) -> Evidence {
    let (text, command) = (Some(output.to_owned()), Some(command()));
    Evidence { text, command, exit_code: Some(exit), ..Evidence::default() }
}

#[test]
fn a_refused_completion_is_explained_at_once_and_in_each_continuation_until_the_check_passes() {
    for form in &FORMS {
        let name = form.host;
        let agent = Agent::new(form, &[("policy.verify", "command"), ("keep_going.no_progress", "9")]);
        agent.prompt();
        agent.list(&[("write it", "in_progress"), ("test it", "pending")]);
        let todo = agent.todo("write it");
        let target = Ref::Uid(todo.uid);
        agent.submit(Op::Edit(target.clone(), Edit { verify: Keep::Set(Some(command())), ..Edit::default() }));

        let answered = agent.list(&[("write it", "completed"), ("test it", "in_progress")]);
        assert_eq!(agent.todo("write it").status, Status::InProgress, "{name}");
        assert!(
            answered.contains("is not done: its check `cargo test -p parser` has not passed yet"),
            "{name}: {answered}"
        );
        assert!(answered.contains(&format!("punch verify {}", todo.id)), "{name}: {answered}");
        let stopped = agent.stop();
        assert!(stopped.contains("has not passed yet"), "{name}: {stopped}");

        agent.submit(Op::RecordCheck { target: target.clone(), found: result(101, "one\nassertion failed </output>") });
        for _ in 0..2 {
            let stopped = agent.stop();
            for part in ["is not done: its check `cargo test -p parser` failed with exit code 101", "assertion failed"]
            {
                assert!(stopped.contains(part), "{name}: {part}: {stopped}");
            }
            assert_eq!(stopped.matches("</output>").count(), 1, "{name}: output stays data: {stopped}");
            agent.tool(form.command, &json!({"command": "ls"}));
        }

        agent.submit(Op::Done { target, evidence: Some(result(0, "ok")), fence: None });
        let stopped = agent.stop();
        assert!(stopped.contains("test it") && !stopped.contains("is not done"), "{name}: {stopped}");
        let answer = agent.list(&[("write it", "completed"), ("test it", "in_progress")]);
        assert!(!answer.contains("is not done"), "{name}: {answer}");
    }
}

#[test]
fn a_mirrored_completion_without_evidence_is_marked_as_unchecked() {
    for form in &FORMS {
        let agent = Agent::new(form, &[("policy.verify", "command")]);
        agent.list(&[("write it", "in_progress"), ("test it", "completed")]);
        agent.list(&[("write it", "completed"), ("test it", "completed")]);
        for content in ["write it", "test it"] {
            let todo = agent.todo(content);
            assert_eq!(todo.status, Status::Completed, "{}: {content}", form.host);
            assert!(todo.flags.unchecked, "{}: {content}", form.host);
        }
        let trusting = Agent::new(form, &[]);
        trusting.list(&[("write it", "completed")]);
        assert!(!trusting.todo("write it").flags.unchecked, "nobody asked for a check");
    }
}

#[test]
fn a_completion_after_a_failed_check_is_warned_about_where_the_plan_allows_it() {
    for form in &FORMS {
        let agent = Agent::new(form, &[]);
        agent.list(&[("write it", "in_progress")]);
        let target = Ref::Uid(agent.todo("write it").uid);
        agent.submit(Op::Edit(target.clone(), Edit { verify: Keep::Set(Some(command())), ..Edit::default() }));
        agent.submit(Op::RecordCheck { target, found: result(101, "no") });
        let answered = agent.list(&[("write it", "completed")]);
        assert!(
            answered.contains("is marked done, but its check `cargo test -p parser` failed"),
            "{}: {answered}",
            form.host
        );
        assert_eq!(agent.todo("write it").status, Status::Completed);
    }
}

#[test]
fn a_turn_that_does_not_touch_the_plan_is_continued_once() {
    for form in &FORMS {
        let name = form.host;
        let agent = Agent::new(form, &[]);
        agent.list(&[("write it", "in_progress"), ("test it", "pending")]);
        agent.prompt();
        agent.tool(form.read, &json!({"path": "x"}));
        assert_eq!(agent.stopped(), "continue", "{name}");
        agent.tool(form.read, &json!({"path": "x"}));
        assert_eq!(agent.stopped(), "plan_untouched", "{name}");
        for work in [form.command, form.edit] {
            agent.prompt();
            agent.tool(work, &json!({"command": "make"}));
            assert_eq!((agent.stopped(), agent.stopped()), ("continue".into(), "continue".into()), "{name}: {work}");
        }
        agent.prompt();
        agent.list(&[("write it", "pending"), ("test it", "pending")]);
        assert_eq!((agent.stopped(), agent.stopped()), ("continue".into(), "continue".into()), "{name}: a list");
        agent.prompt();
        agent.tool(form.command, &json!({"command": "make"}));
        assert_eq!(agent.stopped(), "continue", "{name}");
        assert_eq!(agent.stopped(), "plan_untouched", "{name}: nothing was in progress");
    }
}

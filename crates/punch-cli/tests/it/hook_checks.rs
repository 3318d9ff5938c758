//! Checks that hooks start: what agents hear about them in each form, that none runs twice or survives unnoticed, and what
//! the whole plan's check does. Reports are those that agents send.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::punch::Run;
use crate::world::{World, eventually};

/// How an agent names its events and tools.
struct Form {
    agent: &'static str,
    prompt: &'static str,
    ended: &'static str,
    stop: &'static str,
    list: &'static str,
    shell: &'static str,
}

const FORMS: [Form; 5] = [
    form("claude", "TodoWrite", "Bash"),
    form("codex", "update_plan", "exec_command"),
    form("qwen", "todo_write", "run_shell_command"),
    Form {
        agent: "gemini",
        prompt: "BeforeAgent",
        ended: "AfterTool",
        stop: "AfterAgent",
        list: "write_todos",
        shell: "run_shell_command",
    },
    Form {
        agent: "opencode",
        prompt: "chat.message",
        ended: "tool.execute.after",
        stop: "session.idle",
        list: "todowrite",
        shell: "bash",
    },
];

const fn form(agent: &'static str, list: &'static str, shell: &'static str) -> Form {
    Form { agent, prompt: "UserPromptSubmit", ended: "PostToolUse", stop: "Stop", list, shell }
}

const CLAUDE: &Form = &FORMS[0];

/// An agent in a repository whose plan wants proof.
struct Agent<'f> {
    form: &'f Form,
    world: World,
    calls: std::cell::Cell<u32>,
}

impl<'f> Agent<'f> {
    /// With a todo `T-1` that this command checks.
    fn new(form: &'f Form, check: &str) -> Self {
        let agent = Self::without_todos(form);
        agent.world.ok(&["config", "set", "policy.verify", "command"]);
        agent.world.ok(&["add", "Write it", "--verify", check]);
        agent
    }

    fn without_todos(form: &'f Form) -> Self {
        Self { form, world: World::with_git(), calls: Default::default() }
    }

    fn report(&self, event: &str, more: Value) -> String {
        let mut report = json!({"session_id": "s", "conversation_id": "s", "hook_event_name": event});
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let run = self.world.feed(&["hook", "--agent", self.form.agent, event], &report.to_string());
        assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{}: {event}", self.form.agent);
        assert_eq!(self.log(), "", "{}", self.form.agent);
        run.stdout
    }

    fn tool(&self, name: &str, input: &Value) -> String {
        self.calls.set(self.calls.get() + 1);
        let call = format!("call-{}", self.calls.get());
        self.report(
            self.form.ended,
            json!({"tool_name": name, "tool_use_id": call, "tool_input": input, "tool_response": {}}),
        )
    }

    /// Writes the agent's own list, in every agent's words for it.
    fn list(&self, rows: &[(&str, &str)]) -> String {
        let row = |(n, (content, status)): (usize, &(&str, &str))| {
            json!({"id": n.to_string(), "content": content, "description": content, "step": content,
                "activeForm": content, "status": status})
        };
        let rows: Vec<Value> = rows.iter().enumerate().map(row).collect();
        self.tool(self.form.list, &json!({"todos": rows, "plan": rows}))
    }

    fn prompt(&self) -> String {
        self.report(self.form.prompt, json!({"prompt": "continue", "source": "user"}))
    }

    fn shell(&self) -> String {
        self.tool(self.form.shell, &json!({"command": "ls"}))
    }

    fn stop(&self) -> String {
        self.report(self.form.stop, json!({}))
    }

    /// `continue`, or the reason for which the last stop was allowed.
    fn decided(&self) -> String {
        let why = self.world.json(&["keep-going", "why"]);
        let decision = &why["decision"];
        decision["reason"]["code"].as_str().unwrap_or_else(|| decision["do"].as_str().unwrap_or("?")).to_owned()
    }

    fn todo(&self, id: &str) -> Value {
        self.world.json(&["show", id])["todo"].clone()
    }

    fn status(&self, id: &str) -> String {
        self.todo(id)["status"].as_str().unwrap_or_default().to_owned()
    }

    fn is_reported(&self, id: &str) -> bool {
        self.todo(id)["flags"].as_array().is_some_and(|flags| flags.contains(&json!("reported")))
    }

    /// Lines that the check wrote into a file outside of the repository.
    fn runs(&self) -> usize {
        fs::read_to_string(self.outside("runs")).unwrap_or_default().lines().count()
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.world.root.join(name)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.world.root.join("home/.local/state/punch/hook.log")).unwrap_or_default()
    }
}

#[test]
fn a_failing_check_is_explained_and_work_that_is_fixed_is_completed_at_the_next_stop() {
    for form in &FORMS {
        let name = form.agent;
        let agent = Agent::new(form, "echo x >> ../runs; cat done.txt");
        agent.world.ok(&["verify", "--allow", "T-1"]);
        agent.prompt();
        agent.list(&[("Write it", "in_progress")]);
        assert_eq!(agent.runs(), 0, "{name}");

        let answer = agent.list(&[("Write it", "completed")]);
        for part in ["T-1 is not done: its check", "cat done.txt", "failed with exit code 1", "No such file"] {
            assert!(answer.contains(part), "{name}: {part}: {answer}");
        }
        assert_eq!((agent.runs(), agent.status("T-1").as_str()), (1, "in_progress"), "{name}");
        assert!(!agent.is_reported("T-1"), "{name}");
        assert_eq!(agent.todo("T-1")["attempts"], 1, "{name}");

        for _ in 0..2 {
            let stopped = agent.stop();
            for part in ["T-1 is not done", "failed with exit code 1", "stop as usual"] {
                assert!(stopped.contains(part), "{name}: {part}: {stopped}");
            }
            assert_eq!(agent.runs(), 1, "{name}: the same files are not checked twice");
            agent.shell();
        }

        fs::write(agent.world.project.join("done.txt"), "done").unwrap();
        let stopped = agent.stop();
        assert!(!stopped.contains("is not done"), "{name}: {stopped}");
        assert_eq!((agent.status("T-1").as_str(), agent.decided().as_str()), ("completed", "finished"), "{name}");
        assert_eq!(agent.runs(), 2, "{name}");
        agent.world.sound();
    }
}

#[test]
fn a_check_that_waits_for_approval_is_in_the_inbox_and_runs_once_it_is_approved() {
    for form in &FORMS {
        let name = form.agent;
        let agent = Agent::new(form, "true");
        agent.list(&[("Write it", "in_progress")]);
        let answer = agent.list(&[("Write it", "completed")]);
        assert!(answer.contains("the user has to approve its check `true` first"), "{name}: {answer}");
        assert!(agent.is_reported("T-1"), "{name}");
        let inbox = agent.world.json(&["inbox"]);
        assert_eq!(inbox["items"][0]["kind"], "approval", "{name}: {inbox}");
        agent.stop();
        assert_eq!(agent.decided(), "checks_unapproved", "{name}");
        agent.world.ok(&["verify", "--allow", "T-1"]);
        agent.stop();
        assert_eq!((agent.decided().as_str(), agent.status("T-1").as_str()), ("finished", "completed"), "{name}");
    }
}

#[test]
fn a_long_check_lets_the_agent_stop_once_and_its_result_follows_with_the_next_event() {
    let check = "echo x >> ../runs; while ! test -e ../go; do sleep 0.05; done; echo too bad; exit 3";
    let agent = Agent::new(CLAUDE, check);
    agent.world.ok(&["verify", "--allow", "T-1"]);
    agent.list(&[("Write it", "in_progress"), ("Then this", "pending")]);
    let answer = agent.list(&[("Write it", "completed"), ("Then this", "in_progress")]);
    assert!(answer.contains("T-1 is reported as done and its check"), "{answer}");
    assert!(agent.is_reported("T-1"));
    // Another one of the same todo is not started meanwhile.
    agent.list(&[("Write it", "in_progress"), ("Then this", "completed")]);
    agent.list(&[("Write it", "completed"), ("Then this", "completed")]);
    let stopped = agent.stop();
    assert_eq!(agent.decided(), "checks_running", "{stopped}");
    assert_eq!(agent.runs(), 1);
    fs::write(agent.outside("go"), "").unwrap();
    eventually("the check ends", || !agent.is_reported("T-1"));
    let inbox = || agent.world.ok(&["inbox"]);
    assert!(inbox().contains("failed with exit code 3 after the agent had stopped"), "{}", inbox());
    let answer = agent.prompt();
    assert_eq!(inbox(), "Nothing needs you.\n", "the agent has read it");
    for part in ["T-1 is not done", "failed with exit code 3", "too bad"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(!agent.shell().contains("too bad"), "once is enough");
    assert!(agent.stop().contains("too bad"), "every continuation names it");
}

#[cfg(target_os = "linux")]
#[test]
fn a_check_that_is_killed_counts_as_not_run() {
    let check = "echo x >> ../runs; test -e ../fast || sleep 1000";
    let agent = Agent::new(CLAUDE, check);
    agent.world.ok(&["verify", "--allow", "T-1"]);
    agent.list(&[("Write it", "in_progress")]);
    agent.list(&[("Write it", "completed")]);
    let of_world = |word: &str| -> Vec<u32> {
        let pids =
            fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let here = |pid: &u32| {
            fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == agent.world.project)
                && fs::read(format!("/proc/{pid}/cmdline"))
                    .is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
        };
        pids.filter(here).collect()
    };
    let [punch] = of_world("check-reported")[..] else { panic!("one check is running") };
    assert!(agent.world.program("kill").args(["-9", &punch.to_string()]).status().unwrap().success());
    eventually("nothing of it runs on", || of_world("check-reported").is_empty() && of_world("sleep").is_empty());
    assert!(agent.is_reported("T-1"));
    let todo = agent.todo("T-1");
    assert_eq!(
        (todo["attempts"].as_u64().unwrap_or_default(), todo["evidence"].as_array().map_or(0, Vec::len)),
        (0, 0)
    );
    fs::write(agent.outside("fast"), "").unwrap();
    agent.stop();
    assert_eq!((agent.decided().as_str(), agent.status("T-1").as_str(), agent.runs()), ("finished", "completed", 2));
}

#[test]
fn the_check_of_the_whole_plan_keeps_a_plan_open_while_it_fails() {
    for form in &FORMS {
        let name = form.agent;
        let agent = Agent::without_todos(form);
        agent.world.ok(&["config", "set", "verify.plan", "echo x >> ../runs; cat whole.txt"]);
        agent.list(&[("Write it", "in_progress"), ("Test it", "pending")]);
        agent.list(&[("Write it", "completed"), ("Test it", "in_progress")]);
        agent.stop();
        assert_eq!((agent.runs(), agent.decided().as_str()), (0, "continue"), "{name}");
        agent.list(&[("Write it", "completed"), ("Test it", "completed")]);
        let stopped = agent.stop();
        for part in ["T-3 is not done: its check", "cat whole.txt", "failed with exit code 1", "No such file"] {
            assert!(stopped.contains(part), "{name}: {part}: {stopped}");
        }
        assert_eq!((agent.runs(), agent.decided().as_str()), (1, "continue"), "{name}");
        let inbox = agent.world.json(&["inbox"]);
        let item = &inbox["items"][0];
        assert_eq!((&item["kind"], &item["todo"]), (&json!("failed"), &json!("T-3")), "{name}: {inbox}");
        fs::write(agent.world.project.join("whole.txt"), "whole").unwrap();
        agent.stop();
        assert_eq!((agent.runs(), agent.decided().as_str()), (2, "finished"), "{name}");
        agent.stop();
        assert_eq!(agent.runs(), 2, "{name}: a plan that has passed is not checked again");
        // More work makes it due again.
        agent.list(&[("Write it", "completed"), ("Test it", "completed"), ("One more", "completed")]);
        fs::remove_file(agent.world.project.join("whole.txt")).unwrap();
        assert!(agent.stop().contains("T-3 is not done"), "{name}");
        let listed = agent.world.json(&["list", "--all", "label:plan-check"]);
        assert_eq!(listed["todos"].as_array().map(Vec::len), Some(1), "{name}: it is one todo, opened again");
    }
}

#[test]
fn the_last_todo_that_you_finish_starts_the_check_of_the_whole_plan() {
    let agent = Agent::without_todos(CLAUDE);
    agent.world.ok(&["config", "set", "verify.plan", "exit 4"]);
    agent.world.ok(&["add", "One", "Two"]);
    assert!(!agent.world.ok(&["done", "T-1"]).contains("whole plan"));
    let done = agent.world.ok(&["done", "T-2"]);
    assert!(done.contains("Every todo is done. The check of the whole plan runs as T-3: exit 4"), "{done}");
    eventually("the check ends", || !agent.is_reported("T-3"));
    assert_eq!(agent.status("T-3"), "in_progress");
    assert!(agent.world.ok(&["inbox"]).contains("failed with exit code 4"));
}

#[test]
fn you_are_notified_of_the_first_thing_that_ever_needs_you() {
    let agent = Agent::without_todos(CLAUDE);
    agent.world.ok(&["config", "set", "--user", "notify.command", "cat >> ../told"]);
    agent.world.ok(&["config", "set", "verify.plan", "exit 4"]);
    agent.world.ok(&["add", "One"]);
    agent.world.ok(&["done", "T-1"]);
    let told = || fs::read_to_string(agent.outside("told")).unwrap_or_default();
    eventually("the user is notified of the check that you started", || told().contains("failed T-2: "));
}

#[test]
fn you_are_notified_of_what_agents_put_into_the_inbox() {
    let agent = Agent::without_todos(CLAUDE);
    agent.world.ok(&["config", "set", "--user", "notify.command", "cat >> ../told"]);
    let told = || fs::read_to_string(agent.outside("told")).unwrap_or_default();
    let memory = || agent.world.store().with_file_name("notified").join("1.json").exists();
    agent.list(&[("Write it", "in_progress")]);
    eventually("the inbox was looked at", memory);
    let hold = ["hold", "T-1", "which color? $(touch ../hacked)"];
    let by_agent: Run = crate::world::finished(
        agent.world.command(&hold).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "s").output().unwrap(),
    );
    assert_eq!(by_agent.exit, Some(0), "{}", by_agent.render());
    eventually("the user is notified", || told().contains("1 thing needs you\nhold T-1: Write it: which color?"));
    agent.stop();
    agent.prompt();
    assert_eq!(told().matches("needs you").count(), 1, "each item once: {}", told());
    assert!(!agent.outside("hacked").exists());
}

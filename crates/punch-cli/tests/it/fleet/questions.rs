//! Agents of a worker ask, and the user answers on another machine.

use std::process::{Command, Stdio};
use std::{env, fs};

use super::{Fleet, Worker};
use crate::run::terminal::Watched;
use crate::world::PUNCH;

/// A conversation in Claude's form that asks for permission with each todo. It ends once no answer can come.
const ASKER: &str = r#"
echo '{"type":"system","subtype":"init","session_id":"s-1"}'
while read -r line; do
  case $line in
    *"IDs: "*) rest=${line#*IDs: }; id=${rest%%\\n*} ;;
    *) continue ;;
  esac
  echo '{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}'
  read -r answer || exit 1
  printf '%s\n' "$answer" >> "$TRACES/answers"
  "$PUNCH" done "$id" --evidence said >> "$TRACES/said" 2>&1
  echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"usage":{"input_tokens":100,"output_tokens":10}}'
done
"#;

/// Gives the process that follows a host name of its own.
const OTHER_MACHINE: &str = "echo builder > /proc/sys/kernel/hostname && exec \"$@\"";

/// Starts a worker on a machine with another name whose agent asks.
fn asking_worker(fleet: &Fleet) -> Worker {
    let script = fleet.world.root.join("asker.sh");
    fs::write(&script, ASKER).unwrap();
    let spec = format!("claude:sh {}", script.display());
    let mut command = fleet.on("builder", fleet.world.program("unshare"));
    command.args(["--uts", "sh", "-c", OTHER_MACHINE, "sh", PUNCH]);
    command.args(["worker", "--name", "builder", "--agent", &spec, "--permission", "ask"]).env("PUNCH", PUNCH);
    let log = fleet.world.root.join("builder.log");
    let file = fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
    Worker { child: command.stdout(Stdio::null()).stderr(file).spawn().unwrap(), log }
}

/// Answers the newest question at a terminal of this machine; what came of it.
fn answered(fleet: &Fleet, answer: &str) -> String {
    let outcome = fleet.world.root.join("outcome");
    let store = fleet.world.root.join("store/store.db");
    let mut command = fleet.world.program(env::current_exe().unwrap().to_str().unwrap());
    command.args(["--exact", "run::questions::a_program_that_answers", "--nocapture"]);
    command.env("ANSWER_STORE", store).env("ANSWER_OUTCOME", &outcome).env("ANSWER", answer);
    Watched::start(command).ends();
    fs::read_to_string(outcome).unwrap_or_default()
}

/// How many questions wait for the user.
fn questions(fleet: &Fleet) -> usize {
    let items = fleet.json(&["inbox"])["items"].clone();
    items.as_array().map_or(0, |items| items.iter().filter(|item| item["kind"] == "question").count())
}

#[test]
fn agents_of_a_worker_get_answers_from_another_machine_only_if_its_user_allows_it() {
    if !Command::new("unshare").args(["--uts", "true"]).status().is_ok_and(|status| status.success()) {
        assert!(env::var_os("CI").is_none(), "no machine with another name can be made");
        return eprintln!("SKIPPED: answers from other machines are not tested: a host name of its own needs root");
    }
    let fleet = Fleet::new();
    fleet.add(&["Ask first"]);
    fleet.machine("builder");
    let worker = asking_worker(&fleet);
    fleet.wait_for("the question", || questions(&fleet) == 1);
    let outcome = answered(&fleet, "allow");
    assert!(outcome.starts_with("OtherMachine("), "{outcome}");
    assert_eq!(questions(&fleet), 1, "it still waits");
    // Killed while its agent asks. The next process closes that question and starts an agent that asks again.
    drop(worker);
    fleet.ok("builder", &["config", "set", "run.remote_answers", "true", "--user"]);
    let asks = || fleet.logs().matches("asks about T-1").count();
    let before = asks();
    let _worker = asking_worker(&fleet);
    fleet.wait_for("the other question", || asks() > before && questions(&fleet) == 1);
    assert_eq!(answered(&fleet, "allow"), "accepted");
    fleet.wait_for("the todo", || fleet.status("T-1") == "completed");
    let answers = fs::read_to_string(fleet.world.root.join("traces/answers")).unwrap();
    assert!(answers.lines().count() == 1 && answers.contains("\"allow\""), "{answers}");
    assert_eq!(questions(&fleet), 0);
}

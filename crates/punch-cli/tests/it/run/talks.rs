//! Agents that talk: one conversation takes todo after todo, is kept going, told what failed, and asks for permission.

use std::fs;
use std::process::Command;

use super::Stage;
use crate::punch::Run;
use crate::world::finished;

/// A conversation in Claude's form. What a todo says decides what happens at its first prompt.
const TALKER: &str = r#"
echo "$$" >> "$TRACES/processes"
echo '{"type":"system","subtype":"init","session_id":"s-1"}'
over() {
  cost=$((cost + 1))
  echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":0.0'$cost',"usage":{"input_tokens":100,"output_tokens":10}}'
}
finish() { "$PUNCH" done "$id" --evidence "said" >> "$TRACES/said" 2>&1; over; }
cost=0
while read -r line; do
  printf '%s\n' "$line" >> "$TRACES/prompts"
  case $line in
    *"IDs: "*) rest=${line#*IDs: }; id=${rest%%\\n*} ;;
  esac
  case $line in
    *Continuation*) finish ;;
    *"is not done"*) : > "made-$id"; finish ;;
    *"talk lazy"*) over ;;
    *"talk ask"*)
      echo '{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}'
      read -r answer || exit 0 # the runner is gone: nothing was answered
      printf '%s\n' "$answer" >> "$TRACES/answers"
      finish ;;
    *"talk mute"*) over ;;
    *) finish ;;
  esac
done
"#;

/// `punch run` with such an agent.
pub fn talker(stage: &Stage, more: &[&str]) -> Command {
    let script = stage.world.root.join("talker.sh");
    fs::write(&script, TALKER).unwrap();
    let spec = format!("claude:sh {}", script.display());
    let mut command = stage.world.command(&[&["run", "--agent", &spec], more].concat());
    command.env("TRACES", &stage.traces).env("PUNCH", crate::world::PUNCH);
    command.env("PUNCH_RUN_BACKOFF", "10ms").env("PUNCH_RUN_GRACE", "300ms");
    command
}

fn talk(stage: &Stage, more: &[&str]) -> Run {
    let run = finished(talker(stage, more).output().unwrap());
    assert_eq!(stage.alive(), [0; 0], "{}", run.render());
    run
}

#[test]
fn one_conversation_takes_todo_after_todo_and_is_kept_going() {
    let stage = Stage::new();
    stage.add(&["talk easily", "talk lazy", "talk wrong"]);
    stage.world.ok(&["edit", "T-3", "--verify", "test -e made-T-3"]);
    stage.world.punch(&["verify", "--allow", "T-3"]);
    let run = talk(&stage, &[]);
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert_eq!(stage.trace("processes").len(), 1, "{}", run.render());
    let prompts = stage.trace("prompts");
    assert_eq!(prompts.len(), 5, "three todos, one continuation, one failure: {prompts:#?}");
    assert!(run.stderr.contains("[1] continues T-2") && run.stderr.contains("T-3 failed, retrying"));
    let shown = stage.world.json(&["runs", "show", "1"]);
    let spent = &shown["spent"];
    assert_eq!((&spent["tokens"], &spent["estimated"], &spent["turns"]), (&550.into(), &0.into(), &5.into()));
    assert_eq!(spent["cost"], 50_000, "{shown}");
    assert!(run.stdout.contains("550 tokens, $0.05, 5 turns"), "{}", run.stdout);
}

#[test]
fn one_that_never_reports_is_kept_going_for_a_while_and_then_fails() {
    let stage = Stage::new();
    stage.add(&["talk mute", "talk easily"]);
    let script = stage.world.root.join("talker.sh");
    fs::write(&script, "").unwrap();
    let run = {
        // It also ignores continuations.
        let deaf = TALKER.replace("*Continuation*) finish ;;", "*Continuation*) over ;;");
        fs::write(&script, deaf).unwrap();
        let spec = format!("claude:sh {}", script.display());
        let mut command = stage.world.command(&["run", "--agent", &spec]);
        command.env("TRACES", &stage.traces).env("PUNCH", crate::world::PUNCH).env("PUNCH_RUN_BACKOFF", "10ms");
        finished(command.output().unwrap())
    };
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert!(run.stdout.contains("T-1 failed: the agent stopped without reporting it as done"), "{}", run.render());
    assert_eq!(stage.status("T-2"), "completed");
    assert_eq!(stage.alive(), [0; 0]);
}

#[test]
fn permission_is_what_the_policy_says_and_without_anybody_to_ask_the_todo_waits() {
    for (more, answer) in [
        (&["--permission", "deny"][..], "\"deny\""),
        (&["--permission", "allow"][..], "\"allow\""),
        (&["--permission", "deny", "--allow", "Ba*"][..], "\"allow\""),
    ] {
        let stage = Stage::new();
        stage.add(&["talk ask"]);
        let run = talk(&stage, more);
        assert_eq!(run.exit, Some(0), "{more:?}: {}", run.render());
        let answers = stage.trace("answers");
        assert!(answers.len() == 1 && answers[0].contains(answer), "{more:?}: {answers:?}");
        let said = run.stderr.contains("[1] was not allowed to do this: Bash: ls (`--allow Bash` would allow it)");
        assert_eq!(said, answer == "\"deny\"", "{}", run.render());
    }
    let stage = Stage::new();
    stage.add(&["talk ask", "talk easily"]);
    let run = finished(talker(&stage, &["--agents", "2"]).env("PUNCH_RUN_ASK_WAIT", "0s").output().unwrap());
    assert_eq!(stage.alive(), [0; 0], "{}", run.render());
    assert_eq!(run.exit, Some(1), "{}", run.render());
    let why = "permission was not answered (`punch run --allow Bash` allows it): Bash: ls";
    assert!(run.stdout.contains("T-1") && run.stdout.contains(why), "{}", run.render());
    assert!(stage.world.ok(&["inbox"]).contains(why), "{}", stage.world.ok(&["inbox"]));
    let todo = stage.todo("T-1");
    assert_eq!((&todo["hold"]["kind"], &todo["status"]), (&"human".into(), &"blocked".into()), "{todo}");
    assert_eq!(stage.status("T-2"), "completed");
}

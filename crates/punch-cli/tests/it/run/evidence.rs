//! What hooks see of the work of a run's agents: it is stored with their todos, and a plan that wants evidence refuses what
//! failed last.

use std::fs;

use super::Stage;
use crate::world::World;

/// An agent that reports an edit, then a test run with the exit code that its todo names; after a failure it passes.
const AGENT: &str = r#"told=$(cat)
report() { printf '%s' "$2" | "$PUNCH" hook --agent claude "$1" > /dev/null; }
begin="\"session_id\": \"c-$$\", \"cwd\": \"$PWD\", \"tool_use_id\": \"t-$$-"
report PostToolUse "{${begin}1\", \"tool_name\": \"Edit\", \"tool_input\": {\"file_path\": \"$PWD/a.rs\"}, \"tool_response\": {}}"
run="\"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"cargo test\"}"
case $told in
  *"<failure>"*) fails=no ;;
  *"tests fail"*) fails=yes ;;
  *"no tests"*) exit 0 ;;
  *) fails=no ;;
esac
if [ $fails = yes ]; then
  report PostToolUseFailure "{${begin}2\", $run, \"error\": \"Exit code 101\\n1 failed\"}"
else
  report PostToolUse "{${begin}2\", $run, \"tool_response\": {\"stdout\": \"ok\", \"stderr\": \"\"}}"
fi
"#;

fn stage(todos: &[&str]) -> Stage {
    let mut stage = Stage::on(World::with_git());
    let script = stage.world.root.join("agent.sh");
    fs::write(&script, AGENT).unwrap();
    stage.spec = format!("exec:sh '{}'", script.display());
    stage.add(todos);
    stage
}

#[test]
fn todos_of_a_run_carry_what_hooks_saw() {
    let stage = stage(&["tests pass", "no tests", "tests fail"]);
    let run = stage.ends(&[], 0);
    let proofs = ["T-1", "T-2", "T-3"].map(|id| stage.todo(id)["proof"].clone());
    assert_eq!(proofs, ["checked", "unchecked", "failing"].map(serde_json::Value::from), "{}", run.render());
}

#[test]
fn a_plan_that_wants_evidence_gives_failing_work_back_to_the_agent() {
    let stage = stage(&["tests fail", "no tests"]);
    stage.world.ok(&["config", "set", "policy.verify", "evidence"]);
    let run = stage.ends(&[], 0);
    assert_eq!(stage.todo("T-1")["proof"], "checked", "{}", run.render());
    assert_eq!(stage.todo("T-1")["attempts"], 1, "{}", run.render());
    assert_eq!(stage.todo("T-2")["proof"], "unchecked", "nobody is left to ask: {}", run.render());
}

//! The check of the whole plan at the end of a run.

use std::fs;

use super::Stage;

/// A project whose agent does what its todo asks for, and creates `whole.txt` once it reads that this is missing.
fn stage(agent: &str) -> Stage {
    let mut stage = Stage::new();
    let script = stage.world.root.join("agent.sh");
    fs::write(&script, agent).unwrap();
    stage.spec = format!("exec:sh '{}'", script.display());
    stage.world.ok(&["config", "set", "verify.plan", "echo x >> \"$TRACES/runs\"; cat whole.txt"]);
    stage.add(&["work on one", "work on two"]);
    stage
}

#[test]
fn a_failing_check_of_the_whole_plan_is_given_to_an_agent_and_passes_then() {
    let stage = stage("case $(cat) in *'whole.txt'*) echo all > whole.txt ;; esac");
    let run = stage.ends(&[], 0);
    assert_eq!(stage.status("T-3"), "completed", "{}", run.render());
    assert_eq!(stage.todo("T-3")["labels"], serde_json::json!(["plan-check"]));
    assert_eq!(stage.trace("runs").len(), 2, "once to find the fault, once after it was fixed");
    assert!(!stage.world.ok(&["inbox"]).contains("failed "), "{}", stage.world.ok(&["inbox"]));
}

#[test]
fn a_check_of_the_whole_plan_that_keeps_failing_fails_the_run_and_is_in_the_inbox() {
    let stage = stage("cat > /dev/null");
    let run = stage.ends(&[], 1);
    assert_eq!(["T-1", "T-2"].map(|id| stage.status(id)), ["completed", "completed"], "{}", run.render());
    assert_eq!(stage.status("T-3"), "failed", "{}", run.render());
    let inbox = stage.world.ok(&["inbox"]);
    assert!(inbox.contains("failed") && inbox.contains("T-3"), "{inbox}");
}

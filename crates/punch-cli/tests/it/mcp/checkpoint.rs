//! The group `checkpoint`, and the view `schedule`.

use serde_json::json;

use super::client::{Client, project};
use crate::world::World;

#[test]
fn an_agent_saves_lists_and_restores() {
    let folder = project();
    let mut client = Client::ready(folder.path(), &["--tools", "checkpoint"]);
    client.call("todo_write", json!({"ops": [{"op": "add", "content": "one"}, {"op": "add", "content": "two"}]}));
    assert!(client.call("todo_checkpoint", json!({"action": "list"})).starts_with("No checkpoints."));
    let saved = client.call("todo_checkpoint", json!({"action": "save", "note": "begun\u{1b}[31m"}));
    assert!(
        saved.starts_with("Saved chk-") && saved.contains(": 0 done, 2 left: begun") && !saved.contains('\u{1b}'),
        "{saved}"
    );
    client.call("todo_write", json!({"ops": [{"op": "done", "id": "T-1"}]}));
    let restored = client.call("todo_checkpoint", json!({"action": "restore"}));
    assert!(restored.contains("\nReopened: T-1\n") && restored.contains("\nNext: T-1\n"), "{restored}");
    let unknown = client.call("todo_checkpoint", json!({"action": "restore", "id": "chk-1"}));
    assert!(unknown.starts_with("Error unknown_checkpoint") && unknown.contains("action list"), "{unknown}");
    let mut worker = Client::ready(folder.path(), &["--tools", "checkpoint", "--role", "worker"]);
    let refused = worker.call("todo_checkpoint", json!({"action": "restore"}));
    assert!(refused.starts_with("Error not_allowed"), "{refused}");
}

#[test]
fn an_agent_that_restores_is_told_how_the_code_comes_back() {
    let world = World::with_git();
    let mut client = Client::ready(&world.project, &["--tools", "checkpoint"]);
    client.call("todo_write", json!({"ops": [{"op": "add", "content": "one"}]}));
    client.call("todo_checkpoint", json!({"action": "save"}));
    let commit = world.git(&["rev-parse", "HEAD"]);
    let restored = client.call("todo_checkpoint", json!({"action": "restore"}));
    assert!(!restored.contains("git restore"), "it is there: {restored}");
    world.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    let restored = client.call("todo_checkpoint", json!({"action": "restore"}));
    let command = format!("restore its code too: git restore --source={} --worktree --staged :/\n", commit.trim());
    assert!(restored.contains(&command), "{restored}");
}

#[test]
fn the_schedule_view_is_the_next_batch() {
    let folder = project();
    let mut client = Client::ready(folder.path(), &[]);
    let ops = json!([{"op": "add", "content": "one", "complexity": "small"}, {"op": "add", "content": "two", "complexity": "epic"}]);
    client.call("todo_write", json!({"ops": ops}));
    let text = client.call("todo_read", json!({"view": "schedule", "budget": 50_000}));
    assert!(text.starts_with("8000 tokens  T-1 one\n8000 of 35000 tokens"), "{text}");
    let text = client.call("todo_read", json!({"view": "schedule", "budget": 10}));
    assert!(text.contains("checkpoint now"), "{text}");
}

#[test]
fn a_batch_of_the_schedule_view_leaves_a_checkpoint_and_what_it_took_is_kept() {
    let folder = project();
    let mut client = Client::ready(folder.path(), &["--tools", "checkpoint"]);
    let ops = json!([{"op": "add", "content": "one", "complexity": "small"}, {"op": "add", "content": "two", "complexity": "epic"}]);
    client.call("todo_write", json!({"ops": ops}));
    client.call("todo_read", json!({"view": "schedule", "budget": 50_000}));
    let done = client.call("todo_write", json!({"ops": [{"op": "done", "id": "T-1", "actualTokens": 9_000}]}));
    assert!(!done.starts_with("Error"), "{done}");
    let list = client.call("todo_checkpoint", json!({"action": "list"}));
    assert!(list.contains(": 1 done, 1 left") && list.contains("a batch of 1 is done"), "{list}");
    // 8,000 were estimated and 9,000 used: the next estimate is larger.
    let next = client.call("todo_read", json!({"view": "schedule", "budget": 200_000}));
    assert!(next.starts_with("100926 tokens  T-2 two"), "{next}");
}

//! Tools that fail, todos that cannot be done, and a model that does not answer.

use punchlist::serde_json::json;
use punchlist::{Error, Finish, Next, Op, Options, RecordStatus, Session, Status, ToolKind, ToolUse};

/// Runs the example.
pub fn main() -> Result<(), Error> {
    let session = Session::in_memory(Options::new("my-agent"))?;
    session.turn_started()?;
    session.call(
        "todo_write",
        &json!({"ops": [
            {"op": "add", "id": "deploy", "content": "Deploy to staging"},
            {"op": "add", "id": "announce", "content": "Announce it", "dependsOn": ["deploy"]},
            {"op": "start", "id": "deploy"},
        ]}),
    )?;

    // The first failure of a tool asks for another try, the second one to give up. Both texts are for the model.
    let deploy = || ToolUse::new("shell", ToolKind::Command).running("./deploy.sh", Some(1));
    let first = session.tool_failed(deploy(), "exit status: 1")?;
    assert!(first.is_some_and(|text| text.contains("Try once more")));
    let second = session.tool_failed(deploy(), "exit status: 1")?;
    assert!(second.is_some_and(|text| text.contains("mark it failed")));

    // The first failed attempt of a todo puts it back, the second one marks it failed.
    session.apply(&[Op::fail("deploy", "no route to host")])?;
    assert_eq!(session.todos()?[0].status, RecordStatus::Stored(Status::Pending));
    session.apply(&[Op::start("deploy"), Op::fail("deploy", "no route to host")])?;
    assert_eq!(session.todos()?[0].status, RecordStatus::Stored(Status::Failed));

    // What depends on it waits, and the user finds both in the inbox.
    assert!(session.inbox()?.iter().any(|item| item.todo.as_deref() == Some("deploy")));
    session.apply(&[Op::reopen("deploy"), Op::start("deploy"), Op::done("deploy")])?;

    // The provider answers with an error: wait, then ask again.
    session.call("todo_write", &json!({"ops": [{"op": "start", "id": "announce"}]}))?;
    session.turn_failed("503 overloaded")?;
    let Next::Wait(time) = session.turn_ended(Finish::EndTurn)? else { panic!("it should wait") };
    assert!(time.as_secs() >= 1);
    Ok(())
}

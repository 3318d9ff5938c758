//! An agent that asks the user before it runs a command.

use punchlist::{Error, Finish, Next, Op, Options, Reason, Session, ToolKind};

/// What a user would decide.
fn is_allowed(command: &str) -> bool {
    !command.starts_with("rm ")
}

fn run(session: &Session, command: &str) -> Result<bool, Error> {
    session.asking()?; // While the user thinks, nothing is continued and no reminder comes.
    assert_eq!(session.turn_ended(Finish::EndTurn)?, Next::Stop(Reason::Asked));
    let granted = is_allowed(command);
    session.answered(granted)?;
    if granted {
        session.tool_ended("shell", ToolKind::Command)?; // Run it, then say so.
    }
    Ok(granted)
}

/// Runs the example.
pub fn main() -> Result<(), Error> {
    let session = Session::in_memory(Options::new("my-agent"))?;
    session.call(
        "todo_write",
        &punchlist::serde_json::json!({"ops": [
            {"op": "add", "id": "build", "content": "Build the project"},
            {"op": "add", "id": "clean", "content": "Remove the old output"},
        ]}),
    )?;
    assert!(run(&session, "cargo build")?);
    session.apply(&[Op::done("build")])?;
    assert!(!run(&session, "rm -r target")?);
    // A denied request is a question for the user, not a failure of the agent.
    session.apply(&[Op::hold("clean", "may I remove target?")])?;
    let Next::Stop(reason) = session.turn_ended(Finish::EndTurn)? else { panic!("there is work left") };
    assert_eq!(reason.code(), "waits_for_people");
    assert_eq!(session.inbox()?[0].todo.as_deref(), Some("clean"));
    Ok(())
}

//! A host that keeps its own transcript and stores the list with it.

use punchlist::serde_json::{self, json};
use punchlist::{Options, Session, SessionSnapshot};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::in_memory(Options::new("my-agent").session("conversation-7"))?;
    session.turn_started()?;
    session.call(
        "todo_write",
        &json!({"ops": [
            {"op": "add", "id": "parse", "content": "Write the parser"},
            {"op": "start", "id": "parse"},
        ]}),
    )?;
    // One file for the transcript and the list.
    let transcript = json!({"messages": ["…"], "todos": session.snapshot()?}).to_string();
    drop(session);

    // A new process.
    let mut transcript: serde_json::Value = serde_json::from_str(&transcript)?;
    let snapshot: SessionSnapshot = serde_json::from_value(transcript["todos"].take())?;
    let session = Session::from_snapshot(&snapshot, Options::new("my-agent"))?;
    // The model gets its list back with the user's next message.
    let list = session.turn_started()?.unwrap_or_default();
    assert!(list.contains("Write the parser"), "{list}");
    Ok(())
}

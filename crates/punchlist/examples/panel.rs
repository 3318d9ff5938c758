//! A panel next to the conversation, drawn again whenever the list changes.

use std::sync::mpsc::channel;
use std::time::Duration;

use punchlist::{Change, NewTodo, Op, Options, Session, Status, View};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::in_memory(Options::new("my-agent"))?;
    let (send, lines) = channel();
    // On a thread of its own, until the guard is dropped.
    let watching = session.on_change(move |event| {
        let (Some(todo), Change::Status { to, .. }) = (&event.todo, &event.change) else { return };
        let what = if *to == Status::InProgress { todo.active_form.as_ref() } else { None };
        let _ = send.send(format!("[Todo: \"{}\" -> {}]", what.unwrap_or(&todo.content), to.name()));
    })?;
    session.apply(&[Op::add(NewTodo::new("Update documentation").active_form("Updating documentation"))])?;
    session.apply(&[Op::start("T-1")])?;
    let line = lines.recv_timeout(Duration::from_secs(20))?;
    assert_eq!(line, "[Todo: \"Updating documentation\" -> in_progress]");

    // The whole box, and the values for a drawing of your own.
    let panel = session.view(View::Panel)?;
    assert!(panel.contains("Updat"), "{panel}");
    let list = session.list()?;
    assert_eq!((list.in_progress().count(), list.progress.total), (1, 1));
    drop(watching);
    Ok(())
}

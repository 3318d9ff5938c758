//! The loop of an agent on tokio: calls do not block other tasks, and a task follows the list.

use punchlist::serde_json::{Value, json};
use punchlist::{AsyncSession, Change, Finish, Next, Options, Reason, Session, Update};

/// Stands for the model: what it answers to the n-th request.
async fn model(n: usize) -> (Vec<Value>, Finish) {
    let call = |ops: Value| json!({"ops": ops});
    match n {
        0 => (vec![call(json!([{"op": "add", "id": "a", "content": "Write it"}]))], Finish::ToolUse),
        1 => (Vec::new(), Finish::EndTurn), // Stops too early.
        2 => (vec![call(json!([{"op": "done", "id": "a"}]))], Finish::ToolUse),
        _ => (Vec::new(), Finish::EndTurn),
    }
}

async fn work(session: AsyncSession) -> Result<Reason, punchlist::Error> {
    session.turn_started().await?;
    for n in 0.. {
        let (calls, finish) = model(n).await;
        for call in calls {
            let answer = session.call("todo_write", call).await?;
            assert!(answer.changed, "{}", answer.text);
        }
        if finish == Finish::ToolUse {
            continue;
        }
        match session.turn_ended(finish).await? {
            Next::Continue { text, .. } => assert!(text.contains("Write it")), // The next message to the model.
            Next::Wait(time) => tokio::time::sleep(time).await,
            Next::Stop(reason) => return Ok(reason),
            _ => break,
        }
    }
    Ok(Reason::NoSession)
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::in_memory(Options::new("my-agent"))?;
    let mut events = session.subscribe()?.into_stream();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async move {
        let working = tokio::spawn(work(AsyncSession::new(session)));
        let mut seen = Vec::new();
        while !seen.contains(&"completed") {
            let next = std::future::poll_fn(|context| {
                futures_core::Stream::poll_next(std::pin::Pin::new(&mut events), context)
            });
            let Some(Ok(Update::Events(more))) = next.await else { continue };
            for event in more {
                if let Change::Status { to, .. } = event.change {
                    seen.push(to.name());
                }
            }
        }
        assert_eq!(working.await??, Reason::Finished);
        Ok(())
    })
}

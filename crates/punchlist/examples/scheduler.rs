//! Batches that fit a context: 70 % of what is left, a checkpoint between two batches.

use punchlist::{Error, NewTodo, Op, Options, ScheduleRequest, Session};

/// Tokens that the model's context holds.
const CONTEXT: u64 = 40_000;

/// Runs the example.
pub fn main() -> Result<(), Error> {
    let session = Session::in_memory(Options::new("my-agent"))?;
    let todo = |id: &str, tokens: u64| NewTodo::new(format!("Do {id}")).id(id).estimated_tokens(tokens);
    session.apply(&[
        Op::add(todo("schema", 8_000)),
        Op::add(todo("api", 20_000).after(["schema"])),
        Op::add(todo("docs", 8_000)),
        Op::add(todo("tests", 20_000).after(["api"])),
    ])?;

    // The whole plan for two agents, as far as estimates go.
    let schedule = session.schedule(&ScheduleRequest { agents: 2, context: CONTEXT, ..ScheduleRequest::default() })?;
    assert_eq!((schedule.budget, schedule.lower_bound), (28_000, 48_000));

    // One agent that works batch by batch.
    let mut windows = 0;
    loop {
        let batch = session.next_batch(CONTEXT)?;
        if batch.todos.is_empty() {
            break;
        }
        windows += 1;
        for (id, _) in &batch.todos {
            session.apply(&[Op::start(id), Op::done(id)])?;
        }
        // The batch is done, so a checkpoint was saved. Begin a new context window.
    }
    assert_eq!(session.list()?.percent(), 100);
    assert_eq!(session.checkpoints(9)?.len(), windows);
    Ok(())
}

//! The few lines about the list that every model gets, and what `continue` says. One source for all clients.

use punch_engine::call::Surface;

/// The server's instructions.
pub fn instructions(surface: Surface) -> String {
    let how = match surface {
        Surface::Native => {
            "Add all steps in one todo_write call, start a todo before you work on it, done right after."
        }
        Surface::Cursor | Surface::Todowrite | Surface::Extended => {
            "Mark a todo in_progress before you work on it, completed right after, never before it really is."
        }
        Surface::Phases => "Mark a task done right after it really is; the next one starts by itself.",
    };
    format!(
        "A todo list that outlives this conversation. Use it for work with three or more steps, or when several \
         things are asked for; not for a single quick step, a question or a chat. {how} Add what you find on the way. \
         When earlier work goes on, read the list first and keep its todos."
    )
}

/// The name of the one prompt.
pub const CONTINUE: &str = "continue";

/// What the prompt is for.
pub const CONTINUE_ABOUT: &str = "Go on with the plan where it stands";

/// The text of the prompt, with the plan as it is.
pub fn continue_with(plan: &str) -> String {
    format!(
        "Go on with this plan. Take what is in progress first, else the next ready todo; mark it started, do it, mark \
         it done, and so on until nothing is left that you can do. If everything left waits for something, say for \
         what.\n\n{plan}"
    )
}

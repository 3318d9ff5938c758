//! The short instructions about the list that every model gets, the same for all clients.

use crate::call::Dialect;

/// When a list is worth it, and when it is not.
pub const WHEN: &str = "Use it for work with three or more steps, or when several things are asked for; not for a single \
                    quick step, a question or a chat.";

/// What every model is asked to do, in words that fit the tools of a dialect: some have no tool that reads the list.
pub const fn always(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Native | Dialect::Extended => {
            "Add what you find on the way. When you continue earlier work, read the list first and keep its todos."
        }
        Dialect::Cursor | Dialect::Phases | Dialect::Todowrite => {
            "Add what you find on the way. When you continue earlier work, look at its todos with `punch list` in a shell and \
             keep them."
        }
    }
}

/// The text for a model that has the tools of a dialect.
pub fn instructions(dialect: Dialect) -> String {
    let (how, always) = (how(dialect), always(dialect));
    format!(
        "A todo list that outlives this conversation: your memory when it gets long, and the user's view of what is done \
         and what comes next. {WHEN} {how} {always}"
    )
}

/// The text for a model in a program of your own: it names no command, and promises that the list outlives the
/// conversation only where it does.
pub fn embedded(dialect: Dialect, lasting: bool) -> String {
    let what = match lasting {
        true => {
            "A todo list that outlives this conversation: your memory when it gets long, and the user's view of what"
        }
        false => "A todo list for this conversation: your memory when it gets long, and the user's view of what",
    };
    let always = match (dialect, lasting) {
        (_, false) => "Add what you find on the way.",
        (Dialect::Native | Dialect::Extended, true) => always(dialect),
        (Dialect::Cursor | Dialect::Phases | Dialect::Todowrite, true) => {
            "Add what you find on the way, and keep the todos of earlier work."
        }
    };
    format!("{what} is done and what comes next. {WHEN} {} {always}", how(dialect))
}

/// How the tools of a dialect are used.
pub const fn how(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Native => {
            "Add all steps in one todo_write call, start a todo before you work on it, done right after."
        }
        Dialect::Cursor | Dialect::Todowrite | Dialect::Extended => {
            "Mark a todo in_progress before you work on it, completed right after, never before it really is."
        }
        Dialect::Phases => "Mark a task done right after it really is; the next one starts by itself.",
    }
}

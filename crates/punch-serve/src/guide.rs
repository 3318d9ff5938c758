//! The few lines about the list where it stands alone, and what `continue` says.

use punch_engine::call::Dialect;
pub use punch_engine::guide::instructions;
use punch_engine::guide::{ALWAYS, WHEN, how};

use punch_agents::Adapter;

/// The few lines for a system prompt or a file of standing advice, which is read without the tools beside it.
pub fn standing(agent: Option<&Adapter>) -> String {
    let unnamed = "`todo_write` and `todo_read` of the MCP server `punch`";
    let tools = agent.map_or(unnamed, |agent| agent.settings.guide_tools);
    let how = how(Dialect::Native);
    format!(
        "## Todo list\n\n\
         punch keeps this project's plan outside the conversation, for two reasons: it is your memory when the \
         conversation gets long or is shortened, and it shows the person what is done and what comes next.\n\n\
         - {WHEN}\n\
         - {how} Mark nothing done before it really is.\n\
         - {ALWAYS}\n\
         - The tools are {tools}; in a shell `punch list`, `punch ready` and `punch done ID` do the same.\n"
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

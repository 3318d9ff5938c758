//! Instructions for system prompts and `AGENTS.md`, and the text of the prompt `continue`.

use punch_engine::call::Dialect;
pub use punch_engine::guide::instructions;
use punch_engine::guide::{WHEN, always, how};

use punch_agents::Adapter;

/// Returns the instructions for a system prompt or `AGENTS.md`, which are read without the descriptions of the tools.
pub fn standing(agent: Option<&Adapter>) -> String {
    let unnamed = "`todo_write` and `todo_read` of the MCP server `punch`";
    let tools = agent.map_or(unnamed, |agent| agent.settings.guide_tools);
    let (how, always) = (how(Dialect::Native), always(Dialect::Native));
    format!(
        "## Todo list\n\n\
         punch stores this project's plan outside the conversation. It is your memory when the conversation gets long \
         or is compacted, and it shows the user what is done and what comes next.\n\n\
         - {WHEN}\n\
         - {how} Mark nothing done before it really is.\n\
         - {always}\n\
         - The tools are {tools}; in a shell, use `punch list`, `punch next` and `punch done ID`.\n"
    )
}

/// The name of the one prompt.
pub const CONTINUE: &str = "continue";

/// What the prompt is for.
pub const CONTINUE_ABOUT: &str = "Continue the plan";

/// The text of the prompt, with the plan as it is.
pub fn continue_with(plan: &str) -> String {
    format!(
        "Continue this plan. Take what is in progress first, else the next ready todo; mark it started, do it, mark \
         it done, and so on until nothing is left that you can do. If everything left waits for something, say for \
         what.\n\n{plan}"
    )
}

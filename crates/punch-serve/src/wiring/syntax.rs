//! Which JSON each agent accepts. An agent ignores a file with anything else as a whole, so such a file is refused:
//! connecting the agent would seem to work and have no effect.

use punch_agents::Adapter;

use super::SettingsFileError;
use super::jsonc::JsonTree;

/// Refuses what the agent does not read, at its place.
pub fn check(agent: &Adapter, text: &str) -> Result<(), SettingsFileError> {
    let syntax = agent.settings.syntax;
    let tree = JsonTree::read(text)?;
    let mark = text.starts_with('\u{feff}').then_some(0);
    for (found, allowed, what) in [
        (mark, syntax.byte_order_mark, "a byte order mark"),
        (tree.comment, syntax.comments, "a comment"),
        (tree.trailing_comma, syntax.trailing_commas, "a trailing comma"),
    ] {
        if let (Some(at), false) = (found, allowed) {
            let what = format!("{what}: {} ignores the whole file because of it", agent.title);
            return Err(SettingsFileError::at(text, at, what));
        }
    }
    Ok(())
}

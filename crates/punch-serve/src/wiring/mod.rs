//! Edits of an agent's own configuration: which files, what goes into them, and how it is removed again. Texts in,
//! texts out; the caller reads and writes the files. Everything that is not ours stays as it is, to the byte.

mod commands;
mod foreign;
mod history;
mod json;
mod jsonc;
mod lines;
mod markdown;
mod patch;
mod plugin;
mod syntax;
mod table;
mod target;
mod wrong;

pub use history::{DisconnectedFile, FileHistory, OtherEntries, connect, disconnect};
pub use lines::listed as listed_lines;
pub use patch::{TextPatch, changes};
pub use plugin::plugin;
pub use target::{ConnectionState, FileEditor};
pub use wrong::SettingsFileError;

//! An agent's own configuration with punch in it: which files, what goes into them, and how it comes out again. Texts in,
//! texts out; reading and writing files is the caller's part. Everything that is not ours stays as it is, to the byte.

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

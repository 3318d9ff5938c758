//! Settings from five sources: flag, environment, the project's file, the user's file, default, in that order. One
//! table of keys ([`KEYS`]) drives parsing, checking, printing and documentation. Every value knows its source; unknown
//! settings are refused with file and line, never skipped.

mod check;
mod docs;
mod duration;
#[cfg(feature = "files")]
mod edit;
mod error;
#[cfg(feature = "files")]
mod file;
mod ignored;
mod key;
mod load;
mod scalar;
mod setting;
mod source;
mod table;
#[cfg(feature = "files")]
mod write;

pub use docs::docs;
pub use duration::{parse as parse_duration, print as print_duration};
pub use error::{ConfigError, SettingOrigin};
pub use ignored::IgnoredSetting;
pub use key::{Authority, Key};
pub use load::{Config, ConfigInputs, ShownSetting};
pub use setting::{Batches, Color, PermissionDefault, Plans, Subagents, VerifyPlace};
pub use source::{SettingSource, SettingValue};
pub use table::{KEYS, Settings};
#[cfg(feature = "files")]
pub use write::{SettingScope, set, unset, written};

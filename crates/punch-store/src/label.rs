//! How messages name a store. Errors carry a label instead of a path: only the backend knows what it opened, and a store
//! on a server has no path.

use std::fmt;
use std::path::Path;

/// What kind of place a store is in. It decides which hints make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// The memory of this process.
    Memory,
    /// A file.
    File,
    /// A database server.
    Server,
}

/// Names a store in messages. Never contains a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreLabel {
    medium: Medium,
    shown: String,
}

impl StoreLabel {
    /// Labels a store in memory.
    pub fn memory() -> Self {
        Self { medium: Medium::Memory, shown: "memory".to_owned() }
    }

    /// Labels a store in a file.
    pub fn file(path: &Path) -> Self {
        Self { medium: Medium::File, shown: path.display().to_string() }
    }

    /// Labels a store on a server. `address` must not contain a password.
    pub fn server(address: impl Into<String>) -> Self {
        Self { medium: Medium::Server, shown: address.into() }
    }

    /// What kind of place the store is in.
    pub const fn medium(&self) -> Medium {
        self.medium
    }

    /// Returns the path of a file or folder beside the store, as shown; `None` unless the store is a file.
    pub fn beside(&self, name: &str) -> Option<String> {
        let is_file = self.medium == Medium::File;
        is_file.then(|| Path::new(&self.shown).with_file_name(name).display().to_string())
    }
}

impl fmt::Display for StoreLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

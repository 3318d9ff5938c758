//! The state of a plan file when it was last read.

use serde::{Deserialize, Serialize};

/// The attributes that show quickly whether a file is still the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// When it was written, in nanoseconds since the epoch.
    pub modified: u64,
    /// The size of the file in bytes.
    pub size: u64,
}

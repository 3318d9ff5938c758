//! Processes that are started here and leave nothing behind: each in a group of its own, marked through its
//! environment, and watched over by a guard that outlives even a `kill -9` of this process (decision 0012).

mod carriers;
mod kept;
mod log;
mod system;

pub use carriers::{end_carriers, has_carriers};
pub use kept::Kept;
pub use log::Log;
pub use system::shell;
pub(crate) use system::{Guard, apart, code, end_all, has_ended, mark, variable};

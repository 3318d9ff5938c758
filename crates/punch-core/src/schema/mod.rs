//! JSON Schemas of what is written and read, generated from the tables and enums that define it. They say what is
//! there, not what is forbidden, because a newer version may write more.

mod decision;
mod fleet;
mod inbox;
mod kit;
mod plan_file;
mod record;
mod schedule;

pub use decision::{decided, reasons};
pub use fleet::fleet;
pub use inbox::inbox_item;
pub use kit::{
    about, any, any_of, count, list, named, number, object, only, or_null, signed, text, time, titled, word, yes_no,
};
pub use plan_file::plan_file;
pub use record::{document, shown, todo};
pub use schedule::schedule;

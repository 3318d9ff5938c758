//! JSON-RPC on lines: one message a line, bounded, every request answered, whatever it looks like.

mod line;
mod scan;
mod transport;

pub use line::{InputLine, InputLines};
pub use scan::IdScan;
pub use transport::LineTransport;

//! JSON-RPC on lines: one message per line, bounded, and an answer to every request, whatever it looks like.

mod line;
mod scan;
mod transport;

pub use line::{InputLine, InputLines};
pub use scan::IdScan;
pub use transport::LineTransport;

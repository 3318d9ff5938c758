//! What readers see: pure functions from a plan to text, Markdown or JSON.
//!
//! Views for people are capped and say how much they leave out, and todo text is untrusted: it goes through
//! [`crate::text::neutral`] first. The exchange formats ([`markdown`], [`crate::Document`]) are lossless instead.

mod cap;
pub mod checklist;
pub mod diagram;
pub mod gantt;
mod glyph;
pub mod hide;
pub mod layers;
pub mod line;
pub mod markdown;
mod markdown_item;
pub mod markdown_read;
mod markdown_text;
pub mod panel;
mod progress;
mod row;
pub mod tree;
mod waits;
pub mod width;

pub use cap::Cap;
pub use gantt::Gantt;
pub use glyph::Glyphs;
pub use hide::ClearDelay;
pub use layers::Layers;
pub use panel::Panel;
pub use progress::Progress;
pub use row::Row;
pub use tree::Tree;

/// What an empty list reads as.
const NONE: &str = "No todos.";

//! What readers see: pure functions from a plan to text, Markdown or JSON, each with a size cap.

pub mod checklist;

//! What readers see: pure functions from a plan to text, Markdown or JSON.
//!
//! Views for people are capped and say how much they leave out, and todo text is untrusted: it goes through
//! [`crate::text::neutral`] first. The exchange formats ([`markdown`], [`crate::Document`]) are lossless instead.

mod board_changes;
pub mod board_row;
mod cap;
pub mod changes;
pub mod checklist;
mod dashboard;
pub mod diagram;
pub mod edit_sheet;
mod fleet;
pub mod gantt;
mod glyph;
pub mod graph_layout;
pub(crate) mod hashtags;
pub mod hide;
pub mod history;
pub mod inbox;
pub mod layers;
mod layout;
pub mod line;
pub mod markdown;
mod markdown_item;
pub mod markdown_read;
mod markdown_text;
mod neighborhood;
pub mod panel;
pub mod phase_tree;
mod plain;
mod plan_summary;
mod progress;
mod row;
mod schedule_view;
pub mod spans;
pub mod status_line;
pub mod table;
pub mod todo_detail;
mod todo_row;
pub mod tree;
pub mod why_answer;
pub mod width;

pub use board_changes::{BoardDigests, RowChanges};
pub use board_row::BoardRow;
pub use cap::Cap;
pub use dashboard::Dashboard;
pub use fleet::{FleetClaim, FleetFigures, FleetView, FleetWorker, WorkerState};
pub use gantt::Gantt;
pub use glyph::Glyphs;
pub use graph_layout::{EdgeKind, GraphEdge, GraphLayout, GraphNode};
pub use hide::ClearDelay;
pub use history::{HistoryRow, RevisionStory};
pub use layers::Layers;
pub use layout::Layout;
pub use neighborhood::{Branch, Neighborhood};
pub use panel::Panel;
pub use plain::Plain;
pub use plan_summary::{PlanSummary, SummarySection};
pub use progress::Progress;
pub use row::ListRow;
pub use schedule_view::{LeftOutRow, ScheduleView, SlotRow, WindowRow};
pub use spans::{Span, SpanRole, ViewLine};
pub use table::TableRow;
pub use todo_detail::TodoDetail;
pub use todo_row::{Badge, RowReason, TodoRow};
pub use tree::{PhaseHeading, TreeOptions, TreeRow, TreeSection, TreeView};

/// What an empty list reads as.
const NONE: &str = "No todos.";

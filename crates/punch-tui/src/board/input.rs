//! Input of the board: events, and the results of requests.

use crossterm::event::KeyEvent;
use punch_core::Uid;
use punch_core::view::{HistoryRow, Plain};

use super::TextPage;

/// Something that happens to the board.
#[derive(Debug)]
pub enum BoardInput {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse was pressed at a column and row.
    Click(u16, u16),
    /// The mouse was moved to a column and row while it was pressed.
    Drag(u16, u16),
    /// The mouse was released at a column and row.
    Release(u16, u16),
    /// The wheel turned over a column and row: rows down, or up if negative.
    Wheel(u16, u16, i32),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
    /// The data has changed.
    Changed,
    /// It is this time now.
    Time(i64),
    /// What the board shows was drawn at this time.
    Drawn(i64),
    /// A request was carried out.
    Done(Result<String, RequestProblem>),
    /// A change of the plan was carried out or refused. Changes end in the order in which they were asked for.
    Stored(Result<String, RequestProblem>),
    /// What was asked for about a todo beyond the plan.
    Detail(Uid, Box<TodoExtras>),
    /// A text to read.
    Page(TextPage),
    /// The run over time.
    Timeline(Timeline),
    /// The last revisions, newest first: more of them than before.
    Revisions(Vec<HistoryRow>),
}

/// The run over time: headings, each with lines of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline(pub Vec<(&'static str, Vec<String>)>);

/// Why a request failed, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestProblem {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// What the detail of a todo shows beyond the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoExtras {
    /// The last revisions in which something happened to it, newest first.
    pub history: Vec<HistoryRow>,
    /// Sessions that were informed of the user's changes to the todo, and those that still have to be.
    pub informed: Vec<Plain>,
    /// Its worktree, with the size of the diff.
    pub lane: Option<Plain>,
    /// The last lines that its agent printed.
    pub output: Vec<Plain>,
    /// The revision of the plan for which this was read.
    pub revision: u64,
}

/// A line above the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardNotice {
    /// What it says, one or two lines.
    pub text: String,
    /// Something was refused or failed.
    pub is_problem: bool,
    /// When it was put up.
    pub at: i64,
}

//! The one table of keys. The board acts on it, the menu of all keys lists and runs it, and the documentation is made
//! from it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::board::{Board, BoardView};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAction {
    Up,
    Down,
    Top,
    Bottom,
    HalfUp,
    HalfDown,
    NextPanel,
    PreviousPanel,
    View(BoardView),
    NextView,
    PreviousView,
    Open,
    Back,
    NextNeed,
    Allow,
    Deny,
    DenyWithReason,
    Approve,
    AnswerHold,
    Filter,
    Add,
    Edit,
    Change,
    Start,
    Done,
    Fail,
    Cancel,
    Reopen,
    Hold,
    Release,
    Unclaim,
    Archive,
    Note,
    Assign,
    MoveUp,
    MoveDown,
    MoveFirst,
    MoveLast,
    Raise,
    Lower,
    Mark,
    MarkRange,
    Undo,
    Redo,
    Expand,
    ShowClosed,
    WholeGraph,
    Left,
    Right,
    MarkSeen,
    Diff,
    AgentLog,
    Worktree,
    Copy,
    Pause,
    Stop,
    KeepGoing,
    Command,
    Help,
    Suspend,
    Quit,
}

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyScope {
    /// Always.
    Everywhere,
    /// A todo is selected, or several are marked.
    Todo,
    /// A question of an agent is selected.
    Question,
    /// A todo that is on hold for the user is selected.
    Hold,
    /// A check that waits for approval is selected.
    Approval,
    /// The list is shown.
    List,
    /// The graph is shown.
    Graph,
    /// A run works.
    Run,
    /// A session is selected.
    Session,
}

impl KeyScope {
    /// Returns true if keys of this scope do something now.
    pub fn holds(self, board: &Board) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Todo => !board.targets().is_empty(),
            Self::Question => board.question().is_some(),
            Self::Hold => board.decision_wanted().is_some(),
            Self::Approval => board.unapproved().is_some(),
            Self::List => board.view() == BoardView::List,
            Self::Graph => board.view() == BoardView::Graph,
            Self::Run => board.data().run.as_ref().is_some_and(|run| run.is_running),
            Self::Session => board.session().is_some(),
        }
    }
}

/// One row of the table.
#[derive(Debug)]
pub struct Binding {
    /// The keys, each written as in the documentation; two keys in a row are separated by a space.
    pub keys: &'static [&'static str],
    /// What it does.
    pub action: KeyAction,
    /// Where it works.
    pub scope: KeyScope,
    /// What it does, in words.
    pub words: &'static str,
}

const fn row(keys: &'static [&'static str], action: KeyAction, scope: KeyScope, words: &'static str) -> Binding {
    Binding { keys, action, scope, words }
}

/// Every key. Where a key has several meanings, the first row whose scope holds counts.
pub const TABLE: &[Binding] = &[
    row(&["y"], KeyAction::Allow, KeyScope::Question, "Allow what the agent asks for, once"),
    row(&["n"], KeyAction::Deny, KeyScope::Question, "Deny what the agent asks for"),
    row(&["N"], KeyAction::DenyWithReason, KeyScope::Question, "Deny it and give a reason"),
    row(&["y"], KeyAction::Approve, KeyScope::Approval, "Approve the check command of this todo"),
    row(&["y"], KeyAction::AnswerHold, KeyScope::Hold, "Answer: add a note and end the hold"),
    row(
        &["h", "Left"],
        KeyAction::Left,
        KeyScope::Graph,
        "To the left: what it needs; in the whole plan, the layer above",
    ),
    row(
        &["l", "Right"],
        KeyAction::Right,
        KeyScope::Graph,
        "To the right: what waits for it; in the whole plan, the layer below",
    ),
    row(&["!"], KeyAction::NextNeed, KeyScope::Everywhere, "Go to the next thing that needs you"),
    row(&["1"], KeyAction::View(BoardView::Now), KeyScope::Everywhere, "Now: what needs you, who works, what is next"),
    row(&["2"], KeyAction::View(BoardView::List), KeyScope::Everywhere, "List: phases and todos"),
    row(&["3"], KeyAction::View(BoardView::Graph), KeyScope::Everywhere, "Graph: what waits for what"),
    row(&["4"], KeyAction::View(BoardView::Log), KeyScope::Everywhere, "Log: what changed"),
    row(&["5"], KeyAction::View(BoardView::Run), KeyScope::Everywhere, "Run: seats, time and spending"),
    row(&["]"], KeyAction::NextView, KeyScope::Everywhere, "Next view"),
    row(&["["], KeyAction::PreviousView, KeyScope::Everywhere, "Previous view"),
    row(&["j", "Down"], KeyAction::Down, KeyScope::Everywhere, "Down"),
    row(&["k", "Up"], KeyAction::Up, KeyScope::Everywhere, "Up"),
    row(&["g g", "Home"], KeyAction::Top, KeyScope::Everywhere, "To the top"),
    row(&["G", "End"], KeyAction::Bottom, KeyScope::Everywhere, "To the end"),
    row(&["Ctrl-d", "PageDown"], KeyAction::HalfDown, KeyScope::Everywhere, "Half a page down"),
    row(&["Ctrl-u", "PageUp"], KeyAction::HalfUp, KeyScope::Everywhere, "Half a page up"),
    row(&["Tab", "l", "Right"], KeyAction::NextPanel, KeyScope::Everywhere, "Next panel"),
    row(&["Shift-Tab", "h", "Left"], KeyAction::PreviousPanel, KeyScope::Everywhere, "Previous panel"),
    row(&["Enter"], KeyAction::Open, KeyScope::Everywhere, "Open what is selected"),
    row(&["Esc"], KeyAction::Back, KeyScope::Everywhere, "One step back"),
    row(&["/"], KeyAction::Filter, KeyScope::Everywhere, "Filter todos, as `punch list` does; Tab completes"),
    row(
        &["a"],
        KeyAction::Add,
        KeyScope::Everywhere,
        "Add a todo after the selected one; Tab puts it elsewhere, or makes one need the other",
    ),
    row(&["e"], KeyAction::Edit, KeyScope::Todo, "Edit in your editor"),
    row(&["x"], KeyAction::Change, KeyScope::Todo, "Menu of changes"),
    row(&["s"], KeyAction::Start, KeyScope::Todo, "Start"),
    row(&["d"], KeyAction::Done, KeyScope::Todo, "Complete; runs the check if the plan requires one"),
    row(&["f"], KeyAction::Fail, KeyScope::Todo, "Report a failed attempt, with the error"),
    row(&["c"], KeyAction::Cancel, KeyScope::Todo, "Cancel"),
    row(&["r"], KeyAction::Reopen, KeyScope::Todo, "Reopen"),
    row(&["p"], KeyAction::Hold, KeyScope::Todo, "Put on hold, with a reason"),
    row(&["u"], KeyAction::Release, KeyScope::Todo, "End the hold"),
    row(&["U"], KeyAction::Unclaim, KeyScope::Todo, "End its claim and return it to the queue"),
    row(&["X"], KeyAction::Archive, KeyScope::Todo, "Archive"),
    row(&["m"], KeyAction::Note, KeyScope::Todo, "Add a note"),
    row(
        &["b"],
        KeyAction::Assign,
        KeyScope::Todo,
        "Give it, or all that are marked, to a new agent; inside tmux in a window of its own",
    ),
    row(&["K"], KeyAction::MoveUp, KeyScope::Todo, "Move up in the list"),
    row(&["J"], KeyAction::MoveDown, KeyScope::Todo, "Move down in the list"),
    row(&["<"], KeyAction::MoveFirst, KeyScope::Todo, "Move to the top of the list"),
    row(&[">"], KeyAction::MoveLast, KeyScope::Todo, "Move to the end of the list"),
    row(&["+"], KeyAction::Raise, KeyScope::Todo, "Raise the priority"),
    row(&["-"], KeyAction::Lower, KeyScope::Todo, "Lower the priority"),
    row(&["Space"], KeyAction::Mark, KeyScope::Todo, "Mark or unmark"),
    row(&["v"], KeyAction::MarkRange, KeyScope::Todo, "Mark everything from the last mark to here"),
    row(&["E"], KeyAction::Expand, KeyScope::List, "Show all todos of every phase, or only a few"),
    row(&["H"], KeyAction::ShowClosed, KeyScope::List, "Show or hide closed todos"),
    row(&["t"], KeyAction::WholeGraph, KeyScope::Graph, "Show the whole plan, or only what is around the todo"),
    row(&["H"], KeyAction::ShowClosed, KeyScope::Graph, "Show or hide closed todos of the whole plan"),
    row(&["i"], KeyAction::MarkSeen, KeyScope::Everywhere, "Mark all changes as seen"),
    row(&["z"], KeyAction::Undo, KeyScope::Everywhere, "Undo your last change; in the log, the selected one"),
    row(&["Z"], KeyAction::Redo, KeyScope::Everywhere, "Redo what you undid last"),
    row(&["o"], KeyAction::Diff, KeyScope::Todo, "Show the diff of its worktree"),
    row(&["L"], KeyAction::AgentLog, KeyScope::Todo, "Show the output of its agent"),
    row(&["w"], KeyAction::Worktree, KeyScope::Todo, "Show the path of its worktree"),
    row(&["Y"], KeyAction::Copy, KeyScope::Todo, "Copy its id"),
    row(&["P"], KeyAction::KeepGoing, KeyScope::Session, "Resume, pause or switch off continuing this session"),
    row(&["P"], KeyAction::Pause, KeyScope::Run, "Pause the run: finish what is being worked on; again to resume"),
    row(&["S"], KeyAction::Stop, KeyScope::Run, "Stop the run, or the selected seat"),
    row(&[":"], KeyAction::Command, KeyScope::Everywhere, "Run any punch command; Tab completes, Up recalls"),
    row(&["?"], KeyAction::Help, KeyScope::Everywhere, "All keys; Enter runs the selected one"),
    row(&["Ctrl-z"], KeyAction::Suspend, KeyScope::Everywhere, "Suspend the board"),
    row(&["q", "Ctrl-c"], KeyAction::Quit, KeyScope::Everywhere, "Quit; agents continue"),
];

/// What a key leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMatch {
    /// An action.
    Action(KeyAction),
    /// The first key of a pair.
    Prefix,
    /// Nothing.
    Nothing,
}

/// Finds what a key does on this board, after an earlier key of a pair.
pub fn find(board: &Board, prefix: Option<&str>, key: &str) -> KeyMatch {
    let typed = prefix.map_or_else(|| key.to_owned(), |prefix| format!("{prefix} {key}"));
    let bound = |binding: &&Binding| binding.keys.contains(&typed.as_str());
    if let Some(binding) = TABLE.iter().filter(bound).find(|binding| binding.scope.holds(board)) {
        return KeyMatch::Action(binding.action);
    }
    let pair = format!("{typed} ");
    let begins = TABLE.iter().flat_map(|binding| binding.keys).any(|keys| keys.starts_with(&pair));
    if begins { KeyMatch::Prefix } else { KeyMatch::Nothing }
}

/// The first key of an action, for hints.
pub fn key_of(action: KeyAction) -> &'static str {
    TABLE.iter().find(|binding| binding.action == action).map_or("", |binding| binding.keys[0])
}

/// The name of a key as the table has it.
pub fn name(key: &KeyEvent) -> Option<String> {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char(' ') if !ctrl => "Space".to_owned(),
        KeyCode::Char(c) if ctrl => format!("Ctrl-{}", c.to_ascii_lowercase()),
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::ALT) => format!("Alt-{c}"),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter => "Enter".to_owned(),
        KeyCode::Esc => "Esc".to_owned(),
        KeyCode::Tab => "Tab".to_owned(),
        KeyCode::BackTab => "Shift-Tab".to_owned(),
        KeyCode::Backspace => "Backspace".to_owned(),
        KeyCode::Delete => "Delete".to_owned(),
        KeyCode::Up => "Up".to_owned(),
        KeyCode::Down => "Down".to_owned(),
        KeyCode::Left => "Left".to_owned(),
        KeyCode::Right => "Right".to_owned(),
        KeyCode::Home => "Home".to_owned(),
        KeyCode::End => "End".to_owned(),
        KeyCode::PageUp => "PageUp".to_owned(),
        KeyCode::PageDown => "PageDown".to_owned(),
        _ => return None,
    })
}

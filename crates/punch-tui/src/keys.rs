//! The one table of keys. The board acts on it, the menu of all keys lists and runs it, and the documentation is made
//! from it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::board::{Board, View};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Up,
    Down,
    Top,
    Bottom,
    HalfUp,
    HalfDown,
    NextPanel,
    PreviousPanel,
    View(View),
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
pub enum Scope {
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

impl Scope {
    /// Returns true if keys of this scope do something now.
    pub fn holds(self, board: &Board) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Todo => !board.targets().is_empty(),
            Self::Question => board.question().is_some(),
            Self::Hold => board.decision_wanted().is_some(),
            Self::Approval => board.unapproved().is_some(),
            Self::List => board.view() == View::List,
            Self::Graph => board.view() == View::Graph,
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
    pub action: Action,
    /// Where it works.
    pub scope: Scope,
    /// What it does, in words.
    pub words: &'static str,
}

const fn row(keys: &'static [&'static str], action: Action, scope: Scope, words: &'static str) -> Binding {
    Binding { keys, action, scope, words }
}

/// Every key. Where a key has several meanings, the first row whose scope holds counts.
pub const TABLE: &[Binding] = &[
    row(&["y"], Action::Allow, Scope::Question, "Allow what the agent asks for, once"),
    row(&["n"], Action::Deny, Scope::Question, "Deny what the agent asks for"),
    row(&["N"], Action::DenyWithReason, Scope::Question, "Deny it and give a reason"),
    row(&["y"], Action::Approve, Scope::Approval, "Approve the check command of this todo"),
    row(&["y"], Action::AnswerHold, Scope::Hold, "Answer: add a note and end the hold"),
    row(&["h", "Left"], Action::Left, Scope::Graph, "To the left: what it needs; in the whole plan, the layer above"),
    row(
        &["l", "Right"],
        Action::Right,
        Scope::Graph,
        "To the right: what waits for it; in the whole plan, the layer below",
    ),
    row(&["!"], Action::NextNeed, Scope::Everywhere, "Go to the next thing that needs you"),
    row(&["1"], Action::View(View::Now), Scope::Everywhere, "Now: what needs you, who works, what is next"),
    row(&["2"], Action::View(View::List), Scope::Everywhere, "List: phases and todos"),
    row(&["3"], Action::View(View::Graph), Scope::Everywhere, "Graph: what waits for what"),
    row(&["4"], Action::View(View::Log), Scope::Everywhere, "Log: what changed"),
    row(&["5"], Action::View(View::Run), Scope::Everywhere, "Run: seats, time and spending"),
    row(&["]"], Action::NextView, Scope::Everywhere, "Next view"),
    row(&["["], Action::PreviousView, Scope::Everywhere, "Previous view"),
    row(&["j", "Down"], Action::Down, Scope::Everywhere, "Down"),
    row(&["k", "Up"], Action::Up, Scope::Everywhere, "Up"),
    row(&["g g", "Home"], Action::Top, Scope::Everywhere, "To the top"),
    row(&["G", "End"], Action::Bottom, Scope::Everywhere, "To the end"),
    row(&["Ctrl-d", "PageDown"], Action::HalfDown, Scope::Everywhere, "Half a page down"),
    row(&["Ctrl-u", "PageUp"], Action::HalfUp, Scope::Everywhere, "Half a page up"),
    row(&["Tab", "l", "Right"], Action::NextPanel, Scope::Everywhere, "Next panel"),
    row(&["Shift-Tab", "h", "Left"], Action::PreviousPanel, Scope::Everywhere, "Previous panel"),
    row(&["Enter"], Action::Open, Scope::Everywhere, "Open what is selected"),
    row(&["Esc"], Action::Back, Scope::Everywhere, "One step back"),
    row(&["/"], Action::Filter, Scope::Everywhere, "Filter todos, as `punch list` does; Tab completes"),
    row(
        &["a"],
        Action::Add,
        Scope::Everywhere,
        "Add a todo after the selected one; Tab puts it elsewhere, or makes one need the other",
    ),
    row(&["e"], Action::Edit, Scope::Todo, "Edit in your editor"),
    row(&["x"], Action::Change, Scope::Todo, "Menu of changes"),
    row(&["s"], Action::Start, Scope::Todo, "Start"),
    row(&["d"], Action::Done, Scope::Todo, "Complete; runs the check where the plan wants proof"),
    row(&["f"], Action::Fail, Scope::Todo, "Report a failed attempt, with the error"),
    row(&["c"], Action::Cancel, Scope::Todo, "Cancel"),
    row(&["r"], Action::Reopen, Scope::Todo, "Reopen"),
    row(&["p"], Action::Hold, Scope::Todo, "Put on hold, with a reason"),
    row(&["u"], Action::Release, Scope::Todo, "End the hold"),
    row(&["U"], Action::Unclaim, Scope::Todo, "Take it away from its worker"),
    row(&["X"], Action::Archive, Scope::Todo, "Archive"),
    row(&["m"], Action::Note, Scope::Todo, "Add a note"),
    row(
        &["b"],
        Action::Assign,
        Scope::Todo,
        "Give it, or all that are marked, to a new agent; inside tmux in a window of its own",
    ),
    row(&["K"], Action::MoveUp, Scope::Todo, "Move up in the list"),
    row(&["J"], Action::MoveDown, Scope::Todo, "Move down in the list"),
    row(&["<"], Action::MoveFirst, Scope::Todo, "Move to the top of the list"),
    row(&[">"], Action::MoveLast, Scope::Todo, "Move to the end of the list"),
    row(&["+"], Action::Raise, Scope::Todo, "Raise the priority"),
    row(&["-"], Action::Lower, Scope::Todo, "Lower the priority"),
    row(&["Space"], Action::Mark, Scope::Todo, "Mark or unmark"),
    row(&["v"], Action::MarkRange, Scope::Todo, "Mark everything from the last mark to here"),
    row(&["E"], Action::Expand, Scope::List, "Show all todos of every phase, or only a few"),
    row(&["H"], Action::ShowClosed, Scope::List, "Show or hide closed todos"),
    row(&["t"], Action::WholeGraph, Scope::Graph, "Show the whole plan, or only what is around the todo"),
    row(&["H"], Action::ShowClosed, Scope::Graph, "Show or hide closed todos of the whole plan"),
    row(&["i"], Action::MarkSeen, Scope::Everywhere, "Mark all changes as seen"),
    row(&["z"], Action::Undo, Scope::Everywhere, "Undo your last change; in the log, the selected one"),
    row(&["Z"], Action::Redo, Scope::Everywhere, "Redo what you undid last"),
    row(&["o"], Action::Diff, Scope::Todo, "Show the diff of its worktree"),
    row(&["L"], Action::AgentLog, Scope::Todo, "Show the output of its agent"),
    row(&["w"], Action::Worktree, Scope::Todo, "Show the path of its worktree"),
    row(&["Y"], Action::Copy, Scope::Todo, "Copy its id"),
    row(&["P"], Action::KeepGoing, Scope::Session, "Resume, pause or switch off continuing this session"),
    row(&["P"], Action::Pause, Scope::Run, "Pause the run: finish what is being worked on; again to resume"),
    row(&["S"], Action::Stop, Scope::Run, "Stop the run, or the selected seat"),
    row(&[":"], Action::Command, Scope::Everywhere, "Run any punch command; Tab completes, Up recalls"),
    row(&["?"], Action::Help, Scope::Everywhere, "All keys; Enter runs the selected one"),
    row(&["Ctrl-z"], Action::Suspend, Scope::Everywhere, "Suspend the board"),
    row(&["q", "Ctrl-c"], Action::Quit, Scope::Everywhere, "Quit; agents continue"),
];

/// What a key leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An action.
    Action(Action),
    /// The first key of a pair.
    Prefix,
    /// Nothing.
    Nothing,
}

/// Finds what a key does on this board, after an earlier key of a pair.
pub fn find(board: &Board, prefix: Option<&str>, key: &str) -> Found {
    let typed = prefix.map_or_else(|| key.to_owned(), |prefix| format!("{prefix} {key}"));
    let bound = |binding: &&Binding| binding.keys.contains(&typed.as_str());
    if let Some(binding) = TABLE.iter().filter(bound).find(|binding| binding.scope.holds(board)) {
        return Found::Action(binding.action);
    }
    let pair = format!("{typed} ");
    let begins = TABLE.iter().flat_map(|binding| binding.keys).any(|keys| keys.starts_with(&pair));
    if begins { Found::Prefix } else { Found::Nothing }
}

/// The first key of an action, for hints.
pub fn key_of(action: Action) -> &'static str {
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

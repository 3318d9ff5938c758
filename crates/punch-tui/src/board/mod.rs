//! The board as a value: what is shown, what is selected, what is being typed. [`Board::apply`] takes an input and returns
//! what to do; it reads no clock, no store and no terminal, so that any sequence of inputs can be tested.

mod act;
mod answer;
mod command;
mod complete;
mod filter;
mod graph;
mod input;
mod mouse;
mod moving;
mod news;
mod overlay;
mod pane;
mod pending;
mod place;
mod rows;
mod select;

use std::collections::{BTreeSet, HashMap, VecDeque};

use crossterm::event::KeyEvent;
use punch_core::view::{ClearDelay, HistoryRow};
use punch_core::{PhaseUid, Uid};

pub use answer::{BoardQuestion, QuestionDisplay};
pub use graph::{GraphCell, GraphTree};
pub use input::{BoardInput, BoardNotice, RequestProblem, Timeline, TodoExtras};
pub use mouse::Press;
pub use overlay::{AddPlace, Confirm, Menu, MenuAction, Overlay, PromptKind, TextPage};
pub use pane::{InboxKey, Pane, RowKey};
pub use place::{BoardLayout, PanelArea};

use crate::data::Data;
use crate::keys::{self, KeyAction, KeyMatch};
use crate::look::{BoardLook, BoardShape};
use crate::request::BoardRequest;

/// From this width on the detail stands beside the rest.
pub const WIDE: u16 = 110;
/// Below this size panels have headings instead of borders.
pub const NARROW: (u16, u16) = (60, 18);
/// Below this size there is one line.
pub const TINY: (u16, u16) = (30, 8);
/// How long a notice stays.
const NOTICE_MS: i64 = 8_000;
/// How often the worktree and the output of an agent that works are looked at again.
const LIVE_MS: i64 = 5_000;

/// One of the pictures of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoardView {
    /// What needs the user, who works, what is next, what changed.
    #[default]
    Now,
    /// Phases and todos.
    List,
    /// What waits for what.
    Graph,
    /// Revisions.
    Log,
    /// Seats, time and spending.
    Run,
}

impl BoardView {
    /// Every view, in the order of the number keys.
    pub const ALL: [Self; 5] = [Self::Now, Self::List, Self::Graph, Self::Log, Self::Run];

    /// The word at the bottom of the board.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::List => "list",
            Self::Graph => "graph",
            Self::Log => "log",
            Self::Run => "run",
        }
    }

    /// The panels of the view, in the order of the tabulator.
    pub const fn panels(self) -> &'static [BoardPanel] {
        match self {
            Self::Now => {
                &[BoardPanel::Inbox, BoardPanel::Working, BoardPanel::Next, BoardPanel::Changes, BoardPanel::Detail]
            }
            Self::List => &[BoardPanel::List, BoardPanel::Detail],
            Self::Graph => &[BoardPanel::Graph, BoardPanel::Detail],
            Self::Log => &[BoardPanel::Log, BoardPanel::Detail],
            Self::Run => &[BoardPanel::Seats, BoardPanel::Detail],
        }
    }
}

/// A part of the screen with rows of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoardPanel {
    /// What needs the user.
    #[default]
    Inbox,
    /// Who works on what.
    Working,
    /// What can be started, and the rest that is open.
    Next,
    /// What changed since the user looked.
    Changes,
    /// The list of phases and todos.
    List,
    /// The graph.
    Graph,
    /// Revisions.
    Log,
    /// Seats of the run, and sessions.
    Seats,
    /// Everything about what is selected.
    Detail,
}

/// The board.
#[derive(Debug)]
pub struct Board {
    data: Data,
    look: BoardLook,
    delay: ClearDelay,
    size: (u16, u16),
    now: i64,
    view: BoardView,
    panel: BoardPanel,
    /// The panel whose cursor the detail follows.
    source: BoardPanel,
    panes: HashMap<BoardPanel, Pane>,
    detail_top: usize,
    /// On a narrow screen: the detail covers the rest.
    detail_open: bool,
    marked: BTreeSet<Uid>,
    last_mark: Option<Uid>,
    /// The marks go with the next request that succeeds.
    unmarks: bool,
    expanded: BTreeSet<Option<PhaseUid>>,
    all_expanded: bool,
    show_closed: bool,
    whole_graph: bool,
    graph_center: Option<Uid>,
    /// How many revisions there were when older ones were asked for last.
    revisions_asked_at: usize,
    graph_tree: Option<GraphTree>,
    graph_top: usize,
    /// Todos on the critical path, as of the last look at the graph.
    critical: BTreeSet<Uid>,
    /// The revision and time of the plan that has this critical path.
    critical_at: Option<(u64, i64)>,
    filter: filter::TypedFilter,
    overlay: Option<Overlay>,
    notice: Option<BoardNotice>,
    prefix: Option<String>,
    /// Where the mouse was pressed and not released yet.
    press: Option<Press>,
    /// Commands that were typed, the newest last.
    commands: Vec<String>,
    shown: Option<QuestionDisplay>,
    extra: Option<(Uid, Box<TodoExtras>)>,
    /// The todo, revision and moment for which more was asked for.
    asked: Option<(Uid, u64, i64)>,
    timeline: Timeline,
    /// Lines of the run that are scrolled off at the top, below the last row with a cursor.
    run_top: usize,
    /// The width, revision and minute for which the run over time was asked for.
    timeline_of: Option<(usize, u64, i64)>,
    /// When the next lease or timer ends.
    next_moment: Option<i64>,
    /// The user has taken the cursor.
    has_panel: bool,
    /// Changes that have not ended, in the order in which they were asked for: the todos that each one checks.
    changes: VecDeque<Option<String>>,
    /// The newest revision that was shown.
    newest: u64,
    /// The failed write that was reported.
    failed_write: Option<String>,
    /// What needed the user at the last look; `None` before the first one.
    needs: Option<Vec<InboxKey>>,
}

impl Board {
    /// An empty board of a size.
    pub fn new(look: BoardLook, delay: ClearDelay, size: (u16, u16), now: i64) -> Self {
        let mut board = Self {
            data: Data::default(),
            look,
            delay,
            size,
            now,
            view: BoardView::Now,
            panel: BoardPanel::Inbox,
            source: BoardPanel::Inbox,
            panes: HashMap::new(),
            detail_top: 0,
            detail_open: false,
            marked: BTreeSet::new(),
            last_mark: None,
            unmarks: false,
            expanded: BTreeSet::new(),
            all_expanded: false,
            show_closed: false,
            whole_graph: false,
            graph_center: None,
            revisions_asked_at: 0,
            graph_tree: None,
            graph_top: 0,
            critical: BTreeSet::new(),
            critical_at: None,
            filter: filter::TypedFilter::default(),
            overlay: None,
            notice: None,
            prefix: None,
            press: None,
            commands: Vec::new(),
            shown: None,
            extra: None,
            asked: None,
            timeline: Timeline::default(),
            run_top: 0,
            timeline_of: None,
            next_moment: None,
            has_panel: false,
            changes: VecDeque::new(),
            newest: 0,
            failed_write: None,
            needs: None,
        };
        board.rebuild();
        board
    }

    /// What the board knows, to be brought up to date. [`BoardInput::Changed`] must follow.
    pub const fn data_mut(&mut self) -> &mut Data {
        &mut self.data
    }

    /// What the board knows.
    pub const fn data(&self) -> &Data {
        &self.data
    }

    /// How it looks.
    pub const fn look(&self) -> BoardLook {
        self.look
    }

    /// When closed todos leave the list.
    pub const fn delay(&self) -> ClearDelay {
        self.delay
    }

    /// Columns and rows.
    #[cfg(test)]
    pub const fn size(&self) -> (u16, u16) {
        self.size
    }

    /// The time that the board shows.
    pub const fn now(&self) -> i64 {
        self.now
    }

    /// The view.
    pub const fn view(&self) -> BoardView {
        self.view
    }

    /// The panel with the cursor.
    pub const fn panel(&self) -> BoardPanel {
        self.panel
    }

    /// The rows of a panel.
    pub fn pane(&self, panel: BoardPanel) -> &Pane {
        const NONE: &Pane = &Pane::EMPTY;
        self.panes.get(&panel).unwrap_or(NONE)
    }

    /// What covers the rest.
    pub const fn overlay(&self) -> Option<&Overlay> {
        self.overlay.as_ref()
    }

    /// The line above the keys.
    pub const fn notice(&self) -> Option<&BoardNotice> {
        self.notice.as_ref()
    }

    /// The text of the filter.
    pub fn filter_text(&self) -> &str {
        self.filter.text()
    }

    /// The todos that are marked.
    pub const fn marked(&self) -> &BTreeSet<Uid> {
        &self.marked
    }

    /// Rows above the first one of the detail.
    pub const fn detail_top(&self) -> usize {
        self.detail_top
    }

    /// Returns true if the detail covers the rest of a narrow screen.
    pub const fn is_detail_open(&self) -> bool {
        self.detail_open
    }

    /// The run over time.
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Lines of the run that are scrolled off at the top, besides rows.
    pub const fn run_top(&self) -> usize {
        self.run_top
    }

    /// Returns true if the graph shows the whole plan.
    pub const fn is_whole_graph(&self) -> bool {
        self.whole_graph
    }

    /// Returns true if the todo is on the critical path, as far as the graph has been looked at.
    pub fn is_critical(&self, uid: Uid) -> bool {
        self.critical.contains(&uid)
    }

    /// What is known about the selected todo beyond the plan.
    pub fn extra(&self, uid: Uid) -> Option<&TodoExtras> {
        self.extra.as_ref().filter(|(of, _)| *of == uid).map(|(_, extra)| &**extra)
    }

    /// Returns true if the detail stands beside the rest.
    pub const fn is_wide(&self) -> bool {
        self.size.0 >= WIDE && self.size.1 >= NARROW.1
    }

    /// When the picture changes by itself: the next full minute, the end of a lease or timer, or that of a notice.
    pub fn next_change(&self) -> i64 {
        let minute = (self.now / 60_000 + 1) * 60_000;
        let notice = self.notice.as_ref().filter(|notice| !notice.is_problem).map(|notice| notice.at + NOTICE_MS + 1);
        [self.next_moment, notice].into_iter().flatten().fold(minute, i64::min)
    }

    /// Takes an input and returns what to do about it.
    pub fn apply(&mut self, input: BoardInput) -> Vec<BoardRequest> {
        let mut requests = match input {
            BoardInput::Key(key) => self.key(&key),
            BoardInput::Paste(text) => {
                self.paste(&text);
                Vec::new()
            }
            BoardInput::Click(column, row) => self.click(column, row),
            BoardInput::Drag(column, row) => {
                self.drag(column, row);
                Vec::new()
            }
            BoardInput::Release(column, row) => self.release(column, row),
            BoardInput::Wheel(column, row, by) => {
                self.wheel(column, row, by);
                Vec::new()
            }
            BoardInput::Resize(columns, rows) => {
                self.size = (columns, rows);
                // Lines break elsewhere now: what was read has to be read again.
                self.shown = None;
                self.press = None;
                if self.view == BoardView::Graph {
                    self.rebuild();
                }
                Vec::new()
            }
            BoardInput::Changed => {
                self.rebuild();
                self.choose_first_panel();
                self.note_news();
                self.note_needs().into_iter().collect()
            }
            BoardInput::Time(now) => {
                self.pass_time(now);
                Vec::new()
            }
            BoardInput::Drawn(at) => {
                self.note_shown(at);
                return Vec::new();
            }
            BoardInput::Done(done) => {
                self.finish(done);
                Vec::new()
            }
            BoardInput::Stored(done) => {
                self.changes.pop_front();
                self.finish(done);
                Vec::new()
            }
            BoardInput::Detail(uid, extra) => {
                self.extra = Some((uid, extra));
                Vec::new()
            }
            BoardInput::Revisions(rows) => {
                self.add_older(rows);
                Vec::new()
            }
            BoardInput::Timeline(timeline) => {
                self.timeline = timeline;
                Vec::new()
            }
            BoardInput::Page(page) => {
                self.overlay = Some(Overlay::Page(page));
                Vec::new()
            }
        };
        self.note_changes(&requests);
        self.note_check();
        self.settle();
        requests.extend(self.wanted_detail());
        requests.extend(self.wanted_timeline());
        requests.extend(self.wanted_revisions());
        requests
    }

    fn key(&mut self, key: &KeyEvent) -> Vec<BoardRequest> {
        let Some(name) = keys::name(key) else { return Vec::new() };
        self.has_panel = true;
        if self.notice.as_ref().is_some_and(|notice| notice.is_problem) {
            self.notice = None;
        }
        if self.look.shape == BoardShape::Panel {
            let ends = matches!(name.as_str(), "q" | "Ctrl-c");
            return if ends { vec![BoardRequest::Quit] } else { Vec::new() };
        }
        if self.overlay.is_some() {
            return self.overlay_key(&name, key);
        }
        let prefix = self.prefix.take();
        match keys::find(self, prefix.as_deref(), &name) {
            KeyMatch::Action(action) => self.act(action),
            KeyMatch::Prefix => {
                self.prefix = Some(name);
                Vec::new()
            }
            KeyMatch::Nothing => Vec::new(),
        }
    }

    fn finish(&mut self, done: Result<String, RequestProblem>) {
        let at = self.now;
        if std::mem::take(&mut self.unmarks) && done.is_ok() {
            self.marked.clear();
        }
        self.notice = match done {
            Ok(text) if text.is_empty() => return,
            Ok(text) => Some(BoardNotice { text, is_problem: false, at }),
            Err(RequestProblem { message, hint }) => {
                let text = if hint.is_empty() { message } else { format!("{message}\n{hint}") };
                Some(BoardNotice { text, is_problem: true, at })
            }
        };
    }

    fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(BoardNotice { text: text.into(), is_problem: false, at: self.now });
    }

    fn refuse(&mut self, text: impl Into<String>) {
        self.notice = Some(BoardNotice { text: text.into(), is_problem: true, at: self.now });
    }

    fn pass_time(&mut self, now: i64) {
        // Ages are shown in minutes; leases and timers end in between.
        let changes = now / 60_000 != self.now / 60_000 || self.next_moment.is_some_and(|at| at <= now);
        self.now = now;
        if self.notice.as_ref().is_some_and(|notice| !notice.is_problem && now - notice.at > NOTICE_MS) {
            self.notice = None;
        }
        if changes {
            self.rebuild();
        }
    }

    /// Until the user takes the cursor, it is where there is something, and first of all where the user is needed.
    fn choose_first_panel(&mut self) {
        if self.has_panel || self.data.plan.is_none() || !self.data.is_complete {
            return;
        }
        let filled = self.view.panels().iter().find(|panel| !self.pane(**panel).rows.is_empty());
        self.panel = filled.copied().unwrap_or(self.panel);
        self.panes.entry(self.panel).or_default().go(0);
    }

    /// Asks for what the detail shows beyond the plan, once for each todo and revision, and now and then while an agent works.
    fn wanted_detail(&mut self) -> Option<BoardRequest> {
        if !(self.is_wide() || self.detail_open) {
            return None;
        }
        let uid = self.target()?;
        let revision = self.data.plan.as_ref()?.row.revision;
        // What an agent writes changes without a revision.
        let works = self.todo(uid).is_some_and(|todo| self.data.seat_of(&todo.id).is_some());
        let wanted = (uid, revision, if works { self.now / LIVE_MS } else { 0 });
        if self.asked == Some(wanted) {
            return None;
        }
        self.asked = Some(wanted);
        Some(BoardRequest::Detail(uid))
    }

    /// Asks for older revisions once the cursor is on the last one, twice as many as there are: the whole of a long log is
    /// read in few steps.
    fn wanted_revisions(&mut self) -> Option<BoardRequest> {
        let known = self.data.history.len();
        let is_last = self.view == BoardView::Log && self.pane(BoardPanel::Log).at + 1 == known;
        let has_older = self.data.history.last().is_some_and(|row| row.revision > 1);
        // What did not get longer has no more to show: the rest was pruned.
        if !is_last || !has_older || self.revisions_asked_at == known {
            return None;
        }
        self.revisions_asked_at = known;
        Some(BoardRequest::Revisions(known as u64 * 2))
    }

    /// Adds revisions that are older than those that are known.
    fn add_older(&mut self, rows: Vec<HistoryRow>) {
        let oldest = self.data.history.last().map_or(u64::MAX, |row| row.revision);
        self.data.history.extend(rows.into_iter().filter(|row| row.revision < oldest));
        self.rebuild();
    }

    /// Asks for the run over time while it is shown, once for each width, revision and minute.
    fn wanted_timeline(&mut self) -> Option<BoardRequest> {
        let place = self.layout().rect(BoardPanel::Seats)?;
        let width = usize::from(place.inner.width.saturating_sub(1));
        let wanted = (width, self.data.plan.as_ref()?.row.revision, self.now / 60_000);
        if self.timeline_of == Some(wanted) {
            return None;
        }
        self.timeline_of = Some(wanted);
        Some(BoardRequest::Timeline(width))
    }

    /// Brings everything that follows from the state into line: the panel is one that is shown, and cursors are on screen.
    fn settle(&mut self) {
        let layout = self.layout();
        if layout.rect(self.panel).is_none() {
            let shown = layout.panels.iter().map(|(panel, _)| *panel).find(|panel| self.view.panels().contains(panel));
            self.panel = shown.unwrap_or(self.view.panels()[0]);
        }
        if self.panel != BoardPanel::Detail {
            self.source = self.panel;
        }
        for (panel, place) in &layout.panels {
            let rows = usize::from(place.inner.height).max(1);
            if let Some(pane) = self.panes.get_mut(panel) {
                pane.scroll(rows);
            }
            if *panel == BoardPanel::Graph {
                self.scroll_graph(rows);
            }
            if *panel == BoardPanel::Detail {
                let lines = crate::draw::detail_lines(self, usize::from(place.inner.width)).len();
                self.detail_top = self.detail_top.min(lines.saturating_sub(rows));
            }
            if *panel == BoardPanel::Seats {
                let lines = crate::draw::run_line_count(self);
                self.run_top = self.run_top.min(lines.saturating_sub(self.pane(BoardPanel::Seats).top + rows));
            }
        }
    }

    /// The action of a key, for the menu of keys.
    pub(crate) fn run(&mut self, action: KeyAction) -> Vec<BoardRequest> {
        self.act(action)
    }
}

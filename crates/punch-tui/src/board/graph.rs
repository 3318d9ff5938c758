//! The graph. Around one todo it is two trees: what the todo needs stands to its left, what waits for it to its right. The whole
//! plan stands layer below layer. On a narrow screen both are rows.

use std::collections::BTreeSet;

use punch_core::reason::PlanReader;
use punch_core::schedule::critical_path;
use punch_core::view::graph_layout::layers;
use punch_core::view::{Branch, Neighborhood};
use punch_core::{Todo, Uid};

use super::{Board, BoardPanel, RowKey};

/// Columns that a tree needs; below, rows say more.
const TREE_WIDTH: u16 = 56;
/// From this many columns on, the tree goes two steps each way.
const DEEP_WIDTH: u16 = 100;
/// Todos each way.
const MOST: usize = 60;
/// Columns between two columns of todos, for the lines that connect them.
pub const GUTTER: u16 = 4;

/// A todo in the tree, or the note that some are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphCell {
    /// What it is.
    pub key: RowKey,
    /// Its column, from the left.
    pub column: usize,
    /// Its line.
    pub line: usize,
    /// The cell that it hangs on, one column nearer to the center; `None` for the center.
    pub parent: Option<usize>,
}

/// The trees around a todo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphTree {
    /// Cells by column, then by line.
    pub cells: Vec<GraphCell>,
    /// The column of the todo in the middle.
    pub center: usize,
    /// How many columns there are.
    pub columns: usize,
    /// How many lines there are.
    pub lines: usize,
    /// How many todos the one in the middle needs.
    pub needs: usize,
    /// How many todos wait for the one in the middle.
    pub blocks: usize,
}

impl GraphTree {
    fn of(around: &Neighborhood) -> Self {
        let center = depth(&around.needs);
        let count = |branch: &Branch| branch.branches.len() + branch.more;
        let (needs, blocks) = (count(&around.needs), count(&around.blocks));
        let columns = center + depth(&around.blocks) + 1;
        let mut tree = Self { center, columns, needs, blocks, ..Self::default() };
        let middle = GraphCell { key: RowKey::Todo(around.needs.uid), column: center, line: 0, parent: None };
        tree.cells.push(middle);
        tree.lines = tree.hang(&around.needs, 0, 0, -1);
        tree.lines = tree.lines.max(tree.hang(&around.blocks, 0, 0, 1));
        tree
    }

    /// Hangs the branches of a cell beside it, from a line on; returns the line after the last.
    fn hang(&mut self, branch: &Branch, parent: usize, line: usize, side: isize) -> usize {
        let column = self.cells[parent].column.saturating_add_signed(side);
        let mut next = line;
        for branch in &branch.branches {
            let at = self.cells.len();
            let key = RowKey::Todo(branch.uid);
            self.cells.push(GraphCell { key, column, line: next, parent: Some(parent) });
            next = self.hang(branch, at, next, side);
        }
        if branch.more > 0 {
            let key = RowKey::Text(format!("+{} more", branch.more));
            self.cells.push(GraphCell { key, column, line: next, parent: Some(parent) });
            next += 1;
        }
        next.max(line + 1)
    }

    /// The left edge and the width of each column on a screen of this width.
    pub fn places(&self, width: u16) -> Vec<(u16, u16)> {
        let columns = u16::try_from(self.columns.max(1)).unwrap_or(u16::MAX);
        let wide = (width.saturating_sub((columns - 1) * GUTTER) / columns).clamp(1, 44);
        (0..columns).map(|column| (column * (wide + GUTTER), wide)).collect()
    }

    fn find(&self, key: &RowKey) -> Option<&GraphCell> {
        self.cells.iter().find(|cell| cell.key == *key)
    }
}

/// Columns beside the center that branches take.
fn depth(branch: &Branch) -> usize {
    let below = branch.branches.iter().map(|branch| depth(branch) + 1).max().unwrap_or(0);
    below.max(usize::from(branch.more > 0))
}

impl Board {
    /// The rows of the graph, and the tree if one is drawn.
    pub(super) fn graph_rows(&mut self) -> Vec<RowKey> {
        self.graph_tree = None;
        let Some(plan) = &self.data.plan else { return Vec::new() };
        // It follows from the plan alone, and the graph is made again whenever the cursor goes elsewhere.
        let version = Some((plan.row.revision, plan.row.last_time));
        if self.critical_at != version {
            self.critical = critical_path(plan, 1.0).into_iter().collect::<BTreeSet<Uid>>();
            self.critical_at = version;
        }
        let Some(reader) = self.data.reader(self.now) else { return Vec::new() };
        let center = self.graph_center.and_then(|uid| reader.plan.get(uid)).filter(|_| !self.whole_graph);
        let Some(center) = center.map(|todo| todo.uid) else { return self.by_layer(reader) };
        let width = self.layout().rect(BoardPanel::Graph).map_or(0, |place| place.inner.width);
        let steps = if width >= DEEP_WIDTH { 2 } else { 1 };
        let around = Neighborhood::of(reader, center, steps, MOST);
        if width < TREE_WIDTH {
            return in_rows(&around);
        }
        let tree = GraphTree::of(&around);
        let mut cells: Vec<&GraphCell> = tree.cells.iter().collect();
        cells.sort_by_key(|cell| (cell.column, cell.line));
        let rows = cells.into_iter().map(|cell| cell.key.clone()).collect();
        self.graph_tree = Some(tree);
        rows
    }

    /// The whole plan, layer by layer. What is closed is left out as in the list.
    fn by_layer(&self, reader: PlanReader<'_>) -> Vec<RowKey> {
        let matches = self.filter.on(reader, self.data.seen_at);
        let hides = |todo: &Todo| !self.show_closed && self.filter.is_empty() && self.delay.hides(todo, reader.now);
        let todos: Vec<&Todo> = reader.plan.live().into_iter().filter(|todo| matches(todo)).collect();
        let mut rows = Vec::new();
        let mut closed = 0;
        for layer in layers(&todos) {
            let number = layer.first().map_or(0, |todo| todo.derived.level);
            let shown: Vec<&Todo> = layer.iter().copied().filter(|todo| !hides(todo)).collect();
            closed += layer.len() - shown.len();
            if shown.is_empty() {
                continue;
            }
            let count = match shown.len() {
                1 => "1 todo".to_owned(),
                more => format!("{more} todos"),
            };
            rows.push(RowKey::Text(format!("Layer {number} ({count})")));
            rows.extend(shown.iter().map(|todo| RowKey::Todo(todo.uid)));
        }
        if closed > 0 {
            rows.push(RowKey::Closed(None, closed));
        }
        rows
    }

    /// The tree around the selected todo, if it is drawn.
    pub fn graph_tree(&self) -> Option<&GraphTree> {
        self.graph_tree.as_ref()
    }

    /// Lines of the tree above the first that is shown.
    pub const fn graph_top(&self) -> usize {
        self.graph_top
    }

    /// Moves inside a column of the tree.
    pub(super) fn step_in_column(&mut self, by: isize) -> bool {
        let Some(tree) = &self.graph_tree else { return false };
        let Some(cell) = self.pane(BoardPanel::Graph).selected().and_then(|key| tree.find(key)) else { return false };
        let mut column: Vec<&GraphCell> = tree.cells.iter().filter(|other| other.column == cell.column).collect();
        column.sort_by_key(|cell| cell.line);
        let at = column.iter().position(|other| other.key == cell.key).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(column.len() - 1);
        let key = column[to].key.clone();
        self.panes.entry(BoardPanel::Graph).or_default().go_to(&key)
    }

    /// Moves to the nearest cell of the next column of the tree, or to the next layer of the whole plan.
    pub(super) fn step_across(&mut self, by: isize) {
        self.detail_top = 0;
        let pane = self.pane(BoardPanel::Graph);
        let wanted = match &self.graph_tree {
            Some(tree) => pane.selected().and_then(|key| tree.find(key)).and_then(|cell| {
                let column = cell.column.checked_add_signed(by)?;
                let near = tree.cells.iter().filter(|other| other.column == column);
                near.min_by_key(|other| (other.line.abs_diff(cell.line), other.line)).map(|cell| cell.key.clone())
            }),
            None => {
                let headings = pane.rows.iter().enumerate().filter(|(_, row)| matches!(row, RowKey::Text(_)));
                let mut headings = headings.map(|(at, _)| at);
                // A layer begins below its heading.
                let found = match by {
                    ..0 => headings.rfind(|at| at + 1 < pane.at),
                    _ => headings.find(|at| *at > pane.at),
                };
                found.and_then(|at| pane.rows.get(at + 1)).cloned()
            }
        };
        if let Some(key) = wanted {
            self.panes.entry(BoardPanel::Graph).or_default().go_to(&key);
        }
    }

    /// Keeps the selected cell of the tree in view.
    pub(super) fn scroll_graph(&mut self, height: usize) {
        let Some(tree) = &self.graph_tree else { return };
        // The first line names the columns.
        let height = height.saturating_sub(1).max(1);
        let line = self.pane(BoardPanel::Graph).selected().and_then(|key| tree.find(key)).map_or(0, |cell| cell.line);
        let last = tree.lines.saturating_sub(height);
        self.graph_top = self.graph_top.clamp((line + 1).saturating_sub(height), line).min(last);
    }

    /// The cell at a column and line of the panel.
    pub(super) fn graph_cell_at(&self, width: u16, x: u16, y: u16) -> Option<RowKey> {
        let tree = self.graph_tree.as_ref()?;
        let line = usize::from(y.checked_sub(1)?) + self.graph_top;
        let column = tree.places(width).iter().position(|(left, wide)| (*left..left + wide).contains(&x))?;
        let cell = tree.cells.iter().find(|cell| cell.column == column && cell.line == line)?;
        Some(cell.key.clone())
    }
}

fn in_rows(around: &Neighborhood) -> Vec<RowKey> {
    let section = |heading: &str, branch: &Branch| {
        let mut rows = vec![RowKey::Text(format!("{heading} ({})", branch.branches.len() + branch.more))];
        rows.extend(branch.branches.iter().map(|branch| RowKey::Todo(branch.uid)));
        rows.extend((branch.more > 0).then(|| RowKey::Text(format!("+{} more", branch.more))));
        rows
    };
    let mut rows = section("Needs", &around.needs);
    rows.extend([RowKey::Text("Selected".to_owned()), RowKey::Todo(around.needs.uid)]);
    rows.extend(section("Blocks", &around.blocks));
    rows
}

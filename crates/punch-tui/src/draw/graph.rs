//! The trees around a todo: columns of todos, and lines between them. What is on the critical path has thick lines.

use punch_core::view::Plain;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::line::{columns, fit};
use crate::board::{Board, BoardPanel, GraphCell, GraphTree, RowKey};
use crate::look::BoardLook;

/// The lines of the tree that are on screen, below a line that names the columns.
pub(super) fn lines(
    board: &Board,
    tree: &GraphTree,
    width: usize,
    height: usize,
    has_cursor: bool,
) -> Vec<Line<'static>> {
    let places = tree.places(u16::try_from(width).unwrap_or(u16::MAX));
    let Some((_, wide)) = places.first().copied() else { return Vec::new() };
    let picture = GraphPicture { board, tree, wide: usize::from(wide), has_cursor };
    let mut out = vec![picture.headings()];
    let shown = board.graph_top()..tree.lines.min(board.graph_top() + height.saturating_sub(1));
    out.extend(shown.map(|line| picture.line(line)));
    out
}

/// Whether any todo of the tree is on the critical path.
pub(super) fn has_critical(board: &Board, tree: &GraphTree) -> bool {
    tree.cells.iter().any(|cell| is_critical(board, &cell.key))
}

fn is_critical(board: &Board, key: &RowKey) -> bool {
    matches!(key, RowKey::Todo(uid) if board.is_critical(*uid))
}

struct GraphPicture<'a> {
    board: &'a Board,
    tree: &'a GraphTree,
    /// Columns of a cell.
    wide: usize,
    has_cursor: bool,
}

/// A piece of a line between two columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EdgeJoint {
    /// Nothing passes here.
    None,
    /// A line passes from above to below.
    Passing,
    /// The only branch, or the first, middle or last of several.
    Only,
    First,
    Middle,
    Last,
}

impl GraphPicture<'_> {
    fn look(&self) -> BoardLook {
        self.board.look()
    }

    fn headings(&self) -> Line<'static> {
        let mut spans = Vec::new();
        for column in 0..self.tree.columns {
            let text = match column + 1 {
                _ if column == self.tree.center => "Selected".to_owned(),
                next if next == self.tree.center => format!("Needs ({})", self.tree.needs),
                _ if column == self.tree.center + 1 => format!("Blocks ({})", self.tree.blocks),
                _ => String::new(),
            };
            spans.push(Span::styled(self.filled(&text, " "), self.look().bold()));
            spans.push(Span::raw("    "));
        }
        Line::from(spans)
    }

    /// Text in a cell, filled up with a sign.
    fn filled(&self, text: &str, fill: &str) -> String {
        // A line that leads on keeps its distance from the text.
        let room = if fill == " " { self.wide } else { self.wide.saturating_sub(2) };
        let text = fit(text, room, self.look());
        let rest = self.wide.saturating_sub(columns(&text));
        let gap = usize::from(rest > 0 && !text.is_empty());
        format!("{text}{}{}", " ".repeat(gap), fill.repeat(rest - gap))
    }

    fn cell(&self, column: usize, line: usize) -> Option<&GraphCell> {
        self.tree.cells.iter().find(|cell| cell.column == column && cell.line == line)
    }

    fn line(&self, line: usize) -> Line<'static> {
        let look = self.look();
        let mut spans = Vec::new();
        for column in 0..self.tree.columns {
            let (joint, is_thick) = self.joint(column, line);
            let cell = self.cell(column, line);
            let is_left = column < self.tree.center;
            let leads_on = match joint {
                EdgeJoint::None | EdgeJoint::Passing => false,
                EdgeJoint::Only | EdgeJoint::First => true,
                EdgeJoint::Middle | EdgeJoint::Last => is_left,
            };
            let dash = if is_thick && (is_left || joint == EdgeJoint::Only) {
                look.pick("━", "=")
            } else {
                look.pick("─", "-")
            };
            spans.push(match cell {
                Some(cell) => self.text(cell, if leads_on { dash } else { " " }),
                None => Span::raw(" ".repeat(self.wide)),
            });
            if column + 1 < self.tree.columns {
                spans.push(Span::styled(joined(look, joint, is_left, is_thick), look.dim()));
            }
        }
        Line::from(spans)
    }

    fn text(&self, cell: &GraphCell, fill: &str) -> Span<'static> {
        let (board, look) = (self.board, self.look());
        let (text, mut style) = match &cell.key {
            RowKey::Todo(uid) => match (board.data().reader(board.now()), board.todo(*uid)) {
                (Some(reader), Some(todo)) => {
                    let status = reader.shown(todo);
                    let mark = if board.marked().contains(uid) { look.pick("◆", "*") } else { "" };
                    let (id, words) = (Plain::id(&todo.id), Plain::text(&todo.content));
                    (format!("{mark}{} {id} {words}", look.status(status)), look.status_style(status))
                }
                _ => (String::new(), look.dim()),
            },
            RowKey::Text(text) => (text.clone(), look.dim()),
            _ => (String::new(), look.dim()),
        };
        if is_critical(board, &cell.key) {
            style = style.remove_modifier(Modifier::DIM).add_modifier(Modifier::BOLD);
        }
        if self.has_cursor && board.pane(BoardPanel::Graph).selected() == Some(&cell.key) {
            style = style.patch(look.selected());
        }
        Span::styled(self.filled(&text, fill), style)
    }

    /// What passes between a column and the next on a line, and whether it is part of the critical path.
    fn joint(&self, column: usize, line: usize) -> (EdgeJoint, bool) {
        let (parents, branches) = if column < self.tree.center { (column + 1, column) } else { (column, column + 1) };
        for (at, parent) in self.tree.cells.iter().enumerate().filter(|(_, cell)| cell.column == parents) {
            let hanging = || self.tree.cells.iter().filter(|cell| cell.parent == Some(at) && cell.column == branches);
            let Some(last) = hanging().map(|cell| cell.line).max() else { continue };
            if !(parent.line..=last).contains(&line) {
                continue;
            }
            let Some(here) = hanging().find(|cell| cell.line == line) else { return (EdgeJoint::Passing, false) };
            let joint = match (line == parent.line, line == last) {
                (true, true) => EdgeJoint::Only,
                (true, false) => EdgeJoint::First,
                (false, true) => EdgeJoint::Last,
                (false, false) => EdgeJoint::Middle,
            };
            return (joint, is_critical(self.board, &here.key) && is_critical(self.board, &parent.key));
        }
        (EdgeJoint::None, false)
    }
}

fn joined(look: BoardLook, joint: EdgeJoint, is_left: bool, is_thick: bool) -> String {
    let dash = look.pick("─", "-");
    let thick = if is_thick { look.pick("━", "=") } else { dash };
    let plus = |sign| look.pick(sign, "+");
    let bar = look.pick("│", "|");
    match (joint, is_left) {
        (EdgeJoint::None, _) => "    ".to_owned(),
        (EdgeJoint::Passing, _) => format!(" {bar}  "),
        (EdgeJoint::Only, _) => format!("{thick}{thick}{thick} "),
        (EdgeJoint::First, true) => format!("{thick}{}{dash} ", plus("┬")),
        (EdgeJoint::Middle, true) => format!("{thick}{}  ", plus("┤")),
        (EdgeJoint::Last, true) => format!("{thick}{}  ", plus("┘")),
        (EdgeJoint::First, false) => format!("{dash}{}{thick} ", plus("┬")),
        (EdgeJoint::Middle, false) => format!(" {}{thick} ", plus("├")),
        (EdgeJoint::Last, false) => format!(" {}{thick} ", plus("└")),
    }
}

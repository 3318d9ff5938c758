//! The mouse: a click selects, a click on what is selected opens it, dragging moves a todo in the list, the wheel scrolls.

use punch_core::{Edit, Keep, ListPosition, Op, PhaseRef, Ref, Uid};

use super::{Board, BoardPanel, BoardView, Overlay, PanelArea, RowKey};
use crate::request::BoardRequest;

/// What the mouse was pressed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Press {
    panel: BoardPanel,
    key: RowKey,
    /// It was selected before.
    again: bool,
}

impl Board {
    pub(super) fn click(&mut self, column: u16, row: u16) -> Vec<BoardRequest> {
        (self.press, self.has_panel) = (None, true);
        if self.overlay.is_some() {
            return self.click_menu(column, row);
        }
        let layout = self.layout();
        let Some((panel, place)) = layout.at(column, row) else {
            self.click_footer(column, row, &layout);
            return Vec::new();
        };
        let had_cursor = self.panel == panel;
        self.panel = panel;
        let Some(key) = self.row_at(panel, place, column, row) else { return Vec::new() };
        let pane = self.panes.entry(panel).or_default();
        let again = had_cursor && pane.selected() == Some(&key);
        pane.go_to(&key);
        self.detail_top = 0;
        self.press = Some(Press { panel, key, again });
        Vec::new()
    }

    /// The row of a panel at a place on the screen.
    fn row_at(&self, panel: BoardPanel, place: PanelArea, column: u16, row: u16) -> Option<RowKey> {
        if panel == BoardPanel::Detail || !place.inner.contains((column, row).into()) {
            return None;
        }
        let (x, y) = (column - place.inner.x, row - place.inner.y);
        if panel == BoardPanel::Graph && self.graph_tree().is_some() {
            return self.graph_cell_at(place.inner.width, x, y);
        }
        let pane = self.pane(panel);
        let scrolled = if panel == BoardPanel::Seats { self.run_top } else { 0 };
        pane.rows.get(pane.top + scrolled + usize::from(y)).cloned()
    }

    /// A click in a menu selects an entry, a second one runs it; a click beside the menu closes it.
    fn click_menu(&mut self, column: u16, row: u16) -> Vec<BoardRequest> {
        let Some(Overlay::Menu(menu)) = &self.overlay else { return Vec::new() };
        let (area, top) = self.menu_place(menu);
        if !area.contains((column, row).into()) {
            self.overlay = None;
            return Vec::new();
        }
        let at = usize::from(row.saturating_sub(area.y + 1)) + top;
        let foot = self.menu_foot(menu);
        let inside = row > area.y && row + 1 + foot < area.bottom() && at < menu.entries.len();
        let again = menu.at == at;
        match &mut self.overlay {
            Some(Overlay::Menu(menu)) if inside => menu.at = at,
            _ => return Vec::new(),
        }
        if again { self.run_entry() } else { Vec::new() }
    }

    /// A click on the name of a view.
    fn click_footer(&mut self, column: u16, row: u16, layout: &super::BoardLayout) {
        if layout.is_narrow || row + 1 != layout.footer.bottom() {
            return;
        }
        let mut x = 1;
        for view in BoardView::ALL {
            let width = view.name().len() as u16 + 2;
            if (x..x + width).contains(&column) {
                self.show(view);
                return;
            }
            x += width + 2;
        }
    }

    /// What the mouse points at while a todo of the list is dragged.
    fn drop_on(&self, column: u16, row: u16) -> Option<(Uid, Uid)> {
        let press = self.press.as_ref().filter(|press| press.panel == BoardPanel::List)?;
        let (panel, place) = self.layout().at(column, row)?;
        match (&press.key, self.row_at(panel, place, column, row)?) {
            (RowKey::Todo(from), RowKey::Todo(to)) if panel == BoardPanel::List && *from != to => Some((*from, to)),
            _ => None,
        }
    }

    /// Where a dragged todo would go: above what is above it, below what is below it.
    fn drop_place(&self, from: Uid, to: Uid) -> ListPosition {
        let pane = self.pane(BoardPanel::List);
        let at = |uid: Uid| pane.rows.iter().position(|row| *row == RowKey::Todo(uid));
        if at(from) < at(to) { ListPosition::After(Ref::Uid(to)) } else { ListPosition::Before(Ref::Uid(to)) }
    }

    pub(super) fn drag(&mut self, column: u16, row: u16) {
        let Some((from, to)) = self.drop_on(column, row) else { return };
        let side = if matches!(self.drop_place(from, to), ListPosition::After(_)) { "after" } else { "before" };
        self.say(format!("Release to move {} {side} {}.", self.name_of(from), self.name_of(to)));
    }

    pub(super) fn release(&mut self, column: u16, row: u16) -> Vec<BoardRequest> {
        let dropped = self.drop_on(column, row);
        let Some(press) = self.press.take() else { return Vec::new() };
        if let Some((from, to)) = dropped {
            self.notice = None;
            return self.drop_todo(from, to);
        }
        let here = self.layout().at(column, row).and_then(|(panel, place)| self.row_at(panel, place, column, row));
        if press.again && here.as_ref() == Some(&press.key) { self.open() } else { Vec::new() }
    }

    /// Moves a todo beside another, into its phase.
    fn drop_todo(&mut self, from: Uid, to: Uid) -> Vec<BoardRequest> {
        let mut ops = vec![Op::Move(Ref::Uid(from), self.drop_place(from, to))];
        let phases = (self.todo(from).and_then(|todo| todo.phase), self.todo(to).and_then(|todo| todo.phase));
        if phases.0 != phases.1 {
            let edit = Edit { phase: Keep::Set(phases.1.map(PhaseRef::Uid)), ..Edit::default() };
            ops.push(Op::Edit(Ref::Uid(from), edit));
        }
        vec![BoardRequest::Submit { ops, what: format!("{} moved", self.name_of(from)) }]
    }

    pub(super) fn wheel(&mut self, column: u16, row: u16, by: i32) {
        let by = by as isize;
        let rows = self.page_rows();
        match &mut self.overlay {
            Some(Overlay::Page(page)) => page.scroll(by, rows),
            Some(Overlay::Menu(menu)) => {
                menu.at = menu.at.saturating_add_signed(by.signum()).min(menu.entries.len().saturating_sub(1));
            }
            Some(Overlay::Prompt(_) | Overlay::Confirm(_)) => {}
            None => {
                let Some((panel, _)) = self.layout().at(column, row) else { return };
                if panel == BoardPanel::Detail {
                    self.detail_top = self.detail_top.saturating_add_signed(by);
                } else {
                    self.step_rows(panel, by);
                }
            }
        }
    }
}

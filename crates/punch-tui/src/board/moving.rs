//! Moving around: cursors, panels, views, the mouse.

use super::{Board, BoardPanel, BoardView, RowKey};
use crate::request::BoardRequest;

impl Board {
    pub(super) fn step(&mut self, by: isize) {
        if self.panel == BoardPanel::Detail {
            self.detail_top = self.detail_top.saturating_add_signed(by);
            return;
        }
        self.detail_top = 0;
        if self.panel == BoardPanel::Graph && self.step_in_column(by) {
            return;
        }
        self.step_rows(self.panel, by);
    }

    /// Moves the cursor of a panel. Below the last row of a run, its spending and its timeline scroll.
    pub(super) fn step_rows(&mut self, panel: BoardPanel, by: isize) {
        let mut by = by;
        if panel == BoardPanel::Seats && by < 0 {
            let scrolled = self.run_top.min(by.unsigned_abs());
            self.run_top -= scrolled;
            by += scrolled.cast_signed();
        }
        let pane = self.panes.entry(panel).or_default();
        let last = pane.rows.len().saturating_sub(1);
        if panel == BoardPanel::Seats && by > 0 {
            self.run_top = self.run_top.saturating_add(by.unsigned_abs().saturating_sub(last - pane.at));
        }
        pane.step(by);
    }

    pub(super) fn half_page(&self) -> isize {
        let rows = self.layout().rect(self.panel).map_or(10, |place| place.inner.height);
        (isize::from(rows.cast_signed()) / 2).max(1)
    }

    pub(super) fn next_panel(&mut self, by: isize) {
        let layout = self.layout();
        let shown: Vec<BoardPanel> =
            self.view.panels().iter().copied().filter(|panel| layout.rect(*panel).is_some()).collect();
        let Some(at) = shown.iter().position(|panel| *panel == self.panel) else { return };
        let count = shown.len().cast_signed();
        self.panel = shown[(at.cast_signed() + by).rem_euclid(count).cast_unsigned()];
    }

    pub(super) fn next_view(&mut self, by: usize) {
        let at = BoardView::ALL.iter().position(|view| *view == self.view).unwrap_or(0);
        self.show(BoardView::ALL[(at + by) % BoardView::ALL.len()]);
    }

    pub(super) fn open(&mut self) -> Vec<BoardRequest> {
        match self.selected().cloned() {
            Some(RowKey::More(phase, _) | RowKey::Phase(phase)) => {
                if !self.expanded.remove(&phase) {
                    self.expanded.insert(phase);
                }
                self.rebuild();
                return Vec::new();
            }
            Some(RowKey::Closed(..)) => {
                self.show_closed = true;
                self.rebuild();
                return Vec::new();
            }
            Some(RowKey::Revision(revision)) if self.view == BoardView::Log => {
                return vec![BoardRequest::PlanAt(revision)];
            }
            Some(RowKey::Revision(_)) => return self.mark_seen(),
            Some(RowKey::Todo(uid))
                if self.panel == BoardPanel::Graph && (self.whole_graph || self.graph_center != Some(uid)) =>
            {
                (self.whole_graph, self.graph_center) = (false, Some(uid));
                self.rebuild();
                self.panes.entry(BoardPanel::Graph).or_default().go_to(&RowKey::Todo(uid));
                return Vec::new();
            }
            Some(_) => {}
            None => return Vec::new(),
        }
        self.detail_top = 0;
        self.detail_open = !self.is_wide();
        self.panel = BoardPanel::Detail;
        Vec::new()
    }

    /// One step back: out of the detail, then marks, then the filter, then to the first view. Never quits.
    pub(super) fn back(&mut self) {
        if self.detail_open || self.panel == BoardPanel::Detail {
            self.detail_open = false;
            self.detail_top = 0;
            self.panel = self.source;
            // It is about what was open.
            self.notice = None;
        } else if !self.marked.is_empty() {
            self.marked.clear();
        } else if !self.filter.is_empty() {
            self.filter = super::filter::TypedFilter::default();
            self.rebuild();
        } else if self.view != BoardView::Now {
            self.show(BoardView::Now);
        } else {
            self.notice = None;
        }
    }
}

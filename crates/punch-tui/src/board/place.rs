//! The layout of the screen: a pure function of the board, used to draw it and to find what the mouse points at.

use punch_core::view::width::columns;
use ratatui::layout::Rect;

use super::{Board, BoardPanel, BoardView, Menu, MenuAction, NARROW, Overlay, TINY};
use crate::draw::menu_words;

/// Where a panel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanelArea {
    /// With its border or heading.
    pub outer: Rect,
    /// The rows.
    pub inner: Rect,
}

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardLayout {
    /// Everything is on one line.
    pub is_tiny: bool,
    /// Panels have headings instead of borders.
    pub is_narrow: bool,
    /// The line at the top.
    pub header: Rect,
    /// The lines at the bottom.
    pub footer: Rect,
    /// The panels that are shown.
    pub panels: Vec<(BoardPanel, PanelArea)>,
}

impl BoardLayout {
    /// Where a panel is, if it is shown.
    pub fn rect(&self, panel: BoardPanel) -> Option<PanelArea> {
        self.panels.iter().find(|(shown, _)| *shown == panel).map(|(_, place)| *place)
    }

    /// The panel at a column and row.
    pub fn at(&self, column: u16, row: u16) -> Option<(BoardPanel, PanelArea)> {
        let here = |place: &PanelArea| place.outer.contains((column, row).into());
        self.panels.iter().copied().find(|(_, place)| here(place))
    }
}

impl Board {
    /// Where everything is on a screen of this size.
    pub fn layout(&self) -> BoardLayout {
        let (width, height) = self.size;
        if width < TINY.0 || height < TINY.1 {
            return BoardLayout {
                is_tiny: true,
                header: Rect::new(0, 0, width, height.min(1)),
                ..BoardLayout::default()
            };
        }
        let is_narrow = width < NARROW.0 || height < NARROW.1;
        let notice = self.notice.as_ref().map_or(0, |notice| notice.text.lines().count().min(2)) as u16;
        // A typed line keeps its place below a notice.
        let is_typing = matches!(self.overlay, Some(Overlay::Prompt(_)));
        let foot = if is_narrow { 1 } else { 2 }.max(notice + u16::from(!is_narrow || is_typing));
        let header = Rect::new(0, 0, width, 1);
        let footer = Rect::new(0, height - foot, width, foot);
        let body = Rect::new(0, 1, width, height - 1 - foot);
        let mut layout = BoardLayout { is_tiny: false, is_narrow, header, footer, panels: Vec::new() };
        if self.detail_open && !self.is_wide() {
            layout.put(BoardPanel::Detail, body);
            return layout;
        }
        let (left, right) = match self.is_wide() {
            true => {
                let detail = width * 2 / 5;
                (Rect { width: width - detail, ..body }, Some(Rect { x: width - detail, width: detail, ..body }))
            }
            false => (body, None),
        };
        match self.view {
            BoardView::Now => self.place_now(&mut layout, body, left, right),
            BoardView::List | BoardView::Graph | BoardView::Log | BoardView::Run => {
                layout.put(self.view.panels()[0], left);
                if let Some(right) = right {
                    layout.put(BoardPanel::Detail, right);
                }
            }
        }
        layout
    }

    /// The middle of the screen, for something that covers the rest.
    pub fn centered(&self, width: usize, height: usize) -> Rect {
        let (wide, high) = self.size;
        let width = u16::try_from(width).unwrap_or(u16::MAX).min(wide);
        let height = u16::try_from(height).unwrap_or(u16::MAX).min(high);
        Rect::new((wide - width) / 2, (high - height) / 2, width, height)
    }

    /// Where a menu is, and how many entries are above the first that is shown.
    pub fn menu_place(&self, menu: &Menu) -> (Rect, usize) {
        let keys = menu.entries.iter().map(|(keys, ..)| columns(keys)).max().unwrap_or(0);
        let words = menu.entries.iter().map(|(_, words, _)| columns(words)).max().unwrap_or(0);
        let wanted = (keys + words + 6).max(columns(&menu.title) + 4);
        let foot = usize::from(self.menu_foot(menu));
        let area = self.centered(wanted, menu.entries.len() + 2 + foot);
        let rows = usize::from(area.height.saturating_sub(2)).saturating_sub(foot).max(1);
        (area, menu.at.saturating_sub(rows / 2).min(menu.entries.len().saturating_sub(rows)))
    }

    /// Rows at the end of a menu that say in full what is selected: needed where the screen cuts the entries.
    pub fn menu_foot(&self, menu: &Menu) -> u16 {
        let widest = |part: fn(&(String, String, MenuAction)) -> &String| {
            menu.entries.iter().map(|entry| columns(part(entry))).max().unwrap_or(0)
        };
        let (keys, words) = (widest(|entry| &entry.0), widest(|entry| &entry.1));
        if keys + words + 6 <= usize::from(self.size.0) {
            return 0;
        }
        let lines = |words: &str| menu_words(words, self.size.0).len();
        let most = menu.entries.iter().map(|(_, words, _)| lines(words)).max().unwrap_or(0);
        u16::try_from(most).unwrap_or(u16::MAX).min(self.size.1 / 3)
    }

    /// What needs the user takes the whole width; below it the other panels, and the detail beside them.
    fn place_now(&self, layout: &mut BoardLayout, body: Rect, left: Rect, right: Option<Rect>) {
        const PANELS: [BoardPanel; 4] = [BoardPanel::Inbox, BoardPanel::Working, BoardPanel::Next, BoardPanel::Changes];
        let frame = if layout.is_narrow { 1 } else { 2 };
        let rows = |panel| u16::try_from(self.pane(panel).rows.len()).unwrap_or(u16::MAX).max(1);
        // On a small screen what is next and what changed stand beside their headings, unless they have the cursor.
        let is_short =
            |panel| layout.is_narrow && matches!(panel, BoardPanel::Next | BoardPanel::Changes) && self.panel != panel;
        let mut heights = PANELS.map(|panel| u16::from(!is_short(panel)));
        let mut free = body.height.saturating_sub(PANELS.len() as u16 * frame + heights.iter().sum::<u16>());
        // What needs the user comes first, then who works; the list of changes gives way first.
        let most = [body.height * 2 / 5, body.height * 3 / 10, u16::MAX, u16::MAX];
        let wanted = [rows(PANELS[0]), rows(PANELS[1]), rows(PANELS[2]).min(8), rows(PANELS[3]).min(9)];
        let mut order = [0, 1, 2, 3];
        // The panel with the cursor comes before those that only inform.
        if let Some(at) = PANELS.iter().position(|panel| *panel == self.panel).filter(|_| layout.is_narrow) {
            order[..=at].rotate_right(1);
        }
        for at in order {
            let more = wanted[at].min(most[at].max(1)).saturating_sub(heights[at]).min(free);
            if !is_short(PANELS[at]) {
                heights[at] += more;
                free -= more;
            }
        }
        let spare = [2, 3].into_iter().find(|at| !is_short(PANELS[*at])).unwrap_or(2);
        heights[spare] += free;
        let mut y = body.y;
        for (panel, height) in PANELS.into_iter().zip(heights) {
            let area = if panel == BoardPanel::Inbox { body } else { left };
            let room = body.bottom().saturating_sub(y);
            let outer = Rect { y, height: (height + frame).min(room), ..area };
            layout.put(panel, outer);
            y += outer.height;
            if let (BoardPanel::Inbox, Some(right)) = (panel, right) {
                layout.put(BoardPanel::Detail, Rect { y, height: body.bottom() - y, ..right });
            }
        }
    }
}

impl BoardLayout {
    fn put(&mut self, panel: BoardPanel, outer: Rect) {
        if outer.height == 0 {
            return;
        }
        let inner = match self.is_narrow {
            true => Rect { y: outer.y + 1, height: outer.height - 1, ..outer },
            false => Rect {
                x: outer.x + 1,
                y: outer.y + 1,
                width: outer.width.saturating_sub(2),
                height: outer.height.saturating_sub(2),
            },
        };
        self.panels.push((panel, PanelArea { outer, inner }));
    }
}

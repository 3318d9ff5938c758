//! The appearance of the board: signs and styles. Colors are the 16 of the terminal's own palette and never carry a
//! meaning alone, so that light, dark and colorless terminals all work.

use punch_core::ShownStatus;
use punch_core::inbox::InboxKind;
use punch_core::view::{Glyphs, SpanRole};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

/// What is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoardShape {
    /// The whole board.
    #[default]
    Board,
    /// The small box of tasks.
    Panel,
}

/// How the board looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardLook {
    /// What is drawn.
    pub shape: BoardShape,
    /// Which signs it draws with.
    pub glyphs: Glyphs,
    /// Draw with colors.
    pub colors: bool,
    /// Take clicks and the wheel of the mouse.
    pub mouse: bool,
    /// Ring the bell when something new needs the user.
    pub notify: bool,
}

const PLUS: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

impl BoardLook {
    pub(crate) const fn border(self) -> border::Set<'static> {
        match self.glyphs {
            Glyphs::Unicode => border::PLAIN,
            Glyphs::Ascii => PLUS,
        }
    }

    pub(crate) const fn is_ascii(self) -> bool {
        matches!(self.glyphs, Glyphs::Ascii)
    }

    /// Picks the sign for this terminal.
    pub(crate) const fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.is_ascii() { ascii } else { unicode }
    }

    pub(crate) const fn status(self, status: ShownStatus) -> &'static str {
        self.glyphs.status(status)
    }

    /// The sign of something that needs the user.
    pub(crate) const fn inbox(self, kind: InboxKind) -> &'static str {
        match kind {
            InboxKind::Question => "?",
            InboxKind::Hold => self.pick("‖", "|"),
            InboxKind::Conflict => self.pick("≠", "#"),
            InboxKind::Failed => "!",
            InboxKind::Stuck => self.pick("⊘", "/"),
            InboxKind::Approval => self.pick("⚿", "$"),
            InboxKind::Budget => "%",
            InboxKind::Quiet => self.pick("⚠", "~"),
            InboxKind::Finished => self.pick("✓", "x"),
            _ => self.pick("·", "."),
        }
    }

    /// The marks on rows that stand there without a word, and what they mean.
    pub(crate) fn marks(self) -> [(String, &'static str); 5] {
        [
            (self.glyphs.small_count(2).trim().to_owned(), "The todo has 2 notes"),
            ("blocks 2".to_owned(), "2 open todos wait for it; `b2` on a small screen"),
            (self.pick("◆", "*").to_owned(), "You marked the todo"),
            (self.pick("•", "*").to_owned(), "You have not seen this change yet"),
            (self.pick("⚠", "!").to_owned(), "The agent is quiet, or a worker is lost"),
        ]
    }

    fn color(self, color: Color) -> Style {
        if self.colors { Style::new().fg(color) } else { Style::new() }
    }

    pub(crate) fn style(self, role: SpanRole) -> Style {
        match role {
            SpanRole::Text => Style::new(),
            SpanRole::Heading | SpanRole::Strong | SpanRole::Command => Style::new().add_modifier(Modifier::BOLD),
            SpanRole::Id => self.color(Color::Cyan),
            SpanRole::Owner => self.color(Color::Blue),
            SpanRole::Done => self.color(Color::Green),
            SpanRole::Detail => Style::new().add_modifier(Modifier::DIM),
            SpanRole::Warning => self.warning(),
            SpanRole::Status(status) => self.status_style(status),
        }
    }

    /// Red is only for what waits for the user; waiting for a dependency is quiet.
    pub(crate) fn status_style(self, status: ShownStatus) -> Style {
        match status {
            ShownStatus::InProgress | ShownStatus::Stalled | ShownStatus::Reported => self.color(Color::Blue),
            ShownStatus::Completed => self.color(Color::Green),
            ShownStatus::Failed => self.color(Color::Red),
            ShownStatus::Stuck | ShownStatus::Held => self.color(Color::Magenta),
            ShownStatus::Waiting | ShownStatus::Parked | ShownStatus::Cancelled | ShownStatus::Archived => {
                Style::new().add_modifier(Modifier::DIM)
            }
            ShownStatus::Ready | ShownStatus::Empty => Style::new(),
        }
    }

    pub(crate) fn alarm(self) -> Style {
        self.color(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn warning(self) -> Style {
        self.color(Color::Magenta).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn good(self) -> Style {
        self.color(Color::Green)
    }

    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(crate) fn key(self) -> Style {
        self.color(Color::Cyan).add_modifier(Modifier::BOLD)
    }
}

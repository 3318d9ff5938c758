//! The plan as a tree: phases as headings with their todos, and the notes of todos in progress. [`TreeView`] is the
//! value that boards draw, [`TreeOptions`] draws it as lines.

use std::collections::HashMap;

use serde::Serialize;

use super::cap::{Cap, CappedLines, LineEnd};
use super::row::window;
use super::{Glyphs, NONE, Plain, Progress, SpanRole, TodoRow, ViewLine, spans};
use crate::reason::PlanReader;
use crate::{Plan, ShownStatus, Todo};

/// How many todos a collapsed tree shows, and how many lines of notes.
const COLLAPSED: usize = 8;
/// Narrower than this, a tree says nothing.
const NARROWEST: usize = 10;

/// The todos of a plan by phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeView {
    /// Todos without a phase first, then the phases in their order; only those with todos.
    pub sections: Vec<TreeSection>,
    /// How many phases have todos, shown or not.
    pub phases: usize,
    /// Todos that a collapsed tree leaves out.
    pub left_out: usize,
}

/// The todos of one phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TreeSection {
    /// The phase; `None` for todos without one.
    pub phase: Option<PhaseHeading>,
    /// Its todos in list order.
    pub rows: Vec<TreeRow>,
}

/// A phase as a heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseHeading {
    /// Its place among all phases of the plan, counted from 1.
    pub number: usize,
    /// The name of the phase.
    pub name: Plain,
    /// How far its todos are; what is parked or has no content does not count.
    pub progress: Progress,
}

/// A todo in a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TreeRow {
    /// The todo.
    pub row: TodoRow,
    /// The notes of a todo that is in progress, line by line.
    pub notes: Vec<Plain>,
    /// Lines of notes that a collapsed tree leaves out.
    pub more_notes: usize,
}

impl TreeView {
    /// Arranges todos of the reader's plan, which are in list order (see [`super::hide::visible`]): the first `most` of
    /// them, or collapsed, without that number, the few around what is worked on.
    pub fn of<'a>(reader: PlanReader<'a>, todos: &[&'a Todo], most: Option<usize>) -> Self {
        let phases = by_phase(reader.plan, todos);
        let expanded = most.is_some();
        let part = match most {
            Some(most) => 0..todos.len().min(most),
            None => {
                let order: Vec<ShownStatus> = phases.iter().flatten().map(|todo| reader.shown(todo)).collect();
                window(order.iter().copied(), COLLAPSED)
            }
        };
        let with_todos = phases.iter().skip(1).filter(|todos| !todos.is_empty()).count();
        let mut out = Self { sections: Vec::new(), phases: with_todos, left_out: todos.len() - part.len() };
        let mut place = 0;
        for (at, todos) in phases.iter().enumerate() {
            let (first, end) = (place, place + todos.len());
            place = end;
            let (from, to) = (part.start.clamp(first, end), part.end.clamp(first, end));
            if from == to {
                continue;
            }
            let phase = at.checked_sub(1).and_then(|at| reader.plan.row.phases.get(at));
            let phase = phase.map(|phase| PhaseHeading {
                number: at,
                name: Plain::text(&phase.name),
                progress: {
                    let counted = todos.iter().filter(|todo| !todo.is_parked() && !todo.is_blank());
                    Progress::native(counted.map(|todo| todo.status_at(reader.now)))
                },
            });
            let depth = u32::from(phase.is_some());
            let row = |todo: &&'a Todo| TreeRow::of(reader, todo, depth, expanded);
            out.sections.push(TreeSection { phase, rows: todos[from - first..to - first].iter().map(row).collect() });
        }
        out
    }
}

impl TreeRow {
    fn of<'a>(reader: PlanReader<'a>, todo: &'a Todo, depth: u32, expanded: bool) -> Self {
        let row = TodoRow { depth, ..TodoRow::of(reader, todo) };
        if !row.status.is_running() {
            return Self { row, notes: Vec::new(), more_notes: 0 };
        }
        let mut lines = todo.notes.iter().flat_map(|note| note.text.lines());
        let most = if expanded { usize::MAX } else { COLLAPSED };
        let notes = lines.by_ref().take(most).map(Plain::text).collect();
        Self { row, notes, more_notes: lines.count() }
    }
}

/// Todos without a phase first, then those of each phase.
fn by_phase<'a>(plan: &Plan, todos: &[&'a Todo]) -> Vec<Vec<&'a Todo>> {
    let places: HashMap<_, _> = plan.row.phases.iter().zip(1..).map(|(phase, at)| (phase.uid, at)).collect();
    let mut out = vec![Vec::new(); plan.row.phases.len() + 1];
    for todo in todos {
        out[todo.phase.and_then(|uid| places.get(&uid).copied()).unwrap_or(0)].push(*todo);
    }
    out
}

/// How a tree is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// The time at which the plan is read.
    pub now: i64,
    /// Columns, at least 10; `None` leaves lines as long as the text is.
    pub width: Option<usize>,
    /// All todos up to the cap, instead of 8.
    pub expanded: bool,
    /// The signs.
    pub glyphs: Glyphs,
    /// The size.
    pub cap: Cap,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self { now: 0, width: None, expanded: false, glyphs: Glyphs::Unicode, cap: Cap::default() }
    }
}

impl TreeOptions {
    /// Draws these todos of the plan, which are in list order, as plain text.
    pub fn draw<'a>(&self, plan: &'a Plan, todos: &[&'a Todo]) -> String {
        let most = self.expanded.then_some(self.cap.lines());
        spans::text(&self.lines(&TreeView::of(PlanReader::new(plan, self.now), todos, most)))
    }

    /// Draws a tree within the cap; the last line counts the todos that are left out.
    pub fn lines(&self, view: &TreeView) -> Vec<ViewLine> {
        let total = view.left_out + view.sections.iter().map(|section| section.rows.len()).sum::<usize>();
        if total == 0 {
            return vec![NONE.into()];
        }
        // One phase needs no heading.
        let headings = view.phases > 1;
        let mut page = CappedLines::new(self.cap, String::new());
        let mut shown = 0;
        'all: for section in &view.sections {
            let heading = section.phase.as_ref().filter(|_| headings);
            if let Some(phase) = heading
                && !page.line(self.heading(phase), LineEnd::More)
            {
                break;
            }
            let indent = if heading.is_some() { "  " } else { "" };
            for row in &section.rows {
                let last = shown + 1 == total && row.notes.is_empty();
                if !page.line(self.todo(&row.row, indent), if last { LineEnd::End } else { LineEnd::More }) {
                    break 'all;
                }
                shown += 1;
                for note in self.notes(row, indent) {
                    if !page.line(note, LineEnd::More) {
                        break 'all;
                    }
                }
            }
        }
        page.lines(total - shown)
    }

    fn heading(&self, phase: &PhaseHeading) -> ViewLine {
        let counts = format!(" ({}/{})", phase.progress.completed, phase.progress.total);
        let name = ViewLine::default().with(SpanRole::Heading, format!("{}. {}", roman(phase.number), phase.name));
        self.cut(name, ViewLine::default().with(SpanRole::Detail, counts))
    }

    fn todo(&self, row: &TodoRow, indent: &str) -> ViewLine {
        let line =
            ViewLine::default().with(SpanRole::Text, indent).sign(row.status, self.glyphs).with(SpanRole::Text, " ");
        let line = line.id(&row.id).with(SpanRole::Text, format!(" {}", row.text));
        let notes = match row.notes() {
            0 => String::new(),
            count => self.glyphs.small_count(count),
        };
        let details = row.details();
        let gap = if details.is_empty() { "" } else { " " };
        self.cut(line, ViewLine::default().with(SpanRole::Detail, format!("{notes}{gap}{details}")))
    }

    /// The notes of what runs.
    fn notes<'r>(&'r self, row: &'r TreeRow, indent: &'r str) -> impl Iterator<Item = ViewLine> + 'r {
        let more = (row.more_notes > 0).then(|| format!("+{}", crate::text::counted(row.more_notes, "more line")));
        let lines = row.notes.iter().map(Plain::to_string).chain(more);
        lines.map(move |text| {
            self.cut(ViewLine::default().with(SpanRole::Detail, format!("{indent}    {text}")), ViewLine::default())
        })
    }

    /// Cuts the text so that what follows it stays readable, then the whole.
    fn cut(&self, text: ViewLine, details: ViewLine) -> ViewLine {
        let Some(width) = self.width.map(|width| width.max(NARROWEST)) else { return text.and(details) };
        let room = width.saturating_sub(details.columns()).max(width / 2);
        text.fit(room, self.glyphs).and(details).fit(width, self.glyphs)
    }
}

/// Phases are numbered in Roman numerals, as in the panel of the dialect; past 3,999 in plain ones.
fn roman(number: usize) -> String {
    const SIGNS: [(usize, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number > 3_999 {
        return number.to_string();
    }
    let (mut left, mut out) = (number, String::new());
    for (value, sign) in SIGNS {
        out.push_str(&sign.repeat(left / value));
        left %= value;
    }
    out
}

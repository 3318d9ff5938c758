//! The plan as a tree: phases as headings, todos below, the notes of what runs. In the manner of the phases dialect,
//! with ids and reasons for native readers.

use super::cap::{Cap, Page, Then};
use super::row::{tidy, window};
use super::width::{columns, fit};
use super::{Glyphs, NONE, Progress, waits};
use crate::{Phase, Plan, Status, Todo};

/// How many todos a collapsed tree shows, and how many lines of notes.
const COLLAPSED: usize = 8;
/// Narrower than this, a tree says nothing.
const NARROWEST: usize = 10;

/// How the tree is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    /// When it is read.
    pub now: i64,
    /// Columns, at least 10; `None` leaves lines as long as the text is.
    pub width: Option<usize>,
    /// All todos up to the cap, instead of 8.
    pub expanded: bool,
    /// Ids in front, and behind why a todo waits.
    pub native: bool,
    /// The signs.
    pub glyphs: Glyphs,
    /// The size.
    pub cap: Cap,
}

impl Default for Tree {
    fn default() -> Self {
        Self { now: 0, width: None, expanded: false, native: true, glyphs: Glyphs::Unicode, cap: Cap::default() }
    }
}

/// A phase in the list of phases, and its todos.
struct Section<'a> {
    phase: Option<(usize, &'a Phase)>,
    todos: Vec<&'a Todo>,
}

impl Tree {
    /// Draws these todos of the plan, which are in list order (see [`super::hide::visible`]).
    pub fn draw(&self, plan: &Plan, todos: &[&Todo]) -> String {
        if todos.is_empty() {
            return NONE.to_owned();
        }
        let sections = sections(plan, todos);
        let headings = sections.iter().filter(|s| s.phase.is_some() && !s.todos.is_empty()).count() > 1;
        let order: Vec<Status> = sections.iter().flat_map(|s| &s.todos).map(|t| t.status_at(self.now)).collect();
        let part = if self.expanded { 0..order.len() } else { window(order.iter().copied(), COLLAPSED) };
        let mut page = Page::new(self.cap, String::new());
        let (mut place, mut shown) = (0, 0);
        'all: for section in &sections {
            let first = place;
            place += section.todos.len();
            let from = part.start.clamp(first, place);
            let to = part.end.clamp(first, place);
            if from == to {
                continue;
            }
            let heading = section.phase.filter(|_| headings);
            if let Some((at, phase)) = heading
                && !page.line(&self.heading(at, phase, &section.todos), Then::More)
            {
                break;
            }
            let indent = if heading.is_some() { "  " } else { "" };
            for todo in &section.todos[from - first..to - first] {
                let last = shown + 1 == order.len() && todo.notes.is_empty();
                if !page.line(&self.todo(plan, todo, indent), if last { Then::End } else { Then::More }) {
                    break 'all;
                }
                shown += 1;
                if !self.notes(&mut page, todo, indent) {
                    break 'all;
                }
            }
        }
        page.end(order.len() - shown)
    }

    fn heading(&self, at: usize, phase: &Phase, todos: &[&Todo]) -> String {
        let progress = Progress::native(todos.iter().map(|todo| todo.status_at(self.now)));
        let counts = format!(" ({}/{})", progress.completed, progress.total);
        self.cut(format!("{}. {}", roman(at + 1), tidy(&phase.name)), &counts)
    }

    fn todo(&self, plan: &Plan, todo: &Todo, indent: &str) -> String {
        let status = todo.status_at(self.now);
        let mut line = format!("{indent}{} ", self.glyphs.status(status));
        if self.native {
            line.push_str(&tidy(&todo.id));
            line.push(' ');
        }
        line.push_str(&tidy(if status == Status::InProgress { todo.active_text() } else { &todo.content }));
        let mut behind = String::new();
        if !todo.notes.is_empty() {
            behind.push_str(&self.glyphs.small_count(todo.notes.len()));
        }
        if self.native {
            let reasons = waits::reasons(plan, todo, self.now);
            if !reasons.is_empty() {
                behind.push_str(&format!(" ({})", reasons.join("; ")));
            }
        }
        self.cut(line, &behind)
    }

    /// The notes of what runs; false when the page is full.
    fn notes(&self, page: &mut Page, todo: &Todo, indent: &str) -> bool {
        if todo.status_at(self.now) != Status::InProgress {
            return true;
        }
        let most = if self.expanded { usize::MAX } else { COLLAPSED };
        let mut lines = todo.notes.iter().flat_map(|note| note.text.lines());
        for line in lines.by_ref().take(most) {
            if !page.line(&self.cut(format!("{indent}    {}", tidy(line)), ""), Then::More) {
                return false;
            }
        }
        match lines.count() {
            0 => true,
            left => page.line(&self.cut(format!("{indent}    +{left} more lines"), ""), Then::More),
        }
    }

    /// Cuts the text so that what stands behind it stays readable, then the whole.
    fn cut(&self, text: String, behind: &str) -> String {
        let Some(width) = self.width.map(|width| width.max(NARROWEST)) else { return text + behind };
        let room = width.saturating_sub(columns(behind)).max(width / 2);
        let line = fit(&text, room, self.glyphs.ellipsis()).into_owned() + behind;
        fit(&line, width, self.glyphs.ellipsis()).into_owned()
    }
}

/// Todos without a phase first, then the phases in their order.
fn sections<'a>(plan: &'a Plan, todos: &[&'a Todo]) -> Vec<Section<'a>> {
    let mut out = vec![Section { phase: None, todos: Vec::new() }];
    out.extend(plan.row.phases.iter().enumerate().map(|phase| Section { phase: Some(phase), todos: Vec::new() }));
    let places: std::collections::HashMap<_, _> =
        plan.row.phases.iter().enumerate().map(|(at, phase)| (phase.uid, at + 1)).collect();
    for todo in todos {
        let place = todo.phase.and_then(|uid| places.get(&uid).copied()).unwrap_or(0);
        out[place].todos.push(todo);
    }
    out
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

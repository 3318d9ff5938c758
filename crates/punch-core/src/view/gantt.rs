//! Draws a schedule as a small chart: one row per agent, then the windows, then the todos that have no place.

use super::cap::{Cap, CappedLines, LineEnd};
use super::width::{columns, fit};
use super::{Glyphs, Plain, ScheduleView, SlotRow, SpanRole, ViewLine};
use crate::reason::Cause;
use crate::text::{counted, grouped};

/// How much of an id is shown, in columns.
const ID: usize = 24;
/// Agents drawn; more rows say nothing that the figures do not.
const AGENTS: u32 = 16;

/// How the chart is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Gantt {
    /// Columns.
    pub width: usize,
    /// The signs.
    pub glyphs: Glyphs,
    /// The size.
    pub cap: Cap,
}

impl Gantt {
    /// Draws it, and says how many lines were left out.
    pub fn draw(&self, view: &ScheduleView) -> (Vec<ViewLine>, usize) {
        let lines = self.lines(view);
        let count = lines.len();
        let mut page = CappedLines::new(self.cap, String::new());
        for (at, line) in lines.into_iter().enumerate() {
            let then = if at + 1 == count { LineEnd::End } else { LineEnd::More };
            if !page.line(line.fit(self.width, self.glyphs), then) {
                return (page.lines(count - at), count - at);
            }
        }
        (page.lines(0), 0)
    }

    fn lines(&self, view: &ScheduleView) -> Vec<ViewLine> {
        let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let head = format!(
            "{} for {}, {} of {} tokens (order: {})",
            count(view.slots.len(), "todo"),
            count(view.agents as usize, "agent"),
            count(view.windows.len(), "context window"),
            grouped(view.budget),
            view.policy.name(),
        );
        let length = format!("total {} tokens (lower bound {})", grouped(view.makespan), grouped(view.lower_bound));
        let mut lines = vec![ViewLine::default().with(SpanRole::Heading, head), length.into()];
        if view.makespan > 0 {
            lines.extend((1..=view.agents.min(AGENTS)).map(|agent| self.row(view, agent).into()));
            let more = view.agents.saturating_sub(AGENTS);
            lines.extend((more > 0).then(|| counted(more as usize, "more agent").into()));
            let [bar, turn, _, wait] = self.marks();
            let legend = format!("    {bar} a todo begins   {turn} in a new context window   {wait} waiting");
            lines.push(ViewLine::default().with(SpanRole::Detail, legend));
        }
        for window in &view.windows {
            let ids = window.todos.iter().map(shown).collect::<Vec<_>>().join(", ");
            let head = format!("agent {} window {} ({}): ", window.agent, window.window, grouped(window.tokens));
            lines.push(ViewLine::default().with(SpanRole::Text, head).with(SpanRole::Id, ids));
        }
        let todo =
            |words: &str, id: &Plain| ViewLine::default().with(SpanRole::Detail, words).with(SpanRole::Id, shown(id));
        // Either all of them are left out, which their rows say, or none is.
        let is_left_out = view.left_out.iter().any(|row| row.cause == Cause::Oversize);
        for id in view.oversize.iter().filter(|_| !is_left_out) {
            let words = format!(" {}; split it", Cause::Oversize.words(""));
            lines.push(todo("oversize: ", id).with(SpanRole::Text, words));
        }
        for row in &view.left_out {
            let advice = if row.cause == Cause::Oversize { "; split it" } else { "" };
            lines.push(todo("left out: ", &row.id).with(SpanRole::Text, format!(" {}{advice}", row.why)));
        }
        lines
    }

    /// What begins a todo, what begins one in a new window, work, and waiting.
    const fn marks(&self) -> [&'static str; 4] {
        match self.glyphs {
            Glyphs::Unicode => ["▏", "║", "▬", "·"],
            Glyphs::Ascii => ["|", "#", "=", "."],
        }
    }

    /// One agent's time. A bar begins each todo, a double one a new window; dots are waiting.
    fn row(&self, view: &ScheduleView, agent: u32) -> String {
        let head = format!("{agent:>3} ");
        let cells = self.width.saturating_sub(columns(&head)).clamp(10, 400);
        let [bar, turn, work, wait] = self.marks();
        let at = |time: u64| (u128::from(time) * cells as u128 / u128::from(view.makespan.max(1))) as usize;
        let (mut out, mut used, mut window) = (String::new(), 0, 0);
        for slot in view.slots.iter().filter(|slot| slot.agent == agent) {
            let (start, end) = (at(slot.start).max(used), at(slot.end));
            // Too short to be seen.
            if end <= start {
                continue;
            }
            out.push_str(&wait.repeat(start - used));
            out.push_str(if slot.window > window.max(1) { turn } else { bar });
            window = slot.window;
            out.push_str(&self.bar(slot, end - start - 1, work));
            used = end;
        }
        out.push_str(&wait.repeat(cells.saturating_sub(used)));
        head + &out
    }

    fn bar(&self, slot: &SlotRow, room: usize, work: &str) -> String {
        let id = shown(&slot.id);
        let text = if columns(&id) <= room { id } else { String::new() };
        let rest = room - columns(&text);
        text + &work.repeat(rest)
    }
}

fn shown(id: &Plain) -> String {
    fit(id.as_str(), ID, "…").into_owned()
}

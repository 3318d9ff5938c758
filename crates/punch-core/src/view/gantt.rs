//! A schedule as a small chart: one row an agent, then the windows, and what has no place.

use super::Glyphs;
use super::cap::{Cap, Page, Then};
use super::row::tidy;
use super::width::{columns, fit};
use crate::schedule::{Schedule, Slot};

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
    pub fn draw(&self, made: &Schedule) -> (String, usize) {
        let lines = self.lines(made);
        let mut page = Page::new(self.cap, String::new());
        for (at, line) in lines.iter().enumerate() {
            let then = if at + 1 == lines.len() { Then::End } else { Then::More };
            if !page.line(&fit(line, self.width, self.glyphs.ellipsis()), then) {
                return (page.end(lines.len() - at), lines.len() - at);
            }
        }
        (page.end(0), 0)
    }

    fn lines(&self, made: &Schedule) -> Vec<String> {
        let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let mut lines = vec![
            format!(
                "{}: {} for {}, {} of {} tokens",
                made.policy.name(),
                count(made.slots.len(), "todo"),
                count(made.agents as usize, "agent"),
                count(made.windows.len(), "window"),
                grouped(made.budget),
            ),
            format!("length {} tokens, at least {}", grouped(made.makespan), grouped(made.lower_bound)),
        ];
        if made.makespan > 0 {
            lines.extend((1..=made.agents.min(AGENTS)).map(|agent| self.row(made, agent)));
            let more = made.agents.saturating_sub(AGENTS);
            lines.extend((more > 0).then(|| format!("{more} more agents")));
        }
        for window in &made.windows {
            let ids = window.todos.iter().map(|id| shown(id)).collect::<Vec<_>>().join(", ");
            let tokens = grouped(window.estimated_tokens);
            lines.push(format!("agent {} window {} ({tokens}): {ids}", window.agent, window.window));
        }
        for id in &made.oversize {
            lines.push(format!("oversize: {} is larger than a window; split it", shown(id)));
        }
        lines.extend(made.blocked.iter().map(|b| format!("left out: {} {}", shown(&b.id), tidy(&b.why))));
        lines
    }

    /// One agent's time. A bar begins each todo, a double one a new window; dots are waiting.
    fn row(&self, made: &Schedule, agent: u32) -> String {
        let head = format!("{agent:>3} ");
        let cells = self.width.saturating_sub(columns(&head)).clamp(10, 400);
        let (bar, turn, work, wait) = match self.glyphs {
            Glyphs::Unicode => ("▏", "║", "▬", "·"),
            Glyphs::Ascii => ("|", "#", "=", "."),
        };
        let at = |time: u64| (u128::from(time) * cells as u128 / u128::from(made.makespan.max(1))) as usize;
        let (mut out, mut used, mut window) = (String::new(), 0, 0);
        for slot in made.slots.iter().filter(|slot| slot.agent == agent) {
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

    fn bar(&self, slot: &Slot, room: usize, work: &str) -> String {
        let id = shown(&slot.todo);
        let text = if columns(&id) <= room { id } else { String::new() };
        let rest = room - columns(&text);
        text + &work.repeat(rest)
    }
}

fn shown(id: &str) -> String {
    fit(&tidy(id), ID, "…").into_owned()
}

/// `140,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

//! A run over time: what each seat has worked on so far, and what is planned for the rest. Text of a given width.

use punch_core::view::width::{columns, fit};
use punch_core::view::{Glyphs, Plain};
use punch_engine::{RunEvent, TurnEnd, seat_turns};

/// Draws what the seats have worked on, one line for each seat, from the first event to `now`.
pub fn actual(events: &[(i64, RunEvent)], now: i64, width: usize, glyphs: Glyphs) -> Vec<String> {
    let turns = seat_turns(events);
    let Some(first) = turns.iter().map(|turn| turn.from).min() else { return Vec::new() };
    let last = turns.iter().map(|turn| turn.end.map_or(now, |(at, _)| at)).max().unwrap_or(now).max(first + 1);
    let seats = turns.iter().map(|turn| turn.seat).max().unwrap_or(0);
    let cells = width.saturating_sub(4).max(10);
    let place = |at: i64| {
        let part = i128::from(at - first) * cells as i128 / i128::from(last - first);
        usize::try_from(part).unwrap_or(0).min(cells)
    };
    let (bar, work, wait) = match glyphs {
        Glyphs::Unicode => ("▏", "▬", "·"),
        Glyphs::Ascii => ("|", "=", "."),
    };
    let row = |seat: usize| {
        let (mut out, mut used) = (format!("{seat:>3} "), 0);
        for turn in turns.iter().filter(|turn| turn.seat == seat) {
            let start = place(turn.from).max(used);
            let end = place(turn.end.map_or(now, |(at, _)| at));
            // Too short to be seen.
            if end <= start {
                continue;
            }
            out.push_str(&wait.repeat(start - used));
            out.push_str(bar);
            let mark = match (turn.end.map(|(_, end)| end), glyphs) {
                (Some(TurnEnd::Completed), Glyphs::Unicode) => "✓",
                (Some(TurnEnd::Completed), Glyphs::Ascii) => "x",
                (Some(TurnEnd::Failed), Glyphs::Unicode) => "✗",
                (Some(TurnEnd::Failed), Glyphs::Ascii) => "!",
                (Some(TurnEnd::Other) | None, _) => "",
            };
            let room = end - start - 1;
            let label = format!("{}{mark}", fit(Plain::id(&turn.todo).as_str(), 24, glyphs.ellipsis()));
            let label = if columns(&label) <= room { label } else { String::new() };
            out.push_str(&label);
            out.push_str(&work.repeat(room - columns(&label)));
            used = end;
        }
        out.push_str(&wait.repeat(cells.saturating_sub(used)));
        out
    };
    (1..=seats).map(row).collect()
}

#[cfg(test)]
mod tests {
    use punch_engine::Sum;

    use super::*;

    fn started(agent: usize, todo: &str) -> RunEvent {
        let (name, todo, content) = ("claude".into(), todo.into(), String::new());
        RunEvent::Started { agent, name, todo, content, attempt: 1 }
    }

    #[test]
    fn each_seat_has_a_line_with_its_todos_in_proportion() {
        let events = [
            (0, started(1, "T-1")),
            (0, started(2, "T-2")),
            (500, RunEvent::Completed { agent: 1, todo: "T-1".into(), spent: Sum::default() }),
            (500, started(1, "T-3")),
            (800, RunEvent::Failed { agent: 2, todo: "T-2".into(), why: "no".into() }),
        ];
        let lines = actual(&events, 1_000, 44, Glyphs::Ascii);
        assert_eq!(
            lines,
            ["  1 |T-1x===============|T-3================", "  2 |T-2!===========================........",]
        );
        assert!(actual(&[], 1_000, 44, Glyphs::Ascii).is_empty());
    }
}

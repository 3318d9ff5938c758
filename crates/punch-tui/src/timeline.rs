//! A run over time: what each seat has worked on so far, and what is planned for the rest. Text of a given width.

use punch_core::view::width::{columns, fit};
use punch_core::view::{Glyphs, Plain};
use punch_engine::RunEvent;

/// One turn of a seat on a todo.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    seat: usize,
    todo: String,
    from: i64,
    /// When and how it ended; `None` while it continues.
    end: Option<(i64, End)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Completed,
    Failed,
    Other,
}

/// Draws what the seats have worked on, one line for each seat, from the first event to `now`.
pub fn actual(events: &[(i64, RunEvent)], now: i64, width: usize, glyphs: Glyphs) -> Vec<String> {
    let turns = turns(events);
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
                (Some(End::Completed), Glyphs::Unicode) => "✓",
                (Some(End::Completed), Glyphs::Ascii) => "x",
                (Some(End::Failed), Glyphs::Unicode) => "✗",
                (Some(End::Failed), Glyphs::Ascii) => "!",
                (Some(End::Other) | None, _) => "",
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

fn turns(events: &[(i64, RunEvent)]) -> Vec<Turn> {
    let mut out: Vec<Turn> = Vec::new();
    for (at, event) in events {
        let ended = match event {
            RunEvent::Started { agent, todo, .. } if *agent > 0 => {
                out.push(Turn { seat: *agent, todo: todo.clone(), from: *at, end: None });
                continue;
            }
            RunEvent::Completed { agent, todo, .. } => (*agent, todo, End::Completed),
            RunEvent::Retrying { agent, todo, .. } | RunEvent::Failed { agent, todo, .. } => {
                (*agent, todo, End::Failed)
            }
            RunEvent::Held { agent, todo, .. } | RunEvent::Released { agent, todo, .. } => (*agent, todo, End::Other),
            _ => continue,
        };
        let open = |turn: &&mut Turn| turn.end.is_none() && turn.seat == ended.0 && turn.todo == *ended.1;
        if let Some(turn) = out.iter_mut().rev().find(open) {
            turn.end = Some((*at, ended.2));
        }
    }
    out
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

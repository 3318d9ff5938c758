//! A run over time: what each seat has worked on so far and what is planned for the rest, on one axis of time. Text of a
//! given width.

use punch_core::schedule::Slot;
use punch_core::view::width::{columns, fit};
use punch_core::view::{Glyphs, Plain};
use punch_engine::{SeatTurn, TurnEnd};

use crate::draw::span;

/// Columns before the axis: the number of the seat.
const MARGIN: usize = 4;

/// Tokens that one seat spends in an hour. Estimates are in tokens; the pace makes times of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace(u64);

impl Pace {
    /// The pace of a plan that no run has worked on: about 50,000 tokens in ten minutes.
    pub const USUAL: Self = Self(300_000);

    /// The pace of a run that has spent tokens; `None` before that.
    pub fn of(turns: &[SeatTurn], tokens: u64, now: i64) -> Option<Self> {
        let length = |turn: &SeatTurn| u64::try_from(turn.end.map_or(now, |(at, _)| at) - turn.from).unwrap_or(0);
        let busy: u64 = turns.iter().map(length).sum();
        let pace = u128::from(tokens) * 3_600_000 / u128::from(busy.max(1));
        Some(Self(u64::try_from(pace).ok()?)).filter(|pace| busy > 0 && pace.0 > 0)
    }

    fn ms(self, tokens: u64) -> i64 {
        i64::try_from(u128::from(tokens) * 3_600_000 / u128::from(self.0.max(1)))
            .unwrap_or(i64::MAX / 4)
            .min(i64::MAX / 4)
    }
}

/// Work of one seat on one todo.
struct Strip<'a> {
    seat: usize,
    todo: &'a str,
    from: i64,
    to: i64,
    mark: &'static str,
    fill: &'static str,
}

/// What is drawn.
pub struct RunOverTime<'a> {
    /// What seats have worked on.
    pub turns: &'a [SeatTurn],
    /// What is planned from now on.
    pub slots: &'a [Slot],
    /// How fast the tokens of slots pass.
    pub pace: Pace,
    /// The present, or the end of a run that has ended.
    pub now: i64,
}

impl RunOverTime<'_> {
    /// A line for each seat, and the axis below them; nothing if there is nothing to draw.
    pub fn draw(&self, width: usize, glyphs: Glyphs) -> Vec<String> {
        let strips = self.strips(glyphs);
        let Some(first) = strips.iter().map(|strip| strip.from).min() else { return Vec::new() };
        let last = strips.iter().map(|strip| strip.to).max().unwrap_or(first).max(first + 1);
        let cells = width.saturating_sub(MARGIN).max(10);
        let place = |at: i64| {
            let part = i128::from(at - first) * cells as i128 / i128::from(last - first);
            usize::try_from(part).unwrap_or(0).min(cells)
        };
        let seats = strips.iter().map(|strip| strip.seat).max().unwrap_or(0);
        let row = |seat: usize| row(seat, strips.iter().filter(|strip| strip.seat == seat), cells, place, glyphs);
        let mut out: Vec<String> = (1..=seats).map(row).collect();
        out.push(self.axis((first, last), cells, place));
        out
    }

    fn strips(&self, glyphs: Glyphs) -> Vec<Strip<'_>> {
        let (work, plan, done, failed) = match glyphs {
            Glyphs::Unicode => ("▬", "╌", "✓", "✗"),
            Glyphs::Ascii => ("=", "-", "x", "!"),
        };
        let worked = self.turns.iter().map(|turn| Strip {
            seat: turn.seat,
            todo: &turn.todo,
            from: turn.from,
            to: turn.end.map_or(self.now, |(at, _)| at),
            mark: match turn.end {
                Some((_, TurnEnd::Completed)) => done,
                Some((_, TurnEnd::Failed)) => failed,
                Some((_, TurnEnd::Other)) | None => "",
            },
            fill: work,
        });
        let planned = self.slots.iter().map(|slot| Strip {
            seat: slot.agent as usize,
            todo: &slot.todo,
            from: self.now.saturating_add(self.pace.ms(slot.start)),
            to: self.now.saturating_add(self.pace.ms(slot.end)),
            mark: "",
            fill: plan,
        });
        let mut out: Vec<Strip<'_>> = worked.chain(planned).collect();
        out.sort_by_key(|strip| strip.from);
        out
    }

    /// How long ago the first began, the present, and how long the last takes.
    fn axis(&self, (first, last): (i64, i64), cells: usize, place: impl Fn(i64) -> usize) -> String {
        let (before, after) = (self.now - first, last - self.now);
        let mut line = vec![' '; cells];
        let mut put = |at: usize, text: &str| {
            let free = (at.saturating_sub(1)..(at + text.len() + 1).min(cells)).all(|cell| line[cell] == ' ');
            if free && at + text.len() <= cells {
                text.chars().enumerate().for_each(|(n, c)| line[at + n] = c);
            }
        };
        // The present first: where there is no room for all, it counts most.
        put(place(self.now).min(cells.saturating_sub(3)), "now");
        if before > 0 {
            put(0, &format!("{} ago", span(before)));
        }
        let end = if after > 0 { format!("in {}", span(after)) } else { String::new() };
        put(cells.saturating_sub(end.len()), &end);
        format!("{}{}", " ".repeat(MARGIN), line.into_iter().collect::<String>().trim_end())
    }
}

fn row<'a>(
    seat: usize,
    strips: impl Iterator<Item = &'a Strip<'a>>,
    cells: usize,
    place: impl Fn(i64) -> usize,
    glyphs: Glyphs,
) -> String {
    let (bar, wait) = match glyphs {
        Glyphs::Unicode => ("▏", "·"),
        Glyphs::Ascii => ("|", "."),
    };
    let (mut out, mut used) = (format!("{seat:>3} "), 0);
    for strip in strips {
        let (start, end) = (place(strip.from).max(used), place(strip.to));
        // Too short to be seen.
        if end <= start {
            continue;
        }
        out.push_str(&wait.repeat(start - used));
        out.push_str(bar);
        let room = end - start - 1;
        let label = format!("{}{}", fit(Plain::id(strip.todo).as_str(), 24, glyphs.ellipsis()), strip.mark);
        let label = if columns(&label) <= room { label } else { String::new() };
        out.push_str(&label);
        out.push_str(&strip.fill.repeat(room - columns(&label)));
        used = end;
    }
    out.push_str(&wait.repeat(cells.saturating_sub(used)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn turn(seat: usize, todo: &str, from: i64, end: Option<(i64, TurnEnd)>) -> SeatTurn {
        let end = end.map(|(at, end)| (at * MINUTE, end));
        SeatTurn { seat, todo: todo.into(), attempt: 1, from: from * MINUTE, end }
    }

    fn slot(agent: u32, todo: &str, start: u64, end: u64) -> Slot {
        Slot { todo: todo.into(), agent, window: 1, start, end }
    }

    #[test]
    fn what_was_done_and_what_is_planned_share_one_axis_of_time() {
        let turns = [
            turn(1, "T-1", 0, Some((10, TurnEnd::Completed))),
            turn(2, "T-2", 0, Some((16, TurnEnd::Failed))),
            turn(1, "T-3", 10, None),
        ];
        let now = 20 * MINUTE;
        // 36 minutes of work have taken 36,000 tokens, so 20,000 tokens take another 20 minutes.
        let pace = Pace::of(&turns, 36_000, now).unwrap();
        let slots = [slot(1, "T-3", 0, 10_000), slot(2, "T-4", 0, 20_000), slot(1, "T-5", 10_000, 20_000)];
        let lines = RunOverTime { turns: &turns, slots: &slots, pace, now }.draw(44, Glyphs::Ascii);
        assert_eq!(
            lines,
            [
                "  1 |T-1x=====|T-3======|T-3------|T-5------",
                "  2 |T-2!===========....|T-4----------------",
                "    20m ago             now           in 20m",
            ]
        );
    }

    #[test]
    fn every_seat_has_a_line() {
        let slots: Vec<Slot> = (1..=12).map(|seat| slot(seat, "T-1", 0, 50_000)).collect();
        let lines = RunOverTime { turns: &[], slots: &slots, pace: Pace::USUAL, now: 0 }.draw(24, Glyphs::Ascii);
        assert_eq!(lines.len(), 13);
        assert_eq!(lines[11], " 12 |T-1----------------");
    }

    #[test]
    fn one_half_alone_fills_the_axis() {
        let turns = [turn(1, "T-1", 0, Some((10, TurnEnd::Completed)))];
        let draw = |turns: &[SeatTurn], slots: &[Slot]| {
            RunOverTime { turns, slots, pace: Pace::USUAL, now: 10 * MINUTE }.draw(24, Glyphs::Ascii)
        };
        assert_eq!(draw(&turns, &[]), ["  1 |T-1x===============", "    10m ago          now"]);
        assert_eq!(draw(&[], &[slot(1, "T-9", 0, 50_000)]), ["  1 |T-9----------------", "    now           in 10m"]);
        assert!(draw(&[], &[]).is_empty());
        assert_eq!(Pace::of(&[], 5, 0), None);
        assert_eq!(Pace::of(&turns, 0, 0), None);
    }
}

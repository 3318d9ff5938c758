use punch_testkit::source::ByteSource;
use punch_testkit::terminal::VirtualTerminal;

use super::*;

/// A screen, what was written on it, and what ought to be there.
struct TestScreen {
    live: LiveLines,
    terminal: VirtualTerminal,
    size: Size,
    printed: Vec<String>,
}

impl TestScreen {
    fn new(lines: usize, width: usize, height: usize) -> Self {
        let (live, terminal) = (LiveLines::new(lines), VirtualTerminal::new(width, height));
        Self { live, terminal, size: Size { width, height }, printed: Vec::new() }
    }

    fn wanted(&self) -> Vec<String> {
        let mut wanted = VirtualTerminal::new(self.size.width, self.size.height);
        self.printed.iter().for_each(|line| wanted.feed(&format!("{line}\n")));
        let most = (self.size.height - 2).min(self.live.lines.len());
        self.live.shown(most, self.size).iter().for_each(|line| wanted.feed(&format!("{line}\n")));
        wanted.all()
    }
}

#[test]
fn whatever_happens_the_screen_shows_what_stays_and_the_lines_below_it() {
    let texts = [
        "works on T-1",
        "",
        "語語語語語語語語語語語語語語",
        "a line that is longer than the screen is wide",
        "x\x1b[31my\tz",
    ];
    for round in 0..400_u32 {
        let bytes: Vec<u8> =
            (0..80_u32).map(|n| (round.wrapping_mul(2_654_435_761).wrapping_add(n * 40_503) >> 13) as u8).collect();
        let source = &mut ByteSource::new(&bytes);
        let mut stage = TestScreen::new(1 + source.below(6), 20 + source.below(20), 4 + source.below(6));
        for _ in 0..12 {
            let message = source.pick(&texts);
            let size = stage.size;
            let out = match source.below(6) {
                0 | 1 => {
                    stage.printed.push(safe(message));
                    stage.live.above(message, size)
                }
                2 => {
                    // The user types an answer, or the run ends before that; the other agents continue.
                    stage.printed.push("may it?".into());
                    let mut out = stage.live.ask("may it?", size);
                    stage.live.set(1, "continues");
                    out.push_str(&stage.live.draw(size));
                    out.push_str(&stage.live.above(message, size));
                    stage.printed.push(safe(message));
                    let typed = source.one_in(2);
                    out.push_str(if typed { "yes\n" } else { "ye" });
                    out.push_str(&stage.live.draw(size));
                    out.push_str(&stage.live.answered(typed, size));
                    out
                }
                _ => {
                    stage.live.set(1 + source.below(7), message);
                    stage.live.draw(size)
                }
            };
            stage.terminal.feed(&out);
            if stage.live.drawn.is_empty() {
                continue;
            }
            assert_eq!(stage.terminal.all(), stage.wanted(), "round {round}");
        }
        let out = stage.live.close(stage.size);
        stage.terminal.feed(&out);
        stage.live.lines.clear();
        assert_eq!(stage.terminal.all(), stage.wanted(), "round {round}: nothing is left of the lines");
    }
}

#[test]
fn a_screen_that_became_narrower_is_cleared_of_all_rows() {
    let mut live = LiveLines::new(2);
    live.set(1, &"x".repeat(100));
    let wide = Size { width: 60, height: 10 };
    live.draw(wide);
    // The first line had 59 columns and takes three rows of 20 now.
    let out = live.draw(Size { width: 20, height: 10 });
    assert!(out.starts_with("\x1b[4A\r\x1b[J[1] xxx"), "{out:?}");
}

#[test]
fn lines_wait_while_somebody_types_and_not_without_end() {
    let size = Size { width: 40, height: 10 };
    let mut live = LiveLines::new(1);
    live.ask("may it?", size);
    (0..1_000).for_each(|n| drop(live.above(&format!("line {n}"), size)));
    let out = live.answered(true, size);
    assert!(out.contains("…\nline 900\n") && out.contains("line 999\n") && !out.contains("line 899"), "{out:?}");
}

#[test]
fn what_agents_say_cannot_move_the_cursor() {
    let size = Size { width: 40, height: 10 };
    let mut live = LiveLines::new(1);
    live.set(1, "\x1b[2J\x1b[Hgone\u{9b}2J");
    let out = live.draw(size);
    assert_eq!(out.matches('\x1b').count(), 1, "{out:?}");
    assert!(!out.contains('\u{9b}'));
}

//! The plan on one line, for shell prompts, tmux and the status lines of agents.

use super::width::{columns, fit};
use super::{Glyphs, Layout, PlanSummary, SpanRole, ViewLine};

/// The least room for the text of a todo.
const NARROWEST: usize = 8;

/// `3/5 ▶ Write the parser · 1 failed · 2 need you` in at most `width` columns. The counts are always kept; the text of the
/// todo is cut, or left out where it has no room.
pub fn draw(summary: &PlanSummary, needs_you: usize, width: usize, layout: Layout) -> ViewLine {
    let (progress, glyphs) = (summary.progress, layout.glyphs);
    let head = format!("{}/{}", progress.completed, progress.total);
    let count = |number: usize, word: &str| (number > 0).then(|| format!("{number} {word}"));
    let tail: Vec<String> = [
        count(summary.working.total.saturating_sub(1), "more in progress"),
        count(usize::try_from(summary.counts.failed).unwrap_or(usize::MAX), "failed"),
        count(summary.stuck.total, "stuck"),
        match needs_you {
            0 => None,
            1 => Some("1 needs you".to_owned()),
            more => Some(format!("{more} need you")),
        },
    ]
    .into_iter()
    .flatten()
    .map(|words| format!("{}{words}", layout.dot()))
    .collect();
    let used = columns(&head) + tail.iter().map(|words| columns(words)).sum::<usize>();
    let shown = summary.working.rows.first().or_else(|| summary.ready.rows.first());
    let mut line = ViewLine::default().with(SpanRole::Strong, head);
    if let Some(row) = shown {
        let sign = glyphs.status(row.status);
        let room = width.saturating_sub(used + columns(sign) + 2);
        if room >= NARROWEST {
            line = line.with(SpanRole::Text, " ").with(SpanRole::Status(row.status), sign).with(SpanRole::Text, " ");
            line = line.with(SpanRole::Text, fit(row.text.as_str(), room, glyphs.ellipsis()));
        }
    } else if summary.counts.total() > 0 && summary.counts.open() == 0 && summary.counts.failed == 0 {
        let done = match glyphs {
            Glyphs::Unicode => " ✓ all done",
            Glyphs::Ascii => " all done",
        };
        line = line.with(SpanRole::Done, done);
    }
    for words in tail {
        line = line.with(SpanRole::Warning, words);
    }
    line.fit(width, glyphs)
}

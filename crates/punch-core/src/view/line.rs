//! The whole list on one line, for status bars and receipts.

use super::row::{ListRow, tidy};
use super::width::{columns, fit};
use super::{Glyphs, NONE, Progress};

/// No line is wider, whatever is asked for.
const WIDEST: usize = 2_000;
/// A todo that has to be cut to fewer columns is left out instead.
const NARROWEST: usize = 8;

/// `[x] A  [>] B  [ ] C  (1/3)` in at most `width` columns. What does not fit is counted (`+N`); the counts at the
/// end are always kept.
pub fn draw(rows: &[ListRow<'_>], progress: Progress, width: usize, glyphs: Glyphs) -> String {
    let width = width.min(WIDEST);
    if rows.is_empty() {
        return fit(NONE, width, glyphs.ellipsis()).into_owned();
    }
    let counts = format!("({}/{})", progress.completed, progress.total);
    let room = width.saturating_sub(columns(&counts) + 2);
    let mut out = parts(rows, room, glyphs);
    if !out.is_empty() {
        out.push_str("  ");
    }
    out.push_str(&counts);
    fit(&out, width, glyphs.ellipsis()).into_owned()
}

/// All todos if they fit, else as many as fit from the first one that matters now, and how many are missing.
fn parts(rows: &[ListRow<'_>], room: usize, glyphs: Glyphs) -> String {
    // A todo needs more than five columns with its gap: a longer list need not be tried.
    if rows.len() <= room / 5 + 1 {
        let all = rows.iter().map(part).collect::<Vec<_>>().join("  ");
        if columns(&all) <= room {
            return all;
        }
    }
    let running = rows.iter().position(|row| row.status.is_running());
    let start = running.or_else(|| rows.iter().position(|row| row.status.is_open())).unwrap_or(0);
    let (mut out, mut shown) = (String::new(), 0);
    for row in &rows[start..] {
        let gap = if out.is_empty() { "" } else { "  " };
        let left = rows.len() - shown - 1;
        let tail = if left == 0 { 0 } else { columns(&missing(left)) };
        let free = room.saturating_sub(columns(&out) + gap.len() + tail);
        let whole = part(row);
        let whole_fits = columns(&whole) <= free;
        if !whole_fits && free < NARROWEST {
            break;
        }
        out.push_str(gap);
        out.push_str(&fit(&whole, free, glyphs.ellipsis()));
        shown += 1;
        if !whole_fits {
            break;
        }
    }
    let tail = missing(rows.len() - shown);
    if shown < rows.len() && columns(&out) + columns(&tail) <= room {
        out.push_str(if out.is_empty() { tail.trim_start() } else { &tail });
    }
    out
}

fn part(row: &ListRow<'_>) -> String {
    format!("{} {}", row.status.check_box(), tidy(row.content))
}

fn missing(left: usize) -> String {
    format!("  +{left}")
}

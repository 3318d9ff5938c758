//! The checklist of the todowrite dialect: the literal text that its tool answers with, and for users the list, the
//! update notice and the transition lines.

use std::collections::HashMap;
use std::ops::Range;

use super::cap::{Cap, CappedLines, LineEnd};
use super::row::{ListRow, tidy, window};
use super::{Glyphs, NONE, Progress};
use crate::{Event, FieldChange, Patch, Plan, ShownStatus, Status, Uid};

/// The list exactly as the todowrite tool answers: status, content and active form of each item, nothing escaped
/// and nothing cut. The tool's own limits (20 items of 500 units) are its size cap.
pub fn render<'a>(items: impl Iterator<Item = (Status, &'a str, &'a str)>) -> String {
    let (mut out, mut completed, mut total) = (String::new(), 0_u64, 0_u64);
    for (status, content, active) in items {
        // The tool knows three statuses; everything else reads as not started.
        let status = if matches!(status, Status::Completed | Status::InProgress) { status } else { Status::Pending };
        push_row(&mut out, status.into(), content, Some(active));
        out.push('\n');
        completed += u64::from(status == Status::Completed);
        total += 1;
    }
    if total == 0 {
        return NONE.to_owned();
    }
    out.push_str(&foot(Progress { completed, total }));
    out
}

/// The list for users: control characters neutralized, every status, capped. `progress` is what the last line counts.
pub fn list(rows: &[ListRow<'_>], progress: Progress, cap: Cap) -> String {
    if rows.is_empty() {
        return NONE.to_owned();
    }
    let mut page = CappedLines::new(cap, foot(progress));
    let shown = fill(&mut page, rows, |row| {
        let mut line = String::new();
        let active = (row.active != row.content).then(|| tidy(row.active));
        push_row(&mut line, row.status, &tidy(row.content), active.as_deref());
        line
    });
    page.end(rows.len() - shown)
}

/// What the user reads when the list was written: a heading and one row per todo.
pub fn notice(rows: &[ListRow<'_>], glyphs: Glyphs, cap: Cap) -> String {
    let mut page = CappedLines::new(cap, String::new());
    let heading = match glyphs {
        Glyphs::Unicode => "📋 Todo list updated:",
        Glyphs::Ascii => "Todo list updated:",
    };
    page.line(heading, LineEnd::More);
    if rows.is_empty() {
        page.line(format!("  {NONE}"), LineEnd::End);
    }
    let shown = fill(&mut page, rows, |row| format!("  {} {}", glyphs.status(row.status), tidy(row.shown())));
    page.end(rows.len() - shown)
}

/// One line per todo whose status these events changed, `[Todo: "Updating documentation" → in_progress]`: the active
/// form for what runs now, the content otherwise. `plan` is the plan after the events.
pub fn transitions(plan: &Plan, events: &[Event], glyphs: Glyphs, cap: Cap) -> String {
    let mut order: Vec<(Uid, Status, Status)> = Vec::new();
    let mut places: HashMap<Uid, usize> = HashMap::new();
    for event in events {
        let Patch::Todo(uid, changes) = &event.patch else { continue };
        for change in changes {
            let FieldChange::Status(swap) = change else { continue };
            let place = *places.entry(*uid).or_insert_with(|| {
                order.push((*uid, swap.before, swap.before));
                order.len() - 1
            });
            order[place].2 = swap.after;
        }
    }
    let moved: Vec<ListRow<'_>> = order
        .into_iter()
        .filter(|(_, before, after)| before != after)
        .filter_map(|(uid, _, status)| {
            let todo = plan.get(uid)?;
            Some(ListRow { status: status.into(), content: &todo.content, active: todo.active_text() })
        })
        .collect();
    let arrow = glyphs.arrow(false);
    let mut page = CappedLines::new(cap, String::new());
    let shown =
        fill(&mut page, &moved, |row| format!("[Todo: \"{}\" {arrow} {}]", tidy(row.shown()), stored(row.status)));
    page.end(moved.len() - shown)
}

/// Appends the rows worth showing, as many as fit, and says how many that were.
fn fill(page: &mut CappedLines, rows: &[ListRow<'_>], line: impl Fn(&ListRow<'_>) -> String) -> usize {
    let run = |page: &mut CappedLines, part: Range<usize>| {
        let (start, all) = (part.start, part.len() == rows.len());
        let fits = |(at, row): &(usize, &ListRow<'_>)| {
            let then = if all && at + 1 == rows.len() { LineEnd::End } else { LineEnd::More };
            page.line(line(row), then)
        };
        rows[part].iter().enumerate().map(|(at, row)| (start + at, row)).take_while(fits).count()
    };
    // The cap is on bytes too, so how many rows fit is only known by trying.
    let room = run(&mut page.clone(), 0..rows.len());
    run(page, window(rows.iter().map(|row| row.status), room))
}

fn push_row(out: &mut String, status: ShownStatus, content: &str, active: Option<&str>) {
    out.extend([status.check_box(), " ", content]);
    if let (true, Some(active)) = (status.is_running(), active) {
        out.extend([" <- ", active]);
    }
}

/// A status that came from a stored one, under its stored name.
const fn stored(status: ShownStatus) -> &'static str {
    if matches!(status, ShownStatus::Ready) { Status::Pending.name() } else { status.name() }
}

fn foot(progress: Progress) -> String {
    format!("\n({}/{} completed)", progress.completed, progress.total)
}

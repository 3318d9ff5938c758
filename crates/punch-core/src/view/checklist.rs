//! The checklist of the todowrite dialect: the literal text that its tool answers with.

use std::fmt::Write;

use crate::Status;

/// The list exactly as the todowrite tool answers: status, content and active form of each item, nothing escaped
/// and nothing cut. The tool's own limits (20 items of 500 units) are its size cap.
pub fn render<'a>(items: impl Iterator<Item = (Status, &'a str, &'a str)>) -> String {
    let (mut out, mut completed, mut total) = (String::new(), 0_usize, 0_usize);
    for (status, content, active) in items {
        let (marker, active) = match status {
            Status::Completed => ("x", None),
            Status::InProgress => (">", Some(active)),
            Status::Pending | Status::Cancelled | Status::Failed => (" ", None),
        };
        push_row(&mut out, marker, content, active);
        out.push('\n');
        completed += usize::from(status == Status::Completed);
        total += 1;
    }
    if total == 0 {
        return NONE.to_owned();
    }
    let _ = write!(out, "\n({completed}/{total} completed)");
    out
}

/// What an empty list reads as.
pub(super) const NONE: &str = "No todos.";

fn push_row(out: &mut String, marker: &str, content: &str, active: Option<&str>) {
    let _ = write!(out, "[{marker}] {content}");
    if let Some(active) = active {
        let _ = write!(out, " <- {active}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_one_of_the_tool() {
        let items = [
            (Status::Completed, "Fix tests", "Fixing tests"),
            (Status::InProgress, "Update docs", "Updating docs"),
            (Status::Pending, "Build", "Building"),
        ];
        let want = "[x] Fix tests\n[>] Update docs <- Updating docs\n[ ] Build\n\n(1/3 completed)";
        assert_eq!(render(items.into_iter()), want);
        assert_eq!(render(std::iter::empty()), "No todos.");
    }
}

//! The plan on one screen: progress, what needs you, who works on what, and what is next, each with the command to type.

use super::table::{self, TableRow};
use super::width::columns;
use super::{Glyphs, Layout, PlanSummary, Progress, SpanRole, SummarySection, TodoRow, ViewLine};
use crate::ShownStatus;
use crate::inbox::{InboxItem, InboxKind};
use crate::text::clip;

/// Columns of the names of sections.
const NAME: usize = 13;
/// Things that need the user and are shown.
const ITEMS: usize = 5;
/// A longer command gets a line of its own.
const COMMAND: usize = 24;
/// Cells of the bar.
const CELLS: usize = 24;

/// A plan on one screen.
pub struct Dashboard<'a> {
    /// The name of the plan.
    pub plan: &'a str,
    /// The plan at a glance.
    pub summary: &'a PlanSummary,
    /// What needs the user; `None` where the plan is too large to find out at the side.
    pub inbox: Option<&'a [InboxItem]>,
    /// What stands at the end: sessions that are kept going, connected agents.
    pub foot: &'a [String],
}

/// A row of the screen with the name of its section.
struct DashboardEntry {
    name: &'static str,
    row: TableRow,
    /// A command that does not fit beside the text.
    below: Option<String>,
    /// How many more follow this row and are not shown, and the command that lists them.
    more: Option<(usize, &'static str)>,
}

/// What an entry has besides its row: the name of its section, a command below it, and how many more there are.
type EntryHead<'a> = (&'a str, Option<String>, Option<(usize, &'static str)>);

impl Dashboard<'_> {
    /// The screen, line by line.
    pub fn lines(&self, layout: Layout) -> Vec<ViewLine> {
        let blank = layout.width.map(|_| ViewLine::default());
        let mut out = vec![self.head(layout)];
        let entries = self.entries(layout);
        out.extend(blank.clone().filter(|_| !entries.is_empty()));
        let inner = Layout { width: layout.width.map(|width| width.saturating_sub(NAME)), ..layout };
        let (rows, heads): (Vec<TableRow>, Vec<EntryHead<'_>>) =
            entries.into_iter().map(|entry| (entry.row, (entry.name, entry.below, entry.more))).unzip();
        let mut last = "";
        for (line, (name, below, more)) in table::lines(rows, inner).into_iter().zip(heads) {
            let shown = if name == last { "" } else { name };
            last = name;
            let mut whole = ViewLine::default().with(SpanRole::Heading, format!("{shown:NAME$}"));
            whole.0.extend(line.0);
            out.push(whole);
            if let Some(command) = below {
                out.push(
                    ViewLine::default()
                        .with(SpanRole::Text, format!("{:NAME$}  ", ""))
                        .with(SpanRole::Command, command),
                );
            }
            out.extend(more.map(|(more, command)| {
                let line = ViewLine::default().with(SpanRole::Text, format!("{:NAME$}", ""));
                line.with(SpanRole::Detail, format!("and {more} more: ")).with(SpanRole::Command, command)
            }));
        }
        out.extend(blank.filter(|_| !self.foot.is_empty()));
        let cut =
            |line: ViewLine| layout.width.map_or_else(|| line.clone(), |width| line.clone().fit(width, layout.glyphs));
        out.extend(self.foot.iter().map(|text| cut(ViewLine::default().with(SpanRole::Detail, text.as_str()))));
        out
    }

    fn head(&self, layout: Layout) -> ViewLine {
        let Progress { completed, total } = self.summary.progress;
        let line = ViewLine::default().with(SpanRole::Heading, clip(self.plan, 40));
        let gap = if layout.width.is_some() { layout.dot() } else { ": " };
        let line = line.with(SpanRole::Detail, gap).with(SpanRole::Text, format!("{completed} of {total} done"));
        if layout.width.is_none() {
            return line.with(SpanRole::Text, format!(" ({}%)", self.summary.progress.percent()));
        }
        let [full, empty] = match layout.glyphs {
            Glyphs::Unicode => ["━", "─"],
            Glyphs::Ascii => ["#", "-"],
        };
        let filled = self.summary.progress.filled(CELLS);
        let line = line.with(SpanRole::Text, "  ").with(SpanRole::Done, full.repeat(filled));
        let line = line.with(SpanRole::Detail, empty.repeat(CELLS - filled));
        line.with(SpanRole::Text, format!("  {}%", self.summary.progress.percent()))
    }

    fn entries(&self, layout: Layout) -> Vec<DashboardEntry> {
        let items = self.inbox.unwrap_or_default();
        let mut out: Vec<DashboardEntry> = items.iter().take(ITEMS).map(|item| entry(item, layout)).collect();
        if let (Some(last), Some(more)) = (out.last_mut(), self.more()) {
            last.more = Some((more, "punch inbox"));
        }
        let in_inbox = |row: &TodoRow| items.iter().any(|item| item.todo.as_deref() == Some(row.id.as_str()));
        let entry = |name: &'static str, row: &TodoRow| DashboardEntry {
            name,
            row: row.clone().table_row(layout),
            below: None,
            more: None,
        };
        let working = &self.summary.working;
        out.extend(working.rows.iter().map(|row| entry("In progress", row)));
        if let (Some(last), more @ 1..) = (out.last_mut(), working.total.saturating_sub(working.rows.len())) {
            last.more = Some((more, "punch list is:working"));
        }
        let mut section = |name: &'static str, section: &SummarySection| {
            out.extend(section.rows.iter().filter(|row| !in_inbox(row)).map(|row| entry(name, row)));
        };
        section("Next", &self.summary.ready);
        section("Failed", &self.summary.failed);
        section("Stuck", &self.summary.stuck);
        section("On hold", &self.summary.held);
        out
    }

    fn more(&self) -> Option<usize> {
        self.inbox.and_then(|items| items.len().checked_sub(ITEMS)).filter(|more| *more > 0)
    }
}

fn entry(item: &InboxItem, layout: Layout) -> DashboardEntry {
    let (name, sign) = match item.kind {
        InboxKind::Question | InboxKind::Approval => ("Needs you", (SpanRole::Warning, "?")),
        InboxKind::Hold => ("Needs you", status(ShownStatus::Held, layout)),
        InboxKind::Failed => ("Failed", status(ShownStatus::Failed, layout)),
        InboxKind::Stuck => ("Needs you", (SpanRole::Warning, "!")),
        InboxKind::Conflict => ("Conflict", (SpanRole::Warning, "!")),
        InboxKind::Budget => ("Budget", (SpanRole::Warning, "!")),
        InboxKind::Quiet => ("Quiet", (SpanRole::Warning, "!")),
        InboxKind::Finished => ("Finished", status(ShownStatus::Completed, layout)),
    };
    let blocks = if item.blocks > 0 { format!(" (blocks {})", item.blocks) } else { String::new() };
    let id = item.todo.as_deref().map_or(0, columns);
    // The sign, the id, the text and the command, with two columns between them.
    let needed = 2 + id + 2 + columns(&item.text) + columns(&blocks) + 2 + columns(&item.action);
    let fits = layout.width.is_none_or(|width| NAME + needed <= width);
    let beside = fits && columns(&item.action) <= COMMAND;
    let remark =
        if beside { ViewLine::default().with(SpanRole::Command, item.action.as_str()) } else { ViewLine::default() };
    let row = TableRow {
        sign,
        id: item.todo.clone().map(|id| super::Plain::id(&id).to_string()).unwrap_or_default(),
        text: (SpanRole::Text, format!("{}{blocks}", item.text)),
        remark,
    };
    DashboardEntry { name, row, below: (!beside).then(|| item.action.clone()), more: None }
}

const fn status(status: ShownStatus, layout: Layout) -> (SpanRole, &'static str) {
    (SpanRole::Status(status), layout.glyphs.status(status))
}

//! The plan on one screen: progress, what needs you, who works on what, and what is next, each with the command to type.

use super::table::{self, TableRow};
use super::width::columns;
use super::{Glyphs, Layout, PlanSummary, Progress, SpanRole, SummarySection, TodoRow, ViewLine};
use crate::ShownStatus;
use crate::inbox::{InboxItem, InboxKind};
use crate::text::{clip, shell};

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
    more: Option<MoreEntries>,
}

/// What an entry has besides its row: the name of its section, a command below it, and how many more there are.
type EntryHead<'a> = (&'a str, Option<String>, Option<MoreEntries>);

/// Entries that are not shown.
struct MoreEntries {
    /// How many there are; `None` where they were not counted.
    count: Option<usize>,
    /// Lists them.
    command: &'static str,
}

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
            out.extend(more.map(|MoreEntries { count, command }| {
                let count = count.map(|count| format!("{count} ")).unwrap_or_default();
                let line = ViewLine::default().with(SpanRole::Text, format!("{:NAME$}", ""));
                line.with(SpanRole::Detail, format!("and {count}more: ")).with(SpanRole::Command, command)
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
            last.more = Some(MoreEntries { count: Some(more), command: "punch inbox" });
        }
        let in_inbox = |row: &TodoRow| items.iter().any(|item| item.todo.as_deref() == Some(row.id.as_str()));
        let mut section = |name, verb, section: &SummarySection, list, is_counted| {
            let rows: Vec<&TodoRow> = section.rows.iter().filter(|row| verb == "show" || !in_inbox(row)).collect();
            // One command shows how the others go.
            let entries =
                rows.iter().enumerate().map(|(at, row)| todo_entry(name, row, (at == 0).then_some(verb), layout));
            let begin = out.len();
            out.extend(entries);
            let more = section.total.saturating_sub(section.rows.len());
            if let (Some(last), 1..) = (out[begin..].last_mut(), more) {
                last.more = Some(MoreEntries { count: Some(more).filter(|_| is_counted), command: list });
            }
        };
        section("In progress", "show", &self.summary.working, "punch list is:working", true);
        // What can be started is looked for until there is enough to show.
        section("Next", "start", &self.summary.ready, "punch list --ready", false);
        section("Failed", "reopen", &self.summary.failed, "punch list --failed", true);
        section("Stuck", "why", &self.summary.stuck, "punch list is:stuck", true);
        section("On hold", "unhold", &self.summary.held, "punch list is:held", true);
        out
    }

    fn more(&self) -> Option<usize> {
        self.inbox.and_then(|items| items.len().checked_sub(ITEMS)).filter(|more| *more > 0)
    }
}

/// A todo with the command that is next for it: beside it where it is short together with the remarks, else below it.
fn todo_entry(name: &'static str, todo: &TodoRow, verb: Option<&str>, layout: Layout) -> DashboardEntry {
    let mut row = todo.clone().table_row(layout);
    let command = verb.map(|verb| format!("punch {verb} {}", shell(&row.id)));
    let gap = if row.remark.0.is_empty() { "" } else { layout.dot() };
    let taken = row.remark.columns() + columns(gap);
    let fits = |command: &String| layout.width.is_none() || taken + columns(command) <= COMMAND;
    let below = match command {
        Some(command) if fits(&command) => {
            row.remark = row.remark.with(SpanRole::Detail, gap).with(SpanRole::Command, command);
            None
        }
        other => other,
    };
    DashboardEntry { name, row, below, more: None }
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

//! One todo as a row for lists, trees, boards and models. Plain values; drawing them is separate.

use serde::Serialize;

use super::{Glyphs, Layout, Plain, SpanRole, TableRow, ViewLine};
use crate::reason::{self, Cause, PlanReader, WaitReason};
use crate::{Proof, ShownStatus, Status, Todo, Uid, actor, time};

/// Todos that are named as reasons of one kind.
const NAMED: usize = 4;

/// A mark on a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "badge", rename_all = "snake_case")]
pub enum Badge {
    /// A priority other than the usual one.
    Priority {
        /// 1 is the most urgent.
        priority: u8,
    },
    /// The labels of the todo.
    Labels {
        /// The labels in their order.
        labels: Vec<Plain>,
    },
    /// Someone else works on it.
    Owner {
        /// The name of the owner; `user` for the user.
        name: Plain,
        /// When the claim ends unless it is renewed.
        until: Option<i64>,
    },
    /// The reader works on it.
    Yours,
    /// It was being worked on before.
    Resume,
    /// Completed, but git no longer vouches for it.
    Stale,
    /// Something it was built on has been reopened.
    StaleDependency,
    /// The last run of its check failed.
    CheckFailed,
    /// A check passed, and nothing was changed after it.
    Checked,
    /// Completed without a check whose result is known.
    Unchecked,
    /// Completed, and files were changed after the last passing check.
    Outdated,
    /// Completed, and the last check failed.
    Failing,
    /// Files were changed that the todo does not declare.
    Drift,
    /// No context window can hold the todo.
    Oversize,
    /// The todo has notes.
    Notes {
        /// The number of notes.
        count: usize,
    },
}

impl Badge {
    /// The words of the badge beside a todo; `None` where lists do not mention it.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Priority { priority } => format!("P{priority}"),
            Self::Labels { labels } => labels.iter().map(|label| format!("#{label}")).collect::<Vec<_>>().join(" "),
            Self::Owner { name, .. } => format!("@{}", actor::short_owner(name.as_str())),
            Self::Yours => "yours".to_owned(),
            Self::Resume => "resume".to_owned(),
            Self::Stale => "stale".to_owned(),
            Self::StaleDependency => "stale dependency".to_owned(),
            Self::CheckFailed => "check failed".to_owned(),
            Self::Checked => Proof::Checked.name().to_owned(),
            Self::Unchecked => Proof::Unchecked.name().to_owned(),
            Self::Outdated => Proof::Outdated.name().to_owned(),
            Self::Failing => Proof::Failing.name().to_owned(),
            Self::Drift => "other files changed".to_owned(),
            Self::Oversize => Cause::Oversize.name().to_owned(),
            Self::Notes { .. } => return None,
        })
    }

    const fn role(&self) -> SpanRole {
        match self {
            Self::Priority { priority: 1 } => SpanRole::Strong,
            Self::Stale
            | Self::StaleDependency
            | Self::CheckFailed
            | Self::Failing
            | Self::Outdated
            | Self::Oversize => SpanRole::Warning,
            Self::Owner { .. } | Self::Yours => SpanRole::Owner,
            Self::Priority { .. }
            | Self::Labels { .. }
            | Self::Resume
            | Self::Checked
            | Self::Unchecked
            | Self::Drift
            | Self::Notes { .. } => SpanRole::Detail,
        }
    }

    fn all_of(reader: PlanReader<'_>, todo: &Todo, shown: ShownStatus) -> Vec<Self> {
        let mut out = Vec::new();
        if todo.priority != 3 {
            out.push(Self::Priority { priority: todo.priority });
        }
        if !todo.labels.is_empty() {
            out.push(Self::Labels { labels: todo.labels.iter().map(|label| Plain::id(label.as_str())).collect() });
        }
        if shown.is_running() {
            let owner = todo.owner.as_deref();
            if owner == reader.owner && (owner.is_some() || todo.is_claimed_by_user()) {
                out.push(Self::Yours);
            } else if let Some(name) = owner.or_else(|| todo.is_claimed_by_user().then_some(actor::USER)) {
                out.push(Self::Owner { name: Plain::id(name), until: todo.lease_until });
            }
        }
        let flags = &todo.flags;
        for (set, badge) in [
            (flags.resume || todo.lease_expired(reader.now), Self::Resume),
            (flags.stale, Self::Stale),
            (flags.stale_dependency, Self::StaleDependency),
            (todo.failed_check().is_some() && todo.proof().is_none(), Self::CheckFailed),
            (todo.proof() == Some(Proof::Checked), Self::Checked),
            (todo.proof() == Some(Proof::Unchecked), Self::Unchecked),
            (todo.proof() == Some(Proof::Outdated), Self::Outdated),
            (todo.proof() == Some(Proof::Failing), Self::Failing),
            (todo.observed().is_some_and(|observed| !observed.outside.is_empty()), Self::Drift),
            (reader.is_marked_oversize(todo), Self::Oversize),
            (!todo.notes.is_empty(), Self::Notes { count: todo.notes.len() }),
        ] {
            out.extend(set.then_some(badge));
        }
        out
    }
}

/// Something that stands in the way of a row's todo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowReason {
    /// How it stands in the way.
    pub cause: Cause,
    /// The id of what stands in the way.
    pub id: Plain,
    /// Its todo, unless the id is unknown.
    pub uid: Option<Uid>,
    /// What there is to say about it.
    pub about: Option<Plain>,
    /// When it ends by itself.
    #[serde(skip)]
    pub until: Option<i64>,
}

impl From<&WaitReason> for RowReason {
    fn from(reason: &WaitReason) -> Self {
        let about = reason.about.as_deref().map(|about| Plain::clipped(about, 200));
        Self { cause: reason.cause, id: Plain::id(&reason.id), uid: reason.uid, about, until: reason.until }
    }
}

/// A todo as a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TodoRow {
    /// The todo.
    pub uid: Uid,
    /// The id of the todo.
    pub id: Plain,
    /// Its status as a reader sees it.
    pub status: ShownStatus,
    /// The active form while it runs, the content otherwise.
    pub text: Plain,
    /// When the work on it began, while it is in progress.
    pub since: Option<i64>,
    /// Steps below the first level: 1 under the heading of a phase.
    pub depth: u32,
    /// Marks.
    pub badges: Vec<Badge>,
    /// Why it is not worked on.
    pub reasons: Vec<RowReason>,
    /// The reasons in words, a few each.
    pub why: Vec<Plain>,
}

impl TodoRow {
    /// The row of a todo as a reader sees it.
    pub fn of<'a>(reader: PlanReader<'a>, todo: &'a Todo) -> Self {
        Self::labelled(reader, todo, &str::to_owned)
    }

    /// The row of a todo for a conversation that has its own names for todos.
    pub fn labelled<'a>(reader: PlanReader<'a>, todo: &'a Todo, label: &dyn Fn(&str) -> String) -> Self {
        let (status, mut reasons) = (reader.shown(todo), reader.reasons(todo));
        for reason in &mut reasons {
            (reason.id, reason.needed_by) = (label(&reason.id), label(&reason.needed_by));
        }
        let text = if status.is_running() { todo.active_text() } else { &todo.content };
        Self {
            uid: todo.uid,
            id: Plain::id(&label(&todo.id)),
            status,
            text: Plain::text(text),
            since: todo.started_at.filter(|_| status.is_running()),
            depth: 0,
            badges: Badge::all_of(reader, todo, status),
            why: reason::summary(&reasons, NAMED).iter().map(|words| Plain::clipped(words, 300)).collect(),
            reasons: reasons.iter().map(RowReason::from).collect(),
        }
    }

    /// How many notes the todo has.
    pub fn notes(&self) -> usize {
        self.badges.iter().find_map(|b| if let Badge::Notes { count } = b { Some(*count) } else { None }).unwrap_or(0)
    }

    /// Sign, id and text.
    pub fn line(&self, glyphs: Glyphs) -> ViewLine {
        self.line_with(glyphs.status(self.status))
    }

    pub(super) fn line_with(&self, sign: &'static str) -> ViewLine {
        if self.status == ShownStatus::Archived {
            return ViewLine::default()
                .with(SpanRole::Detail, "archived: ")
                .id(&self.id)
                .with(SpanRole::Text, format!("  {}", self.text));
        }
        let line = ViewLine::default().with(SpanRole::Status(self.status), sign).with(SpanRole::Text, " ").id(&self.id);
        line.with(SpanRole::Text, format!("  {}", self.text))
    }

    /// Everything beside the text in one pair of brackets; empty if there is nothing to say.
    pub(super) fn details(&self) -> String {
        self.remarks(|_| true)
    }

    fn remarks(&self, wanted: impl Fn(&Badge) -> bool) -> String {
        let stalled = (self.status == ShownStatus::Stalled).then(|| "stalled".to_owned());
        let badges = self.badges.iter().filter(|badge| wanted(badge)).filter_map(Badge::words);
        let parts: Vec<String> = badges.chain(stalled).chain(self.why.iter().map(Plain::to_string)).collect();
        if parts.is_empty() { String::new() } else { format!("({})", parts.join("; ")) }
    }

    /// The row among others in columns.
    pub fn table_row(self, layout: Layout) -> TableRow {
        TableRow {
            sign: (SpanRole::Status(self.status), layout.glyphs.status(self.status)),
            remark: self.remark(layout),
            text: (self.text_role(), self.text.into()),
            id: self.id.into(),
        }
    }

    /// The row with the reason of the last failure, which a list of failed todos is read for.
    #[must_use]
    pub fn with_error(mut self, todo: &Todo) -> Self {
        let error = todo.last_error.as_deref().map(str::trim);
        let Some(error) = error.filter(|error| todo.status == Status::Failed && !error.is_empty()) else { return self };
        // An error about the failed check needs no mark beside it.
        if error.starts_with("the check of") {
            self.badges.retain(|badge| *badge != Badge::CheckFailed);
        }
        self.why.push(Plain::clipped(error, 120));
        self
    }

    /// The marks and reasons as spans: what should be noticed stands out.
    fn remark(&self, layout: Layout) -> ViewLine {
        let badges = self.badges.iter().filter_map(|badge| Some((badge.role(), badge.words()?)));
        // A time that changes with every call has no place in a pipe.
        let since = self.since.filter(|_| layout.width.is_some());
        let since = since.map(|since| (SpanRole::Detail, time::span(layout.now.saturating_sub(since))));
        let stalled = (self.status == ShownStatus::Stalled).then(|| (SpanRole::Warning, "stalled".to_owned()));
        let why_role = match self.status {
            ShownStatus::Stuck | ShownStatus::Empty => SpanRole::Warning,
            _ => SpanRole::Detail,
        };
        let moments = || self.reasons.iter().filter_map(|reason| reason.until);
        let why = self.why.iter().map(|why| (why_role, layout.with_moments(why.to_string(), moments())));
        let mut line = ViewLine::default();
        for (role, words) in badges.chain(since).chain(stalled).chain(why) {
            if !line.0.is_empty() {
                line = line.with(SpanRole::Detail, layout.dot());
            }
            line = line.with(role, words);
        }
        line
    }

    /// Closed work stands back.
    const fn text_role(&self) -> SpanRole {
        match self.status {
            ShownStatus::Completed | ShownStatus::Cancelled | ShownStatus::Archived | ShownStatus::Parked => {
                SpanRole::Detail
            }
            _ => SpanRole::Text,
        }
    }

    /// The row for a model: check box, id, text and what it must know.
    pub fn model_line(&self) -> String {
        self.line_for_model(&format!(" {}", clip(&self.text)))
    }

    /// The row for a model that has just named the todo by its id: without the text.
    pub fn brief_model_line(&self) -> String {
        self.line_for_model("")
    }

    fn line_for_model(&self, text: &str) -> String {
        // Priorities cost tokens, and what is next says more than they do. A model knows what it works on itself.
        let details = self.remarks(|badge| !matches!(badge, Badge::Priority { .. } | Badge::Yours | Badge::Checked));
        let gap = if details.is_empty() { "" } else { " " };
        format!("{} {}{text}{gap}{details}", self.status.check_box(), self.id)
    }
}

/// A model reads less of a text than a user.
fn clip(text: &Plain) -> String {
    crate::text::clip(text.as_str(), 200).into_owned()
}

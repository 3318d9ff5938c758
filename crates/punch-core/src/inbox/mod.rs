//! The inbox: what needs the user, as one ordered list. Pure: all facts come in as [`InboxFacts`], and every surface
//! shows the same items in the same order.

mod around_items;
mod behind;
mod facts;
mod plan_items;

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::text::{clip, neutral, shell};
use crate::{Todo, Uid};
use behind::{Behind, LiveTodos, WaitStart};
pub use facts::{
    Approval, ApprovalFact, FileConflictFact, InboxFacts, LimitSpending, QuestionFact, RunFact, SeenFact, StoppedFact,
    WorkerFact,
};

/// Why something needs the user. In the order of the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InboxKind {
    /// An agent asks and waits for the answer.
    Question,
    /// A todo is on hold until the user decides.
    Hold,
    /// Two versions of something cannot be brought together without the user.
    Conflict,
    /// A todo failed for good.
    Failed,
    /// Todos wait for something that will not happen by itself.
    Stuck,
    /// A check or a setting waits for approval.
    Approval,
    /// Most of a budget is spent.
    Budget,
    /// An agent has gone without a sign of life for long.
    Quiet,
    /// A plan or a run is finished, and the user has not looked at it yet.
    Finished,
}

impl InboxKind {
    /// Every kind, in the order of the inbox.
    pub const ALL: [Self; 9] = [
        Self::Question,
        Self::Hold,
        Self::Conflict,
        Self::Failed,
        Self::Stuck,
        Self::Approval,
        Self::Budget,
        Self::Quiet,
        Self::Finished,
    ];

    /// The word in text and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Hold => "hold",
            Self::Conflict => "conflict",
            Self::Failed => "failed",
            Self::Stuck => "stuck",
            Self::Approval => "approval",
            Self::Budget => "budget",
            Self::Quiet => "quiet",
            Self::Finished => "finished",
        }
    }
}

/// One thing that needs the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxItem {
    /// The kind of item.
    pub kind: InboxKind,
    /// The id of the todo that it is about.
    pub todo: Option<String>,
    /// What is the matter, on one line that is safe to print.
    pub text: String,
    /// Since when, in milliseconds since the epoch.
    pub since: i64,
    /// How many open todos wait for it, directly or not.
    pub blocks: u64,
    /// A command for the user, quoted for the shell.
    pub action: String,
    /// The number of the question that waits for an answer.
    pub question: Option<u64>,
}

/// Characters of an item's text.
const TEXT: usize = 300;
/// Characters of a todo's content in an item.
const CONTENT: usize = 100;

/// An item before it is known what waits for it.
struct InboxFinding {
    kind: InboxKind,
    todo: Option<Uid>,
    text: String,
    since: i64,
    action: String,
    question: Option<u64>,
    start: WaitStart,
}

impl InboxFinding {
    /// An item about one todo: its content, then what is the matter. What depends on the todo waits.
    fn about(kind: InboxKind, todo: &Todo, what: &str, since: i64, action: String) -> Self {
        let text = match (todo.content.trim(), what) {
            (content, "") => clip(content, CONTENT).into_owned(),
            ("", what) => what.to_owned(),
            (content, what) => [&clip(content, CONTENT), ": ", what].concat(),
        };
        Self { kind, todo: Some(todo.uid), text, since, action, question: None, start: WaitStart::Todo(todo.uid) }
    }

    /// An item that is not about a todo.
    const fn apart(kind: InboxKind, text: String, since: i64, action: String) -> Self {
        Self { kind, todo: None, text, since, action, question: None, start: WaitStart::Waiting(Vec::new()) }
    }
}

/// Returns what needs the user: by kind, inside a kind by how many open todos wait for it, then the oldest first.
///
/// Takes time in proportion to the plan for every 1,024 items that something waits for.
pub fn inbox(facts: &InboxFacts<'_>) -> Vec<InboxItem> {
    let live = LiveTodos::of(facts.plan, facts.now);
    let mut found = plan_items::items(facts, &live);
    found.extend(around_items::items(facts));
    let starts: Vec<&WaitStart> = found.iter().map(|item| &item.start).collect();
    let blocks = Behind::of(&live).counts(&starts);
    let place = |item: &InboxFinding| item.todo.and_then(|uid| live.place(uid));
    let mut items: Vec<(u64, InboxFinding)> = blocks.into_iter().zip(found).collect();
    // Stable: items that are alike in all of this stay in the order in which they were found.
    items.sort_by_cached_key(|(blocks, item)| (item.kind, Reverse(*blocks), item.since, place(item)));
    let finish = |(blocks, item): (u64, InboxFinding)| InboxItem {
        kind: item.kind,
        todo: item.todo.and_then(|uid| facts.plan.get(uid)).map(|todo| todo.id.clone()),
        text: safe(item.text),
        since: item.since,
        blocks,
        action: item.action,
        question: item.question,
    };
    items.into_iter().map(finish).collect()
}

/// The text of an item on one line that is safe to print. Almost every text is so already.
fn safe(text: String) -> String {
    let changed = {
        let clipped = clip(&text, TEXT);
        match (neutral(&clipped), &clipped) {
            (Cow::Borrowed(_), Cow::Borrowed(_)) => None,
            (changed, _) => Some(changed.into_owned()),
        }
    };
    changed.unwrap_or(text)
}

/// `1 open todo`, `3 open todos`.
fn todos(count: u64) -> String {
    if count == 1 { "1 open todo".to_owned() } else { format!("{count} open todos") }
}

impl InboxFacts<'_> {
    fn command(&self, words: &str, arguments: &[&str]) -> String {
        plan_command(words, arguments, self.plan_flag)
    }
}

/// Returns a command about a plan for the user to type: words that are given as they are, then words from outside, which are
/// quoted, then the name of the plan where the command would mean another one without it.
pub fn plan_command(words: &str, arguments: &[&str], plan_flag: Option<&str>) -> String {
    let mut out = String::with_capacity(64);
    out.push_str("punch ");
    out.push_str(words);
    let flag = plan_flag.into_iter().flat_map(|name| ["--plan", name]);
    for argument in arguments.iter().copied().chain(flag) {
        out.push(' ');
        out.push_str(&shell(argument));
    }
    out
}

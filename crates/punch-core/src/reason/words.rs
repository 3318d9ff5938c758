//! Reasons in words: half a line beside a todo, an item of a list, and the paragraphs of `why`. Everything is safe to print.

use super::{
    CappedList, Cause, Clash, Explanation, Standstill, StandstillRoot, TodoConflict, TodoConflicts, Unblocks,
    WaitReason,
};
use crate::text::{clip, neutral, shell};
use crate::{HoldKind, ShownStatus, Status, time};

/// Entries written out in a text.
const WRITTEN: usize = 5;

impl Cause {
    /// Describes what blocks a todo in a few words after an id. `about` must already be safe to print.
    pub fn words(self, about: &str) -> String {
        let plain = match self {
            Self::Person => "waiting for you",
            Self::Hold => "on hold",
            Self::Timer => "on hold until a set time",
            Self::Parked => "parked",
            Self::Dropped if about.is_empty() => "cancelled or failed",
            Self::Dropped => return about.to_owned(),
            Self::Missing => "no such todo",
            Self::Cycle => "in a cycle",
            Self::Blank => "empty",
            Self::Oversize => "larger than a context window",
            Self::Optional => "optional",
            Self::Reported => "reported, not verified yet",
            Self::Elsewhere if about.is_empty() => "in progress elsewhere",
            Self::Elsewhere => return format!("in progress by {about}"),
            Self::Files => "in progress on the same files",
            Self::Running => "in progress",
            Self::Waiting => "waiting",
            Self::Ready => "ready",
        };
        if about.is_empty() { plain.to_owned() } else { format!("{plain}: {about}") }
    }
}

impl WaitReason {
    /// Returns the id and how it blocks: `T-1 (in progress)`.
    pub fn text(&self) -> String {
        unmarked(&self.with_mark())
    }

    fn with_mark(&self) -> String {
        format!("{} ({})", marked(&self.id), self.words())
    }

    /// Returns how it blocks, without the id.
    pub fn words(&self) -> String {
        let about = self.about.as_deref().map(|about| neutral(&clip(about, 80)).into_owned()).unwrap_or_default();
        match (self.cause, self.status) {
            (Cause::Cycle, _) => {
                let cycle = match self.id == self.needed_by {
                    true => "depends on itself".to_owned(),
                    false => format!("in a cycle with {}", shown(&self.needed_by)),
                };
                if about.is_empty() { cycle } else { format!("{cycle}, on hold: {about}") }
            }
            (Cause::Waiting, Some(Status::InProgress)) => "stalled".to_owned(),
            (Cause::Waiting, _) if !about.is_empty() => format!("waiting, on hold: {about}"),
            (Cause::Timer, _) => match (self.until, about.is_empty()) {
                (None, _) => self.cause.words(&about),
                (Some(until), true) => format!("on hold until {}", time::utc(until)),
                (Some(until), false) => format!("on hold until {}: {about}", time::utc(until)),
            },
            (cause, _) => cause.words(&about),
        }
    }
}

/// Why a todo is not worked on, in few words each: what it waits for, what it is stuck behind, its hold. Names at most
/// `named` todos of a kind.
pub fn summary(reasons: &[WaitReason], named: usize) -> Vec<String> {
    let mut out = Vec::new();
    let dropped: Vec<&WaitReason> = reasons.iter().filter(|reason| reason.cause == Cause::Dropped).collect();
    if let Some(first) = dropped.first() {
        let how = match first.status {
            Some(Status::Failed) => "which failed".to_owned(),
            Some(status) => format!("which is {}", status.name()),
            None => "which is cancelled or failed".to_owned(),
        };
        let more = match dropped.len() {
            1 => String::new(),
            many => format!(", and {} more", many - 1),
        };
        out.push(format!("stuck behind {}, {how}{more}", shown(&first.id)));
    }
    let waited: Vec<String> = reasons.iter().filter_map(waited_for).collect();
    if !waited.is_empty() {
        let more = waited.len().saturating_sub(named);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        out.push(format!("waiting for {}{more}", waited[..waited.len().min(named)].join(", ")));
    }
    for reason in reasons.iter().filter(|reason| reason.is_own()) {
        match reason.cause {
            Cause::Person if reason.about.is_some() => out.push(Cause::Hold.words(&about(reason))),
            Cause::Person | Cause::Hold | Cause::Timer | Cause::Parked => out.push(reason.words()),
            Cause::Blank => out.push("empty: it has no text".to_owned()),
            Cause::Reported | Cause::Oversize | Cause::Optional => out.push(reason.words()),
            Cause::Elsewhere | Cause::Running | Cause::Ready | Cause::Waiting => {}
            Cause::Dropped | Cause::Missing | Cause::Cycle | Cause::Files => {}
        }
    }
    out
}

fn waited_for(reason: &WaitReason) -> Option<String> {
    let id = shown(&reason.id);
    match reason.cause {
        Cause::Dropped => None,
        Cause::Missing => Some(format!("{id} (missing)")),
        Cause::Cycle => Some(format!("{id} (cycle)")),
        Cause::Files => Some(format!("{id} (same files)")),
        _ if reason.is_own() => None,
        _ => Some(id),
    }
}

fn about(reason: &WaitReason) -> String {
    reason.about.as_deref().map(|about| neutral(&clip(about, 120)).into_owned()).unwrap_or_default()
}

/// An id that is safe to print: dialects take ids of any text.
pub(crate) fn shown(id: &str) -> String {
    if id.is_empty() {
        return "(no id)".to_owned();
    }
    let safe = neutral(&clip(id, 60)).into_owned();
    // Text with leading blanks could be mistaken for a separate line.
    if safe.contains(' ') { format!("`{safe}`") } else { safe }
}

/// Characters before and after an id in a text. Text of users has none: [`neutral`] removes them.
pub(crate) const MARKS: [char; 2] = ['\u{1}', '\u{2}'];

fn marked(id: &str) -> String {
    format!("{}{}{}", MARKS[0], shown(id), MARKS[1])
}

fn unmarked(text: &str) -> String {
    text.replace(MARKS, "")
}

impl<T> CappedList<T> {
    /// The first few in words, and how many more there are.
    fn words(&self, word: impl Fn(&T) -> String) -> String {
        let mut out: Vec<String> = self.list.iter().take(WRITTEN).map(word).collect();
        if self.total > out.len() {
            out.push(format!("{} more", self.total - out.len()));
        }
        out.join(", ")
    }
}

impl Explanation {
    /// The standing of the todo in the JSON of `punch why`: its status as shown, where work in progress is `running`, every
    /// kind of waiting `blocked`, and everything that is closed `closed`.
    pub const fn standing(&self) -> &'static str {
        match self.shown {
            ShownStatus::Waiting => "blocked",
            ShownStatus::InProgress | ShownStatus::Reported => "running",
            ShownStatus::Ready | ShownStatus::Stuck | ShownStatus::Empty | ShownStatus::Stalled => self.shown.name(),
            ShownStatus::Held | ShownStatus::Parked => "held",
            ShownStatus::Completed | ShownStatus::Cancelled | ShownStatus::Failed | ShownStatus::Archived => "closed",
        }
    }

    /// A line or three.
    pub fn text(&self) -> String {
        unmarked(&self.with_marks())
    }

    /// The text with every id of a todo marked.
    pub(crate) fn with_marks(&self) -> String {
        let waits = match self.waits_for.total {
            0 => String::new(),
            1 => format!("waiting for {}", self.waits_for.words(WaitReason::with_mark)),
            many => format!("waiting for {many} todos: {}", self.waits_for.words(WaitReason::with_mark)),
        };
        // A todo that only waits says for what at once.
        let plainly = self.shown == ShownStatus::Waiting && self.hold.is_none() && !waits.is_empty();
        let mut out = match plainly {
            true => format!("{} is {waits}", marked(&self.id)),
            false if self.shown == ShownStatus::Failed => format!("{} has failed", marked(&self.id)),
            false => format!("{} is {}", marked(&self.id), self.shown.word()),
        };
        if let Some(own) = &self.own {
            out += &match own.cause {
                Cause::Blank => ": it has no text".to_owned(),
                Cause::Elsewhere => match own.until {
                    Some(until) => format!(", claimed by {} until {}", about(own), time::utc(until)),
                    None => format!(", claimed by {}", about(own)),
                },
                _ => String::new(),
            };
        }
        if let Some(left_out) = &self.left_out {
            let words = left_out.words();
            out += &format!("\n{words}; schedules and runs leave it out unless you add `--oversize`");
        }
        if let Some(hold) = &self.hold {
            let reason = neutral(&clip(&hold.reason, 200)).into_owned();
            match hold.kind {
                HoldKind::Parked if hold.is_parked_without_words() => {}
                HoldKind::Parked => out += &format!(": {reason}"),
                _ => out += &format!("\non hold: {}", neutral(&clip(&hold.described(), 200))),
            }
        }
        if !plainly && !waits.is_empty() {
            out += &format!("\nit is {waits}");
        }
        // Where waiting has only one step the beginnings are the same list again.
        if self.roots != self.waits_for && self.roots.total > 0 {
            out += &format!("\nultimately waiting for {}", self.roots.words(WaitReason::with_mark));
        }
        out
    }
}

impl StandstillRoot {
    /// What it is, and how many wait for it.
    fn with_marks(&self) -> String {
        match self.waiting {
            0 => self.reason.with_mark(),
            1 => format!("{}; 1 todo is waiting for it", self.reason.with_mark()),
            waiting => format!("{}; {waiting} todos are waiting for it", self.reason.with_mark()),
        }
    }
}

impl Standstill {
    /// A few lines.
    pub fn text(&self) -> String {
        unmarked(&self.with_marks())
    }

    /// The text with every id of a todo marked.
    pub(crate) fn with_marks(&self) -> String {
        let mut out = match (self.open, self.ready.total) {
            (0, _) => return self.nothing_open(),
            (1, 0) => "Nothing can be started; 1 todo is open.".to_owned(),
            (open, 0) => format!("Nothing can be started; {open} todos are open."),
            (1, _) => format!("1 todo is open and can be started: {}", self.ready.words(|id| marked(id))),
            (open, ready) => {
                format!("{ready} of {open} open todos can be started: {}", self.ready.words(|id| marked(id)))
            }
        };
        if self.roots.total > 0 {
            out += if self.ready.total > 0 { "\nOther open todos are blocked by:" } else { "\nBlocked by:" };
        }
        for root in &self.roots.list {
            out += &format!("\n  {}", root.with_marks());
        }
        if self.roots.total > self.roots.list.len() {
            out += &format!("\n  {} more", self.roots.total - self.roots.list.len());
        }
        out
    }
}

impl Standstill {
    fn nothing_open(&self) -> String {
        match self.failed.list.as_slice() {
            [] => "Nothing is open.".to_owned(),
            [first, ..] => {
                let ids = self.failed.words(|id| marked(id));
                format!(
                    "Nothing is open, but not everything is done: {ids} failed.\nnext: `punch reopen {}`",
                    shell(first)
                )
            }
        }
    }
}

impl Unblocks {
    /// What becomes ready, and how many wait.
    pub fn text(&self) -> String {
        unmarked(&self.with_marks())
    }

    /// The text with every id of a todo marked.
    pub(crate) fn with_marks(&self) -> String {
        let id = marked(&self.id);
        let waiting = match self.waiting {
            1 => "1 todo is waiting for it".to_owned(),
            waiting => format!("{waiting} todos are waiting for it"),
        };
        match (self.ready.total, self.waiting) {
            (0, 0) => format!("nothing is waiting for {id}"),
            (0, _) => format!("finishing {id} alone unblocks nothing; {waiting}"),
            (_, _) => format!("finishing {id} unblocks {}; {waiting}", self.ready.words(|id| marked(id))),
        }
    }
}

impl TodoConflict {
    /// Says which two todos conflict, and about what.
    pub fn text(&self) -> String {
        unmarked(&self.with_marks())
    }

    /// The text with every id of a todo marked.
    pub(crate) fn with_marks(&self) -> String {
        let (first, second) = (marked(&self.ids.0), marked(&self.ids.1));
        let name = |glob: &str| neutral(&clip(glob, 60)).into_owned();
        match &self.clash {
            Clash::Content => format!("{second} has the same text as {first}"),
            Clash::Files(a, b) if a == b => format!("{second} and {first} both touch {}", name(a)),
            Clash::Files(a, b) => format!("{second} touches {}, {first} touches {}", name(b), name(a)),
        }
    }
}

impl TodoConflicts {
    /// All of them on a line; empty without conflicts.
    pub fn text(&self) -> String {
        unmarked(&self.with_marks())
    }

    /// The text with every id of a todo marked.
    pub(crate) fn with_marks(&self) -> String {
        if self.pairs.total == 0 {
            return String::new();
        }
        let more = if self.cut { " or more" } else { "" };
        format!("{}{more} in conflict: {}", self.pairs.total, self.pairs.words(TodoConflict::with_marks))
    }
}

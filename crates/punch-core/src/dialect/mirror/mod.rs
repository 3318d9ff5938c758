//! Copies a host's own todo list into the plan as it changes. What the host has already done is never refused here:
//! texts are cut, unknown references are dropped, and the policy is the most lenient one. Every report (a whole list,
//! one new task, a change of one task) becomes the next whole list, so one algorithm is enough.

mod decisions;
mod matching;
mod merge;
mod step;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::hash::fnv1a;
use crate::{MissingDep, OnCycle, Policy, Status, Uid, text};

pub use decisions::decided_otherwise;
pub(crate) use matching::{ListLine, same_lines};
pub use step::{MirrorAuthority, MirrorStep, step};

/// Rows of one list; what a host says beyond them is left out.
pub const MAX_ROWS: usize = 2_000;

/// Characters of a host's own number for a row.
const MAX_KEY: usize = 100;

/// Uses of a tool that are remembered. What comes twice comes within moments, between few others.
const CALLS_KEPT: usize = 32;

/// A status in the words of hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
    /// Said to wait for something.
    Blocked,
}

impl HostStatus {
    /// Reads a host's word; an unknown one is pending.
    pub fn read(word: &str) -> Self {
        match word.to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
            "in_progress" | "inprogress" | "active" | "running" => Self::InProgress,
            "completed" | "complete" | "done" | "finished" => Self::Completed,
            "cancelled" | "canceled" | "abandoned" | "skipped" => Self::Cancelled,
            "blocked" => Self::Blocked,
            _ => Self::Pending,
        }
    }

    const fn status(self) -> Status {
        match self {
            Self::Pending | Self::Blocked => Status::Pending,
            Self::InProgress => Status::InProgress,
            Self::Completed => Status::Completed,
            Self::Cancelled => Status::Cancelled,
        }
    }
}

/// One row of a host's list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostRow {
    /// The todo it is a copy of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<Uid>,
    /// The host's own number for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is to be done.
    pub content: String,
    /// The present-tense form, where the host has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
    /// Free text, where the host has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The status that the host reports.
    pub status: HostStatus,
    /// The host did not say how far it is; of a known row that stays.
    #[serde(skip)]
    pub unsaid: bool,
    /// The model has not seen it since its conversation was shortened: a list without it says nothing about it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unshown: bool,
    /// 1 to 5, where the host has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Keys of rows it waits for, where the host has dependencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<Vec<String>>,
}

impl HostRow {
    const fn is_closed(&self) -> bool {
        matches!(self.status, HostStatus::Completed | HostStatus::Cancelled)
    }
}

/// A change of one row. What is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostRowChange {
    /// The host's own number for it.
    pub key: String,
    /// The new value of the field of [`HostRow`] with this name.
    pub content: Option<String>,
    /// The new value of the field of [`HostRow`] with this name.
    pub active_form: Option<String>,
    /// The new value of the field of [`HostRow`] with this name.
    pub description: Option<String>,
    /// The new value of the field of [`HostRow`] with this name.
    pub status: Option<HostStatus>,
    /// True if the task is gone from the host's list.
    pub deleted: bool,
    /// Further rows that wait for this one.
    pub blocks: Vec<String>,
    /// Further rows that this one waits for.
    pub blocked_by: Vec<String>,
}

/// The report of a host's tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostListUpdate {
    /// The whole list.
    List(Vec<HostRow>),
    /// Some rows by their keys; the others stay.
    Merge(Vec<HostRow>),
    /// One more row.
    Create(HostRow),
    /// One row changes.
    Change(HostRowChange),
}

/// The last list of a session's host, stored with the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostListCopy {
    /// The host's tool, or tools that share a list.
    pub family: String,
    /// The list, every row with its todo.
    pub rows: Vec<HostRow>,
    /// The newest calls of the tool, oldest first, as numbers computed from what distinguishes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<u32>,
}

/// How long texts may be; longer ones are cut.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Characters of a content or present-tense form.
    pub content: usize,
    /// Characters of a description.
    pub long: usize,
}

/// The most lenient policy: a copy is made of what has happened already.
pub fn policy(plan: Policy) -> Policy {
    Policy { on_cycle: OnCycle::Suspend, missing_dep: MissingDep::Dangle, ..super::list::policy(plan) }
}

impl HostListCopy {
    /// Remembers a use of the tool. False for one that was reported before: a host may have two ways to us.
    pub fn take(&mut self, call: &str) -> bool {
        // Half of the hash is enough to distinguish so few calls, and it is read and written with every report.
        let number = (fnv1a(call.bytes()) >> 32) as u32;
        if self.calls.contains(&number) {
            return false;
        }
        let surplus = (self.calls.len() + 1).saturating_sub(CALLS_KEPT);
        self.calls.drain(..surplus);
        self.calls.push(number);
        true
    }

    /// Returns the list after the report. Rows without content are not todos; a key refers to the first row that has
    /// it.
    pub fn next(&self, told: &HostListUpdate, room: Room) -> Vec<HostRow> {
        let mut rows = merge::next(&self.rows, told);
        let mut seen = HashSet::new();
        rows.retain_mut(|row| {
            row.content = one_line(&row.content, room.content);
            row.active_form =
                row.active_form.take().map(|form| one_line(&form, room.content)).filter(|f| !f.is_empty());
            row.description = row.description.take().map(|d| text::clip(d.trim(), room.long).into_owned());
            row.key = row.key.take().filter(|key| key.chars().count() <= MAX_KEY && seen.insert(key.clone()));
            !row.content.is_empty()
        });
        if let HostListUpdate::List(_) = told {
            let contents: HashSet<&str> = rows.iter().map(|row| row.content.as_str()).collect();
            let unshown = self.rows.iter().filter(|row| row.unshown && !contents.contains(row.content.as_str()));
            // A number that the model now gives to another row is not this one's.
            let free = |key: &String| !seen.contains(key);
            let unshown: Vec<HostRow> =
                unshown.map(|row| HostRow { key: row.key.clone().filter(free), ..row.clone() }).collect();
            rows.extend(unshown);
        }
        rows.truncate(MAX_ROWS);
        rows
    }
}

fn one_line(given: &str, room: usize) -> String {
    text::clip(text::neutral(given).trim(), room.max(1)).into_owned()
}

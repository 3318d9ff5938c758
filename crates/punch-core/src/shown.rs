//! How a todo is shown: the one table of statuses as users and models see them, with the word, the name in JSON and the
//! signs of each.

use serde::{Deserialize, Serialize};

use crate::Status;

/// The status of a todo as a reader sees it. The stored [`Status`] says what was recorded; this says what it means now,
/// given the dependencies, the holds, the files of other todos and the time. See [`crate::reason::PlanReader::shown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownStatus {
    /// Can be started now.
    Ready,
    /// Waits for other todos: dependencies that are not done, or work in progress on the same files.
    Waiting,
    /// Depends on a todo that was cancelled or failed, so waiting alone does not help.
    Stuck,
    /// On hold.
    Held,
    /// Set aside: not open work until the user releases it.
    Parked,
    /// Has no content, so there is nothing that could be done.
    Empty,
    /// Someone works on it.
    InProgress,
    /// In progress although something it depends on is not done.
    Stalled,
    /// Its worker says that it is done; it has not been verified yet.
    Reported,
    /// Done.
    Completed,
    /// Given up on purpose.
    Cancelled,
    /// Tried and not achieved.
    Failed,
    /// Removed from the plan.
    Archived,
}

/// One row of the table.
struct StatusLook {
    status: ShownStatus,
    word: &'static str,
    name: &'static str,
    sign: &'static str,
    ascii: &'static str,
    check_box: &'static str,
}

const fn look(
    status: ShownStatus,
    [word, name]: [&'static str; 2],
    [sign, ascii, check_box]: [&'static str; 3],
) -> StatusLook {
    StatusLook { status, word, name, sign, ascii, check_box }
}

/// Every status in the order of the variants: its word and its name, its sign in Unicode and in ASCII, and its check box. Check
/// boxes are coarser than signs: a model has the reasons in words beside them. `[/]` is not among the signs, because in Markdown it means in
/// progress.
const TABLE: [StatusLook; 13] = [
    look(ShownStatus::Ready, ["ready", "ready"], ["○", "[ ]", "[ ]"]),
    look(ShownStatus::Waiting, ["waiting", "waiting"], ["◌", "[.]", "[.]"]),
    look(ShownStatus::Stuck, ["stuck", "stuck"], ["⊘", "[#]", "[.]"]),
    look(ShownStatus::Held, ["on hold", "held"], ["‖", "[|]", "[.]"]),
    look(ShownStatus::Parked, ["parked", "parked"], ["◦", "[_]", "[.]"]),
    look(ShownStatus::Empty, ["empty", "empty"], ["?", "[?]", "[?]"]),
    look(ShownStatus::InProgress, ["in progress", "in_progress"], ["▶", "[>]", "[>]"]),
    look(ShownStatus::Stalled, ["stalled", "stalled"], ["▷", "[<]", "[>]"]),
    look(ShownStatus::Reported, ["reported", "reported"], ["◈", "[*]", "[>]"]),
    look(ShownStatus::Completed, ["completed", "completed"], ["✓", "[x]", "[x]"]),
    look(ShownStatus::Cancelled, ["cancelled", "cancelled"], ["–", "[-]", "[-]"]),
    look(ShownStatus::Failed, ["failed", "failed"], ["✗", "[!]", "[!]"]),
    look(ShownStatus::Archived, ["archived", "archived"], ["⌫", "[~]", "[~]"]),
];

impl ShownStatus {
    /// Every status, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|look| look.status)
    }

    const fn look(self) -> &'static StatusLook {
        &TABLE[self as usize]
    }

    /// The word that users read: "in progress".
    pub const fn word(self) -> &'static str {
        self.look().word
    }

    /// The name in JSON: `in_progress`.
    pub const fn name(self) -> &'static str {
        self.look().name
    }

    /// The sign for terminals that show Unicode, one column wide.
    pub const fn sign(self) -> &'static str {
        self.look().sign
    }

    /// The sign for all other terminals and for pipes, three columns wide.
    pub const fn ascii_sign(self) -> &'static str {
        self.look().ascii
    }

    /// The check box in texts for models and in Markdown.
    pub const fn check_box(self) -> &'static str {
        self.look().check_box
    }

    /// Returns true if the todo is open work: not closed, not parked, not archived and not without content.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Ready | Self::Waiting | Self::Stuck | Self::Held => true,
            Self::Parked | Self::Empty => false,
            Self::InProgress | Self::Stalled | Self::Reported => true,
            Self::Completed | Self::Cancelled | Self::Failed | Self::Archived => false,
        }
    }

    /// Returns true if someone has begun the todo and not finished it.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::InProgress | Self::Stalled | Self::Reported)
    }
}

/// Returns the status for lists that know only stored statuses.
impl From<Status> for ShownStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Ready,
            Status::InProgress => Self::InProgress,
            Status::Completed => Self::Completed,
            Status::Cancelled => Self::Cancelled,
            Status::Failed => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_status_in_order_and_one_column_for_each_sign() {
        for (place, look) in TABLE.iter().enumerate() {
            assert_eq!(look.status as usize, place);
            assert_eq!(crate::view::width::columns(look.sign), 1, "{}", look.name);
            assert_eq!(serde_json::to_value(look.status).ok(), Some(look.name.into()));
        }
        let columns: [fn(&StatusLook) -> &'static str; 4] =
            [|look| look.name, |look| look.word, |look| look.sign, |look| look.ascii];
        for column in columns {
            let texts: std::collections::BTreeSet<_> = TABLE.iter().map(column).collect();
            assert_eq!(texts.len(), TABLE.len(), "{texts:?}");
        }
    }
}

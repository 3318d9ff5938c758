//! The types a setting can have: how each is read from what a source wrote, described and written back.

use std::time::Duration;

use punch_core::{
    CancelledDep, DepOnRunning, InProgressLimit, MissingDep, OnCycle, OnRemove, StartGate, VerifyMode, text,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{duration, scalar::WrittenValue};

/// Lowest and highest value: a number, a length in characters, or milliseconds.
pub(super) type Range = (i64, i64);

/// A type of the table.
pub(super) trait Setting: Default {
    /// The value, if it was written as it should be.
    fn read(given: &WrittenValue, range: Range) -> Option<Self>;
    /// What it should be, to follow the word "expected".
    fn expected(range: Range) -> String;
    /// How a file would have it; `None` if it is not set.
    fn toml(&self) -> Option<String>;
}

punch_core::words! {
    /// The choices for when to use colors.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Color {
        /// On a terminal.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

punch_core::words! {
    /// How eagerly work is handed to subagents.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Subagents {
        /// Assignments are refused.
        Off = "off",
        /// Possible, not asked for.
        #[default]
        Conservative = "conservative",
        /// Ready todos are to be handed out in parallel.
        Aggressive = "aggressive",
    }
}

punch_core::words! {
    /// The plan on which the conversations of agents work.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Plans {
        /// All of them on the plan of the project.
        #[default]
        Shared = "shared",
        /// Each of them on a plan of its own.
        Session = "session",
    }
}

punch_core::words! {
    /// At the end of which batches of work a checkpoint is made.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Batches {
        /// None.
        Off = "off",
        /// Those that were assigned: `next --budget`, the view `schedule`.
        #[default]
        Given = "given",
        /// Parallel groups too.
        Groups = "groups",
    }
}

punch_core::words! {
    /// What an agent of a run gets that asks for permission.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PermissionDefault {
        /// Asks the user at the terminal; without one the todo is held.
        #[default]
        Ask = "ask",
        /// What it asks for.
        Allow = "allow",
        /// A refusal.
        Deny = "deny",
    }
}

punch_core::words! {
    /// Where the work of a fleet is checked.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum VerifyPlace {
        /// On the machine of the worker, before it is handed in.
        #[default]
        Worker = "worker",
        /// Only where it is merged.
        Coordinator = "coordinator",
    }
}

impl Setting for bool {
    fn read(given: &WrittenValue, _: Range) -> Option<Self> {
        match given {
            WrittenValue::Bool(truth) => Some(*truth),
            WrittenValue::Loose(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "on" | "yes" => Some(true),
                "false" | "0" | "off" | "no" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn expected(_: Range) -> String {
        "`true` or `false`".into()
    }

    fn toml(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// A name that may be missing. An empty text means the same as none.
impl Setting for Option<String> {
    fn read(given: &WrittenValue, (low, high): Range) -> Option<Self> {
        let given = given.text()?;
        if given.is_empty() {
            return Some(None);
        }
        let length = i64::try_from(given.chars().count()).ok()?;
        let good = (low..=high).contains(&length) && text::neutral(given) == given && given.trim() == given;
        good.then(|| Some(given.to_owned()))
    }

    fn expected((_, high): Range) -> String {
        format!("text of at most {high} visible characters")
    }

    fn toml(&self) -> Option<String> {
        self.as_deref().map(quoted)
    }
}

impl Setting for Duration {
    fn read(given: &WrittenValue, (low, high): Range) -> Option<Self> {
        let duration = duration::parse(given.text()?)?;
        let milliseconds = i64::try_from(duration.as_millis()).ok()?;
        (low..=high).contains(&milliseconds).then_some(duration)
    }

    fn expected((low, high): Range) -> String {
        let print = |milliseconds: i64| duration::print(Self::from_millis(milliseconds.unsigned_abs()));
        format!("a duration such as \"15m\" or \"1h30m\", from {} to {}", print(low), print(high))
    }

    fn toml(&self) -> Option<String> {
        Some(quoted(&duration::print(*self)))
    }
}

impl Setting for f64 {
    fn read(given: &WrittenValue, (low, high): Range) -> Option<Self> {
        let number = match given {
            WrittenValue::Float(number) => *number,
            #[expect(clippy::cast_precision_loss, reason = "the range is small")]
            WrittenValue::Integer(number) => *number as Self,
            WrittenValue::Loose(text) => text.parse().ok()?,
            _ => return None,
        };
        #[expect(clippy::cast_precision_loss, reason = "the range is small")]
        (low as Self..=high as Self).contains(&number).then_some(number)
    }

    fn expected((low, high): Range) -> String {
        format!("a number from {low} to {high}")
    }

    fn toml(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Setting for $type {
            fn read(given: &WrittenValue, (low, high): Range) -> Option<Self> {
                let number = match given {
                    WrittenValue::Integer(number) => *number,
                    WrittenValue::Loose(text) => text.parse().ok()?,
                    _ => return None,
                };
                (low..=high).contains(&number).then(|| Self::try_from(number).ok()).flatten()
            }

            fn expected((low, high): Range) -> String {
                format!("a whole number from {low} to {high}")
            }

            fn toml(&self) -> Option<String> {
                Some(self.to_string())
            }
        }
    )*};
}
integers!(i64, u32, u64, usize);

macro_rules! choices {
    ($($type:ty),*) => {$(
        impl Setting for $type {
            fn read(given: &WrittenValue, _: Range) -> Option<Self> {
                chosen(given.text()?)
            }

            fn expected(_: Range) -> String {
                one_of(&Self::ALL[..])
            }

            fn toml(&self) -> Option<String> {
                Some(quoted(&name(self)))
            }
        }
    )*};
}
choices!(Batches, Color, PermissionDefault, Plans, Subagents, VerifyPlace);
choices!(StartGate, InProgressLimit, OnCycle, MissingDep, CancelledDep, OnRemove, DepOnRunning, VerifyMode);

/// The names of the core's policies are those of its wire format, so they are taken from there.
fn chosen<T: DeserializeOwned>(given: &str) -> Option<T> {
    serde_json::from_value(Value::String(given.to_owned())).ok()
}

fn name<T: Serialize>(choice: &T) -> String {
    serde_json::to_value(choice).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

fn one_of<T: Serialize>(all: &[T]) -> String {
    let names: Vec<String> = all.iter().map(|choice| quoted(&name(choice))).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A text as a JSON string, which TOML reads too.
#[cfg(not(feature = "files"))]
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(feature = "files")]
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

//! The stored fields of a todo, and the typed patch of each: one table, so that diffing, folding and reverting
//! can never disagree about which fields exist.

use std::collections::BTreeSet;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::{Complexity, Dep, Evidence, Extra, Flags, Hold, HoldKind, Label, Note, PhaseUid, Status, Verify};

/// A scalar before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swap<T> {
    /// The value the event found.
    pub before: T,
    /// The value it left.
    pub after: T,
}

/// A list edit at one place. Lists are patched this way so that the n-th note does not store the n - 1 before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSplice<T> {
    /// Where.
    pub at: usize,
    /// What stood there.
    pub removed: Vec<T>,
    /// What stands there now.
    pub added: Vec<T>,
}

/// A set before and after, as what went and what came: labels that others changed meanwhile do not matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetChange<T: Ord> {
    /// What went.
    pub removed: BTreeSet<T>,
    /// What came.
    pub added: BTreeSet<T>,
}

/// How one field of type `Self` is compared and patched. Public only in name: the module is private.
pub trait Patchable: Sized {
    /// The patch.
    type Delta;
    /// What leads from `before` to `after`, if anything.
    fn delta(before: &Self, after: &Self) -> Option<Self::Delta>;
    /// Folds the patch.
    fn forward(&mut self, delta: &Self::Delta);
    /// Takes the delta back. False, and unchanged, if the field no longer has the value the delta left.
    fn backward(&mut self, delta: &Self::Delta) -> bool;
}

/// Marks types that are patched as a whole.
pub trait WholeValue: Clone + PartialEq {}
impl<T: WholeValue> Patchable for T {
    type Delta = Swap<T>;
    fn delta(before: &Self, after: &Self) -> Option<Swap<T>> {
        (before != after).then(|| Swap { before: before.clone(), after: after.clone() })
    }
    fn forward(&mut self, delta: &Swap<T>) {
        *self = delta.after.clone();
    }
    fn backward(&mut self, delta: &Swap<T>) -> bool {
        let untouched = *self == delta.after;
        if untouched {
            *self = delta.before.clone();
        }
        untouched
    }
}

impl<T: Clone + PartialEq> Patchable for Vec<T> {
    type Delta = ListSplice<T>;
    fn delta(before: &Self, after: &Self) -> Option<ListSplice<T>> {
        if before == after {
            return None;
        }
        let at = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let tail = before[at..].iter().rev().zip(after[at..].iter().rev()).take_while(|(a, b)| a == b).count();
        Some(ListSplice {
            at,
            removed: before[at..before.len() - tail].to_vec(),
            added: after[at..after.len() - tail].to_vec(),
        })
    }
    fn forward(&mut self, delta: &ListSplice<T>) {
        let at = delta.at.min(self.len());
        let end = (at + delta.removed.len()).min(self.len());
        self.splice(at..end, delta.added.iter().cloned());
    }
    fn backward(&mut self, delta: &ListSplice<T>) -> bool {
        let end = delta.at + delta.added.len();
        if self.get(delta.at..end) != Some(&delta.added[..]) {
            return false;
        }
        self.splice(delta.at..end, delta.removed.iter().cloned());
        true
    }
}

impl<T: Clone + Ord> Patchable for BTreeSet<T> {
    type Delta = SetChange<T>;
    fn delta(before: &Self, after: &Self) -> Option<SetChange<T>> {
        (before != after).then(|| SetChange {
            removed: before.difference(after).cloned().collect(),
            added: after.difference(before).cloned().collect(),
        })
    }
    fn forward(&mut self, delta: &SetChange<T>) {
        self.retain(|item| !delta.removed.contains(item));
        self.extend(delta.added.iter().cloned());
    }
    fn backward(&mut self, delta: &SetChange<T>) -> bool {
        if !self.is_superset(&delta.added) || !self.is_disjoint(&delta.removed) {
            return false;
        }
        self.retain(|item| !delta.added.contains(item));
        self.extend(delta.removed.iter().cloned());
        true
    }
}

impl WholeValue for String {}
impl WholeValue for bool {}
impl WholeValue for u8 {}
impl WholeValue for u32 {}
impl WholeValue for u64 {}
impl WholeValue for i64 {}
impl WholeValue for Status {}
impl WholeValue for Flags {}
impl<T: Clone + PartialEq> WholeValue for Option<T> {}

macro_rules! fields {
    ($($(#[doc = $doc:literal])* $Variant:ident $name:ident : $ty:ty = $default:expr, $undo:ident;)*) => {
        /// Every stored, evented field of a todo. Its JSON leaves out what is at its default, so that a stored todo
        /// is small and one that was stored before a field existed still reads.
        #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
        #[serde(default)]
        pub struct Fields { $($(#[doc = $doc])* pub $name: $ty,)* }

        impl Default for Fields {
            fn default() -> Self { Self { $($name: $default,)* } }
        }

        impl Serialize for Fields {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                FieldsWithout { fields: self, left_out: "" }.serialize(serializer)
            }
        }

        impl Serialize for FieldsWithout<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let (fields, blank) = (self.fields, Fields::default());
                let mut map = serializer.serialize_map(None)?;
                $(if fields.$name != blank.$name && stringify!($name) != self.left_out {
                    map.serialize_entry(stringify!($name), &fields.$name)?;
                })*
                map.end()
            }
        }

        /// The patch of one field.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum FieldChange { $($(#[doc = $doc])* $Variant(<$ty as Patchable>::Delta),)* }

        impl FieldChange {
            /// The name of the stored field.
            pub const fn field(&self) -> &'static str {
                match self { $(Self::$Variant(_) => stringify!($name),)* }
            }
            /// What users call the field.
            pub fn words(&self) -> &'static str {
                in_words(self.field())
            }
            /// Returns false for what undo never changes: fences, owners, evidence and usage.
            pub const fn undoable(&self) -> bool {
                match self { $(Self::$Variant(_) => fields!(@undo $undo),)* }
            }
        }

        impl Fields {
            /// The names of all stored fields, in the order of the table.
            pub const NAMES: &[&'static str] = &[$(stringify!($name)),*];

            /// The patches that lead from `self` to `after`.
            pub fn changes(&self, after: &Self) -> Vec<FieldChange> {
                let mut out = Vec::new();
                $(if let Some(delta) = Patchable::delta(&self.$name, &after.$name) { out.push(FieldChange::$Variant(delta)); })*
                out
            }
            /// Folds one patch.
            pub fn forward(&mut self, change: &FieldChange) {
                match change { $(FieldChange::$Variant(delta) => self.$name.forward(delta),)* }
            }
            /// Takes one patch back; false, and unchanged, if the field was changed since.
            pub fn backward(&mut self, change: &FieldChange) -> bool {
                match change { $(FieldChange::$Variant(delta) => self.$name.backward(delta),)* }
            }
        }
    };
    (@undo undo) => { true };
    (@undo keep) => { false };
}

/// What users call a stored field. Names that are words already stand for themselves.
pub(crate) fn in_words(field: &'static str) -> &'static str {
    match field {
        "content" => "text",
        "verificationCriteria" => "criteria",
        "active_form" => "active form",
        "depends_on" => "dependencies",
        "complexity" => "size",
        "estimated_tokens" => "token estimate",
        "actual_tokens" => "token usage",
        "verify" => "check command",
        "started_at" => "start time",
        "finished_at" => "end time",
        "created_at" => "creation time",
        "last_error" => "error",
        "removed" => "presence in the plan",
        "flags" => "marks",
        "extra" => "other fields",
        other => other,
    }
}

/// All fields but one, for JSON.
struct FieldsWithout<'a> {
    fields: &'a Fields,
    left_out: &'static str,
}

impl Fields {
    /// The fields for a store that keeps notes elsewhere.
    pub fn without_notes(&self) -> impl Serialize {
        FieldsWithout { fields: self, left_out: "notes" }
    }

    /// Returns true if it is set aside: pending, with a hold of the kind `parked`. It is not open work, and nothing
    /// starts it or waits for its end.
    pub fn is_parked(&self) -> bool {
        self.status == Status::Pending && self.hold.as_ref().is_some_and(|hold| hold.kind == HoldKind::Parked)
    }

    /// Returns true if it would be open work but has no content (rule 44).
    pub fn is_blank(&self) -> bool {
        self.status.is_open() && !self.is_parked() && self.content.trim().is_empty()
    }

    /// Returns true if it counts as open work: pending or in progress, with content, and not set aside.
    pub fn is_open_work(&self) -> bool {
        self.status.is_open() && !self.is_parked() && !self.content.trim().is_empty()
    }
}

fields! {
    /// What people and agents call it; unique among the live todos of a plan.
    Id id: String = String::new(), undo;
    /// What is to be done.
    Content content: String = String::new(), undo;
    /// The content in the present tense, for display while it runs.
    ActiveForm active_form: Option<String> = None, undo;
    /// Free text.
    Description description: Option<String> = None, undo;
    /// Stored status; see [`crate::Todo::status_at`] for what readers see.
    Status status: Status = Status::Pending, undo;
    /// Why it waits for something that is not a todo.
    Hold hold: Option<Hold> = None, undo;
    /// In the order given.
    DependsOn depends_on: Vec<Dep> = Vec::new(), undo;
    /// The phase it belongs to.
    Phase phase: Option<PhaseUid> = None, undo;
    /// List order.
    Position position: i64 = 0, undo;
    /// 1 (first) to 5 (if time allows).
    Priority priority: u8 = 3, undo;
    /// Short words that group todos across phases.
    Labels labels: BTreeSet<Label> = BTreeSet::new(), undo;
    /// Size class.
    Complexity complexity: Option<Complexity> = None, undo;
    /// Explicit estimate.
    EstimatedTokens estimated_tokens: Option<u64> = None, undo;
    /// What its attempts cost so far.
    ActualTokens actual_tokens: u64 = 0, keep;
    /// How completion is judged, in words.
    Criteria criteria: Option<String> = None, undo;
    /// How completion is proved, as a command.
    Verify verify: Option<Verify> = None, undo;
    /// What speaks for or against its completion: what workers said, and what its checks found.
    Evidence evidence: Vec<Evidence> = Vec::new(), keep;
    /// Globs the work will touch.
    Files files: Vec<String> = Vec::new(), undo;
    /// Append-only remarks.
    Notes notes: Vec<Note> = Vec::new(), undo;
    /// Who works on it, or did last.
    Owner owner: Option<String> = None, keep;
    /// Grows with every claim; a late answer with an older one is refused.
    Fence fence: u64 = 0, keep;
    /// Failed attempts.
    Attempts attempts: u32 = 0, undo;
    /// Why the last attempt failed.
    LastError last_error: Option<String> = None, undo;
    /// When it was added.
    CreatedAt created_at: i64 = 0, undo;
    /// When it was last started.
    StartedAt started_at: Option<i64> = None, undo;
    /// When it was completed, cancelled or failed.
    FinishedAt finished_at: Option<i64> = None, undo;
    /// Hidden from default views since.
    Hidden hidden: Option<i64> = None, undo;
    /// Archived since; never destroyed.
    Removed removed: Option<i64> = None, undo;
    /// What an import brought that nothing here has a name for, by format; never read by a rule.
    Extra extra: Option<Extra> = None, undo;
    /// Stored marks.
    Flags flags: Flags = Flags::default(), undo;
}

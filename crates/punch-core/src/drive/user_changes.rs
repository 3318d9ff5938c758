//! Puts the user's changes into one sentence for a working agent, in at most [`USER_CHANGES_TOKENS`] tokens, whatever
//! the todos contain. Changes that do not fit wait for the next sentence: a note that is cut after its first word does
//! not help an agent. If there are too many for that, the text asks the agent to read the plan again.

use std::cell::Cell;

use super::{estimate, most_tokens, quote};
use crate::{Event, EventKind, FieldChange, Hold, Patch, Status, Todo, Uid};

/// Tokens that the sentence may cost.
pub const USER_CHANGES_TOKENS: usize = 60;

const HEAD: &str = "The user changed the plan: ";

/// Changes that later sentences name. With more of them the agent reads the plan again.
const LATER: usize = 20;

/// Bytes of each quoted text. The first length with which everything fits is used.
const ROOMS: [usize; 4] = [120, 80, 56, 40];

/// Bytes of each quoted text where not even one change fits otherwise.
const TIGHT: [usize; 2] = [24, 12];

/// Bytes of an id: one that is cut cannot be used.
const ID: usize = 32;

/// What the user did to one todo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserChange {
    /// The todo.
    pub uid: Uid,
    /// How its agent calls it; `None` if the agent knows todos by their content only.
    id: Option<String>,
    /// The content that the agent knows.
    content: String,
    facts: Vec<ChangeFact>,
}

/// One thing that is different, most important first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChangeFact {
    Added,
    Removed,
    Held(String),
    Note(String),
    Content(String),
    Released,
    Status(&'static str),
    Priority(u8),
    Dependencies,
    Fields,
    Place,
}

impl UserChange {
    /// Sums up the user's events on a todo, in their order; `None` if nothing of it matters any more. `id` is how the agent
    /// calls the todo, if it knows ids.
    pub fn of(todo: &Todo, events: &[&Event], id: Option<String>, now: i64) -> Option<Self> {
        let changes: Vec<&FieldChange> = events.iter().flat_map(|event| changes_of(event)).collect();
        let comes = events.iter().any(|event| event.kind == EventKind::Added)
            || changes.iter().any(|change| matches!(change, FieldChange::Removed(swap) if swap.after.is_none()));
        let goes = changes.iter().any(|change| matches!(change, FieldChange::Removed(swap) if swap.after.is_some()));
        let mut facts: Vec<ChangeFact> = match (todo.is_live(), comes, goes) {
            (true, true, _) => vec![ChangeFact::Added],
            (true, false, _) => Vec::new(),
            // What the agent never saw needs no word, nor what it removed itself.
            (false, true, _) | (false, false, false) => return None,
            (false, false, true) => vec![ChangeFact::Removed],
        };
        if todo.is_live() {
            facts.extend(changes.iter().filter_map(|change| fact(change, todo, comes, now)));
        }
        facts.sort();
        // Of several notes the last one is enough; the todo has all of them.
        facts.dedup_by(|later, earlier| std::mem::discriminant(later) == std::mem::discriminant(earlier));
        let known = changes.iter().find_map(|change| match change {
            FieldChange::Content(swap) if !comes => Some(swap.before.clone()),
            _ => None,
        });
        let content = known.unwrap_or_else(|| todo.content.clone());
        (!facts.is_empty()).then_some(Self { uid: todo.uid, id, content, facts })
    }

    /// How much the agent has to know it, least first: what must not be worked on comes before what is to be done
    /// otherwise, and that before new work.
    fn rank(&self) -> u8 {
        let rank = |fact: &ChangeFact| match fact {
            ChangeFact::Removed => 0,
            ChangeFact::Status(_) => 1,
            ChangeFact::Held(_) => 2,
            ChangeFact::Content(_) => 3,
            ChangeFact::Note(_) => 4,
            ChangeFact::Added => 5,
            ChangeFact::Released => 6,
            ChangeFact::Dependencies | ChangeFact::Fields => 7,
            ChangeFact::Priority(_) | ChangeFact::Place => 8,
        };
        match self.facts.contains(&ChangeFact::Added) {
            true => rank(&ChangeFact::Added),
            false => self.facts.iter().map(rank).min().unwrap_or(u8::MAX),
        }
    }

    /// In a few words. `quoted` writes a text, at least as many bytes of it as the number says.
    fn words(&self, quoted: &dyn Fn(&str, usize) -> String) -> String {
        let text = |text: &str| format!("\"{}\"", quoted(text, 0));
        let name = self.id.as_deref().map_or_else(|| text(&self.content), |id| quoted(id, ID));
        let fact = |fact: &ChangeFact| match fact {
            ChangeFact::Added if self.id.is_some() => format!("added: {}", text(&self.content)),
            ChangeFact::Added => "added".to_owned(),
            ChangeFact::Removed => "removed".to_owned(),
            ChangeFact::Held(hold) => quoted(hold, 0),
            ChangeFact::Note(note) => format!("note: {}", text(note)),
            ChangeFact::Content(content) => format!("now {}", text(content)),
            ChangeFact::Released => "no longer on hold".to_owned(),
            ChangeFact::Status(word) => (*word).to_owned(),
            ChangeFact::Priority(priority) => format!("priority {priority}"),
            ChangeFact::Dependencies => "dependencies changed".to_owned(),
            ChangeFact::Fields => "edited".to_owned(),
            ChangeFact::Place => "moved".to_owned(),
        };
        format!("{name} {}", self.facts.iter().map(fact).collect::<Vec<_>>().join(", "))
    }
}

/// A sentence about what the user changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserChangesText {
    /// The sentence.
    pub text: String,
    /// How many of the changes it names.
    pub named: usize,
    /// How many of the others later sentences have to name. None if the agent reads the plan instead.
    pub later: usize,
}

/// One sentence about the most important changes. The changes come back in that order.
pub fn user_changes(changes: &mut [UserChange]) -> UserChangesText {
    changes.sort_by_key(UserChange::rank);
    let sentence = |room: usize, named: usize| sentence(&changes[..named], changes.len() - named, room);
    let [.., readable] = ROOMS;
    let most = changes.len().min(USER_CHANGES_TOKENS);
    let named = (1..=most).rev().find(|named| sentence(readable, *named).is_some()).unwrap_or(1);
    // What is left of the room goes to the texts.
    let text = ROOMS.iter().chain(&TIGHT).find_map(|room| sentence(*room, named));
    match text {
        Some(text) => {
            let left = changes.len() - named;
            UserChangesText { text, named, later: if left > LATER { 0 } else { left } }
        }
        None => {
            UserChangesText { text: format!("{HEAD}{} changes; read it again.", changes.len()), named: 0, later: 0 }
        }
    }
}

/// The sentence with at most `room` bytes of each quoted text, if it is short enough.
fn sentence(named: &[UserChange], left: usize, room: usize) -> Option<String> {
    // Our own words cost what is estimated; others' may be made to cost more.
    let surplus = Cell::new(0);
    let quoted = |text: &str, least: usize| {
        let text = quote(text, room.max(least));
        surplus.set(surplus.get() + most_tokens(&text).saturating_sub(estimate(&text)));
        text
    };
    let mut parts: Vec<String> = named.iter().map(|change| change.words(&quoted)).collect();
    match left {
        0 => {}
        1..=LATER => parts.push(format!("{left} more follow")),
        _ => parts.push(format!("and {left} more: read the plan again")),
    }
    let text = format!("{HEAD}{}.", parts.join("; "));
    (estimate(&text) + surplus.get() <= USER_CHANGES_TOKENS).then_some(text)
}

fn changes_of(event: &Event) -> &[FieldChange] {
    match &event.patch {
        Patch::Todo(_, changes) => changes,
        Patch::Phases(_) | Patch::Policy(_) => &[],
    }
}

/// What a change means for the todo as it is now; nothing for what follows from others and for what only counts.
fn fact(change: &FieldChange, todo: &Todo, is_new: bool, now: i64) -> Option<ChangeFact> {
    match change {
        FieldChange::Hold(_) => match todo.hold_at(now) {
            Some(hold) => Some(ChangeFact::Held(Hold::words(hold))),
            None => (!is_new).then_some(ChangeFact::Released),
        },
        FieldChange::Notes(splice) => splice.added.last().map(|note| ChangeFact::Note(note.text.clone())),
        FieldChange::Priority(_) => (!is_new || todo.priority != 3).then_some(ChangeFact::Priority(todo.priority)),
        FieldChange::Status(_) if is_new && todo.status_at(now) == Status::Pending => None,
        FieldChange::Status(_) => Some(ChangeFact::Status(todo.status_at(now).name())),
        // A new todo is shown with its content.
        _ if is_new => None,
        FieldChange::Content(_) => Some(ChangeFact::Content(todo.content.clone())),
        FieldChange::DependsOn(_) => Some(ChangeFact::Dependencies),
        FieldChange::Position(_) | FieldChange::Phase(_) => Some(ChangeFact::Place),
        FieldChange::Id(_)
        | FieldChange::ActiveForm(_)
        | FieldChange::Description(_)
        | FieldChange::Labels(_)
        | FieldChange::Complexity(_)
        | FieldChange::EstimatedTokens(_)
        | FieldChange::Criteria(_)
        | FieldChange::Verify(_)
        | FieldChange::Files(_) => Some(ChangeFact::Fields),
        FieldChange::ActualTokens(_)
        | FieldChange::Evidence(_)
        | FieldChange::Owner(_)
        | FieldChange::Fence(_)
        | FieldChange::Attempts(_)
        | FieldChange::LastError(_)
        | FieldChange::CreatedAt(_)
        | FieldChange::StartedAt(_)
        | FieldChange::FinishedAt(_)
        | FieldChange::Hidden(_)
        | FieldChange::Removed(_)
        | FieldChange::Extra(_)
        | FieldChange::Flags(_) => None,
    }
}

//! The ids of todos as one conversation writes them. Ids in a list dialect or a replacement are names inside that
//! conversation, so two conversations that both number their todos from 1 keep two lists. A name is stored only if it
//! differs from the todo's id.

use std::collections::{BTreeMap, HashMap, HashSet};

use punch_core::dialect::list::first_free_number;
use punch_core::{Plan, Status, Todo, Uid};

use crate::SessionState;

/// Stored pairs; the oldest names of a conversation that has more are forgotten.
const MAX_PAIRS: usize = 10_000;

/// The prefix of an id of a todo outside the list, where a plain id would be a name inside the list.
pub(crate) const OUTSIDE: &str = "plan:";

/// The names of one conversation, in both directions.
pub(crate) struct SessionNames {
    ids: BTreeMap<String, String>,
    labels: HashMap<String, String>,
    /// Todos that the conversation wrote, was shown or was assigned.
    reached: HashSet<Uid>,
}

/// The parts of a row that say which todo it refers to.
#[derive(Clone, Copy)]
pub(crate) struct RowMention<'a> {
    pub name: &'a str,
    /// Its text, unless it gives none.
    pub content: Option<&'a str>,
    pub status: Option<Status>,
}

impl SessionNames {
    pub fn of(state: &SessionState) -> Self {
        let labels = state.names.iter().map(|(name, id)| (id.clone(), name.clone())).collect();
        let reached = state.scope.iter().chain(&state.beyond).chain(&state.beside).copied().collect();
        Self { ids: state.names.clone(), labels, reached }
    }

    /// Every todo is called by its id.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the id of the todo that a name refers to.
    pub fn id<'a>(&'a self, name: &'a str) -> &'a str {
        self.ids.get(name).map_or_else(|| name.strip_prefix(OUTSIDE).unwrap_or(name), String::as_str)
    }

    /// Returns true if this conversation calls the todo with an id by that id.
    pub fn is_own_label(&self, id: &str) -> bool {
        !self.labels.contains_key(id) && !self.ids.contains_key(id) && !id.starts_with(OUTSIDE)
    }

    /// How this conversation calls the todo with an id.
    pub fn label(&self, id: &str) -> String {
        match self.labels.get(id) {
            Some(name) => name.clone(),
            None if self.ids.contains_key(id) || id.starts_with(OUTSIDE) => format!("{OUTSIDE}{id}"),
            None => id.to_owned(),
        }
    }

    /// How an answer calls it that shows the list of the conversation and todos of others together.
    pub fn label_beside(&self, id: &str, is_own: bool) -> String {
        if is_own || self.labels.contains_key(id) { self.label(id) } else { format!("{OUTSIDE}{id}") }
    }

    /// Returns the todo with the id that this conversation uses for it.
    pub fn labelled(&self, mut todo: Todo) -> Todo {
        todo.fields.id = self.label(&todo.id);
        todo
    }

    /// From now on `name` means the todo with this id.
    pub fn pair(&mut self, name: &str, id: &str) {
        if let Some(old) = self.ids.remove(name) {
            self.labels.remove(&old);
        }
        if (name != id || name.starts_with(OUTSIDE)) && self.ids.len() < MAX_PAIRS {
            if let Some(old) = self.labels.insert(id.to_owned(), name.to_owned()) {
                self.ids.remove(&old);
            }
            self.ids.insert(name.to_owned(), id.to_owned());
        }
    }

    /// The todo that a row means; `None` asks for a new one.
    ///
    /// An id of a todo that the conversation was never shown means that todo only where the row brings no other text: a
    /// row without any could not make a todo, and a row with the same text continues what it names. Whoever brings a
    /// text of its own under an id that is taken by chance means something new.
    pub fn meant<'p>(&self, part: &'p Plan, row: RowMention<'_>, is_busy: &dyn Fn(&Todo) -> bool) -> Option<&'p Todo> {
        let id = self.id(row.name);
        let todo = part.by_id(id)?;
        if id != row.name || self.ids.contains_key(id) {
            return Some(todo);
        }
        let Some(content) = row.content else { return Some(todo) };
        if self.labels.contains_key(id) {
            return None;
        }
        let same = row.status.is_none_or(|status| status == todo.status) || todo.status.is_open();
        let continues = content == todo.content && same && !is_busy(todo);
        (continues || self.reached.contains(&todo.uid)).then_some(todo)
    }

    /// Ids for new todos that come with these names: the name itself where it is free, else one that is made.
    pub fn new_ids<'a>(&self, part: &Plan, names: impl Iterator<Item = &'a str> + Clone) -> HashMap<&'a str, String> {
        let mut next = first_free_number(part, names.clone());
        let mut make = || {
            next += 1;
            format!("T-{}", next - 1)
        };
        names.map(|name| (name, if part.by_id(name).is_some() { make() } else { name.to_owned() })).collect()
    }

    /// Forgets names of todos that are not in `ids`.
    pub fn retain(&mut self, ids: &HashSet<&str>) {
        self.ids.retain(|_, id| ids.contains(id.as_str()));
        self.labels.retain(|id, _| ids.contains(id.as_str()));
    }

    /// Stores the names with the session.
    pub fn store(self, state: &mut SessionState) {
        state.names = self.ids;
    }
}

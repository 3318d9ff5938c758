//! The filter of lists: words are looked for in ids and texts, `is:` asks for a status.

use punch_core::Todo;
use punch_core::reason::Reader;

/// A filter as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    text: String,
    words: Vec<String>,
}

impl Filter {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.trim().to_owned(), words: text.split_whitespace().map(str::to_lowercase).collect() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn matches<'a>(&self, reader: Reader<'a>, todo: &'a Todo, _seen: u64) -> bool {
        self.words.iter().all(|word| match word.strip_prefix("is:") {
            Some(status) => reader.shown(todo).name() == status,
            None => todo.id.to_lowercase().contains(word) || todo.content.to_lowercase().contains(word),
        })
    }
}

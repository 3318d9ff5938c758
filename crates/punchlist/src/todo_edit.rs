//! The fields of a todo that a host sets: of a new one, or of one that the plan has.

use punch_core::{Add, Complexity, Edit, Keep, Label, LabelEdit, PhaseRef, Ref, Verify};

use crate::Error;

/// New values for fields of a todo. What is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoEdit {
    edit: Edit,
    /// Checked when the edit is applied.
    labels: Option<Vec<String>>,
}

impl TodoEdit {
    /// Changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is to be done.
    #[must_use]
    pub fn content(mut self, text: impl Into<String>) -> Self {
        self.edit.content = Keep::Set(text.into());
        self
    }

    /// The words that a UI shows while it is in progress. An empty text removes them.
    #[must_use]
    pub fn active_form(mut self, text: impl Into<String>) -> Self {
        self.edit.active_form = Keep::Set(given(text));
        self
    }

    /// What else is worth knowing about it. An empty text removes it.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.edit.description = Keep::Set(given(text));
        self
    }

    /// The todos that must be completed first, in place of those before.
    #[must_use]
    pub fn after<D: Into<String>>(mut self, ids: impl IntoIterator<Item = D>) -> Self {
        add_to(&mut self.edit.depends_on, ids.into_iter().map(|id| Ref::Id(id.into())));
        self
    }

    /// The phase it belongs to, made if there is none of that name. An empty name takes it out of its phase.
    #[must_use]
    pub fn phase(mut self, name: impl Into<String>) -> Self {
        self.edit.phase = Keep::Set(given(name).map(PhaseRef::Name));
        self
    }

    /// Its priority: 1 comes first, 3 is usual, 5 is optional work.
    #[must_use]
    pub fn priority(mut self, priority: u8) -> Self {
        self.edit.priority = Keep::Set(priority);
        self
    }

    /// Labels, in place of those before. [`crate::Op::label`] and [`crate::Op::unlabel`] change single ones.
    #[must_use]
    pub fn labels<L: Into<String>>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        self.labels.get_or_insert_default().extend(labels.into_iter().map(Into::into));
        self
    }

    /// Its size, from which tokens are estimated if no estimate is given; `None` removes it.
    #[must_use]
    pub fn complexity(mut self, size: impl Into<Option<Complexity>>) -> Self {
        self.edit.complexity = Keep::Set(size.into());
        self
    }

    /// How many tokens the work may take; `None` removes the estimate.
    #[must_use]
    pub fn estimated_tokens(mut self, tokens: impl Into<Option<u64>>) -> Self {
        self.edit.estimated_tokens = Keep::Set(tokens.into());
        self
    }

    /// When it counts as done. An empty text removes it.
    #[must_use]
    pub fn criteria(mut self, text: impl Into<String>) -> Self {
        self.edit.criteria = Keep::Set(given(text));
        self
    }

    /// The command that proves it, as a line for the shell. An empty line removes it.
    #[must_use]
    pub fn verify(mut self, command: impl Into<String>) -> Self {
        self.edit.verify = Keep::Set(given(command).map(Verify::Shell));
        self
    }

    /// The files it will touch, in place of those before.
    #[must_use]
    pub fn files<F: Into<String>>(mut self, files: impl IntoIterator<Item = F>) -> Self {
        add_to(&mut self.edit.files, files.into_iter().map(Into::into));
        self
    }

    pub(crate) fn to_core(&self) -> Result<Edit, Error> {
        let labels = match &self.labels {
            None => LabelEdit::Keep,
            Some(words) => LabelEdit::Set(Label::parse_all(words.iter().map(String::as_str))?),
        };
        Ok(Edit { labels, ..self.edit.clone() })
    }
}

/// A new todo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTodo {
    id: Option<String>,
    fields: TodoEdit,
}

/// Methods of [`NewTodo`] that set a field as [`TodoEdit`] does.
macro_rules! fields {
    ($($(#[doc = $doc:literal])* $name:ident $(<$generic:ident>)? ($value:ident: $type:ty);)*) => {
        impl NewTodo {$(
            $(#[doc = $doc])*
            #[must_use]
            pub fn $name $(<$generic: Into<String>>)? (mut self, $value: $type) -> Self {
                self.fields = self.fields.$name($value);
                self
            }
        )*}
    };
}

fields! {
    /// The words that a UI shows while it is in progress.
    active_form(text: impl Into<String>);
    /// What else is worth knowing about it.
    description(text: impl Into<String>);
    /// The todos that must be completed first.
    after<D>(ids: impl IntoIterator<Item = D>);
    /// The phase it belongs to, made if there is none of that name.
    phase(name: impl Into<String>);
    /// Its priority: 1 comes first, 3 is usual, 5 is optional work.
    priority(priority: u8);
    /// Labels.
    labels<L>(labels: impl IntoIterator<Item = L>);
    /// Its size, from which tokens are estimated if no estimate is given.
    complexity(size: Complexity);
    /// How many tokens the work may take.
    estimated_tokens(tokens: u64);
    /// When it counts as done.
    criteria(text: impl Into<String>);
    /// The command that proves it, as a line for the shell.
    verify(command: impl Into<String>);
    /// The files it will touch.
    files<F>(files: impl IntoIterator<Item = F>);
}

impl NewTodo {
    /// A todo that says what is to be done.
    pub fn new(content: impl Into<String>) -> Self {
        Self { id: None, fields: TodoEdit::new().content(content) }
    }

    /// Its id; without one it gets the next `T-n`.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    pub(crate) fn to_core(&self) -> Result<Add, Error> {
        Ok(Add { id: self.id.clone(), edit: self.fields.to_core()?, ..Add::default() })
    }
}

impl From<&str> for NewTodo {
    fn from(content: &str) -> Self {
        Self::new(content)
    }
}

impl From<String> for NewTodo {
    fn from(content: String) -> Self {
        Self::new(content)
    }
}

/// A text that is given; an empty one is none.
fn given(text: impl Into<String>) -> Option<String> {
    Some(text.into()).filter(|text| !text.is_empty())
}

/// Adds to a list that is set as a whole.
fn add_to<T>(list: &mut Keep<Vec<T>>, more: impl Iterator<Item = T>) {
    match list {
        Keep::Keep => *list = Keep::Set(more.collect()),
        Keep::Set(values) => values.extend(more),
    }
}

//! The filter of lists, in the filter language of `punch list`.

use punch_core::Todo;
use punch_core::filter::{Filter as Terms, Viewer};
use punch_core::reason::PlanReader;

/// A filter as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TypedFilter {
    text: String,
    terms: Terms,
}

impl TypedFilter {
    /// Reads a filter. The error says what is wrong and what to type instead.
    pub(super) fn new(text: &str, reader: Option<PlanReader<'_>>) -> Result<Self, String> {
        let explain = |refusal: punch_core::Refusal| {
            let message = refusal.message();
            [message, refusal.hint()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
        };
        let terms = Terms::parse(text).map_err(explain)?;
        if let Some(reader) = reader {
            terms.on(reader, Viewer::default()).map(drop).map_err(explain)?;
        }
        Ok(Self { text: text.trim().to_owned(), terms })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The todos that match. If a todo that the filter names is gone, none does.
    pub(super) fn on<'a>(&'a self, reader: PlanReader<'a>, seen_at: Option<i64>) -> impl Fn(&'a Todo) -> bool {
        let filter = self.terms.on(reader, Viewer { owner: None, seen_at }).ok();
        move |todo| filter.as_ref().is_some_and(|filter| filter.matches(todo))
    }
}

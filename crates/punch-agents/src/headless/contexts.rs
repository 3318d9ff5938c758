//! How contexts grow in a turn. Every request to a model reads the whole context again, so the sum of what was read says
//! what a turn costs; what a todo takes is the difference between the first request and the largest one.

/// How many conversations of one turn are counted separately.
const MOST: usize = 64;

/// The contexts of an agent and its subagents in one turn.
#[derive(Debug, Default)]
pub struct Contexts {
    /// Name, the first request, the largest one, the last one.
    seen: Vec<(String, u64, u64, u64)>,
}

impl Contexts {
    /// A request read that much; an empty name is the agent itself.
    pub fn read(&mut self, name: &str, tokens: u64) {
        if tokens == 0 {
            return;
        }
        let known = self.seen.iter_mut().find(|(known, ..)| known == name);
        if let Some((_, _, most, last)) = known {
            (*most, *last) = ((*most).max(tokens), tokens);
        } else if self.seen.len() < MOST {
            self.seen.push((name.to_owned(), tokens, tokens, tokens));
        }
    }

    /// What the agent's own context held at the last request.
    pub fn main(&self) -> Option<u64> {
        self.seen.iter().find(|(name, ..)| name.is_empty()).map(|(.., last)| *last)
    }

    /// How much all of them grew, and nothing of it once more; `None` if there was no request.
    pub fn grown(&mut self) -> Option<u64> {
        let seen = std::mem::take(&mut self.seen);
        let grown = |(_, first, most, _): &(String, u64, u64, u64)| most.saturating_sub(*first);
        (!seen.is_empty()).then(|| seen.iter().map(grown).fold(0, u64::saturating_add))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_takes_what_contexts_grew_by_and_not_what_was_read() {
        let mut contexts = Contexts::default();
        assert_eq!((contexts.main(), contexts.grown()), (None, None));
        for tokens in [10_000, 11_000, 14_000] {
            contexts.read("", tokens);
        }
        contexts.read("sub", 3_000);
        contexts.read("sub", 5_000);
        contexts.read("other", 0);
        assert_eq!((contexts.main(), contexts.grown()), (Some(14_000), Some(6_000)));
        // The next turn begins with what is there.
        contexts.read("", 14_500);
        assert_eq!(contexts.grown(), Some(0));
    }

    #[test]
    fn a_context_that_was_compacted_is_smaller_and_took_what_it_took() {
        let mut contexts = Contexts::default();
        [10, 90, 20, 40].iter().for_each(|tokens| contexts.read("", *tokens));
        assert_eq!((contexts.main(), contexts.grown()), (Some(40), Some(80)));
    }

    #[test]
    fn subagents_without_end_take_no_memory() {
        let mut contexts = Contexts::default();
        (0..10_000).for_each(|n| contexts.read(&n.to_string(), 1));
        assert_eq!(contexts.seen.len(), MOST);
    }
}

//! Tab in a typed line: commands and todos after `:`, agents where todos are given to one, terms of the filter.

use punch_core::Todo;
use punch_core::filter::FilterState;
use punch_core::text::neutral;

use super::overlay::InputPrompt;
use super::{Board, PromptKind};

/// Words that are shown where several fit.
const SHOWN: usize = 12;

impl Board {
    /// Completes the word before the cursor as far as it is clear, and shows what fits if it is not.
    pub(super) fn complete(&mut self, prompt: &mut InputPrompt) {
        let end = prompt.text.char_indices().nth(prompt.at).map_or(prompt.text.len(), |(byte, _)| byte);
        let start = prompt.text[..end].rfind(' ').map_or(0, |at| at + 1);
        let typed = prompt.text[start..end].to_owned();
        let fitting = self.fitting(&prompt.kind, start == 0, &typed);
        let Some(common) = common_start(&fitting) else { return };
        let common =
            if fitting.len() == 1 && !common.ends_with(':') { format!("{common} ") } else { common.to_owned() };
        if common.len() > typed.len() {
            prompt.text.replace_range(start..end, &common);
            prompt.at = prompt.text[..start].chars().count() + common.chars().count();
        } else if fitting.len() > 1 {
            let more = fitting.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown: Vec<&str> = fitting.iter().take(SHOWN).map(String::as_str).collect();
            self.say(format!("{}{more}", shown.join("  ")));
        }
    }

    /// The words that begin with what was typed.
    fn fitting(&self, kind: &PromptKind, is_first: bool, typed: &str) -> Vec<String> {
        let from = |words: &[String]| words.iter().filter(|word| word.starts_with(typed)).cloned().collect();
        match kind {
            PromptKind::Command if is_first => from(&self.data.verbs),
            PromptKind::Command if !typed.is_empty() => {
                let todos = self.data.plan.iter().flat_map(|plan| plan.all()).filter(|todo| todo.is_live());
                let ids = todos.map(|todo: &Todo| todo.id.as_str()).filter(|id| id.starts_with(typed));
                let mut ids: Vec<String> = ids.filter(|id| neutral(id) == *id).map(str::to_owned).collect();
                ids.sort();
                ids
            }
            PromptKind::Assign(_) => from(&self.data.agents),
            PromptKind::Filter => {
                const KEYS: [&str; 6] = ["by:", "p:", "needs:", "under:", "phase:", "label:"];
                let states = FilterState::ALL.iter().map(|state| format!("is:{}", state.name()));
                let mut words: Vec<String> = states.collect();
                words.extend(KEYS.iter().map(|key| (*key).to_owned()));
                from(&words)
            }
            _ => Vec::new(),
        }
    }
}

/// The longest text that all words begin with; `None` if there are none.
fn common_start(words: &[String]) -> Option<&str> {
    let first = words.first()?.as_str();
    let same = |word: &String| first.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    let length = words.iter().map(same).min().unwrap_or(0);
    Some(first.char_indices().nth(length).map_or(first, |(byte, _)| &first[..byte]))
}

#[cfg(test)]
mod tests {
    use super::common_start;

    #[test]
    fn words_are_completed_as_far_as_they_agree() {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(common_start(&words(&["hold", "hook"])), Some("ho"));
        assert_eq!(common_start(&words(&["語a", "語b"])), Some("語"));
        assert_eq!(common_start(&words(&["show"])), Some("show"));
        assert_eq!(common_start(&[]), None);
    }
}

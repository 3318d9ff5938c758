//! A list that someone pastes: one todo per line, with or without the marks of Markdown.

use std::collections::BTreeSet;

use crate::view::hashtags;
use crate::{Label, ShownStatus};

/// A todo of a pasted list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastedTodo {
    /// The heading above the todo.
    pub phase: Option<String>,
    /// The text of the todo.
    pub content: String,
    /// The words such as `#docs` at the end of its line, where the line has the mark of a list.
    pub labels: BTreeSet<Label>,
}

/// The todos, and the number of lines that are left out because they are checked off. A plain text is one todo a line.
pub fn read(text: &str) -> (Vec<PastedTodo>, usize) {
    let (mut out, mut phase, mut closed) = (Vec::new(), None, 0);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#');
            if heading.starts_with(char::is_whitespace) {
                phase = Some(heading.trim().to_owned()).filter(|heading| !heading.is_empty());
                continue;
            }
        }
        let item = unmarked(line);
        let text = match item.get(..3) {
            Some("[x]" | "[X]" | "[-]") => {
                closed += 1;
                continue;
            }
            Some(mark) if is_mark(mark) => item[3..].trim(),
            _ => item,
        };
        let (content, labels) = if text == line { (text, BTreeSet::new()) } else { hashtags::split(text) };
        if !content.is_empty() {
            out.push(PastedTodo { phase: phase.clone(), content: content.to_owned(), labels });
        }
    }
    (out, closed)
}

/// Returns true for the mark of a todo that is not checked off: any sign of a list that was printed, or `[/]` of Markdown.
fn is_mark(mark: &str) -> bool {
    mark == "[/]" || ShownStatus::all().any(|status| mark == status.ascii_sign() || mark == status.check_box())
}

/// The line without the mark of a list: `-`, `*`, `+`, `1.` or `1)`.
fn unmarked(line: &str) -> &str {
    if let Some(rest) = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')) {
        return rest.trim_start();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')']).filter(|rest| digits > 0 && rest.starts_with(' '));
    rest.map_or(line, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_a_printed_list_is_a_mark() {
        for status in ShownStatus::all() {
            let (read, closed) = read(&format!("{}  Ship it\n", status.ascii_sign()));
            assert_eq!((read.len(), read.first().is_none_or(|todo| todo.content == "Ship it")), (1 - closed, true));
        }
    }

    #[test]
    fn markdown_and_plain_lines_become_todos() {
        let text = "Fix it\n\n# Core\n- [ ] Parse\n  - nested\n- [x] old\n## Docs\n1. Write\n2) Check\n* #12 is open #docs #web\n#hash\nplain #docs\n";
        let (read, closed) = read(text);
        assert_eq!(closed, 1);
        let labels = |todo: &PastedTodo| todo.labels.iter().map(|label| format!(" +{label}")).collect::<String>();
        let found: Vec<(&str, String)> = read
            .iter()
            .map(|todo| (todo.phase.as_deref().unwrap_or(""), format!("{}{}", todo.content, labels(todo))))
            .collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(phase, text)| (*phase, text.as_str())).collect();
        assert_eq!(
            found,
            [
                ("", "Fix it"),
                ("Core", "Parse"),
                ("Core", "nested"),
                ("Docs", "Write"),
                ("Docs", "Check"),
                ("Docs", "#12 is open +docs +web"),
                ("Docs", "#hash"),
                ("Docs", "plain #docs"),
            ]
        );
    }
}

//! Punch commands that are typed into the board.

use super::Board;
use crate::request::BoardRequest;

/// Verbs that need the terminal for themselves.
const FOREGROUND: [&str; 5] = ["edit", "demo", "init", "install", "uninstall"];
/// Words after `run` that look at a run or control it, and start none.
const ABOUT_RUNS: [&str; 5] = ["list", "show", "pause", "resume", "stop"];
/// Verbs that work until they are stopped, and the words after them that make them end by themselves.
const ENDLESS: [(&str, &[&str]); 2] = [("run", &ABOUT_RUNS), ("worker", &["list", "help", "--help", "-h"])];
/// Verbs that make no sense inside the board.
const REFUSED: [&str; 4] = ["watch", "mcp", "hook", "serve"];
/// Commands that are remembered.
const REMEMBERED: usize = 100;

impl Board {
    pub(super) fn command(&mut self, line: &str) -> Vec<BoardRequest> {
        let words = match words(line) {
            Ok(words) => words,
            Err(why) => {
                self.refuse(why);
                return Vec::new();
            }
        };
        self.commands.retain(|typed| typed != line);
        self.commands.push(line.to_owned());
        if self.commands.len() > REMEMBERED {
            self.commands.remove(0);
        }
        let words: Vec<String> = words.into_iter().skip_while(|word| word == "punch").collect();
        match words.first().map(String::as_str) {
            None => Vec::new(),
            Some(verb) if REFUSED.contains(&verb) => {
                self.refuse(format!("`punch {verb}` cannot run inside the board"));
                Vec::new()
            }
            Some("assign") => vec![BoardRequest::NewAgent(words)],
            Some(_) if is_endless(&words) => vec![BoardRequest::NewAgent(words)],
            Some(verb) if FOREGROUND.contains(&verb) => vec![BoardRequest::Foreground(words)],
            Some(_) => vec![BoardRequest::Verb(words)],
        }
    }

    /// The command before or after a typed one in the order in which they were typed.
    pub(super) fn recall(&self, typed: &str, by: isize) -> Option<&str> {
        let at = self.commands.iter().position(|command| command == typed).unwrap_or(self.commands.len());
        self.commands.get(at.checked_add_signed(by)?).map(String::as_str)
    }
}

/// Returns true if a command does not end by itself: it needs a terminal on which it can be ended.
fn is_endless(words: &[String]) -> bool {
    let Some((verb, rest)) = words.split_first() else { return false };
    let has = |word: &str| rest.iter().any(|other| other == word);
    let ends = ENDLESS.iter().find(|(endless, _)| endless == verb).map(|(_, ends)| ends.iter().any(|word| has(word)));
    ends == Some(false) || (verb == "log" && (has("-f") || has("--follow")))
}

/// Splits a command line as a shell does: quotes and backslashes, and nothing else.
fn words(line: &str) -> Result<Vec<String>, String> {
    let (mut out, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(rest.next()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => out.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    out.extend(word);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::{is_endless, words};

    #[test]
    fn commands_that_do_not_end_by_themselves_are_known() {
        let endless = |line: &str| is_endless(&words(line).unwrap());
        for line in ["run", "run --agents 2", "worker", "worker --seats 2", "log -f", "log --limit 0 --follow"] {
            assert!(endless(line), "{line}");
        }
        for line in ["run list", "run show 3", "run stop", "worker list", "log", "list --follow", "", "show T-1"] {
            assert!(!endless(line), "{line}");
        }
    }

    #[test]
    fn a_command_line_is_split_as_a_shell_does() {
        assert_eq!(
            words(r#"add  'Write it' --label "a b" c\ d ''"#).unwrap(),
            ["add", "Write it", "--label", "a b", "c d", ""]
        );
        assert!(words("add 'x").is_err());
    }
}

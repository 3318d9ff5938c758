//! A permission rule: a tool, or a tool with its arguments. `Bash(git *)` allows `git status`, but nothing that a shell
//! would read as more than one command.

use std::fmt;
use std::str::FromStr;

use crate::agent::PermissionRequest;

/// Characters that have a meaning for shells. A `*` in a rule never matches them; the rule has to contain them.
const SHELL: &[char] = &[';', '&', '|', '<', '>', '`', '$', '(', ')', '{', '}', '\\', '\n', '\r', '#', '~', '!'];

/// A rule for what is allowed without asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Pattern for the name of the tool; `*` matches any text.
    tool: String,
    /// Pattern for the arguments of the tool; `*` matches any text without special characters.
    what: Option<String>,
}

/// A text that is not a valid rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    given: String,
}

impl Rule {
    /// Returns true if the rule allows this request.
    pub fn allows(&self, request: &PermissionRequest) -> bool {
        let tool = request.tool.as_deref().unwrap_or_default();
        if !fits(&self.tool, tool, &|_| true) {
            return false;
        }
        let Some(pattern) = &self.what else { return true };
        // The end of a clipped text is unknown, and line breaks and escapes were replaced.
        if request.what.ends_with('…') || request.what.chars().any(stands_in) {
            return false;
        }
        fits(pattern, &request.what, &is_plain)
    }
}

/// Returns true if a `*` may match this text: no special characters, and no path out of a folder.
fn is_plain(text: &str) -> bool {
    !text.contains(SHELL) && !text.split(['/', '\\', ' ', '=', ':', '"', '\'']).any(|part| part == "..")
}

/// Splits a list of rules at its commas; a comma in parentheses belongs to its rule.
pub fn listed(text: &str) -> Vec<String> {
    let mut depth = 0usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|rule| !rule.is_empty()).map(str::to_owned).collect()
}

/// Returns true for a character that replaced an unprintable one.
fn stands_in(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{2426}' | '\u{FFFD}') || c.is_control()
}

/// Returns true if the text matches the pattern, with each `*` standing for an allowed text. Takes time proportional to
/// the product of both lengths at most.
fn fits(pattern: &str, text: &str, may_be: &dyn Fn(&str) -> bool) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    let mut rest = rest;
    // Matching each part as far left as possible leaves the most text for the others.
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        if !may_be(&rest[..at]) {
            return false;
        }
        rest = &rest[at + part.len()..];
    }
    rest.strip_suffix(last).is_some_and(may_be)
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(given: &str) -> Result<Self, RuleError> {
        let wrong = || RuleError { given: given.to_owned() };
        let trimmed = given.trim();
        let (tool, what) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
        };
        if tool.is_empty() || tool.contains([' ', ')']) || what.is_some_and(str::is_empty) {
            return Err(wrong());
        }
        Ok(Self { tool: tool.to_owned(), what: what.map(str::to_owned) })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        self.what.as_ref().map_or(Ok(()), |what| write!(f, "({what})"))
    }
}

impl RuleError {
    /// Returns what a valid rule looks like.
    pub const fn hint(&self) -> &'static str {
        "a rule is a tool with an optional pattern, such as `Read`, `mcp__punch__*` or `Bash(git *)`"
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = punch_core::text::neutral(&self.given);
        write!(f, "invalid permission rule `{}`", punch_core::text::clip(&given, 100))
    }
}

impl std::error::Error for RuleError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn allows(rule: &str, tool: &str, what: &str) -> bool {
        let request = PermissionRequest {
            id: "1".into(),
            what: what.into(),
            detail: what.into(),
            tool: Some(tool.into()),
            options: Vec::new(),
        };
        rule.parse::<Rule>().unwrap().allows(&request)
    }

    #[test]
    fn tools_and_uses_are_compared_whole() {
        for (rule, tool, what, wanted) in [
            ("Bash", "Bash", "anything; at all", true),
            ("Bash", "BashOutput", "", false),
            ("*", "Edit", "x", true),
            ("mcp__punch__*", "mcp__punch__todo_write", "", true),
            ("mcp__punch__*", "mcp__other__x", "", false),
            ("Bash(git status)", "Bash", "git status", true),
            ("Bash(git status)", "Bash", "git status -s", false),
            ("Bash(git *)", "Bash", "git log --oneline", true),
            ("Bash(git *)", "Bash", "gitk", false),
            ("Bash(cargo * --workspace)", "Bash", "cargo test --workspace", true),
            ("Edit(src/*)", "Edit", "src/a/b.rs", true),
            ("Edit(src/*)", "Edit", "../src/a.rs", false),
            ("Edit(src/*)", "Edit", "src/../../etc/passwd", false),
            ("Edit(src/*)", "Edit", "src/a..b", true),
        ] {
            assert_eq!(allows(rule, tool, what), wanted, "{rule} {tool} {what}");
        }
    }

    #[test]
    fn a_second_command_hides_behind_no_star() {
        let hidden =
            ["; rm -rf /", " && rm x", " | sh", " $(rm x)", " `rm x`", " > x", "\nrm x", " & rm x", "␊rm x", " <(x)"];
        for more in hidden {
            assert!(!allows("Bash(git *)", "Bash", &format!("git log{more}")), "{more:?}");
        }
        assert!(!allows("Bash(git *)", "Bash", "git log …"), "nobody knows how it continues");
        assert!(allows("Bash(git log | head)", "Bash", "git log | head"), "named to the letter");
    }

    #[test]
    fn a_list_has_commas_between_its_rules() {
        assert_eq!(listed("Read, Bash(git log a, b) ,,mcp__punch__*"), ["Read", "Bash(git log a, b)", "mcp__punch__*"]);
        assert_eq!(listed(" , "), [""; 0]);
        assert_eq!(listed("Bash(a, b"), ["Bash(a, b"], "which is not a rule, and said to be none");
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for given in ["", " ", "(x)", "Bash(", "Bash(x", "Bash()", "two words", "a)b"] {
            assert!(given.parse::<Rule>().is_err(), "{given:?}");
        }
        for given in ["Bash", "Bash(git *)", "*", "Bash(echo (x))"] {
            assert_eq!(given.parse::<Rule>().unwrap().to_string(), given);
        }
        assert_eq!("Bash(".parse::<Rule>().unwrap_err().to_string(), "invalid permission rule `Bash(`");
    }

    /// Matches by trying every way to split the text.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|n| naive(rest, &text[n..])),
            Some((c, rest)) => text.first() == Some(c) && naive(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn stars_stand_for_any_text(pattern in "[ab*]{0,8}", text in "[ab]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(fits(&pattern, &text, &|_| true), naive(&chars(&pattern), &chars(&text)));
        }

        #[test]
        fn no_star_takes_what_a_shell_would_read(text in "git [a-z ;&|$`<>\n]{0,12}") {
            if text.contains(SHELL) {
                prop_assert!(!allows("Bash(git *)", "Bash", &text));
            }
        }
    }
}

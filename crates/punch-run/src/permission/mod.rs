//! Whether an agent may do what it asks for: allowed by the person's list, refused, or a question for the person. Pure.

mod rule;

use crate::agent::Permission;

pub use rule::{Rule, RuleError, listed};

/// What becomes of requests that no rule of the list is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// A person is asked; where there is none, it is refused.
    #[default]
    Ask,
    /// It is allowed.
    Allow,
    /// It is refused.
    Deny,
}

/// The person's will about permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// What is allowed without a question.
    pub allowed: Vec<Rule>,
    /// Everything else.
    pub otherwise: Otherwise,
}

/// What is to be done about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Answer with this option of the request.
    Allow(String),
    /// Refuse.
    Refuse,
    /// Ask the person.
    Ask,
}

impl Policy {
    /// Judges a request.
    pub fn judge(&self, request: &Permission) -> Decision {
        let listed = self.allowed.iter().any(|rule| rule.allows(request));
        match (listed, self.otherwise) {
            // Nothing that allows was offered: then nobody can.
            (true, _) | (false, Otherwise::Allow) => {
                allowing(request).map_or(Decision::Refuse, |option| Decision::Allow(option.to_owned()))
            }
            (false, Otherwise::Deny) => Decision::Refuse,
            (false, Otherwise::Ask) => Decision::Ask,
        }
    }
}

/// The option that allows and promises least: agents put what holds once before what holds for ever.
pub fn allowing(request: &Permission) -> Option<&str> {
    request.options.iter().find(|(.., allows)| *allows).map(|(id, ..)| id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(tool: &str, what: &str) -> Permission {
        let options = vec![
            ("no".to_owned(), "Reject".to_owned(), false),
            ("once".to_owned(), "Allow".to_owned(), true),
            ("always".to_owned(), "Always".to_owned(), true),
        ];
        Permission { id: "1".into(), what: what.into(), tool: Some(tool.into()), options }
    }

    fn policy(allowed: &[&str], otherwise: Otherwise) -> Policy {
        Policy { allowed: allowed.iter().map(|rule| rule.parse().unwrap()).collect(), otherwise }
    }

    #[test]
    fn the_list_comes_first_then_the_rest() {
        let once = || Decision::Allow("once".into());
        for (allowed, otherwise, wanted) in [
            (&["Edit"][..], Otherwise::Ask, Decision::Ask),
            (&["Edit"], Otherwise::Deny, Decision::Refuse),
            (&["Edit"], Otherwise::Allow, once()),
            (&["Bash"], Otherwise::Deny, once()),
            (&["Edit", "Bash(git *)"], Otherwise::Ask, once()),
            (&[], Otherwise::Ask, Decision::Ask),
        ] {
            assert_eq!(policy(allowed, otherwise).judge(&request("Bash", "git status")), wanted, "{allowed:?}");
        }
        assert_eq!(Policy::default().judge(&request("Bash", "ls")), Decision::Ask);
    }

    #[test]
    fn without_an_option_that_allows_nothing_is_allowed() {
        let mut request = request("Bash", "ls");
        request.options.retain(|(.., allows)| !allows);
        assert_eq!(policy(&["*"], Otherwise::Allow).judge(&request), Decision::Refuse);
    }
}

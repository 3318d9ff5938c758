//! Decides about permission requests of agents: allowed by a rule of the user, refused, or a question for the user.
//! Pure.

mod rule;

use punch_core::text;

use crate::agent::PermissionRequest;

pub use rule::{Rule, RuleError, listed};

/// What happens to requests that no rule allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// Ask the user; refuse if no user can be asked.
    #[default]
    Ask,
    /// Allow the request.
    Allow,
    /// Refuse the request.
    Deny,
}

/// The permission rules of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionPolicy {
    /// What is allowed without asking.
    pub allowed: Vec<Rule>,
    /// What happens to all other requests.
    pub otherwise: Otherwise,
}

/// The answer to a permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionDecision {
    /// Choose this option of the request, which allows it.
    Allow(String),
    /// Refuse the request.
    Refuse,
    /// Ask the user.
    Ask,
}

impl PermissionPolicy {
    /// Decides about a request.
    pub fn judge(&self, request: &PermissionRequest) -> PermissionDecision {
        let listed = self.allowed.iter().any(|rule| rule.allows(request));
        match (listed, self.otherwise) {
            // The request has no option that allows it.
            (true, _) | (false, Otherwise::Allow) => allowing(request)
                .map_or(PermissionDecision::Refuse, |option| PermissionDecision::Allow(option.to_owned())),
            (false, Otherwise::Deny) => PermissionDecision::Refuse,
            (false, Otherwise::Ask) => PermissionDecision::Ask,
        }
    }
}

/// Returns the option that allows the least: agents list "once" before "always".
pub fn allowing(request: &PermissionRequest) -> Option<&str> {
    request.options.iter().find(|(.., allows)| *allows).map(|(id, ..)| id.as_str())
}

/// Returns what an agent wants to do, with its tool: `Bash: ls`.
pub fn described(request: &PermissionRequest) -> String {
    match request.tool.as_deref() {
        Some(tool) => format!("{tool}: {}", request.what),
        None => request.what.clone(),
    }
}

/// Returns the option of `punch run` that allows requests like this one.
pub fn remedy(request: &PermissionRequest) -> String {
    let tool = request.tool.as_deref().unwrap_or_default();
    let is_rule = tool.parse::<Rule>().is_ok_and(|rule| rule.allows(request));
    if is_rule { format!("--allow {}", text::shell(tool)) } else { "--permission allow".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(tool: &str, what: &str) -> PermissionRequest {
        let options = vec![
            ("no".to_owned(), "Reject".to_owned(), false),
            ("once".to_owned(), "Allow".to_owned(), true),
            ("always".to_owned(), "Always".to_owned(), true),
        ];
        PermissionRequest { id: "1".into(), what: what.into(), detail: what.into(), tool: Some(tool.into()), options }
    }

    fn policy(allowed: &[&str], otherwise: Otherwise) -> PermissionPolicy {
        PermissionPolicy { allowed: allowed.iter().map(|rule| rule.parse().unwrap()).collect(), otherwise }
    }

    #[test]
    fn the_list_comes_first_then_the_rest() {
        let once = || PermissionDecision::Allow("once".into());
        for (allowed, otherwise, wanted) in [
            (&["Edit"][..], Otherwise::Ask, PermissionDecision::Ask),
            (&["Edit"], Otherwise::Deny, PermissionDecision::Refuse),
            (&["Edit"], Otherwise::Allow, once()),
            (&["Bash"], Otherwise::Deny, once()),
            (&["Edit", "Bash(git *)"], Otherwise::Ask, once()),
            (&[], Otherwise::Ask, PermissionDecision::Ask),
        ] {
            assert_eq!(policy(allowed, otherwise).judge(&request("Bash", "git status")), wanted, "{allowed:?}");
        }
        assert_eq!(PermissionPolicy::default().judge(&request("Bash", "ls")), PermissionDecision::Ask);
    }

    #[test]
    fn the_remedy_of_a_request_allows_it() {
        for (tool, wanted) in [
            (Some("Bash"), "--allow Bash"),
            (Some("mcp__other__write"), "--allow mcp__other__write"),
            (Some("run a tool"), "--permission allow"),
            (None, "--permission allow"),
        ] {
            let request = PermissionRequest { tool: tool.map(str::to_owned), ..request("", "a.txt") };
            assert_eq!(remedy(&request), wanted);
            let policy = match wanted.strip_prefix("--allow ") {
                Some(rule) => policy(&[rule], Otherwise::Deny),
                None => policy(&[], Otherwise::Allow),
            };
            assert!(matches!(policy.judge(&request), PermissionDecision::Allow(_)), "{tool:?}");
        }
        assert_eq!(described(&request("Write", "a.txt")), "Write: a.txt");
    }

    #[test]
    fn without_an_option_that_allows_nothing_is_allowed() {
        let mut request = request("Bash", "ls");
        request.options.retain(|(.., allows)| !allows);
        assert_eq!(policy(&["*"], Otherwise::Allow).judge(&request), PermissionDecision::Refuse);
    }

    #[test]
    fn a_second_line_of_a_command_is_not_taken_for_words_of_the_first() {
        use punch_agents::headless::{AgentEvent, HeadlessStart};
        let start = HeadlessStart { prompt: "", server: &[], resume: None, is_customized: false };
        let headless = punch_agents::named("claude").unwrap().headless.unwrap();
        let mut listener = headless().listener(&start);
        let rule: Rule = "Bash(touch *)".parse().unwrap();
        for (command, wanted) in [("touch x.txt", true), ("touch x.txt\\nrm -rf y", false)] {
            let request = format!(
                r#"{{"subtype":"can_use_tool","tool_name":"Bash","input":{{"command":"{command}","description":"make x"}}}}"#
            );
            let line = format!(r#"{{"type":"control_request","request_id":"{wanted}","request":{request}}}"#);
            let AgentEvent::Permission(request) = listener.hear(&line).events.remove(0) else { panic!() };
            assert_eq!(rule.allows(&request), wanted, "{}", request.what);
        }
    }
}

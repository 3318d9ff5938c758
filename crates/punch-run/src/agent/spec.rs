//! Parses which agent is meant: `exec:CMD`, `acp:CMD`, or the name of an agent that can run without a terminal.

use std::fmt;
use std::str::FromStr;

use punch_agents::{AGENTS, Adapter};

/// What kind of agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// Any program: the prompt on its standard input, exit code 0 for done.
    Exec,
    /// Any agent that speaks the Agent Client Protocol.
    Acp,
    /// An agent without a terminal.
    Headless(&'static Adapter),
}

/// An agent as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSpec {
    /// What kind.
    pub kind: AgentKind,
    /// A line for the shell. For `exec` and `acp` the program; for agents with a name it takes the place of the program's
    /// name, and may be empty.
    pub command: String,
}

punch_core::errors! {
    /// Why a spec does not name an agent.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum SpecError {
        /// There is no such kind.
        Unknown { given: String }: "no_agent", ("unknown agent `{given}`"), ("{}", forms());
        /// The kind needs a command.
        NoCommand { given: String }: "no_agent", ("`{given}` needs a command"), ("{}", forms());
    }
}

/// The ways to name an agent.
fn forms() -> String {
    let names: Vec<String> = headless().map(|agent| format!("`{}`", agent.name)).collect();
    format!("use {}, `exec:COMMAND` or `acp:COMMAND`", names.join(", "))
}

impl FromStr for AgentSpec {
    type Err = SpecError;

    fn from_str(given: &str) -> Result<Self, SpecError> {
        let (kind, command) = given.split_once(':').unwrap_or((given, ""));
        let kind = match kind.trim() {
            "exec" => AgentKind::Exec,
            "acp" => AgentKind::Acp,
            name => match headless().find(|agent| agent.name == name) {
                Some(agent) => AgentKind::Headless(agent),
                None => return Err(SpecError::Unknown { given: given.to_owned() }),
            },
        };
        let command = command.trim().to_owned();
        if command.is_empty() && matches!(kind, AgentKind::Exec | AgentKind::Acp) {
            return Err(SpecError::NoCommand { given: given.to_owned() });
        }
        Ok(Self { kind, command })
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if self.command.is_empty() { Ok(()) } else { write!(f, ":{}", self.command) }
    }
}

impl AgentSpec {
    /// The kind's name.
    pub const fn name(&self) -> &'static str {
        match self.kind {
            AgentKind::Exec => "exec",
            AgentKind::Acp => "acp",
            AgentKind::Headless(agent) => agent.name,
        }
    }
}

/// The agents that can be driven without a terminal.
fn headless() -> impl Iterator<Item = &'static Adapter> {
    AGENTS.into_iter().filter(|agent| agent.headless.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> AgentKind {
        AgentKind::Headless(punch_agents::named(name).unwrap())
    }

    #[test]
    fn a_spec_is_a_kind_and_a_command() {
        for (given, kind, command) in [
            ("exec:true", AgentKind::Exec, "true"),
            ("exec: echo a:b ", AgentKind::Exec, "echo a:b"),
            ("claude", named("claude"), ""),
            ("claude:claude --model x", named("claude"), "claude --model x"),
            ("codex", named("codex"), ""),
            ("acp:opencode acp", AgentKind::Acp, "opencode acp"),
        ] {
            let spec: AgentSpec = given.parse().unwrap();
            assert_eq!((spec.kind, spec.command.as_str()), (kind, command), "{given}");
        }
    }

    #[test]
    fn what_names_no_agent_says_what_would() {
        assert_eq!("gpt".parse::<AgentSpec>().unwrap_err().message(), "unknown agent `gpt`");
        assert_eq!("exec: ".parse::<AgentSpec>().unwrap_err().message(), "`exec: ` needs a command");
        assert!("acp".parse::<AgentSpec>().unwrap_err().hint().contains("acp:COMMAND"));
    }
}

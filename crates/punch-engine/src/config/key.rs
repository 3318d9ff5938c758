//! Names of settings: looking one up, its variables, and what a misspelt one may have meant.

use punch_core::text;

use super::{KEYS, scalar::WrittenValue};

/// Keys of these sections can be given per agent.
const PER_AGENT: &[&str] = &["keep_going.", "reminders."];

const MAX_AGENT: usize = 64;

/// Who decides about a setting. Every row of the table says it.
#[derive(Clone, Copy, Debug)]
pub enum Authority {
    /// Users of the project and their agents.
    Anyone,
    /// The user: `punch config` refuses to change it inside an agent.
    User,
    /// The user, because it holds a command, or loosens a check or a limit: the project's file counts only once the user
    /// approved it, and `punch config` refuses to change it inside an agent.
    ///
    /// Where values have a rank, one that is at least as strict as what counts without it needs no approval.
    Approval {
        /// The rank of a value; a higher one is stricter.
        rank: Option<fn(&str) -> Option<f64>>,
    },
    /// The user, in the user's own file: nothing that comes with a project or a shell counts.
    OwnFile,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The dotted name of the setting.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub doc: &'static str,
    /// Its default as a variable would have it; empty if it is not set.
    pub default: &'static str,
    /// The authority that decides about the setting.
    pub authority: Authority,
    /// A variable with a shorter name than the general one.
    pub(super) short_env: Option<&'static str>,
    pub(super) expected: fn() -> String,
    /// The value in the form of a file, if it was written as it should be.
    pub(super) check: fn(&WrittenValue) -> Option<Option<String>>,
}

impl Key {
    /// What a value must be.
    pub fn expected(&self) -> String {
        (self.expected)()
    }

    /// The variables that set it, the first one winning.
    pub fn env(&self) -> Vec<String> {
        let general = variable(self.name);
        self.short_env.map(str::to_owned).into_iter().chain([general]).collect()
    }

    /// Returns true if an agent must not change it.
    pub fn is_guarded(&self) -> bool {
        !matches!(self.authority, Authority::Anyone)
    }

    /// The name that the setting has in files, for a name that people may also use on the command line: a file cannot have
    /// both `plan = "release"` and a section `[plan]`.
    pub fn name_in_files(name: &str) -> &str {
        if name == "plan.verify" { "verify.plan" } else { name }
    }

    /// The setting of that name, perhaps of one agent.
    pub fn named(name: &str) -> Option<&'static Self> {
        lookup(name).map(|known| known.key)
    }

    /// True if `agents.NAME.` may precede it.
    pub fn per_agent(&self) -> bool {
        is_per_agent(self.name)
    }
}

/// A name that refers to a setting, perhaps of one agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownSetting<'a> {
    pub key: &'static Key,
    pub agent: Option<&'a str>,
}

/// The setting with that name.
pub(super) fn lookup(name: &str) -> Option<KnownSetting<'_>> {
    let plain = |name: &str| KEYS.iter().find(|key| key.name == name);
    if let Some(key) = plain(name) {
        return Some(KnownSetting { key, agent: None });
    }
    let (agent, rest) = name.strip_prefix("agents.")?.split_once('.')?;
    let key = plain(rest).filter(|key| key.per_agent() && is_agent(agent))?;
    Some(KnownSetting { key, agent: Some(agent) })
}

/// Returns true if settings, or further sections, can be below that name.
pub(super) fn is_section(name: &str) -> bool {
    let below = |section: &str, key: &str| key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
    match name.strip_prefix("agents") {
        Some("") => true,
        Some(rest) if rest.starts_with('.') => match rest[1..].split_once('.') {
            None => is_agent(&rest[1..]),
            Some((agent, section)) => {
                is_agent(agent) && PER_AGENT.iter().any(|prefix| prefix.strip_suffix('.') == Some(section))
            }
        },
        _ => KEYS.iter().any(|key| below(name, key.name)),
    }
}

fn is_per_agent(key: &str) -> bool {
    PER_AGENT.iter().any(|prefix| key.starts_with(prefix))
}

/// The name of the setting of one agent.
pub(super) fn of_agent(agent: &str, key: &str) -> Option<String> {
    is_per_agent(key).then(|| format!("agents.{agent}.{key}"))
}

/// `PUNCH_AGENTS_CLAUDE_KEEP_GOING_ENABLED` as the name of a setting. A variable has no `-`, an agent no `_`.
pub(super) fn from_agent_variable(variable_name: &str) -> Option<String> {
    let rest = variable_name.strip_prefix("PUNCH_AGENTS_")?;
    KEYS.iter().filter(|key| key.per_agent()).find_map(|key| {
        let suffix = variable(key.name).replacen("PUNCH", "", 1);
        let agent = rest.strip_suffix(&suffix)?.to_ascii_lowercase().replace('_', "-");
        is_agent(&agent).then(|| of_agent(&agent, key.name)).flatten()
    })
}

/// What the user may have meant, best first.
pub(super) fn nearest(name: &str) -> Vec<String> {
    if let Some((agent, rest)) = name.strip_prefix("agents.").and_then(|rest| rest.split_once('.')) {
        // Without its prefix, which would make every two names of one agent look alike.
        let agent = agent.to_ascii_lowercase().replace('_', "-");
        let near = near(rest, KEYS.iter().filter(|key| key.per_agent()));
        if is_agent(&agent) && !near.is_empty() {
            return near.iter().filter_map(|key| of_agent(&agent, key)).collect();
        }
    }
    near(name, KEYS.iter())
}

fn near(name: &str, keys: impl Iterator<Item = &'static Key> + Clone) -> Vec<String> {
    let names = || keys.clone().map(|key| key.name);
    let owned = |names: Vec<&str>| names.into_iter().take(3).map(str::to_owned).collect::<Vec<_>>();
    // A section alone, or the last part alone: the other half was forgotten or is elsewhere in the file.
    let inside = names().filter(|key| key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
    let inside = owned(inside.collect());
    if !inside.is_empty() {
        return inside;
    }
    let whole = text::nearest(name, names(), 3);
    if !whole.is_empty() {
        return whole;
    }
    let leaves = text::nearest(last(name), names().map(last), 3);
    owned(names().filter(|key| leaves.iter().any(|leaf| leaf == last(key))).collect())
}

fn last(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

/// `view.clear_delay` becomes `PUNCH_VIEW_CLEAR_DELAY`.
fn variable(name: &str) -> String {
    format!("PUNCH_{}", name.replace('.', "_").to_ascii_uppercase())
}

fn is_agent(name: &str) -> bool {
    (1..=MAX_AGENT).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variables_are_unique() {
        let mut variables: Vec<String> = KEYS.iter().flat_map(Key::env).collect();
        // Read by the command line, not settings.
        variables.extend(["PUNCH_STORE", "PUNCH_PROJECT", "PUNCH_SESSION", "PUNCH_CONFIG"].map(str::to_owned));
        let all = variables.len();
        variables.sort();
        variables.dedup();
        assert_eq!(variables.len(), all);
        assert!(KEYS.iter().all(|key| !key.name.starts_with("agents")));
    }

    #[test]
    fn variables_of_agents_are_their_settings() {
        let name = |variable: &str| from_agent_variable(variable);
        assert_eq!(name("PUNCH_AGENTS_CLAUDE_KEEP_GOING_ENABLED").as_deref(), Some("agents.claude.keep_going.enabled"));
        assert_eq!(
            name("PUNCH_AGENTS_MY_AGENT_KEEP_GOING_MAX_CONTINUATIONS").as_deref(),
            Some("agents.my-agent.keep_going.max_continuations")
        );
        for other in ["PUNCH_AGENTS_", "PUNCH_AGENTS_KEEP_GOING_ENABLED", "PUNCH_AGENTS_CLAUDE_LEASE", "PATH"] {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn the_nearest_names_are_found_by_whole_by_section_and_by_last_part() {
        assert_eq!(nearest("leese"), ["lease"]);
        assert_eq!(nearest("view.asci"), ["view.ascii"]);
        assert_eq!(nearest("veiw.ascii"), ["view.ascii"]);
        assert_eq!(nearest("max_continuation"), ["keep_going.max_continuations"]);
        assert_eq!(nearest("view"), ["view.clear_delay", "view.ascii", "view.color"]);
        assert_eq!(nearest("agents.codex.keep_going.enable"), ["agents.codex.keep_going.enabled"]);
        assert_eq!(nearest("zzzzzzzzzz"), [""; 0]);
    }
}

//! The reference of all settings, made from the table.

use super::{Authority, KEYS};

const HEAD: &str = "\
# Configuration

Made from the table in `crates/punch-engine/src/config/table.rs`; a test compares the two.

A setting comes from the first of these that has it:

1. a flag of the command,
2. an environment variable,
3. the project: `config.toml` beside the store (`punch config set KEY VALUE`),
4. the user: `~/.config/punch/config.toml` (`punch config set --user KEY VALUE`),
5. the default.

`punch config show` prints every setting with its source. Files are TOML: `lease = \"15m\"`, or a section `[view]` with
`ascii = true` below it. An unknown name or a wrong value is an error that names file and line; it is never skipped.
Every setting has a variable: `PUNCH_` and its name in capitals with `_` for `.`. An empty variable says nothing.
Durations are numbers with `d`, `h`, `m`, `s`, `ms`, long units first: `1h30m`.

Settings marked with ! hold a command or loosen a check. In the project's file they count only once you have set them with
`punch config set`, which approves the value; otherwise they are ignored with a warning. A `policy.verify` that is at least as
strict as what counts without it needs no approval. Inside an agent, `punch config` refuses to change settings marked with !
or +, and a variable for a setting marked with ! is ignored unless it tightens a check. [Decision 20](decisions/0020-who-may-make-a-command-run.md) has the reasons.

Settings marked with * can be given for one agent: `agents.NAME.keep_going.enabled`, a section
`[agents.NAME.keep_going]`, or `PUNCH_AGENTS_NAME_KEEP_GOING_ENABLED`. NAME has lower-case letters, digits and `-`
(`_` in the variable). Inside one source the agent's own wins; an earlier source wins over a later one all the same, so
that `PUNCH_KEEP_GOING=0` stops every agent.

";

/// The text of `docs/config.md`.
pub fn docs() -> String {
    let mut out = HEAD.to_owned();
    out.push_str("| setting | default | takes | variables | meaning |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let star = if key.per_agent() { " *" } else { "" };
        let guard = match key.authority {
            Authority::Anyone => "",
            Authority::User => " +",
            Authority::Approval { .. } => " !",
        };
        let default = if key.default.is_empty() { "not set".to_owned() } else { format!("`{}`", key.default) };
        let variables: Vec<String> = key.env().iter().map(|name| format!("`{name}`")).collect();
        let cells = [format!("`{}`{star}{guard}", key.name), default, key.expected(), variables.join(", ")];
        out.push_str(&format!("| {} | {} |\n", cells.join(" | "), key.doc.trim()));
    }
    out
}

//! `docs/config.md`, generated from the table of settings.

use super::{Authority, KEYS, Key};

const HEAD: &str = "\
# Configuration

This page is generated from `crates/punch-engine/src/config/table.rs`; a test keeps the two in step.

Punchlist takes each setting from the first of these places that has it:

1. a flag of the command
2. an environment variable
3. the project: `config.toml` beside the store (`punch config set KEY VALUE`)
4. your own settings: `~/.config/punch/config.toml` (`punch config set --user KEY VALUE`)
5. the default

`punch config show` prints every setting, its value and where the value comes from.

Files are TOML: `lease = \"15m\"`, or a section `[view]` with `ascii = true` below it. An unknown name or an invalid value is an
error that names the file and the line. Durations combine numbers with `d`, `h`, `m`, `s` and `ms`: `90s`, `15m`, `1h30m`.

Every setting has an environment variable: `PUNCH_` and the name in capitals, with `_` for `.`, so `run.max_cost` is
`PUNCH_RUN_MAX_COST`. `PUNCH_KEEP_GOING` and `PUNCH_MAX_CONTINUATIONS` are short for `PUNCH_KEEP_GOING_ENABLED` and
`PUNCH_KEEP_GOING_MAX_CONTINUATIONS`. Empty variables are ignored.

## Marks

- `!` The setting holds a command or can loosen a check. In the project's file it counts only after you have set it with
  `punch config set`, which also approves the value; otherwise Punchlist ignores it with a warning. A `policy.verify` that is at
  least as strict as your own needs no approval. An environment variable for such a setting is ignored inside an agent, unless it
  tightens a check.
- `+` Only you can change the setting: inside an agent, `punch config` refuses. The same holds for `!`.
  [Decision 20](decisions/0020-who-may-make-a-command-run.md) gives the reasons.
- `*` The setting can be given for one agent: `agents.NAME.keep_going.enabled`, a section `[agents.NAME.keep_going]`, or
  `PUNCH_AGENTS_NAME_KEEP_GOING_ENABLED`. Within one place the agent's own value wins. An earlier place still wins over a later
  one, so `PUNCH_KEEP_GOING=0` applies to every agent.
";

/// Headings, each with the settings whose names begin like this.
const SECTIONS: &[(&str, &[&str])] = &[
    ("General", &["owner", "plan", "plans", "lease", "store.", "subagents", "tools."]),
    ("Display", &["view."]),
    ("Auto-continue and reminders", &["keep_going.", "reminders."]),
    ("Checks and checkpoints", &["policy.verify", "verify.", "checkpoint."]),
    ("Rules", &["policy."]),
    ("Limits", &["limits."]),
    ("Runs", &["run.", "worker.", "notify."]),
];

/// Returns the text of `docs/config.md`.
pub fn docs() -> String {
    let mut out = HEAD.to_owned();
    let mut left: Vec<&Key> = KEYS.iter().collect();
    for (title, prefixes) in SECTIONS {
        let belongs = |key: &&Key| {
            let fits =
                |prefix: &&str| *key.name == **prefix || (prefix.ends_with('.') && key.name.starts_with(*prefix));
            prefixes.iter().any(fits)
        };
        let (own, others): (Vec<&Key>, Vec<&Key>) = left.into_iter().partition(belongs);
        out.push_str(&section(title, &own));
        left = others;
    }
    // A new setting that fits no heading is still listed.
    if !left.is_empty() {
        out.push_str(&section("Other", &left));
    }
    out
}

fn section(title: &str, keys: &[&Key]) -> String {
    let mut out = format!("\n## {title}\n\n| setting | default | takes | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let star = if key.per_agent() { " *" } else { "" };
        let guard = match key.authority {
            Authority::Anyone => "",
            Authority::User => " +",
            Authority::Approval { .. } | Authority::OwnFile => " !",
        };
        let default = if key.default.is_empty() { "not set".to_owned() } else { format!("`{}`", key.default) };
        let cells = [format!("`{}`{star}{guard}", key.name), default, key.expected()];
        out.push_str(&format!("| {} | {} |\n", cells.join(" | "), key.doc.trim()));
    }
    out
}

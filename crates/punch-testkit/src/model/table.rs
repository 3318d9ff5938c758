//! The transition table of docs/rules.md as data: rows of ops, rows of checks, and the words they use.

use std::sync::LazyLock;

use crate::ask::ModelStatus;

const RULES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md"));

/// What a row asks for under *if*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A fact about the todo and the op that holds, or does not.
    Fact(&'static str, bool),
    /// A policy has one of these values.
    Policy(&'static str, Vec<&'static str>),
}

/// One row: of an op, or of a check.
#[derive(Clone, Debug)]
pub struct TransitionRow {
    /// The op or the check.
    pub name: &'static str,
    /// The statuses it applies to.
    pub statuses: Vec<ModelStatus>,
    /// What must hold besides.
    pub conditions: Vec<Condition>,
    /// Checks to be passed, in order; none for a row of a check.
    pub checks: Vec<&'static str>,
    /// The status, the refusal or the answer.
    pub then: &'static str,
    /// What else happens.
    pub effects: Vec<&'static str>,
    /// The event in the log, if the todo changes.
    pub event: &'static str,
}

impl TransitionRow {
    /// The code of the refusal, if the row refuses.
    pub fn refusal(&self) -> Option<&'static str> {
        self.then.strip_prefix("refused `")?.strip_suffix('`')
    }

    /// The answer of a check without its warning, and the warning.
    pub fn answer(&self) -> (&'static str, Option<&'static str>) {
        let warned = self.then.split_once(", warns `");
        warned.map_or((self.then, None), |(answer, warning)| (answer, warning.strip_suffix('`')))
    }

    /// Returns true if the row applies: `fact` and `policy` answer for what is named under *if*.
    pub fn applies(
        &self,
        status: ModelStatus,
        fact: impl Fn(&str) -> bool,
        policy: impl Fn(&str) -> &'static str,
    ) -> bool {
        self.statuses.contains(&status)
            && self.conditions.iter().all(|condition| match condition {
                Condition::Fact(name, holds) => fact(name) == *holds,
                Condition::Policy(name, values) => values.contains(&policy(name)),
            })
    }
}

/// The tables of the section "Transitions".
#[derive(Debug, Default)]
pub struct TransitionTables {
    /// What ops do.
    pub ops: Vec<TransitionRow>,
    /// What checks answer.
    pub checks: Vec<TransitionRow>,
    /// The words that are explained: conditions, then effects.
    pub explained: Vec<&'static str>,
}

/// The table, read once.
pub static TABLE: LazyLock<TransitionTables> = LazyLock::new(|| {
    let (_, section) = RULES.split_once("\n## Transitions\n").unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut table = TransitionTables::default();
    // The first two lines of a table are its head.
    for rows in section.split("\n\n").filter(|part| part.starts_with('|')).map(|part| part.lines().skip(2)) {
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            match cells[..] {
                [name, status, conditions, checks, then, effects, event] => table.ops.push(TransitionRow {
                    checks: list(checks),
                    effects: list(effects),
                    event,
                    ..read(name, status, conditions, then)
                }),
                [name, status, conditions, then] => table.checks.push(read(name, status, conditions, then)),
                [word, _] => table.explained.push(word),
                _ => panic!("docs/rules.md: a row with {} cells: {row}", cells.len()),
            }
        }
    }
    table
});

fn list(cell: &'static str) -> Vec<&'static str> {
    cell.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
}

fn read(name: &'static str, statuses: &'static str, conditions: &'static str, then: &'static str) -> TransitionRow {
    let status = |word: &str| ModelStatus::named(word).unwrap_or_else(|| panic!("docs/rules.md: no status `{word}`"));
    let condition = |text: &'static str| match (text.split_once('='), text.strip_prefix("not ")) {
        (Some((policy, values)), _) => Condition::Policy(policy, values.split('/').collect()),
        (None, Some(fact)) => Condition::Fact(fact, false),
        (None, None) => Condition::Fact(text, true),
    };
    TransitionRow {
        name,
        statuses: match statuses {
            "any" => ModelStatus::ALL.to_vec(),
            words => list(words).into_iter().map(status).collect(),
        },
        conditions: list(conditions).into_iter().map(condition).collect(),
        checks: Vec::new(),
        then,
        effects: Vec::new(),
        event: "",
    }
}

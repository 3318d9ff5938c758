//! The parameters of the simulated model, with where each figure comes from.

/// How a simulated model behaves. Every field but the name is a probability.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub name: &'static str,
    /// Wants to stop after a todo although others are open.
    pub stop: f64,
    /// Calls a todo done that is not.
    pub falsely: f64,
    /// Remembers an open todo over a compaction.
    pub remember: f64,
    /// Forgets to tick a todo that it did.
    pub untick: f64,
    /// A todo needs the user.
    pub user: f64,
    /// Repairs the work when it learns which check fails.
    pub repair: f64,
    /// Runs a check when it is asked to.
    pub check: f64,
    /// A check that the model chooses itself reveals false work.
    pub reveal: f64,
}

pub const STRONG: Profile = Profile {
    name: "strong",
    stop: 0.025,
    falsely: 0.10,
    remember: 0.60,
    untick: 0.05,
    user: 0.05,
    repair: 0.8,
    check: 0.8,
    reveal: 0.9,
};

pub const MIDDLE: Profile = Profile {
    name: "middle",
    stop: 0.10,
    falsely: 0.25,
    remember: 0.30,
    untick: 0.10,
    user: 0.05,
    repair: 0.7,
    check: 0.6,
    reveal: 0.8,
};

pub const WEAK: Profile = Profile {
    name: "weak",
    stop: 0.25,
    falsely: 0.35,
    remember: 0.07,
    untick: 0.15,
    user: 0.05,
    repair: 0.5,
    check: 0.4,
    reveal: 0.7,
};

pub const PROFILES: [Profile; 3] = [STRONG, MIDDLE, WEAK];

/// Tokens that a turn adds, and that fit into the context.
pub const TURN: usize = 2_500;
pub const WINDOW: usize = 120_000;
/// Tokens of the context after a compaction.
pub const COMPACTED: usize = 10_000;
/// Turns of a todo on average, of a repair, and of getting to know the code in a new context.
pub const TURNS_PER_TODO: f64 = 3.0;
pub const TURNS_PER_REPAIR: u32 = 2;
/// Probability with which a judge that is a model tells false work from true work.
pub const JUDGE: f64 = 0.61;

/// One parameter that a sweep scales.
pub struct Parameter {
    pub name: &'static str,
    pub meaning: &'static str,
    pub source: &'static str,
    pub field: fn(&mut Profile) -> &mut f64,
}

pub const PARAMETERS: [Parameter; 8] = [
    Parameter {
        name: "stop",
        meaning: "wants to stop after a todo although others are open",
        source: "declared done at 40 of 527 (parkjunwoo.com); 3–4 of 15–16 tasks (mikeyobrien/ralph-orchestrator#123); 2 of 6 (opencli#150)",
        field: |profile| &mut profile.stop,
    },
    Parameter {
        name: "false",
        meaning: "calls a todo done that is not",
        source: "about 13 % of micro-tasks for cheap models (IOV Labs, June 2026) to 30–40 % of 1,000 items (loadsys, March 2026)",
        field: |profile| &mut profile.falsely,
    },
    Parameter {
        name: "remember",
        meaning: "remembers an open todo over a compaction",
        source: "recall of 0–7 % in the compacted zone, 39–68 % elsewhere (Lost in Compaction, May 2026)",
        field: |profile| &mut profile.remember,
    },
    Parameter {
        name: "untick",
        meaning: "forgets to tick a todo that it did",
        source: "reported in microsoft/vscode#314703 and anthropics/claude-code#37646; the rate is a guess",
        field: |profile| &mut profile.untick,
    },
    Parameter { name: "user", meaning: "a todo needs the user", source: "a guess", field: |profile| &mut profile.user },
    Parameter {
        name: "repair",
        meaning: "repairs the work when it learns which check fails",
        source: "5–6 rounds of fixes for 30–40 % absent items (loadsys, March 2026)",
        field: |profile| &mut profile.repair,
    },
    Parameter {
        name: "check",
        meaning: "runs a check when it is asked to",
        source: "fixed before the first run of this benchmark",
        field: |profile| &mut profile.check,
    },
    Parameter {
        name: "reveal",
        meaning: "a check that the model chooses itself reveals false work",
        source: "fixed before the first run of this benchmark",
        field: |profile| &mut profile.reveal,
    },
];

impl Parameter {
    /// A profile with this parameter multiplied; a probability stays one.
    pub fn scaled(&self, mut profile: Profile, factor: f64) -> Profile {
        let value = (self.field)(&mut profile);
        *value = (*value * factor).min(1.0);
        profile
    }

    pub fn of(&self, mut profile: Profile) -> f64 {
        *(self.field)(&mut profile)
    }
}

//! What is measured, and what it may cost.

/// Growth is promised from the smallest size up to here; beyond, the caches decide and not the algorithm.
pub const GROWTH_TO: u32 = 100_000;

/// One row of the table for each size.
pub struct Case {
    /// For people.
    pub title: &'static str,
    /// `shape/operation` for the bench program.
    pub case: &'static str,
    /// Todos in the plan.
    pub sizes: &'static [u32],
    /// Engines to compare with.
    pub against: &'static [&'static str],
    /// At most so many instructions an operation.
    pub limit: Option<f64>,
    /// At most so many times those of the smallest size.
    pub growth: Option<f64>,
    /// At most so many bytes a todo.
    pub bytes: Option<f64>,
}

impl Case {
    /// The target of one row in words.
    pub fn target(&self, size: u32) -> String {
        let mut out = Vec::new();
        out.extend(self.limit.map(|limit| format!("<= {limit}")));
        out.extend(self.growth.filter(|_| size <= GROWTH_TO).map(|growth| format!("<= {growth} x 1k")));
        out.extend(self.bytes.map(|bytes| format!("<= {bytes} B")));
        out.join(", ")
    }
}

const ALL: &[u32] = &[1_000, 10_000, 100_000, 1_000_000];
const MOST: &[u32] = &[1_000, 10_000, 100_000];
const BOTH: &[&str] = &["naive", "petgraph"];
const NONE: Case = Case { title: "", case: "", sizes: MOST, against: BOTH, limit: None, growth: None, bytes: None };

/// The whole table.
pub const CASES: &[Case] = &[
    Case { title: "build, layers", case: "layers/build", sizes: ALL, limit: Some(500.0), bytes: Some(120.0), ..NONE },
    Case {
        title: "complete one, layers",
        case: "layers/complete",
        sizes: ALL,
        limit: Some(400.0),
        growth: Some(1.5),
        ..NONE
    },
    Case { title: "complete one, take next, layers", case: "layers/take", growth: Some(1.5), ..NONE },
    Case { title: "complete one, mixed priorities", case: "mixed/complete", ..NONE },
    Case { title: "complete the last one, layers", case: "layers/last", against: &[], ..NONE },
    Case { title: "complete one, chain", case: "chain/complete", ..NONE },
    Case { title: "complete one, all wait for one", case: "hub/complete", ..NONE },
    Case { title: "complete one, one waits for all", case: "sink/complete", ..NONE },
    Case {
        title: "append with 3 dependencies",
        case: "layers/append",
        limit: Some(2_500.0),
        growth: Some(1.5),
        bytes: Some(120.0),
        ..NONE
    },
    Case { title: "add an edge, neighbours", case: "layers/near", ..NONE },
    Case { title: "add an edge, any two todos", case: "layers/edge", ..NONE },
    Case { title: "whole apply, events: complete one", case: "layers/apply", against: &[], ..NONE },
];

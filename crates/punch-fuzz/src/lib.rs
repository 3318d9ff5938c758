//! What must hold for any bytes at every place where Punchlist reads something from outside. Each target has one body:
//! cargo-fuzz drives it with coverage (`fuzz/`), the program of this crate without, and a test runs it for a moment in the
//! gate. An input that once failed stays in `fuzz/seeds`, where all three find it.
#![expect(clippy::expect_used, reason = "a body fails by panicking")]

mod targets;

use std::fs;
use std::path::{Path, PathBuf};

use punch_testkit::fuzz::mutated;

/// One edge.
pub struct FuzzTarget {
    /// The name, also of its folder of seeds and of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// What is read there.
    pub about: &'static str,
    /// Panics if the bytes lead to anything but an answer.
    pub run: fn(&[u8]),
}

/// Every edge.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "phases", about: "calls of the phases dialect", run: targets::dialect::phases },
    FuzzTarget {
        name: "phases_markdown",
        about: "Markdown of the phases dialect",
        run: targets::dialect::phases_markdown,
    },
    FuzzTarget {
        name: "phases_commands",
        about: "commands of the phases dialect",
        run: targets::dialect::phases_commands,
    },
    FuzzTarget { name: "cursor", about: "calls of the cursor dialect", run: targets::dialect::cursor },
    FuzzTarget { name: "todowrite", about: "calls of the todowrite dialect", run: targets::dialect::todowrite },
    FuzzTarget { name: "extended", about: "calls of the extended dialect", run: targets::dialect::extended },
    FuzzTarget { name: "native", about: "calls of our own tools", run: targets::dialect::native },
    FuzzTarget { name: "import", about: "files in every format of import", run: targets::files::import },
    FuzzTarget { name: "plan_file", about: "linked plan files, and edits of them", run: targets::files::plan_file },
    FuzzTarget { name: "markdown", about: "Markdown that the web board shows", run: targets::files::markdown },
    FuzzTarget { name: "filter", about: "the filter language", run: targets::filter::filter },
    FuzzTarget { name: "hook", about: "reports of every agent's hooks", run: targets::hook::hook },
    FuzzTarget { name: "agent_output", about: "output of agents that a run drives", run: targets::agent::agent_output },
    FuzzTarget { name: "acp", about: "frames of the Agent Client Protocol", run: targets::agent::acp },
    FuzzTarget { name: "mcp", about: "frames of the MCP server", run: targets::mcp::mcp },
    FuzzTarget { name: "http", about: "requests to the HTTP API", run: targets::http::http },
    FuzzTarget { name: "store", about: "stores with changed bytes", run: targets::store::store },
];

/// Runs the target of a name.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of that name");
    (target.run)(bytes);
}

/// The inputs that are checked in for a target, by path.
pub fn seeds(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name);
    let mut out: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.path(), fs::read(entry.path()).ok()?)))
        .collect();
    out.sort();
    out
}

/// Inputs without end, made from the seeds of a target: some as they are, most of them changed. One number gives one row.
pub struct FuzzInputs {
    seeds: Vec<Vec<u8>>,
    state: u64,
}

impl FuzzInputs {
    /// The row of a number.
    pub fn new(name: &str, seed: u64) -> Self {
        let mut seeds: Vec<Vec<u8>> = seeds(name).into_iter().map(|(_, bytes)| bytes).collect();
        seeds.push(Vec::new());
        Self { seeds, state: seed }
    }

    fn draw(&mut self) -> u64 {
        // The upper half of a linear congruence: enough for choices.
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state >> 32
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let length = self.draw() % (most + 1);
        (0..length).map(|_| self.draw().to_le_bytes()[0]).collect()
    }
}

impl Iterator for FuzzInputs {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if self.draw().is_multiple_of(8) {
            return Some(self.bytes(200));
        }
        let which = usize::try_from(self.draw()).unwrap_or_default() % self.seeds.len();
        let choices = self.bytes(40);
        Some(mutated(&self.seeds[which], &choices))
    }
}

//! Building the bench program and counting its instructions.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::tools;

/// The built bench program.
pub struct Bench {
    program: PathBuf,
}

/// What one run counted.
pub struct Count {
    instructions: u64,
    ops: u64,
    /// Bytes of the whole plan, if reported.
    pub bytes: Option<u64>,
}

impl Count {
    pub fn per_op(&self) -> f64 {
        self.instructions as f64 / self.ops.max(1) as f64
    }
}

impl Bench {
    /// Builds it, and makes sure that there is something to count with.
    pub fn build() -> Result<Self, String> {
        tools::install("valgrind", "valgrind")?;
        let output = Command::new(env!("CARGO"))
            .args(["bench", "-p", "punch-core", "--bench", "graph_cost", "--no-run", "--message-format=json"])
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cargo does not start: {e}"))?;
        let lines = String::from_utf8_lossy(&output.stdout);
        let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let built = messages
            .filter(|message| message["target"]["name"] == "graph_cost")
            .find_map(|message| message["executable"].as_str().map(PathBuf::from));
        built.map(|program| Self { program }).ok_or_else(|| "the bench program did not build".to_owned())
    }

    /// Runs one case; nothing if the engine does not know it.
    pub fn run(&self, engine: &str, case: &str, size: u32) -> Result<Option<Count>, String> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*graph_cost*measured*"])
            .arg(&self.program)
            .args([engine, case, &size.to_string()])
            .output()
            .map_err(|e| format!("valgrind does not start: {e}"))?;
        let (said, counted) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            return Err(format!("{engine} {case} {size} failed:\n{counted}"));
        }
        let value = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.parse().ok());
        let Some(ops) = value("ops=") else { return Ok(None) };
        let instructions = counted
            .lines()
            .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
            .filter(|count| *count > 0)
            .ok_or_else(|| format!("{engine} {case} {size}: nothing was counted:\n{counted}"))?;
        Ok(Some(Count { instructions, ops, bytes: value("bytes=") }))
    }
}

//! Counts for `docs/testing.md`, from the tree itself. The page states round numbers, so that a new test does not have to
//! change it; the gate fails if the tree has fewer than stated, or has grown so much that the page is out of date.

use std::fmt::Write;
use std::fs;

use crate::{agents, faults, fuzz, process, simulate, soak, sources};

/// One row: what is counted, how many there are, and the command that runs them.
struct TestCount {
    what: &'static str,
    number: u64,
    command: &'static str,
}

/// The table for `docs/testing.md`.
pub fn table() -> Result<String, String> {
    let mut out = String::from("| what | at least | run with |\n|---|---:|---|\n");
    for count in counts()? {
        let _ = writeln!(out, "| {} | {} | `{}` |", count.what, rounded(count.number), count.command);
    }
    Ok(out)
}

/// Returns true if the stated numbers are neither above the real ones nor far below them.
pub fn holds(old: &str, _: &str) -> bool {
    let Ok(counts) = counts() else { return false };
    let rows: Vec<&str> = old.lines().skip(2).collect();
    rows.len() == counts.len()
        && rows.iter().zip(counts).all(|(row, count)| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [what, number, command] = cells[..] else { return false };
            let stated: u64 = number.replace(',', "").parse().unwrap_or(u64::MAX);
            let in_range = stated <= count.number && count.number <= stated + stated / 4 + 2;
            what == count.what && command.trim_matches('`') == count.command && in_range
        })
}

fn counts() -> Result<Vec<TestCount>, String> {
    let root = process::root();
    let (mut tests, mut properties) = (0, 0);
    for folder in ["crates", "xtask/src"] {
        for file in sources::rust_files(&root.join(folder))? {
            let text = fs::read_to_string(&file).map_err(|cause| format!("{}: {cause}", file.display()))?;
            let (all, drawn) = tests_in(&text);
            tests += all;
            properties += drawn;
        }
    }
    let files = |folder: &str| sources::entries(&root.join(folder)).map(|entries| entries.len() as u64);
    let decisions = files("docs/decisions")?.saturating_sub(1);
    Ok(vec![
        TestCount { what: "tests", number: tests, command: "cargo test --workspace" },
        TestCount {
            what: "of these, properties with random inputs",
            number: properties,
            command: "cargo xtask search",
        },
        TestCount {
            what: "fuzz targets",
            number: fuzz::targets()?.len() as u64,
            command: "cargo xtask fuzz --seconds 60",
        },
        TestCount {
            what: "processes killed in mid-write",
            number: u64::from(faults::ROUNDS),
            command: "cargo xtask faults",
        },
        TestCount {
            what: "simulated hours of fleets in every run of the gate",
            number: simulate::HOURS,
            command: "cargo xtask simulate",
        },
        TestCount {
            what: "writers at once, killed at random",
            number: soak::WRITERS.len() as u64,
            command: "cargo xtask soak",
        },
        TestCount { what: "real agents", number: agents::all_measured() as u64, command: "cargo xtask agents" },
        TestCount {
            what: "scenarios for real agents",
            number: files("xtask/scenarios")?,
            command: "cargo xtask agents --all",
        },
        TestCount { what: "decisions with their reasons", number: decisions, command: "ls docs/decisions" },
    ])
}

/// How many tests a file has, and how many of them draw random inputs.
fn tests_in(text: &str) -> (u64, u64) {
    let (mut tests, mut properties, mut block) = (0, 0, None);
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start().starts_with("proptest! {") {
            block = Some(indent);
        } else if block == Some(indent) && line.trim() == "}" {
            block = None;
        }
        if line.trim() == "#[test]" {
            tests += 1;
            properties += u64::from(block.is_some());
        }
    }
    (tests, properties)
}

/// The number rounded down to two digits.
fn rounded(number: u64) -> String {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    crate::compare::thousands(number / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_properties_are_counted() {
        let text =
            "#[test]\nfn a() {}\nproptest! {\n    #[test]\n    fn b(x in 0..9) {\n    }\n}\n#[test]\nfn c() {}\n";
        assert_eq!(tests_in(text), (3, 1));
    }

    #[test]
    fn numbers_are_rounded_down() {
        assert_eq!([rounded(7), rounded(31), rounded(500), rounded(1_973)], ["7", "31", "500", "1,900"]);
    }

    #[test]
    fn a_stated_number_may_be_a_little_low_and_never_high() {
        let now = table().unwrap_or_else(|cause| panic!("{cause}"));
        assert!(holds(&now, ""));
        assert!(!holds(&now.replace("| tests | ", "| tests | 9"), ""));
    }
}

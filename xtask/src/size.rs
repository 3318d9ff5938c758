//! `cargo xtask size`: lines of code per crate, and the largest files.

use std::collections::BTreeMap;

use crate::{TaskResult, shipped};

/// How many files are listed.
const LARGEST: usize = 12;

/// Prints both tables.
pub fn run() -> TaskResult {
    let mut sources = shipped::sources()?;
    let mut packages: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for source in &sources {
        let (files, lines) = packages.entry(&source.package).or_default();
        *files += 1;
        *lines += source.code.len();
    }
    println!("{:<16} {:>6} {:>8}", "crate", "files", "lines");
    for (package, (files, lines)) in &packages {
        println!("{package:<16} {files:>6} {lines:>8}");
    }
    let total: usize = packages.values().map(|(_, lines)| lines).sum();
    println!("{:<16} {:>6} {total:>8}", "total", sources.len());
    println!("\nLines of code without comments, blank lines and tests. The largest files:");
    sources.sort_by_key(|source| std::cmp::Reverse(source.code.len()));
    for source in sources.iter().take(LARGEST) {
        println!("{:>6} {}", source.code.len(), source.name);
    }
    Ok(())
}

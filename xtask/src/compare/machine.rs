//! The program, the place and the time that the figures belong to.

use std::fs;

use crate::process;

/// The date in UTC.
pub fn date() -> String {
    process::read(process::command("date").args(["-u", "+%F"]))
        .map_or_else(|_| "unknown".into(), |d| d.trim().to_owned())
}

/// The commit that `punch` was built from. Of a program that was given, only its user knows it.
pub fn source(is_given: bool) -> String {
    let git = |words: &[&str]| process::read(process::command("git").args(words)).map(|said| said.trim().to_owned());
    match (is_given, git(&["rev-parse", "--short=12", "HEAD"]), git(&["status", "--porcelain"])) {
        (true, ..) => "a program that was built before".to_owned(),
        (false, Ok(commit), Ok(changes)) if changes.is_empty() => format!("commit {commit}"),
        (false, Ok(commit), _) => format!("commit {commit} with changes"),
        (false, Err(_), _) => "an unknown commit".to_owned(),
    }
}

/// Processor, cores, memory and kernel, as far as the system says.
pub fn description() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let value = |text: &str, key: &str| {
        text.lines().find(|line| line.starts_with(key)).and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()))
    };
    let model = value(&cpu, "model name").unwrap_or_else(|| "unknown processor".into());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = value(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or_else(|| "unknown memory".into(), |kilobytes| format!("{:.0} GiB", kilobytes as f64 / 1024.0 / 1024.0));
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{model}, {cores} cores, {memory}, Linux {}", kernel.trim())
}

//! `cargo xtask chaos`: what happens when everything around the program fails. Without `--workers`, the writers of the soak
//! on a PostgreSQL server that crashes, hangs and fills up; with it, workers of a fleet on machines that are cut off, killed
//! and stopped.

mod fleet;
mod network;
mod random_faults;
mod server;
mod workers;

use crate::{TaskResult, process, soak};

/// Runs one of the two.
pub fn run(arguments: &[&str]) -> TaskResult {
    let (with_workers, options) = parse(arguments)?;
    // A copy, so that builds can run at the same time.
    let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let punch = folder.path().join("punch");
    std::fs::copy(process::build_punch()?, &punch).map_err(|cause| cause.to_string())?;
    if with_workers { workers::run(&punch, &options) } else { server::run(&punch, &options) }
}

/// Reads the arguments: whether workers are asked for, and the rest as for the soak.
fn parse(arguments: &[&str]) -> Result<(bool, soak::SoakOptions), String> {
    let rest: Vec<&str> = arguments.iter().copied().filter(|argument| *argument != "--workers").collect();
    Ok((rest.len() < arguments.len(), soak::parse(&rest)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_asked_for_at_any_place() {
        let asked = parse(&["--minutes", "2", "--workers", "--seed", "7"]);
        assert_eq!(
            asked.map(|(workers, options)| (workers, options.length.as_secs(), options.seed)),
            Ok((true, 120, Some(7)))
        );
        assert_eq!(parse(&[]).map(|(workers, _)| workers), Ok(false));
        assert!(parse(&["--workers", "2"]).is_err());
    }
}

//! What only the user may do: approve commands, start runs, change guarded settings, use `--force`, disconnect agents,
//! and archive or prune whole plans. Otherwise an agent that may run `punch` could run anything through it, or be done
//! by emptying the plan. A program that hides the marks of its agent is not stopped here; it acts with the user's
//! rights and needs no help from us (decision 0020).

use clap::ArgMatches;
use punch_engine::EngineError;

use crate::environment;
use crate::failure::Failure;

/// Refuses inside an agent. `what` completes "only the user can".
pub fn only_user(what: &str) -> Result<(), Failure> {
    let Some(mark) = environment::inside_agent() else { return Ok(()) };
    let message = format!("only the user can {what}, but this shell belongs to an agent (`{}` is set)", mark.variable);
    Err(Failure::refused("user_only", message, "ask the user to run this command in their own terminal"))
}

/// Refuses to choose work or plans inside an agent of a run: the runner does that.
pub fn only_outside_runs(what: &str) -> Result<(), Failure> {
    if environment::session_file().is_none() {
        return Ok(());
    }
    Err(EngineError::NotAllowed { what: what.to_owned() }.into())
}

/// Refuses `--force` of any verb inside an agent.
pub fn only_user_forces(matches: &ArgMatches) -> Result<(), Failure> {
    let mut verb = Some(matches);
    while let Some(matches) = verb {
        if matches.try_get_one::<bool>("force").is_ok_and(|force| force == Some(&true)) {
            return only_user("use `--force`");
        }
        verb = matches.subcommand().map(|(_, below)| below);
    }
    Ok(())
}

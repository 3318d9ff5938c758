//! Shells of agents, which may run `punch`: every mark with everything that only the user may do.

use super::Cell;
use super::world::EscapeWorld;
use crate::TaskResult;

/// Variables that mark the shell of an agent that Punchlist started.
const OWN_MARKS: [&str; 2] = ["PUNCH_SESSION_FILE", "PUNCH_ASSIGNED"];

/// All cells of this kind.
pub fn cells() -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for mark in punch_agents::marks().map(|mark| mark.variable).chain(OWN_MARKS) {
        let who = "agent's shell";
        cells.push(Cell::held(who, format!("{mark}: run, verify --allow, --force, keep-going"), move |world| {
            acts(world, &[(mark, "1")])
        }));
        cells.push(Cell::held(who, format!("{mark}: config set and unset of every guarded setting"), move |world| {
            settings(world, &[(mark, "1")])
        }));
    }
    cells.push(Cell::runs("control", "PUNCH_OWNER and PUNCH_PLAN are the user's too", |world| {
        let own = [("PUNCH_OWNER", "me"), ("PUNCH_PLAN", "main")];
        world.ok("repo", &["add", "Do it"])?;
        let agent = format!("exec:{}", world.touch());
        world.punch_with("repo", &["run", "--agent", &agent], &own).map(drop)
    }));
    cells
}

fn acts(world: &EscapeWorld, mark: &[(&str, &str)]) -> TaskResult {
    world.ok("repo", &["add", "Do it", "--verify", &world.touch()])?;
    let saved = world.ok("repo", &["checkpoint", "save"])?;
    let id = saved.split_whitespace().next().unwrap_or("latest").trim_end_matches(':').to_owned();
    let agent = format!("exec:{}", world.touch());
    for verb in [
        &["run", "--agent", &agent][..],
        &["verify", "--allow", "T-1"],
        &["checkpoint", "restore", &id, "--force"],
        &["store", "backup", "copy.db", "--force"],
        &["keep-going", "off"],
    ] {
        world.refused("repo", verb, mark, "user_only")?;
    }
    world.refused("repo", &["verify", "T-1"], mark, "needs_consent")?;
    world.refused("repo", &["run", "--agent", "exec:true"], &[], "needs_consent")
}

fn settings(world: &EscapeWorld, mark: &[(&str, &str)]) -> TaskResult {
    world.ok("repo", &["add", "Do it"])?;
    let all = world.ok("repo", &["config", "show", "--json"])?;
    let all: serde_json::Value = serde_json::from_str(&all).map_err(|cause| cause.to_string())?;
    let rows = all["settings"].as_array().cloned().unwrap_or_default();
    let sections = ["policy.verify", "run.", "keep_going.", "notify.", "verify.plan", "worker."];
    let guarded = |key: &&str| sections.iter().any(|section| key.starts_with(section));
    let keys: Vec<&str> = rows.iter().filter_map(|row| row["key"].as_str()).filter(guarded).collect();
    if keys.len() < 20 {
        return Err(format!("only {} guarded settings were found", keys.len()));
    }
    for key in keys.into_iter().chain(["agents.claude.keep_going.enabled"]) {
        world.refused("repo", &["config", "set", key, "1"], mark, "user_only")?;
        world.refused("repo", &["config", "unset", "--user", key], mark, "user_only")?;
    }
    let set = world.punch_with("repo", &["config", "set", "view.ascii", "true"], mark)?;
    if set.exit == Some(0) { Ok(()) } else { Err(format!("an agent cannot set view.ascii: {}", set.err)) }
}

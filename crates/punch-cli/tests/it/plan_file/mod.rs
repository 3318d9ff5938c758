//! `punch plan-file` in a real project, from every dialect.

mod shared;
mod watching;

use std::fs;

use crate::world::World;

pub const FILE: &str = "---\nname: Release # ours\ntodos:\n  - id: build\n    content: Build it\n    status: pending\n  \
                        # slow\n  - id: ship\n    content: \"Ship it\"\n    status: 'pending'\n    dependencies: [build]\n\
                        ---\n\n# Notes\n\nKeep me.\n";

/// A git project with a plan file that is linked and committed.
pub fn linked() -> World {
    let world = World::with_git();
    fs::write(world.project.join("a.plan.md"), FILE).unwrap();
    world.git(&["add", "a.plan.md"]);
    world.git(&["commit", "-q", "-m", "plan"]);
    world.ok(&["plan-file", "link", "a.plan.md"]);
    world
}

pub fn text(world: &World) -> String {
    fs::read_to_string(world.project.join("a.plan.md")).unwrap()
}

/// The changed lines that git sees.
pub fn diff(world: &World) -> String {
    let diff = world.git(&["diff", "-U0", "a.plan.md"]);
    let changed = |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---");
    diff.lines().filter(changed).map(|line| format!("{line}\n")).collect()
}

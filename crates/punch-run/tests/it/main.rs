//! The runner against the world: real git, real processes.

mod worktree;

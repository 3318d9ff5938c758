//! Connects agents by their configuration files: what would change, the record of what was done, and the writing, all
//! or nothing. `punch_serve::wiring` decides what goes into the files.

mod asking;
mod carry;
mod change;
mod decide;
mod exclude;
mod file;
mod inspect;
mod place;
mod record;
mod step;
mod summary;
mod worktree;

pub use change::{ConnectRequest, ConnectionChange, Consent, Way};
pub use inspect::{Standing, WiringState, connected_agents, inspect, look, look_at, reachable, tools};
pub use place::{WiringForm, WiringPlace, found_agents};

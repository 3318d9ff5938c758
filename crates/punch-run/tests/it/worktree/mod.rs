//! Lanes on real git, in every state that a repository or an agent can leave things in.

mod agents_mess;
mod begin;
mod disk_full;
mod end;
mod links;
mod merging;
mod sandbox;
mod shared;

//! The terminal board of Punchlist: a model that turns input into requests (`board`), drawn apart from it (`draw`), filled
//! from the store (`feed`), with a thread that carries requests out (`worker`). [`watch()`] connects them with a terminal.
//! No rule about todos is decided here.

mod board;
mod data;
mod draw;
mod feed;
mod frame;
mod keys;
mod look;
mod request;
mod setup;
mod terminal;
mod timeline;
mod watch;
mod worker;

pub use frame::frame;
pub use look::{BoardLook, BoardShape};
pub use setup::{BoardLane, BoardSetup, BoardStore, NewWindow};
pub use watch::watch;

#[cfg(test)]
mod tests;

//! Tests of the board as a value: sequences of inputs, and pictures.

mod answers;
mod fleet;
mod graph;
mod keys;
mod looking;
mod model;
mod mouse;
mod news;
mod pictures;
mod prompts;
mod recovery;
mod scene;
mod waiting;

//! Tests of the board as a value: sequences of inputs, and pictures.

mod answers;
mod keys;
mod model;
mod pictures;
mod scene;

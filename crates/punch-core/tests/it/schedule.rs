//! Schedules: invariants by an independent checker, level scheduling beside a plain model, and what the orders gain.

mod cases;
mod check;
mod level;
mod next;
mod scene;

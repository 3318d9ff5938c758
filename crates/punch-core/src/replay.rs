//! Replays recorded calls on a fresh plan.

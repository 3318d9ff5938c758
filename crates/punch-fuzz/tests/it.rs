//! The fuzz bodies for a moment on stable: every checked-in seed, and some changed ones, always the same.

use punch_fuzz::{FuzzInputs, TARGETS, seeds};

/// Inputs of a target with a server or a file behind each; and of one that only reads.
const INPUTS: [(&str, usize); 2] = [("http", 30), ("store", 40)];
const PLAIN: usize = 150;

#[test]
fn every_seed_and_some_changed_ones_lead_to_an_answer_at_every_edge() {
    for target in TARGETS {
        for (path, bytes) in seeds(target.name) {
            println!("{}", path.display());
            (target.run)(&bytes);
        }
        let count = INPUTS.iter().find(|(name, _)| *name == target.name).map_or(PLAIN, |(_, count)| *count);
        FuzzInputs::new(target.name, 1).take(count).for_each(|input| (target.run)(&input));
    }
}

#[test]
fn every_edge_has_seeds() {
    for target in TARGETS {
        assert!(!seeds(target.name).is_empty(), "fuzz/seeds/{} is empty", target.name);
    }
}

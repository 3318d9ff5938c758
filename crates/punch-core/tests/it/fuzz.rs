//! The fuzz bodies for a moment on stable: random bytes and mutated examples at every dialect.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use punch_core::replay::{Recording, line};
use punch_testkit::fuzz::{body, mutated};

fn answer(recording: Recording) -> impl Fn(&[u8]) -> serde_json::Value {
    move |bytes| line(recording, bytes).json
}

/// Strings of random bytes, always the same ones.
fn random(count: usize) -> Vec<Vec<u8>> {
    let mut runner = TestRunner::deterministic();
    let bytes = proptest::collection::vec(proptest::num::u8::ANY, 0..200);
    (0..count).map(|_| bytes.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn random_bytes_are_answered_in_every_dialect() {
    for bytes in random(400) {
        for recording in Recording::ALL {
            body(recording.name(), &bytes, &answer(*recording));
        }
    }
}

#[test]
fn mutated_examples_are_answered_in_every_dialect() {
    let choices = random(40);
    for recording in Recording::ALL {
        let file = format!("{}/../../examples/{}.jsonl", env!("CARGO_MANIFEST_DIR"), recording.name());
        let text = std::fs::read_to_string(&file).unwrap();
        for example in text.split('\n').filter(|line| !line.is_empty()).take(6) {
            assert!(line(*recording, example.as_bytes()).readable, "{file}: {example}");
            for bytes in &choices {
                let bytes = mutated(example.as_bytes(), &bytes[..bytes.len().min(24)]);
                body(recording.name(), &bytes, &answer(*recording));
            }
        }
    }
}

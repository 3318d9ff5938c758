//! Any bytes at the `phases-markdown` dialect.
#![no_main]

use libfuzzer_sys::fuzz_target;
use punch_core::replay::{Recording, line};

fuzz_target!(|bytes: &[u8]| punch_testkit::fuzz::body("phases-markdown", bytes, &|l| line(Recording::PhasesMarkdown, l).json));

//! Any bytes at the `phases-commands` dialect.
#![no_main]

use libfuzzer_sys::fuzz_target;
use punch_core::replay::{Recording, line};

fuzz_target!(|bytes: &[u8]| punch_testkit::fuzz::body("phases-commands", bytes, &|l| line(Recording::PhasesCommands, l).json));

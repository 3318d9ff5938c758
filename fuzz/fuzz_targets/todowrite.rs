//! Any bytes at the `todowrite` dialect.
#![no_main]

use libfuzzer_sys::fuzz_target;
use punch_core::dialect::Dialect;
use punch_core::replay::line;

fuzz_target!(|bytes: &[u8]| punch_testkit::fuzz::body("todowrite", bytes, &|l| line(Dialect::Todowrite, l).json));

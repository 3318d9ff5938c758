//! Any bytes at the `extended` dialect.
#![no_main]

use libfuzzer_sys::fuzz_target;
use punch_core::dialect::Dialect;
use punch_core::replay::line;

fuzz_target!(|bytes: &[u8]| punch_testkit::fuzz::body("extended", bytes, &|l| line(Dialect::Extended, l).json));

//! Any bytes at the edge `filter`; its body is in `crates/punch-fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| punch_fuzz::run("filter", bytes));

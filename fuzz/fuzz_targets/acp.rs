//! Any bytes at the edge `acp`; its body is in `crates/punch-fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| punch_fuzz::run("acp", bytes));

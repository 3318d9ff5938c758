//! Any bytes at the edge `phases_markdown`; its body is in `crates/punch-fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| punch_fuzz::run("phases_markdown", bytes));

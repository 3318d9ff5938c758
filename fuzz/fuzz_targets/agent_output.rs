//! Any bytes at the edge `agent_output`; its body is in `crates/punch-fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| punch_fuzz::run("agent_output", bytes));

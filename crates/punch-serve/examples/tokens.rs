//! Counts tokens: reads a JSON array of texts from standard input and prints how many tokens o200k makes of them all.
//! `cargo xtask compare` uses it.
#![expect(clippy::print_stdout, reason = "the number is its answer")]

use std::io::{Error, Read};

fn main() -> Result<(), Error> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let texts: Vec<String> = serde_json::from_str(&input)?;
    let count = |text: &String| tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len();
    println!("{}", texts.iter().map(count).sum::<usize>());
    Ok(())
}

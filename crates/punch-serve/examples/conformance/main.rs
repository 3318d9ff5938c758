//! The fixture that the protocol's conformance suite talks to: its tools, resources and prompts behind our own HTTP
//! stack. Nothing of it is part of the program.
#![expect(clippy::print_stdout, reason = "the suite reads the address")]

mod handler;
mod inputs;
mod prompts;
mod tools;

use std::process::ExitCode;

use punch_serve::{Http, Log, loopback};

fn main() -> ExitCode {
    let given = std::env::args().nth(1).unwrap_or_else(|| "0".into());
    let served = loopback(&given).and_then(|address| {
        let http = Http { address, limit: 1 << 20 };
        http.serve(handler::Fixture::default, &Log::silent(), |address| println!("http://{address}/mcp"))
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

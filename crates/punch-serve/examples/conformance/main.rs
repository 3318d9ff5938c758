//! The fixture that the protocol's conformance suite talks to: its tools, resources and prompts behind our own HTTP
//! stack. Nothing of it is part of the program.
#![expect(clippy::print_stdout, reason = "the suite reads the address")]

mod handler;
mod inputs;
mod prompts;
mod tools;

use std::path::Path;
use std::process::ExitCode;

use punch_serve::{Http, ServeLog, Token, loopback};

fn main() -> ExitCode {
    let given = std::env::args().nth(1).unwrap_or_else(|| "0".into());
    let path = std::env::args().nth(2).unwrap_or_else(|| "token".into());
    let token = match Token::read_or_create(Path::new(&path)) {
        Ok(token) => token,
        Err(error) => {
            println!("{}", error.message());
            return ExitCode::FAILURE;
        }
    };
    let served = loopback(&given).and_then(|address| {
        let http = Http { address, limit: 1 << 20, token };
        http.serve(handler::Fixture::default, &ServeLog::default(), |address| println!("http://{address}/mcp"))
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

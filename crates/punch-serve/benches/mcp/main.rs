//! `cargo xtask bench mcp`: what `punch mcp` costs in tokens, time and memory, beside a bare server of the same library.
//! PUNCH_BIN and BARE_BIN name the programs.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and fails by panicking")]

mod client;
mod session;
mod speed;

use std::process::ExitCode;

use punch_engine::call::Dialect;
use punch_serve::{ToolGroup, ToolOffers};

/// Collects what missed its target.
pub struct Report {
    missed: Vec<String>,
}

impl Report {
    /// One line: what, the number, its limit.
    pub fn row(&mut self, what: &str, value: f64, limit: f64, note: &str) {
        let good = value <= limit;
        println!("{what:<52} {value:>9.2}  limit {limit:>8.2}  {}{note}", if good { "met    " } else { "MISSED " });
        if !good {
            self.missed.push(what.to_owned());
        }
    }
}

/// Tokens as o200k counts them.
pub fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn offered(report: &mut Report) {
    let price = |offer: ToolOffers| offer.tools.iter().map(|tool| tokens(&tool.priced())).sum::<usize>() as f64;
    for dialect in &Dialect::ALL {
        let limit = if *dialect == Dialect::Extended { 500.0 } else { 450.0 };
        report.row(&format!("tokens offered, {}", dialect.name()), price(ToolOffers::new(*dialect, &[])), limit, "");
    }
    report.row(
        "tokens offered, native with claim",
        price(ToolOffers::new(Dialect::Native, &[ToolGroup::Claim])),
        550.0,
        "",
    );
}

fn main() -> ExitCode {
    let mut report = Report { missed: Vec::new() };
    offered(&mut report);
    session::run(&mut report);
    match (std::env::var("PUNCH_BIN"), std::env::var("BARE_BIN")) {
        (Ok(punch), Ok(bare)) => speed::run(&mut report, &punch, &bare),
        _ => println!("times are left out: PUNCH_BIN and BARE_BIN are not set"),
    }
    if report.missed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("targets missed: {}", report.missed.join(", "));
    ExitCode::FAILURE
}

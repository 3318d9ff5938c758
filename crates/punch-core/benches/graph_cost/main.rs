//! One measurement per process: `graph_cost ENGINE CASE SIZE` prints `ops=N` and, where it makes sense, `bytes=N`.
//! `cargo xtask bench core` runs it under callgrind, which counts instructions only inside [`measured`].
//!
//! Plain callgrind rather than a framework: the counts are the same, and there is no runner to install.

#![expect(clippy::print_stdout, reason = "a bench program reports to its caller")]

mod naive;
mod petgraph;
mod punch;
mod shape;

use shape::Shape;

/// The one function whose instructions count. Not inlined, or there would be no symbol to switch on.
#[inline(never)]
pub fn measured<R>(body: impl FnOnce() -> R) -> R {
    // Keeps the call from becoming a tail call, which callgrind would not see return.
    std::hint::black_box(body())
}

/// What a case reports.
pub struct Report {
    /// How many operations were measured.
    pub ops: usize,
    /// Bytes held for the whole plan, if it is known.
    pub bytes: Option<usize>,
}

impl From<usize> for Report {
    fn from(ops: usize) -> Self {
        Self { ops, bytes: None }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` and `cargo test --benches` start it without a case: nothing to do then.
    let [engine, case, size] = args.as_slice() else { return };
    let Some((shape, op)) =
        case.split_once('/').zip(size.parse().ok()).map(|((shape, op), size)| (Shape::named(shape, size), op))
    else {
        return;
    };
    let report = match engine.as_str() {
        "punch" => punch::run(&shape, op),
        "naive" => naive::run(&shape, op),
        "petgraph" => petgraph::run(&shape, op),
        _ => None,
    };
    if let Some(Report { ops, bytes }) = report {
        println!("ops={ops}");
        if let Some(bytes) = bytes {
            println!("bytes={bytes}");
        }
    }
}

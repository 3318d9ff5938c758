//! `cargo xtask bench mcp`: builds the programs to compare and lets the benchmark of the server measure them.

use crate::process;

/// Tokens, times and memory of `punch mcp` beside a bare server.
pub fn mcp() -> Result<(), String> {
    process::run(process::cargo().args(["build", "--release", "--package", "punch-cli", "--bin", "punch"]))?;
    let bare = [
        "build",
        "--release",
        "--package",
        "punch-serve",
        "--example",
        "bare_server",
        "--features",
        "punch-serve/bare",
    ];
    process::run(process::cargo().args(bare))?;
    let built = process::target()?.join("release");
    let mut bench = process::cargo();
    // The programs are what is measured; the one that measures need not be fast.
    bench.args(["bench", "--profile", "dev", "--package", "punch-serve", "--bench", "mcp"]);
    process::run(bench.env("PUNCH_BIN", built.join("punch")).env("BARE_BIN", built.join("examples/bare_server")))
}

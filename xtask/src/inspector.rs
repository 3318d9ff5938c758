//! The real server under the command line of the protocol's official inspector: another client's view of tools,
//! resources, prompts and dialects. The inspector comes from npm into `target/tools`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{TaskResult, process};

/// Pinned, as every tool that judges.
const PACKAGES: [&str; 2] = ["@modelcontextprotocol/inspector@2.12.0", "node@22"];

/// Arguments of the server, arguments of the inspector, what its answer must hold.
const CASES: [(&[&str], &[&str], &str); 9] = [
    (&[], &["--method", "tools/list"], "\"name\": \"todo_read\""),
    (&["--tools", "claim"], &["--method", "tools/list"], "\"name\": \"todo_claim\""),
    (&["--dialect", "todowrite"], &["--method", "tools/list"], "\"name\": \"TodoWrite\""),
    (
        &[],
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "todo_write",
            "--tool-arg",
            r#"ops=[{"op":"add","content":"Look"}]"#,
        ],
        "[ ] T-1 Look",
    ),
    (&[], &["--method", "tools/call", "--tool-name", "todo_read"], "0/1 done; next: T-1 Look"),
    (&[], &["--method", "resources/read", "--uri", "punch://plan"], "[ ] T-1 Look"),
    (&[], &["--method", "resources/read", "--uri", "punch://todo/T-1"], "application/json"),
    (&[], &["--method", "resources/templates/list"], "punch://todo/{id}"),
    (&[], &["--method", "prompts/get", "--prompt-name", "continue"], "Continue this plan"),
];

/// Runs every case in one project, over standard input and output.
pub fn run() -> TaskResult {
    let tools = process::target()?.join("tools/inspector");
    if let Err(why) = install(&tools) {
        return process::skip("the inspector", &why.to_string());
    }
    process::run(process::cargo().args(["build", "--package", "punch-cli"]))?;
    let project = process::target()?.join("tmp/inspector");
    let _ = fs::remove_dir_all(&project);
    fs::create_dir_all(&project).map_err(|cause| cause.to_string())?;
    process::run(Command::new("git").args(["init", "--quiet"]).current_dir(&project))?;
    println!("=== inspector");
    for (server, asked, expected) in CASES {
        let said = ask(&tools, &project, server, asked)?;
        if !said.contains(expected) {
            return Err(format!("the inspector asked {asked:?} and did not see `{expected}`:\n{said}"));
        }
        println!("ok  punch mcp {} {}", server.join(" "), asked.join(" "));
    }
    Ok(())
}

fn ask(tools: &Path, project: &Path, server: &[&str], asked: &[&str]) -> Result<String, String> {
    let mut inspector = Command::new(tools.join("node_modules/.bin/node"));
    let script = fs::canonicalize(tools.join("node_modules/.bin/mcp-inspector")).map_err(|cause| cause.to_string())?;
    inspector.arg(script).arg("--cli").arg(process::target()?.join("debug/punch")).arg("mcp").args(server);
    inspector.args(asked).current_dir(project).env("HOME", project);
    process::read(&mut inspector)
}

fn install(tools: &PathBuf) -> TaskResult {
    if tools.join("node_modules/.bin/mcp-inspector").exists() && tools.join("node_modules/.bin/node").exists() {
        return Ok(());
    }
    fs::create_dir_all(tools).map_err(|cause| cause.to_string())?;
    let mut npm = Command::new("npm");
    npm.current_dir(tools).args(["install", "--no-audit", "--no-fund", "--prefix", "."]).args(PACKAGES);
    process::read(&mut npm).map(|_| ())
}

//! Asks other programs for a short answer within a time limit: their version, or a reply over standard input and
//! output. A program that does not answer counts as silent; nothing here fails.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use punch_agents::HookTrust;
use punch_engine::process::withhold_passwords;
use serde_json::{Value, json};

/// Some of these programs take seconds to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longer lines are nobody's answer.
const LONGEST: u64 = 4 << 20;

/// A child that ends when nobody looks at it any more.
struct GuardedQuery(Child);

impl Drop for GuardedQuery {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a program says about its version: the first word with a digit in it.
pub fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    let first = lines(withhold_passwords(&mut command).arg("--version"), &[], |line| Some(line.to_owned()))?;
    let number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let word = first.split([' ', 'v', '(']).find(number).unwrap_or(&first).to_owned();
    Some(word.chars().take(40).collect())
}

/// Whether our server answers where it is called from: its name and version.
pub fn server(program: &str, folder: &Path) -> Option<String> {
    let client = json!({"name": "punch doctor", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    answer(Command::new(program).arg("mcp").current_dir(folder), &[hello], 1, |result| {
        let about = &result["serverInfo"];
        Some(format!("{} {}", about["name"].as_str()?, about["version"].as_str()?))
    })
}

/// How many of our hooks an agent knows in a folder, and how many of them its user trusts.
pub fn trusted_hooks(program: &Path, trust: &HookTrust, folder: &Path) -> Option<(usize, usize)> {
    let mut command = Command::new(program);
    withhold_passwords(&mut command).args(trust.arguments).current_dir(folder);
    answer(&mut command, &(trust.requests)(folder), trust.id, trust.read)
}

/// The result of the request with this number.
fn answer<T>(command: &mut Command, said: &[Value], id: u64, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
    let said: Vec<String> = said.iter().map(Value::to_string).collect();
    lines(command, &said, |line| {
        let line: Value = serde_json::from_str(line).ok()?;
        if line["id"] == id { Some(read(&line["result"])) } else { None }
    })?
}

/// Says some lines to a program and reads its lines until one is what was asked for.
fn lines<T>(command: &mut Command, said: &[String], pick: impl Fn(&str) -> Option<T>) -> Option<T> {
    let end = Instant::now() + PATIENCE;
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut asked = GuardedQuery(child);
    let (mut stdin, stdout) = (asked.0.stdin.take()?, asked.0.stdout.take()?);
    // Few short lines fit into any pipe.
    for line in said {
        writeln!(stdin, "{line}").ok()?;
    }
    stdin.flush().ok()?;
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout.take(LONGEST)).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    loop {
        let line = receive.recv_timeout(end.saturating_duration_since(Instant::now())).ok()?;
        if let Some(found) = pick(&line) {
            return Some(found);
        }
    }
}

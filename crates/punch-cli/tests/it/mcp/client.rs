//! A client of the real server on pipes, and a folder to serve.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Longer than anything that is not broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a git repository, as projects are.
pub fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status().unwrap();
    assert!(done.success());
    folder
}

/// `punch` in a folder, with nothing of the tester's environment.
pub fn punch(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punch"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("PATH", std::env::var_os("PATH").unwrap());
    command
}

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: i64,
}

impl Client {
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::spawn(punch(folder, &[&["mcp"], arguments].concat()))
    }

    pub fn spawn(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (send, lines) = channel();
        thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Self { stdin: child.stdin.take(), child, lines, next: 0 }
    }

    /// Started, with the handshake behind it.
    pub fn ready(folder: &Path, arguments: &[&str]) -> Self {
        let mut client = Self::start(folder, arguments);
        client.begin();
        client
    }

    pub fn begin(&mut self) -> Value {
        let about = json!({"name": "tester", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        let answer = self.request("initialize", hello);
        self.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        answer
    }

    pub fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).unwrap();
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next message of the server.
    pub fn receive(&mut self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(PATIENCE).unwrap()).unwrap()
    }

    /// Nothing more may come, and it ends well.
    pub fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.stdin.take());
        let rest = self.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
        (rest, self.child.wait().unwrap().code())
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// The text that a model would read.
    pub fn call(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

/// The receipt at the end of a text.
pub fn revision(text: &str) -> u64 {
    text.lines().last().and_then(|line| line.strip_prefix("rev ")).unwrap().parse().unwrap()
}

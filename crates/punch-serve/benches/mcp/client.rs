//! A client on pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    /// Started, with the handshake behind it.
    pub fn start(program: &str, arguments: &[&str], folder: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env_remove("PUNCH_STORE").env("HOME", folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, stdin, stdout, next: 0 };
        let about = json!({"name": "bench", "version": "0"});
        client.request("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}));
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub fn request(&mut self, method: &str, params: Value) -> String {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer.contains("\"result\"") && !answer.contains("\"isError\":true"), "{answer}");
    }

    /// The most memory the server ever had, in MB; `None` where the system does not say.
    pub fn peak(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

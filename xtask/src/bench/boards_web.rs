//! The rows of `cargo xtask bench boards` about `punch serve`: 100 open streams on a plan of 10,000 todos, and a server that is
//! left alone.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::boards::cpu;
use crate::boards::stage::BoardProject;

/// Streams that are open.
const STREAMS: usize = 100;
/// Writes by another process.
const WRITES: usize = 30;
/// How long the server is left alone.
const IDLE: Duration = Duration::from_secs(20);

/// Limits: milliseconds of p99 until a change has reached a stream, percent of a core, megabytes.
const REACHED: f64 = 50.0;
const IDLE_PERCENT: f64 = 0.2;
const MEMORY: f64 = 30.0;

/// A server that ends with the measurement.
struct BoardServer(Child);

impl Drop for BoardServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures the server. The time of a change begins when the command that wrote it has ended; `report` takes what was measured, its limit and its unit.
pub fn measure(stage: &BoardProject, mut report: impl FnMut(&str, f64, f64, &str)) -> Result<(), String> {
    let failed = |cause: std::io::Error| cause.to_string();
    let mut command = stage.command(&["serve", "--port", "0", "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut served = BoardServer(command.spawn().map_err(failed)?);
    let out = served.0.stdout.take().ok_or("the server prints nothing")?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).map_err(failed)?;
    let first: Value = serde_json::from_str(&line).map_err(|cause| format!("{cause}: {line}"))?;
    let text = |name: &str| first[name].as_str().unwrap_or_default().to_owned();
    let (api, token) = (text("api"), text("token"));
    let host = api.trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
    let (tell, reached) = channel();
    for _ in 0..STREAMS {
        let (host, token, tell) = (host.clone(), token.clone(), tell.clone());
        let mut stream = TcpStream::connect(&host).map_err(failed)?;
        let head =
            format!("GET /api/v1/plans/main/events HTTP/1.0\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).map_err(failed)?;
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if let Some(revision) = line.strip_prefix("id: ").and_then(|id| id.parse::<u64>().ok()) {
                    let _ = tell.send((revision, Instant::now()));
                } else if line == "event: hello" {
                    let _ = tell.send((0, Instant::now()));
                }
            }
        });
    }
    wait_for(&reached, 0)?;
    thread::sleep(Duration::from_secs(2));
    let pid = served.0.id();
    let before = cpu(pid)?;
    thread::sleep(IDLE);
    report("serve, idle with 100 streams", (cpu(pid)? - before) / IDLE.as_secs_f64() / 10.0, IDLE_PERCENT, "%");
    report("serve, memory with 10,000 todos", memory(pid)?, MEMORY, "MB");
    let mut taken = Vec::new();
    for n in 0..WRITES {
        stage.punch(&["add", &format!("Streamed {n}")])?;
        let begin = Instant::now();
        let last = wait_for(&reached, 1)?;
        taken.extend(last.into_iter().map(|at| at.saturating_duration_since(begin).as_secs_f64() * 1e3));
    }
    taken.sort_by(f64::total_cmp);
    let p99 = taken.get(taken.len() * 99 / 100).copied().unwrap_or(f64::INFINITY);
    report("serve, change reaches 100 streams, p99", p99, REACHED, "ms");
    Ok(())
}

/// Waits until every stream has got something at or after a revision, and returns when each did.
fn wait_for(reached: &Receiver<(u64, Instant)>, revision: u64) -> Result<Vec<Instant>, String> {
    let mut out = Vec::new();
    while out.len() < STREAMS {
        let wait = reached.recv_timeout(Duration::from_secs(30));
        let (found, at) = wait.map_err(|_| format!("{} of {STREAMS} streams got the change", out.len()))?;
        out.extend((found >= revision).then_some(at));
    }
    Ok(out)
}

/// Megabytes that a process holds in memory.
fn memory(pid: u32) -> Result<f64, String> {
    let path = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(&path).map_err(|cause| format!("{path}: {cause}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.map(|kilobytes| kilobytes / 1024.0).ok_or_else(|| format!("{path}: no VmRSS"))
}

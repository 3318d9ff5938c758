//! `cargo xtask chaos`: the writers of the soak on a PostgreSQL server that crashes, hangs and loses connections, and the same
//! checker afterwards. Nothing that was acknowledged may be missing, nothing may be there twice.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use punch_testkit::postgres::{Cluster, Disk};
use punch_testkit::postgres_proxy::{Cut, Proxy};

use crate::soak::{self, Disturbed};
use crate::{Done, process};

/// How often something happens.
const EVERY: Duration = Duration::from_secs(3);

/// How long a process of the server hangs.
const HANG: Duration = Duration::from_secs(2);

/// Counts what was done to the server.
#[derive(Default)]
struct Counts {
    crashes: AtomicU64,
    kills: AtomicU64,
    hangs: AtomicU64,
}

/// Runs the writers while the server is disturbed.
pub fn run(arguments: &[&str]) -> Done {
    let options = soak::parse(arguments)?;
    let seed = options.seed.unwrap_or_else(soak::fresh_seed);
    let punch = process::build_punch()?;
    let cluster = Cluster::start(Disk::Durable).map_err(|cause| format!("PostgreSQL did not start: {cause}"))?;
    let proxy = Proxy::start(cluster.socket_folder()).map_err(|cause| cause.to_string())?;
    let (direct, through) =
        (cluster.socket_folder().display().to_string(), proxy.socket_folder().display().to_string());
    let address = cluster.address("postgres").replace(&direct, &through);
    println!("==> chaos: {} s on PostgreSQL; the same choices again: --seed {seed}", options.length.as_secs());
    let counts = Counts::default();
    let disturb = |end: Instant| disturb(&cluster, &proxy, seed, end, &counts);
    let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let server = Disturbed { address, disturb: &disturb };
    let done = soak::soak(&punch, folder.path(), seed, options.length, Some(&server));
    let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
    println!(
        "    {} immediate restarts, {} processes killed with -9, {} hangs, {} connections cut at COMMIT; anomalies = {}",
        count(&counts.crashes),
        count(&counts.kills),
        count(&counts.hangs),
        proxy.cuts(),
        done.as_ref().err().map_or(0, |faults| faults.lines().count()),
    );
    done.map_err(|cause| format!("seed {seed}: {cause}\n{}", last_lines(&cluster.log())))
}

/// Makes trouble until the moment, one kind after the other, and leaves the server well.
fn disturb(cluster: &Cluster, proxy: &Proxy, seed: u64, end: Instant, counts: &Counts) {
    for turn in seed.. {
        thread::sleep(EVERY);
        if Instant::now() + HANG * 2 >= end {
            break;
        }
        match turn % 5 {
            0 => {
                let _ = cluster.stop("immediate");
                resume(cluster);
                counts.crashes.fetch_add(1, Ordering::Relaxed);
            }
            1 => proxy.cut(Cut::After),
            2 => {
                // One process killed makes the server end all others and recover.
                if let Some(process) = in_transaction(cluster) {
                    signal("KILL", &process);
                    counts.kills.fetch_add(1, Ordering::Relaxed);
                }
            }
            3 => {
                if let Some(process) = in_transaction(cluster) {
                    signal("STOP", &process);
                    thread::sleep(HANG);
                    signal("CONT", &process);
                    counts.hangs.fetch_add(1, Ordering::Relaxed);
                }
            }
            _ => proxy.cut(Cut::Before),
        }
    }
    proxy.cut(Cut::Never);
    resume(cluster);
}

/// Starts the server until it answers.
fn resume(cluster: &Cluster) {
    for _ in 0..100 {
        if cluster.sql("postgres", "SELECT 1").is_ok() {
            return;
        }
        let _ = cluster.resume();
        thread::sleep(Duration::from_millis(200));
    }
}

/// A process of the server that works for a client, inside a transaction if there is one.
fn in_transaction(cluster: &Cluster) -> Option<String> {
    let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'punch' ORDER BY xact_start IS NULL, random() LIMIT 1";
    cluster.sql("postgres", sql).ok().map(|pid| pid.trim().to_owned()).filter(|pid| !pid.is_empty())
}

fn signal(name: &str, process: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), process]).status();
}

fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().take(20).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

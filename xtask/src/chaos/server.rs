//! The writers of the soak on a PostgreSQL server that goes through every kind of trouble, one after the other and then all
//! together. After each kind the checker of the soak and `doctor` judge what is stored. Nothing that was
//! acknowledged may be missing, nothing that was refused may be there, and nothing may be there twice.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use punch_testkit::postgres::{Cluster, Disk};
use punch_testkit::postgres_proxy::{Cut, Proxy};

use crate::bench::tools;
use crate::soak::{self, DisturbedStore, Trouble, signal};
use crate::{TaskResult, process};

/// How often something happens.
const EVERY: Duration = Duration::from_secs(2);

/// How long a process of the server hangs, the disk stays full or the network slow.
const WHILE: Duration = Duration::from_secs(2);

/// How late everything arrives on a slow network, each way.
const LATE: Duration = Duration::from_millis(80);

/// The shortest time for one kind of trouble.
const SHORTEST: Duration = Duration::from_secs(8);

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DisturbanceKind {
    Restart,
    KillServer,
    KillBackend,
    StopBackend,
    StopClient,
    CutBefore,
    CutAfter,
    SlowNetwork,
    WrongClocks,
    FullDisk,
    Everything,
}

/// What makes trouble by itself, in the order of the turns.
const SINGLE: [DisturbanceKind; 9] = [
    DisturbanceKind::Restart,
    DisturbanceKind::KillServer,
    DisturbanceKind::KillBackend,
    DisturbanceKind::StopBackend,
    DisturbanceKind::StopClient,
    DisturbanceKind::CutBefore,
    DisturbanceKind::CutAfter,
    DisturbanceKind::SlowNetwork,
    DisturbanceKind::FullDisk,
];

impl DisturbanceKind {
    const ALL: [Self; 11] = [
        Self::Restart,
        Self::KillServer,
        Self::KillBackend,
        Self::StopBackend,
        Self::StopClient,
        Self::CutBefore,
        Self::CutAfter,
        Self::SlowNetwork,
        Self::WrongClocks,
        Self::FullDisk,
        Self::Everything,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Restart => "immediate restart of the server",
            Self::KillServer => "kill -9 of the whole server",
            Self::KillBackend => "kill -9 of one of its processes",
            Self::StopBackend => "server stopped in a transaction",
            Self::StopClient => "client stopped in a transaction",
            Self::CutBefore => "connection cut before COMMIT",
            Self::CutAfter => "connection cut after COMMIT",
            Self::SlowNetwork => "slow network",
            Self::WrongClocks => "clocks two hours apart",
            Self::FullDisk => "full disk",
            Self::Everything => "everything",
        }
    }
}

/// The server, the way to it, and what was done to it.
struct DisturbedServer {
    cluster: Cluster,
    proxy: Proxy,
    has_small_disk: bool,
    clock: Option<PathBuf>,
    faults: AtomicU64,
}

/// Runs the writers while the server is disturbed.
pub(super) fn run(punch: &Path, options: &soak::SoakOptions) -> TaskResult {
    let seed = options.seed.unwrap_or_else(soak::fresh_seed);
    let stage = DisturbedServer::set_up()?;
    println!("==> chaos: {} s on PostgreSQL; the same choices again: --seed {seed}", options.length.as_secs());
    println!("    {:<34}{:>11}{:>8}{:>8}{:>11}{:>11}", "", "operations", "killed", "faults", "revisions", "anomalies");
    let each = (options.length / u32::try_from(DisturbanceKind::ALL.len()).unwrap_or(1)).max(SHORTEST);
    let (mut sums, mut anomalies, mut untried) = ([0; 4], Vec::new(), Vec::new());
    for (number, kind) in DisturbanceKind::ALL.into_iter().enumerate() {
        if let Some(why) = stage.misses(kind) {
            println!("    {:<34}not tried: {why}", kind.name());
            untried.push(format!("{} was not tried: {why}", kind.name()));
            continue;
        }
        let row = stage
            .go_through(kind, number, seed, each, punch)
            .map_err(|cause| format!("seed {seed}: {}: {cause}\n{}", kind.name(), last_lines(&stage.cluster.log())))?;
        let [operations, killed, faults, revisions] = row.0;
        println!("    {:<34}{operations:>11}{killed:>8}{faults:>8}{revisions:>11}{:>11}", kind.name(), row.1.len());
        sums.iter_mut().zip(row.0).for_each(|(sum, one)| *sum += one);
        anomalies.extend(row.1);
    }
    let [operations, _, faults, _] = sums;
    println!("    operations = {operations}, faults = {faults}, anomalies = {}", anomalies.len());
    verdict(&anomalies, &untried, process::in_ci())
        .map_err(|why| format!("seed {seed}: {why}\n{}", last_lines(&stage.cluster.log())))
}

/// Whether all is well. In continuous integration, trouble that was not tried is not.
fn verdict(anomalies: &[String], untried: &[String], in_ci: bool) -> TaskResult {
    let wrong: Vec<&str> = anomalies.iter().chain(untried.iter().filter(|_| in_ci)).map(String::as_str).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

impl DisturbedServer {
    fn set_up() -> Result<Self, String> {
        let failed = |cause: std::io::Error| format!("PostgreSQL did not start: {cause}");
        let (cluster, has_small_disk) = match Cluster::start(Disk::Small) {
            Ok(cluster) => (cluster, true),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                (Cluster::start(Disk::Durable).map_err(failed)?, false)
            }
            Err(error) => return Err(failed(error)),
        };
        let proxy = Proxy::start(cluster.socket_folder()).map_err(|cause| cause.to_string())?;
        Ok(Self { cluster, proxy, has_small_disk, clock: wrong_clock(), faults: AtomicU64::new(0) })
    }

    /// Why a kind of trouble cannot be made here.
    fn misses(&self, kind: DisturbanceKind) -> Option<&'static str> {
        match kind {
            DisturbanceKind::FullDisk if !self.has_small_disk => Some("mounting a disk needs root"),
            DisturbanceKind::WrongClocks if self.clock.is_none() => Some("the package `faketime` is not installed"),
            _ => None,
        }
    }

    /// Lets the writers work through one kind of trouble, on plans of its own: numbers for the table, and what is wrong.
    fn go_through(
        &self,
        kind: DisturbanceKind,
        number: usize,
        seed: u64,
        length: Duration,
        punch: &Path,
    ) -> Result<([u64; 4], Vec<String>), String> {
        let (direct, through) =
            (self.cluster.socket_folder().display().to_string(), self.proxy.socket_folder().display().to_string());
        let schema = format!("chaos_{number}");
        let address = format!("{}&schema={schema}", self.cluster.address("postgres").replace(&direct, &through));
        let all = kind == DisturbanceKind::Everything;
        let trouble = Trouble {
            wrong_clock: self.clock.clone().filter(|_| all || kind == DisturbanceKind::WrongClocks),
            stops: all || kind == DisturbanceKind::StopClient,
        };
        let before = self.faults.load(Ordering::Relaxed);
        let disturb = |end: Instant| self.disturb(kind, seed, end);
        let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
        let server = DisturbedStore { address, trouble, disturb: &disturb };
        let plans = soak::soak(punch, folder.path(), seed.wrapping_add(number as u64), length, Some(&server))?;
        let sum = |of: &dyn Fn(&soak::PlanResult) -> u64| plans.iter().map(of).sum();
        let faults = self.faults.load(Ordering::Relaxed) - before + u64::from(server.trouble.wrong_clock.is_some());
        let numbers = [sum(&|plan| plan.actions), sum(&|plan| plan.killed), faults, sum(&|plan| plan.revisions)];
        let wrong = plans.into_iter().flat_map(|plan| plan.faults).map(|fault| format!("{}: {fault}", kind.name()));
        let wrong: Vec<String> = wrong.collect();
        // The next kinds need the room on the small disk. What is wrong stays to be looked at.
        if wrong.is_empty() {
            let sql = format!("DROP SCHEMA {schema} CASCADE");
            self.cluster.sql("postgres", &sql).map_err(|cause| format!("cannot drop the schema: {cause}"))?;
        }
        Ok((numbers, wrong))
    }

    /// Makes trouble until the moment and leaves the server well.
    fn disturb(&self, kind: DisturbanceKind, seed: u64, end: Instant) {
        let cuts = self.proxy.cuts();
        for turn in seed.. {
            thread::sleep(EVERY);
            if Instant::now() + WHILE * 2 >= end {
                break;
            }
            let possible: Vec<DisturbanceKind> =
                SINGLE.into_iter().filter(|kind| self.misses(*kind).is_none()).collect();
            let at = usize::try_from(turn % possible.len() as u64).unwrap_or(0);
            self.once(if kind == DisturbanceKind::Everything { possible[at] } else { kind });
        }
        self.proxy.cut(Cut::Never);
        self.faults.fetch_add(u64::from(self.proxy.cuts() - cuts), Ordering::Relaxed);
        self.revive();
    }

    fn once(&self, kind: DisturbanceKind) {
        let done = match kind {
            DisturbanceKind::Restart => {
                let _ = self.cluster.stop("immediate");
                self.revive();
                true
            }
            DisturbanceKind::KillServer => {
                // The main process first, so that it cannot recover from the death of the others.
                let processes = self.cluster.process().map(processes_of);
                processes.iter().flatten().for_each(|process| signal("KILL", process));
                self.revive();
                processes.is_some()
            }
            // One process killed makes the server end all others and recover.
            DisturbanceKind::KillBackend => self.in_transaction().inspect(|process| signal("KILL", process)).is_some(),
            DisturbanceKind::StopBackend => self.in_transaction().is_some_and(|process| {
                signal("STOP", &process);
                thread::sleep(WHILE);
                signal("CONT", &process);
                true
            }),
            // The proxy counts what it cuts and holds.
            DisturbanceKind::StopClient => {
                self.proxy.cut(Cut::Hold);
                false
            }
            DisturbanceKind::CutBefore => {
                self.proxy.cut(Cut::Before);
                false
            }
            DisturbanceKind::CutAfter => {
                self.proxy.cut(Cut::After);
                false
            }
            DisturbanceKind::SlowNetwork => {
                self.proxy.slow_down(LATE);
                thread::sleep(WHILE);
                self.proxy.slow_down(Duration::ZERO);
                true
            }
            DisturbanceKind::FullDisk => {
                let filled = self.cluster.fill_disk().is_ok();
                thread::sleep(WHILE);
                let _ = self.cluster.free_disk();
                self.revive();
                filled
            }
            // Clocks are wrong all the time, which counts as one.
            DisturbanceKind::WrongClocks | DisturbanceKind::Everything => false,
        };
        self.faults.fetch_add(u64::from(done), Ordering::Relaxed);
    }

    /// Starts the server until it answers.
    fn revive(&self) {
        for _ in 0..100 {
            if self.cluster.sql("postgres", "SELECT 1").is_ok() {
                return;
            }
            let _ = self.cluster.resume();
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// A process of the server that works for a client, inside a transaction if there is one.
    fn in_transaction(&self) -> Option<String> {
        let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'punch' \
                   ORDER BY xact_start IS NULL, random() LIMIT 1";
        self.cluster.sql("postgres", sql).ok().map(|pid| pid.trim().to_owned()).filter(|pid| !pid.is_empty())
    }
}

/// A process and its children.
fn processes_of(main: u32) -> Vec<String> {
    let children = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children")).unwrap_or_default();
    std::iter::once(main.to_string()).chain(children.split_whitespace().map(str::to_owned)).collect()
}

/// The library that gives a process a wrong clock; installed where it is missing and that is possible.
fn wrong_clock() -> Option<PathBuf> {
    let find = || {
        let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
        folders.map(|entry| entry.path().join("faketime/libfaketimeMT.so.1")).find(|file| file.is_file())
    };
    // If it cannot be installed, the kind of trouble that needs it is not tried, which the table says.
    let _ = tools::install_unless("libfaketimeMT.so.1", "faketime", || find().is_some());
    find()
}

pub(super) fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().take(20).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_that_was_not_tried_fails_in_continuous_integration_only() {
        let untried = ["full disk was not tried".to_owned()];
        assert!(verdict(&[], &[], true).is_ok());
        assert!(verdict(&[], &untried, false).is_ok());
        assert_eq!(verdict(&[], &untried, true), Err(untried[0].clone()));
        assert!(verdict(&["lost".to_owned()], &[], false).is_err());
    }
}

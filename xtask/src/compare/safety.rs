//! What is left of acknowledged writes: with many writers at once, and after `kill -9`.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::clients::CommandLineTool;
use super::{ComparisonPart, ComparisonRow, LIMIT, Problems, Scale, ToolFigure, Unit};
use crate::process;

/// Writers at once.
const WRITERS: u32 = 8;
/// Each writer adds at most this many todos.
const MOST: u32 = 25;

/// Measures both.
pub fn measure(clients: &[CommandLineTool], room: &Path, scale: &Scale) -> Result<ComparisonPart, String> {
    let mut crowd = ComparisonRow { what: format!("{WRITERS} writers at once"), unit: Unit::Lost, figures: Vec::new() };
    let mut kills =
        ComparisonRow { what: "writers killed with `kill -9`".into(), unit: Unit::Lost, figures: Vec::new() };
    let (mut counts, mut problems) = (Vec::new(), Problems::default());
    for client in clients {
        println!("==> writers of {}", client.name);
        let folder = |part: &str| room.join(part).join(client.name.replace(' ', "-"));
        let mut count = Vec::new();
        let written = together(client, &folder("crowd"), scale.writing);
        let written = problems.keep(client.name, &crowd.what, written)?;
        if let Some((acknowledged, lost)) = written {
            println!("    at once: {acknowledged} acknowledged, {lost} lost");
            count.push(format!("at once, {acknowledged} writes acknowledged"));
        }
        crowd.figures.push(ToolFigure::new(client.name, written.map(|(_, lost)| lost as f64)));
        let written = problems.keep(client.name, &kills.what, killed(client, &folder("kill"), scale.killing))?;
        if let Some((rounds, acknowledged, lost)) = written {
            println!("    killed {rounds} times: {acknowledged} acknowledged, {lost} lost");
            count.push(format!("killed {rounds} times, {acknowledged} writes acknowledged"));
        }
        kills.figures.push(ToolFigure::new(client.name, written.map(|(.., lost)| lost as f64)));
        if !count.is_empty() {
            counts.push(format!("{}: {}", client.name, count.join("; ")));
        }
    }
    Ok(ComparisonPart {
        title: "Acknowledged writes that were lost",
        file: "lost-writes",
        method: format!(
            "Eight processes add todos at once, each for {} seconds but at most {MOST} todos and at least one; a write counts as \
             acknowledged when the command ends with success. Then the tool itself is asked for all todos. `kill -9`: a loop that adds \
             todos is killed at random moments for {} seconds, and all acknowledged todos must be there afterwards.",
            scale.writing.as_secs(),
            scale.killing.as_secs()
        ),
        rows: vec![crowd, kills],
        counts,
        problems: problems.0,
    })
}

/// Many writers at once: how many writes were acknowledged, and how many of those are gone.
fn together(client: &CommandLineTool, folder: &Path, writing: Duration) -> Result<(usize, usize), String> {
    begin(client, folder)?;
    let write = |writer: u32| {
        let (begin, mut out) = (Instant::now(), Vec::new());
        for n in 0..MOST {
            if n > 0 && begin.elapsed() > writing {
                break;
            }
            let text = format!("Writer {writer} adds number {n}");
            let mut add = client.add(folder, &text);
            if process::read_within(LIMIT, &mut add).is_ok() {
                out.push(text);
            }
        }
        out
    };
    let acknowledged: Vec<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap_or_default()).collect()
    });
    Ok((acknowledged.len(), lost(client, folder, &acknowledged)))
}

/// Killed writers: how often, how many writes were acknowledged, and how many of those are gone.
fn killed(client: &CommandLineTool, folder: &Path, killing: Duration) -> Result<(usize, usize, usize), String> {
    begin(client, folder)?;
    let log = folder.join("acknowledged.txt");
    fs::write(&log, "").map_err(|cause| format!("{}: {cause}", log.display()))?;
    let probe = Instant::now();
    process::read_within(LIMIT, &mut client.add(folder, "The first one"))?;
    let one = probe.elapsed();
    let (begin, mut rounds, mut state) = (Instant::now(), 0_usize, 1_u64);
    while begin.elapsed() < killing || rounds == 0 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wait = one.mul_f64(0.3 + 3.0 * (state >> 40) as f64 / f64::from(1_u32 << 24));
        let mut writer = looping(client, folder, rounds, &log).map_err(|cause| format!("sh: {cause}"))?;
        thread::sleep(wait);
        process::kill(&format!("-{}", writer.id()))?;
        let _ = writer.wait();
        rounds += 1;
    }
    let text = fs::read_to_string(&log).map_err(|cause| format!("{}: {cause}", log.display()))?;
    // The last line of a killed shell may be cut.
    let acknowledged: Vec<String> =
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect();
    Ok((rounds, acknowledged.len(), lost(client, folder, &acknowledged)))
}

/// A shell that adds todos until it is killed, in a process group of its own, and notes what was acknowledged.
fn looping(client: &CommandLineTool, folder: &Path, round: usize, log: &Path) -> std::io::Result<std::process::Child> {
    let add = client.add(folder, "TEXT");
    let words: Vec<String> = std::iter::once(add.get_program())
        .chain(add.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .map(|word| if word == "TEXT" { "\"$text\"".to_owned() } else { format!("'{word}'") })
        .collect();
    let script = format!(
        "n=0; while :; do n=$((n+1)); text=\"Round {round} adds number $n\"; {} >/dev/null 2>&1 && echo \"$text\" >> '{}'; done",
        words.join(" "),
        log.display()
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder).env_clear();
    shell.envs(add.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn()
}

fn begin(client: &CommandLineTool, folder: &Path) -> Result<(), String> {
    if let Some(mut import) = client.prepare(folder, 5)? {
        process::read_within(LIMIT, &mut import)?;
    }
    Ok(())
}

/// How many texts are gone; all of them if the tool cannot read its plan any more.
fn lost(client: &CommandLineTool, folder: &Path, acknowledged: &[String]) -> usize {
    match client.texts(folder) {
        Ok(texts) => acknowledged.iter().filter(|text| !texts.contains(text)).count(),
        Err(cause) => {
            println!("    {} cannot read its plan: {cause}", client.name);
            acknowledged.len()
        }
    }
}

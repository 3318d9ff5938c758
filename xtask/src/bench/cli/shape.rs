//! The plan that is measured: layers as wide as there are layers, each todo with three dependencies in the layer
//! before.

use std::fs;
use std::io::{Result, Write};
use std::path::Path;

/// Dependencies of each todo, by number from 0; they always have lower numbers.
fn layers(size: u32) -> impl Iterator<Item = Vec<u32>> {
    let width = size.isqrt().max(3);
    let mut state = 1_u64;
    let mut below = move |limit: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((state >> 32) * u64::from(limit)) >> 32) as u32
    };
    let deps = move |n: u32| {
        let first = n / width * width;
        let mut out: Vec<u32> = Vec::new();
        while first > 0 && out.len() < 3 {
            let one = first - width + below(width);
            if !out.contains(&one) {
                out.push(one);
            }
        }
        out
    };
    (0..size).map(deps)
}

/// The name of a todo.
pub fn id(n: u32) -> String {
    format!("T-{}", n + 1)
}

/// The name of a task of Taskwarrior.
pub fn uuid(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// Writes the plan in the extended format.
pub fn extended(size: u32, out: &mut impl Write) -> Result<()> {
    list(size, out, |n, deps| {
        let deps: Vec<String> = deps.iter().map(|n| format!("\"{}\"", id(*n))).collect();
        format!("{{\"id\":\"{}\",\"content\":\"{}\",\"dependsOn\":[{}]}}", id(n), words(n), deps.join(","))
    })
}

/// Writes the same for Taskwarrior.
pub fn tasks(size: u32, out: &mut impl Write) -> Result<()> {
    list(size, out, |n, deps| {
        let deps: Vec<String> = deps.iter().map(|n| format!("\"{}\"", uuid(*n))).collect();
        format!(
            "{{\"uuid\":\"{}\",\"description\":\"{}\",\"status\":\"pending\",\"entry\":\"20260101T000000Z\",\
             \"depends\":[{}]}}",
            uuid(n),
            words(n),
            deps.join(",")
        )
    })
}

/// The name of an issue of beads.
pub fn bead(n: u32) -> String {
    format!("b-{}", n + 1)
}

/// Writes the plan as issues of beads, one to a line.
pub fn beads(size: u32, out: &mut impl Write) -> Result<()> {
    for (n, deps) in (0..size).zip(layers(size)) {
        let (id, time) = (bead(n), "2026-01-01T00:00:00Z");
        let dependency = |on: &u32| {
            format!(
                "{{\"issue_id\":\"{id}\",\"depends_on_id\":\"{}\",\"type\":\"blocks\",\"created_at\":\"{time}\"}}",
                bead(*on)
            )
        };
        let deps: Vec<String> = deps.iter().map(dependency).collect();
        writeln!(
            out,
            "{{\"id\":\"{id}\",\"title\":\"{}\",\"status\":\"open\",\"priority\":2,\"issue_type\":\"task\",\
             \"created_at\":\"{time}\",\"updated_at\":\"{time}\",\"dependencies\":[{}]}}",
            words(n),
            deps.join(",")
        )?;
    }
    out.flush()
}

/// Writes the plan as Task Master stores it.
pub fn task_master(size: u32, out: &mut impl Write) -> Result<()> {
    write!(out, "{{\"master\":{{\"tasks\":")?;
    list(size, out, |n, deps| {
        let deps: Vec<String> = deps.iter().map(|n| (n + 1).to_string()).collect();
        let words = words(n);
        format!(
            "{{\"id\":{},\"title\":\"{words}\",\"description\":\"{words}\",\"status\":\"pending\",\"dependencies\":[{}],\
             \"priority\":\"medium\",\"details\":\"\",\"testStrategy\":\"\",\"subtasks\":[]}}",
            n + 1,
            deps.join(",")
        )
    })?;
    write!(out, ",\"metadata\":{{}}}}}}")?;
    out.flush()
}

/// Writes the plan as Backlog.md stores it: a file for each task.
pub fn backlog(size: u32, folder: &Path) -> Result<()> {
    for (n, deps) in (0..size).zip(layers(size)) {
        let deps: String = deps.iter().map(|n| format!("\n  - TASK-{}", n + 1)).collect();
        let deps = if deps.is_empty() { " []".to_owned() } else { deps };
        let text = format!(
            "---\nid: TASK-{id}\ntitle: {words}\nstatus: To Do\nassignee: []\ncreated_date: '2026-01-01 00:00'\nlabels: []\n\
             dependencies:{deps}\nordinal: {ordinal}\n---\n\n",
            id = n + 1,
            words = words(n),
            ordinal = (n + 1) * 1000
        );
        fs::write(folder.join(format!("task-{} - {}.md", n + 1, words(n).replace(' ', "-"))), text)?;
    }
    Ok(())
}

fn words(n: u32) -> String {
    format!("Todo number {} of the plan", n + 1)
}

/// One todo at a time: the memory of the parent counts as the program's until it runs.
fn list(size: u32, out: &mut impl Write, one: impl Fn(u32, &[u32]) -> String) -> Result<()> {
    write!(out, "[")?;
    for (n, deps) in (0..size).zip(layers(size)) {
        write!(out, "{}{}", if n == 0 { "\n" } else { ",\n" }, one(n, &deps))?;
    }
    write!(out, "\n]\n")?;
    out.flush()
}

//! The plan that is measured: layers as wide as there are layers, each todo with three dependencies in the layer
//! before.

use std::io::{Result, Write};

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

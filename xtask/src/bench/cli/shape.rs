//! The plan that is measured: layers as wide as there are layers, each todo with three dependencies in the layer
//! before.

use std::fmt::Write;

/// Dependencies of each todo, by number from 0; they always have lower numbers.
pub fn layers(size: u32) -> Vec<Vec<u32>> {
    let width = size.isqrt().max(3);
    let mut state = 1_u64;
    let mut below = |limit: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((state >> 32) * u64::from(limit)) >> 32) as u32
    };
    let mut deps = |n: u32| {
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
    (0..size).map(&mut deps).collect()
}

/// The name of a todo.
pub fn id(n: u32) -> String {
    format!("T-{}", n + 1)
}

/// The name of a task of Taskwarrior.
pub fn uuid(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// The plan in the extended format.
pub fn extended(size: u32) -> String {
    list(size, |n, deps, out| {
        let deps: Vec<String> = deps.iter().map(|n| format!("\"{}\"", id(*n))).collect();
        let _ = write!(out, "{{\"id\":\"{}\",\"content\":\"{}\",\"dependsOn\":[{}]}}", id(n), words(n), deps.join(","));
    })
}

/// The same for Taskwarrior.
pub fn tasks(size: u32) -> String {
    list(size, |n, deps, out| {
        let deps: Vec<String> = deps.iter().map(|n| format!("\"{}\"", uuid(*n))).collect();
        let _ = write!(
            out,
            "{{\"uuid\":\"{}\",\"description\":\"{}\",\"status\":\"pending\",\"entry\":\"20260101T000000Z\",\
             \"depends\":[{}]}}",
            uuid(n),
            words(n),
            deps.join(",")
        );
    })
}

fn words(n: u32) -> String {
    format!("Todo number {} of the plan", n + 1)
}

fn list(size: u32, mut one: impl FnMut(u32, &[u32], &mut String)) -> String {
    let mut out = String::from("[");
    for (n, deps) in (0..size).zip(layers(size)) {
        out.push_str(if n == 0 { "\n" } else { ",\n" });
        one(n, &deps, &mut out);
    }
    out.push_str("\n]\n");
    out
}

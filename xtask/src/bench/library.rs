//! `cargo xtask bench library`: what the library adds to a program. Builds a small host from nothing, in the release profile that
//! cargo has by default and in one for size, without the library, with it for memory only, with the features that it has by
//! default, and with all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::{TaskResult, process};

/// How a host builds: its name in the table, and the profile in its manifest.
const PROFILES: &[(&str, &str)] =
    &[("release", ""), ("for size", "opt-level = \"s\"\nlto = true\ncodegen-units = 1\npanic = \"abort\"\n")];

/// What of the library it has: name, features of the host, features of the library.
const HOSTS: &[(&str, &str, &str)] = &[
    ("without", "", ""),
    ("memory only", "with", ""),
    ("default", "with", "\"sqlite\", \"git\", \"verify\""),
    ("all features", "with", "\"sqlite\", \"git\", \"verify\", \"async\""),
];

/// Limits of the library for memory only: crates, seconds of a clean build, bytes added to a stripped program, microseconds
/// of a call.
const LIMITS: (usize, f64, u64, u64) = (20, 40.0, 2_000_000, 50);

/// Prints the table. Fails if the library for memory only is over a limit in the profile that cargo has by default.
pub fn library() -> TaskResult {
    let folder = process::target()?.join("bench/library");
    println!(
        "{:<10} {:<13} {:>7} {:>8} {:>10} {:>10}  call on 20 todos",
        "profile", "library", "crates", "build", "stripped", "added"
    );
    let mut missed = Vec::new();
    for (profile, manifest) in PROFILES {
        let mut bare = 0;
        for (name, host, library) in HOSTS {
            let place = folder.join(format!("{profile}-{name}").replace(' ', "-"));
            let built = build(&place, manifest, host, library)?;
            if *name == "without" {
                bare = built.bytes;
            }
            let added = built.bytes.saturating_sub(bare);
            println!(
                "{profile:<10} {name:<13} {:>7} {:>6.0} s {:>7} KB {:>7} KB  {}",
                built.crates,
                built.seconds,
                built.bytes / 1024,
                added / 1024,
                built.said
            );
            if (*profile, *name) == ("release", "memory only") {
                missed = over_limits(&built, added);
            }
        }
    }
    println!("Calls: a whole list through TodoWrite, one edit through todo_write, in microseconds.");
    if missed.is_empty() { Ok(()) } else { Err(format!("over the limit: {}", missed.join(", "))) }
}

/// What is over its limit, with the limit.
fn over_limits(built: &LibraryBuild, added: u64) -> Vec<String> {
    let (crates, seconds, bytes, micros) = LIMITS;
    let slow = |word: &str| word.parse().map_or(true, |time: u64| time > micros);
    let checks = [
        (built.crates > crates, format!("{} crates, at most {crates}", built.crates)),
        (built.seconds > seconds, format!("a build of {:.0} s, at most {seconds}", built.seconds)),
        (added > bytes, format!("{added} bytes added, at most {bytes}")),
        (built.said.split(' ').any(slow), format!("calls of {} µs, at most {micros}", built.said)),
    ];
    checks.into_iter().filter(|(over, _)| *over).map(|(_, text)| text).collect()
}

struct LibraryBuild {
    crates: usize,
    seconds: f64,
    bytes: u64,
    said: String,
}

fn build(place: &Path, profile: &str, host: &str, library: &str) -> Result<LibraryBuild, String> {
    let failed = |what: &'static str| move |cause: std::io::Error| format!("cannot {what}: {cause}");
    // A clean build is what is measured.
    let _ = fs::remove_dir_all(place);
    fs::create_dir_all(place.join("src")).map_err(failed("make the folder of the host"))?;
    let root = process::root().canonicalize().map_err(failed("find the workspace"))?;
    let manifest = format!(
        "[package]\nname = \"host\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[features]\nwith = [\"dep:punchlist\"]\n\n\
         [dependencies]\nserde_json = \"1\"\npunchlist = {{ path = {:?}, optional = true, default-features = false, \
         features = [{library}] }}\n\n[profile.release]\nstrip = true\n{profile}\n[workspace]\n",
        root.join("crates/punchlist")
    );
    fs::write(place.join("Cargo.toml"), manifest).map_err(failed("write the manifest of the host"))?;
    fs::copy(root.join("Cargo.lock"), place.join("Cargo.lock")).map_err(failed("copy the lock file"))?;
    fs::copy(root.join("xtask/library/host.rs"), place.join("src/main.rs")).map_err(failed("copy the host"))?;
    let cargo = |words: &[&str]| {
        let mut cargo = process::cargo();
        cargo.args(words).args(["--features", host]).current_dir(place);
        cargo
    };
    let tree = process::read(&mut cargo(&["tree", "--edges", "normal", "--prefix", "none"]))?;
    let mut names: Vec<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    names.sort_unstable();
    names.dedup();
    let begin = Instant::now();
    // A target folder of the user may already have some of these crates.
    process::run(cargo(&["build", "--release", "--quiet"]).arg("--target-dir").arg(place.join("target")))?;
    let seconds = begin.elapsed().as_secs_f64();
    let program: PathBuf = place.join("target/release/host");
    let bytes = fs::metadata(&program).map_err(failed("look at the host"))?.len();
    let said = match host {
        "" => "-".to_owned(),
        _ => process::read(&mut process::command(&program))?.trim().to_owned(),
    };
    // The host itself is not counted.
    Ok(LibraryBuild { crates: names.len() - 1, seconds, bytes, said })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_held() {
        let built = |crates, seconds, said: &str| LibraryBuild { crates, seconds, bytes: 0, said: said.to_owned() };
        assert_eq!(over_limits(&built(20, 40.0, "50 50"), 2_000_000), Vec::<String>::new());
        assert_eq!(over_limits(&built(21, 40.5, "50 51"), 2_000_001).len(), 4);
        assert_eq!(over_limits(&built(1, 1.0, "no number"), 0).len(), 1, "what cannot be read is not within a limit");
    }
}

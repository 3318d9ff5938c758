//! `cargo xtask bench library`: what the library adds to a program. Builds a small host from nothing, in the release profile that
//! cargo has by default and in one for size, without the library, with it for memory only, and with all its features.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::{Done, process};

/// How a host builds: its name in the table, and the profile in its manifest.
const PROFILES: &[(&str, &str)] =
    &[("release", ""), ("for size", "opt-level = \"s\"\nlto = true\ncodegen-units = 1\npanic = \"abort\"\n")];

/// What of the library it has: name, features of the host, features of the library.
const HOSTS: &[(&str, &str, &str)] =
    &[("without", "", ""), ("memory only", "with", ""), ("all features", "with", "\"sqlite\", \"git\", \"verify\"")];

/// Prints the table.
pub fn library() -> Done {
    let folder = process::target()?.join("bench/library");
    println!(
        "{:<10} {:<13} {:>7} {:>8} {:>10} {:>10}  call on 20 todos",
        "profile", "library", "crates", "build", "stripped", "added"
    );
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
        }
    }
    println!("Calls: a whole list through TodoWrite, one edit through todo_write, in microseconds.");
    Ok(())
}

struct Built {
    crates: usize,
    seconds: f64,
    bytes: u64,
    said: String,
}

fn build(place: &Path, profile: &str, host: &str, library: &str) -> Result<Built, String> {
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
        cargo.args(words).args(["--features", host]).current_dir(place).env_remove("CARGO_TARGET_DIR");
        cargo
    };
    let tree = process::read(&mut cargo(&["tree", "--edges", "normal", "--prefix", "none"]))?;
    let mut names: Vec<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    names.sort_unstable();
    names.dedup();
    let begin = Instant::now();
    process::run(&mut cargo(&["build", "--release", "--quiet"]))?;
    let seconds = begin.elapsed().as_secs_f64();
    let program: PathBuf = place.join("target/release/host");
    let bytes = fs::metadata(&program).map_err(failed("look at the host"))?.len();
    let said = match host {
        "" => "-".to_owned(),
        _ => process::read(&mut process::command(&program))?.trim().to_owned(),
    };
    // The host itself is not counted.
    Ok(Built { crates: names.len() - 1, seconds, bytes, said })
}

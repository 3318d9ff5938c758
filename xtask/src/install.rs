//! `cargo xtask install`: the program as people should have it, put where cargo puts programs. Hooks start `punch` on
//! every step of an agent, and a third of such a start is the dynamic linker; where the system has a static C library,
//! the program is linked with it. A plain `cargo build` cannot ask for that: the flags would hit procedural macros too.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{TaskResult, process};

/// The program that is installed.
pub const PUNCH: [&str; 4] = ["-p", "punch-cli", "--bin", "punch"];

/// No dynamic linker, and a fixed address: else every start writes 25,000 addresses into eighty pages before it begins.
/// Heap, stack and the kernel's own pages stay at addresses that cannot be guessed.
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";

/// A program that was built for people.
pub struct BuiltProgram {
    /// Where cargo left it.
    pub path: PathBuf,
    /// It starts without the dynamic linker.
    pub linked_statically: bool,
}

/// Builds and copies it; `--root DIR` says where to, as `cargo install` has it.
pub fn run(arguments: &[&str]) -> TaskResult {
    let root = match arguments {
        [] => cargo_home().ok_or("no home folder; name one with --root DIR")?,
        ["--root", folder] => PathBuf::from(folder),
        _ => return Err("usage: cargo xtask install [--root DIR]".into()),
    };
    let built = build(&PUNCH)?;
    let folder = root.join("bin");
    let to = folder.join("punch");
    // Beside it and then over it: a running `punch` keeps the file that it was started from.
    let beside = folder.join(".punch.new");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::copy(&built.path, &beside))
        .and_then(|_| fs::rename(&beside, &to))
        .map_err(|cause| format!("cannot write {}: {cause}", to.display()))?;
    let how = if built.linked_statically { "without a dynamic linker" } else { "with the dynamic linker" };
    println!("installed {}, which starts {how}", to.display());
    let on_path = env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|entry| entry == folder));
    if !on_path {
        println!("hint: {} is not on your PATH", folder.display());
    }
    Ok(())
}

/// Builds one with the release profile.
pub fn build(program: &[&str]) -> Result<BuiltProgram, String> {
    let host = host()?;
    let flags = static_flags(&host, "cc");
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--message-format=json-render-diagnostics"]).args(program);
    if let Some(flags) = flags {
        // With a target of its own, macros and build scripts keep the flags of the system. Whoever has flags in the
        // environment means them, and cargo then takes no others.
        cargo.args(["--target", &host]).env(flags_variable(&host), flags);
    }
    let path = executable(&process::read(&mut cargo)?).ok_or("cargo built no program")?;
    Ok(BuiltProgram { path, linked_statically: flags.is_some() })
}

/// The flags that link a program without the dynamic linker, where the C compiler for the target has what that needs.
pub fn static_flags(target: &str, compiler: &str) -> Option<&'static str> {
    (target.ends_with("-linux-gnu") && has_static_libc(compiler)).then_some(STATIC)
}

/// The variable that holds flags for one target and leaves macros and build scripts alone.
fn flags_variable(target: &str) -> String {
    target_variable(target, "RUSTFLAGS")
}

/// A variable of cargo that counts for one target.
pub fn target_variable(target: &str, name: &str) -> String {
    format!("CARGO_TARGET_{}_{name}", target.to_uppercase().replace('-', "_"))
}

/// The program that cargo's messages name last.
pub fn executable(messages: &str) -> Option<PathBuf> {
    let named = |line: &str| Some(serde_json::from_str::<Value>(line).ok()?["executable"].as_str()?.to_owned());
    messages.lines().filter_map(named).next_back().map(PathBuf::from)
}

/// The system that the compiler runs on.
pub fn host() -> Result<String, String> {
    let said = process::read(process::command("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say for which system it builds".into())
}

/// Some systems keep the static library in a package of its own.
fn has_static_libc(compiler: &str) -> bool {
    let found = process::read(process::command(compiler).arg("-print-file-name=libc.a"));
    found.is_ok_and(|path| Path::new(path.trim()).is_absolute() && Path::new(path.trim()).exists())
}

fn cargo_home() -> Option<PathBuf> {
    let given = env::var_os("CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    given.or_else(|| env::home_dir().map(|home| home.join(".cargo")))
}

//! Programs that a bench needs and cargo does not build.

use std::process::{Command, Stdio};

/// Makes sure that a program is there: from Debian, by the name of its package, where it is missing and that is
/// possible.
pub fn install(program: &str, package: &str) -> Result<(), String> {
    install_unless(program, package, || quiet(program, &["--version"]))
}

/// Makes sure that something is there that is not a program.
pub fn install_unless(name: &str, package: &str, there: impl Fn() -> bool) -> Result<(), String> {
    let get = || quiet("apt-get", &["install", "-y", package]);
    // A fresh container has no package lists.
    if there() || get() && there() || quiet("apt-get", &["update"]) && get() && there() {
        return Ok(());
    }
    Err(format!("`{name}` is missing and could not be installed (apt-get install -y {package})"))
}

/// The instructions that a run of a program takes outside the kernel.
pub fn instructions(command: &Command) -> Result<u64, String> {
    let mut counted = Command::new("valgrind");
    counted.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    counted.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    counted.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        counted.current_dir(folder);
    }
    let output = counted.output().map_err(|cause| format!("valgrind does not start: {cause}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("`{command:?}` failed under valgrind:\n{said}"));
    }
    said.lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .ok_or_else(|| format!("nothing was counted:\n{said}"))
}

fn quiet(program: &str, args: &[&str]) -> bool {
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

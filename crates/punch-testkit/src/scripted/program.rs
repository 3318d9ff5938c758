//! Where the scripted agent is: a binary of this crate, which cargo does not build for the tests of others.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const NAME: &str = "scripted-agent";

/// The program that plays agents for `exec:`. Built once for each process that asks, if it is not there as it should be;
/// an error says why there is none.
pub fn exec_agent() -> Result<&'static Path, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND.get_or_init(find).as_deref().map_err(Clone::clone)
}

fn find() -> Result<PathBuf, String> {
    // `target/debug/deps/it-…`: what is built for people stands two above.
    let test = env::current_exe().map_err(|cause| cause.to_string())?;
    let folder = test.parent().and_then(Path::parent).ok_or("the test stands in no folder")?;
    let agent = folder.join(format!("{NAME}{}", env::consts::EXE_SUFFIX));
    // Tests of the whole workspace have built it already.
    if is_newer(&agent) {
        return Ok(agent);
    }
    // Without cargo around, as under a debugger, what is there has to do.
    let Some(cargo) = env::var_os("CARGO") else {
        return if agent.is_file() { Ok(agent) } else { Err(format!("`{}` is not built", agent.display())) };
    };
    let mut build = Command::new(cargo);
    build.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet", "--locked", "--bin", NAME]);
    if folder.ends_with("release") {
        build.arg("--release");
    }
    if let Some(target) = folder.parent() {
        build.arg("--target-dir").arg(target);
    }
    let output = build.output().map_err(|cause| cause.to_string())?;
    match output.status.success() && agent.is_file() {
        true => Ok(agent),
        false => Err(format!("`{NAME}` is not built: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// It was built after its source was last changed.
fn is_newer(agent: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin").join(NAME);
    let files = fs::read_dir(source).into_iter().flatten().flatten();
    let newest = files.filter_map(|file| changed(&file.path())).max();
    newest.is_some() && changed(agent) > newest
}

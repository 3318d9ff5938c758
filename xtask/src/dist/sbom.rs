//! The bill of materials, in CycloneDX form: every crate that is linked into `punch`, with version, licence and hash.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::build::FinishedBuild;
use super::{PackagedRelease, write};
use crate::cargo_tool::CargoTool;
use crate::{TaskResult, process};

const CYCLONEDX: CargoTool = CargoTool { name: "cargo-cyclonedx", version: "0.5.9" };

/// Writes the bill beside the packages.
pub fn write_bill(release: &PackagedRelease, build: &FinishedBuild) -> TaskResult {
    let mut tool = Command::new(CYCLONEDX.find_or_build()?);
    tool.current_dir(&build.sources);
    tool.args(["cyclonedx", "--format", "json", "--no-build-deps", "--target", &release.target]);
    tool.args(["--override-filename", "punch.cdx", "--quiet", "--manifest-path", "crates/punch-cli/Cargo.toml"]);
    process::read(tool.env("SOURCE_DATE_EPOCH", &release.epoch))?;
    let path = build.sources.join("crates/punch-cli/punch.cdx.json");
    let text = fs::read_to_string(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    // Our own crates are named by the folder they were built in.
    let text = text.replace(&build.sources.display().to_string(), "");
    let mut bill: Value = serde_json::from_str(&text).map_err(|cause| format!("{}: {cause}", path.display()))?;
    if let Some(bill) = bill.as_object_mut() {
        bill.remove("serialNumber");
    }
    let components = bill["components"].as_array().map_or(0, Vec::len);
    if components < 50 {
        return Err(format!("the bill of materials lists only {components} components"));
    }
    println!("    bill of materials: {components} components");
    write(&release.out.join(format!("punch-{}-{}.cdx.json", release.version, release.target)), &format!("{bill:#}\n"))
}

//! What cargo knows about packages.

use serde_json::Value;

use crate::process;

/// A package of the dependency graph.
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// An SPDX expression.
    pub licence: Option<String>,
    /// The address of its repository.
    pub repository: Option<String>,
    /// The oldest Rust that it promises to compile with.
    pub rust_version: Option<String>,
    /// Where it comes from; `None` for the workspace's own.
    pub source: Option<String>,
    /// What its manifest asks for.
    pub dependencies: Vec<Dependency>,
}

/// One line of a manifest.
pub struct Dependency {
    /// The package.
    pub name: String,
    /// Normal, dev or build.
    pub kind: DependencyKind,
}

/// The table of the manifest a dependency stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyKind {
    /// `[dependencies]`.
    Normal,
    /// `[dev-dependencies]`.
    Dev,
    /// `[build-dependencies]`.
    Build,
}

/// The packages of the workspace.
pub fn members() -> Result<Vec<Package>, String> {
    packages(&["--no-deps"])
}

/// The packages of the workspace and everything they depend on, for every platform.
pub fn everything() -> Result<Vec<Package>, String> {
    packages(&["--locked"])
}

fn packages(arguments: &[&str]) -> Result<Vec<Package>, String> {
    let text = process::read(process::cargo().args(["metadata", "--format-version", "1"]).args(arguments))?;
    let json: Value = serde_json::from_str(&text).map_err(|cause| format!("cargo metadata: {cause}"))?;
    Ok(list(&json["packages"]).map(package).collect())
}

fn package(json: &Value) -> Package {
    let text = |field: &str| json[field].as_str().map(str::to_owned);
    Package {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        licence: text("license"),
        repository: text("repository"),
        rust_version: text("rust_version"),
        source: text("source"),
        dependencies: list(&json["dependencies"]).map(dependency).collect(),
    }
}

fn dependency(json: &Value) -> Dependency {
    let kind = match json["kind"].as_str() {
        Some("dev") => DependencyKind::Dev,
        Some("build") => DependencyKind::Build,
        _ => DependencyKind::Normal,
    };
    Dependency { name: json["name"].as_str().unwrap_or_default().to_owned(), kind }
}

fn list(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten()
}

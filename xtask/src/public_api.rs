//! What the library promises: every public item of `punchlist`, in a listing that is checked in. A change of the listing is a
//! change for users, so it shows up in a review. Read from the JSON that rustdoc writes, so that nothing is missed: fields of
//! variants, methods of traits, implementations, and items that come from other crates of the workspace.
//!
//! It also makes sure that hosts can name every type of the interface: a field or function with a type that no public path leads to
//! is an error.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::{env, fs};

use serde_json::Value;

use crate::{TaskResult, process};

/// The version of rustdoc's format that the reader understands: that of the Rust version which the gate uses.
const FORMAT: u64 = 57;

/// The library and the crates whose items it exports.
const CRATES: [&str; 4] = ["punchlist", "punch_core", "punch_engine", "punch_store"];

/// Compares the listing with the sources, or writes it if `UPDATE_DOCS` is set.
pub fn check() -> TaskResult {
    let file = process::root().join("crates/punchlist/public-api.txt");
    let found = listing(&documents()?)?;
    if env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(&file, found).map_err(|cause| format!("cannot write {}: {cause}", file.display()));
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    if known == found {
        return Ok(());
    }
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (old, new) = (lines(&known), lines(&found));
    old.difference(&new).for_each(|line| println!("    - {line}"));
    new.difference(&old).for_each(|line| println!("    + {line}"));
    Err("the public API changed: set UPDATE_DOCS=1 to update public-api.txt, and look at the difference".to_owned())
}

/// Lets rustdoc describe the crates. Only the stable toolchain is there, so its unstable options need a word; that word makes
/// build scripts run again, hence a folder of its own.
fn documents() -> Result<Vec<CrateDocument>, String> {
    let target = process::target()?.join("public-api");
    let mut cargo = process::cargo();
    cargo.args(["doc", "--locked", "--quiet", "--no-deps", "--all-features"]);
    cargo.args(CRATES.iter().flat_map(|name| ["--package".to_owned(), name.replace('_', "-")]));
    cargo.env("CARGO_TARGET_DIR", &target).env("RUSTC_BOOTSTRAP", "1");
    process::run(cargo.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json"))?;
    let read = |name: &&str| {
        let file = target.join(format!("doc/{name}.json"));
        let text = fs::read_to_string(&file).map_err(|cause| format!("cannot read {}: {cause}", file.display()))?;
        let json: Value = serde_json::from_str(&text).map_err(|cause| format!("{}: {cause}", file.display()))?;
        match json["format_version"].as_u64() {
            Some(FORMAT) => Ok(CrateDocument::new(json)),
            other => Err(format!("rustdoc writes format {other:?}, the reader in public_api.rs knows {FORMAT}")),
        }
    };
    CRATES.iter().map(read).collect()
}

/// The description of one crate.
struct CrateDocument {
    json: Value,
    /// Its own items by their path.
    own: HashMap<String, String>,
}

impl CrateDocument {
    fn new(json: Value) -> Self {
        let paths = json["paths"].as_object().into_iter().flatten();
        let own = paths.filter(|(_, path)| path["crate_id"] == 0).map(|(id, path)| (join(path), id.clone())).collect();
        Self { json, own }
    }

    fn item(&self, id: &Value) -> Option<&Value> {
        self.json["index"].get(key(id)).filter(|item| item["crate_id"] == 0)
    }

    /// The full path of an item of any crate.
    fn path(&self, id: &Value) -> Option<String> {
        self.json["paths"].get(key(id)).map(join)
    }
}

fn key(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn join(path: &Value) -> String {
    list(&path["path"]).filter_map(Value::as_str).collect::<Vec<_>>().join("::")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The name of the only key, and what is under it.
fn only(value: &Value) -> (&str, &Value) {
    match value {
        Value::String(name) => (name, &Value::Null),
        _ => value.as_object().and_then(|map| map.iter().next()).map_or(("", &Value::Null), |(k, v)| (k, v)),
    }
}

fn listing(documents: &[CrateDocument]) -> Result<String, String> {
    let mut api = ApiListing { documents, exported: BTreeMap::new(), lines: BTreeSet::new(), unnamed: BTreeSet::new() };
    let root = &documents[0].json["root"];
    // First every name, then what is under the names: a type may be named before it is exported.
    let mut items = Vec::new();
    api.export(0, root, "", &mut items);
    for (document, id, path) in &items {
        api.describe(*document, id, path);
    }
    if !api.unnamed.is_empty() {
        let unnamed: Vec<String> = api.unnamed.into_iter().collect();
        return Err(format!("hosts cannot name these types, export them from `punchlist`: {}", unnamed.join(", ")));
    }
    Ok(api.lines.into_iter().map(|line| line + "\n").collect())
}

/// An item to describe: the document it is in, its id, and its path in the library.
type ExportedItem = (usize, Value, String);

struct ApiListing<'a> {
    documents: &'a [CrateDocument],
    /// Names in the library, by full path.
    exported: BTreeMap<String, String>,
    lines: BTreeSet<String>,
    /// Types of the workspace that signatures use and the library does not export.
    unnamed: BTreeSet<String>,
}

impl<'a> ApiListing<'a> {
    /// The document that an item is described in, and its id there.
    fn find(&self, document: usize, id: &Value) -> Option<(usize, Value)> {
        if self.documents[document].item(id).is_some() {
            return Some((document, id.clone()));
        }
        let path = self.documents[document].path(id)?;
        let found = self.documents.iter().enumerate().find_map(|(n, other)| Some((n, other.own.get(&path)?)))?;
        Some((found.0, Value::String(found.1.clone())))
    }

    fn reader(&self, document: usize) -> TypePrinter<'_> {
        TypePrinter { exported: &self.exported, document: &self.documents[document], unnamed: BTreeSet::new() }
    }

    /// Collects what a module exports.
    fn export(&mut self, document: usize, module: &Value, path: &str, out: &mut Vec<ExportedItem>) {
        let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
        let documents = self.documents;
        let Some(item) = documents[document].item(module) else { return };
        for id in list(&item["inner"]["module"]["items"]) {
            let Some(item) = documents[document].item(id) else { continue };
            let (kind, inner) = only(&item["inner"]);
            let name = item["name"].as_str().or(inner["name"].as_str()).unwrap_or_default();
            match kind {
                "use" => match self.find(document, &inner["id"]) {
                    Some((there, id)) if inner["is_glob"] == true => self.export(there, &id, path, out),
                    Some((there, id)) => self.name(there, &id, at(name), out),
                    None => {
                        self.lines.insert(format!("pub use {} as {}", text(&inner["source"]), at(name)));
                    }
                },
                _ => self.name(document, id, at(name), out),
            }
        }
    }

    fn name(&mut self, document: usize, id: &Value, path: String, out: &mut Vec<ExportedItem>) {
        let documents = self.documents;
        let Some(item) = documents[document].item(id) else { return };
        let inner = &item["inner"];
        if inner["module"].is_object() {
            self.lines.insert(format!("pub mod {path}"));
            return self.export(document, id, &path, out);
        }
        if let Some(full) = documents[document].path(id) {
            self.exported.entry(full).or_insert_with(|| path.clone());
        }
        // An alias is how the library names a type of another crate.
        let aliased = &inner["type_alias"]["type"]["resolved_path"];
        if let Some((there, target)) = aliased.is_object().then(|| self.find(document, &aliased["id"])).flatten()
            && documents[there].path(&target).is_some_and(|full| !self.exported.contains_key(&full))
        {
            return self.name(there, &target, path, out);
        }
        out.push((document, id.clone(), path));
    }

    /// Adds the lines of one item.
    fn describe(&mut self, document: usize, id: &Value, path: &str) {
        let documents = self.documents;
        let Some(item) = documents[document].item(id) else { return };
        let (kind, inner) = only(&item["inner"]);
        let mut reader = self.reader(document);
        let generics = reader.generics(&inner["generics"]);
        let line = match kind {
            "struct" | "enum" | "union" => format!("pub {kind} {path}{generics}"),
            "trait" => format!("pub trait {path}{generics}{}", reader.bounds(&inner["bounds"])),
            "function" => format!("pub {}", reader.function(path, inner)),
            "constant" => format!("pub const {path}: {}", reader.ty(&inner["type"])),
            "static" => format!("pub static {path}: {}", reader.ty(&inner["type"])),
            "type_alias" => format!("pub type {path}{generics} = {}", reader.ty(&inner["type"])),
            "macro" => format!("pub macro {path}"),
            other => format!("pub {other} {path}"),
        };
        let unnamed = reader.unnamed;
        self.unnamed.extend(unnamed);
        self.lines.insert(line + open(item));
        self.members(document, &inner["kind"], path);
        list(&inner["variants"]).for_each(|id| self.variant(document, id, path));
        list(&inner["items"]).for_each(|id| self.member(document, id, path));
        for id in list(&inner["impls"]) {
            self.implementation(document, id, path);
        }
    }

    fn variant(&mut self, document: usize, id: &Value, of: &str) {
        let documents = self.documents;
        let Some(item) = documents[document].item(id) else { return };
        let path = format!("{of}::{}", text(&item["name"]));
        self.lines.insert(format!("pub variant {path}{}", open(item)));
        self.members(document, &item["inner"]["variant"]["kind"], &path);
    }

    /// The fields of a struct or a variant.
    fn members(&mut self, document: usize, kind: &Value, path: &str) {
        let (form, inner) = only(kind);
        let fields = if form == "tuple" { inner } else { &inner["fields"] };
        list(fields).for_each(|id| self.member(document, id, path));
    }

    /// A field, a method, a constant or a type of something.
    fn member(&mut self, document: usize, id: &Value, of: &str) {
        let documents = self.documents;
        let Some(item) = documents[document].item(id) else { return };
        let path = format!("{of}::{}", text(&item["name"]));
        let (kind, inner) = only(&item["inner"]);
        let mut reader = self.reader(document);
        let line = match kind {
            "struct_field" => format!("pub {path}: {}", reader.ty(inner)),
            "function" => {
                let default =
                    if item["visibility"] == "default" && inner["has_body"] == true { " (default)" } else { "" };
                format!("pub {}{default}", reader.function(&path, inner))
            }
            "assoc_const" => format!("pub const {path}: {}", reader.ty(&inner["type"])),
            "assoc_type" => format!("pub type {path}{}", reader.bounds(&inner["bounds"])),
            other => format!("pub {other} {path}"),
        };
        let unnamed = reader.unnamed;
        // Types of other crates have methods for our own crates, which hosts cannot call.
        if document > 0 && kind == "function" && item["visibility"] == "public" && !unnamed.is_empty() {
            return;
        }
        self.unnamed.extend(unnamed);
        self.lines.insert(line);
    }

    fn implementation(&mut self, document: usize, id: &Value, path: &str) {
        let documents = self.documents;
        let Some(item) = documents[document].item(id) else { return };
        let inner = &item["inner"]["impl"];
        if inner["is_synthetic"] == true || !inner["blanket_impl"].is_null() {
            return;
        }
        if inner["trait"].is_null() {
            return list(&inner["items"]).for_each(|id| self.member(document, id, path));
        }
        let mut reader = self.reader(document);
        let generics = reader.generics(&inner["generics"]);
        // Traits of the workspace that the library does not export are not part of the promise.
        let Some(name) = reader.path(&inner["trait"], false) else { return };
        // A part of every derived `PartialEq` that hosts never see.
        if name == "StructuralPartialEq" {
            return;
        }
        let line = format!("impl{generics} {name} for {}", reader.ty(&inner["for"]));
        // Nor are conversions from and to types that it does not export.
        if reader.unnamed.is_empty() {
            self.lines.insert(line);
        }
    }
}

fn open(item: &Value) -> &'static str {
    if list(&item["attrs"]).any(|attribute| attribute == "non_exhaustive") { " (non-exhaustive)" } else { "" }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Writes types as Rust does.
struct TypePrinter<'a> {
    exported: &'a BTreeMap<String, String>,
    document: &'a CrateDocument,
    /// Types of the workspace that it wrote and that the library does not export.
    unnamed: BTreeSet<String>,
}

impl TypePrinter<'_> {
    fn types(&mut self, types: &Value) -> String {
        list(types).map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")
    }

    fn ty(&mut self, ty: &Value) -> String {
        let (kind, inner) = only(ty);
        let lifetime = |value: &Value| value.as_str().map(|name| format!("{name} ")).unwrap_or_default();
        let mutable = if inner["is_mutable"] == true { "mut " } else { "" };
        match kind {
            "primitive" if inner == "never" => "!".to_owned(),
            "primitive" | "generic" => text(inner).to_owned(),
            "resolved_path" => self.path(inner, true).unwrap_or_default(),
            "borrowed_ref" => format!("&{}{mutable}{}", lifetime(&inner["lifetime"]), self.ty(&inner["type"])),
            "raw_pointer" => {
                format!("*{}{}", if mutable.is_empty() { "const " } else { mutable }, self.ty(&inner["type"]))
            }
            "tuple" => format!("({})", self.types(inner)),
            "slice" => format!("[{}]", self.ty(inner)),
            "array" => format!("[{}; {}]", self.ty(&inner["type"]), text(&inner["len"])),
            "impl_trait" => format!("impl {}", self.bound_list(inner)),
            "dyn_trait" => {
                let mut traits: Vec<String> =
                    list(&inner["traits"]).filter_map(|bound| self.path(&bound["trait"], true)).collect();
                traits.extend(inner["lifetime"].as_str().map(str::to_owned));
                format!("dyn {}", traits.join(" + "))
            }
            "function_pointer" => format!("fn{}", self.signature(&inner["sig"])),
            "qualified_path" => {
                let name = text(&inner["name"]);
                let of = self.ty(&inner["self_type"]);
                match self.path(&inner["trait"], false).filter(|path| !path.is_empty() && of != "Self") {
                    Some(path) => format!("<{of} as {path}>::{name}"),
                    None => format!("{of}::{name}"),
                }
            }
            "infer" => "_".to_owned(),
            other => format!("?{other}"),
        }
    }

    /// A path with its arguments: the name in the library, or the last part of the name elsewhere. `None` for what belongs to
    /// a crate of the workspace and is not exported; where a host would have to name it, that is an error.
    fn path(&mut self, path: &Value, needed: bool) -> Option<String> {
        if path.is_null() {
            return None;
        }
        let full = self.document.path(&path["id"]).unwrap_or_default();
        let last = |full: &str| full.rsplit("::").next().unwrap_or_default().to_owned();
        let own = CRATES.iter().any(|name| full.split("::").next() == Some(name));
        let name = match self.exported.get(&full) {
            Some(name) => name.clone(),
            None if own && !needed => return None,
            None if own => {
                self.unnamed.insert(full.clone());
                full
            }
            None if full.is_empty() => last(text(&path["path"])),
            None => last(&full),
        };
        Some(name + &self.arguments(&path["args"]))
    }

    fn arguments(&mut self, arguments: &Value) -> String {
        let (kind, inner) = only(arguments);
        match kind {
            "angle_bracketed" => {
                let mut out: Vec<String> = Vec::new();
                for argument in list(&inner["args"]) {
                    out.push(match only(argument) {
                        ("type", ty) => self.ty(ty),
                        ("const", value) => text(&value["expr"]).to_owned(),
                        (_, value) => text(value).to_owned(),
                    });
                }
                for constraint in list(&inner["constraints"]) {
                    let binding = match only(&constraint["binding"]) {
                        ("equality", term) => format!(" = {}", self.ty(&term["type"])),
                        (_, bounds) => format!(": {}", self.bound_list(bounds)),
                    };
                    out.push(format!("{}{binding}", text(&constraint["name"])));
                }
                if out.is_empty() { String::new() } else { format!("<{}>", out.join(", ")) }
            }
            "parenthesized" => {
                let output = if inner["output"].is_null() {
                    String::new()
                } else {
                    format!(" -> {}", self.ty(&inner["output"]))
                };
                format!("({}){output}", self.types(&inner["inputs"]))
            }
            _ => String::new(),
        }
    }

    fn bound_list(&mut self, bounds: &Value) -> String {
        let mut out = Vec::new();
        for bound in list(bounds) {
            match only(bound) {
                ("trait_bound", bound) => {
                    let maybe = if bound["modifier"] == "maybe" { "?" } else { "" };
                    out.extend(self.path(&bound["trait"], true).map(|path| format!("{maybe}{path}")));
                }
                ("use", _) => {}
                (_, lifetime) => out.push(text(lifetime).to_owned()),
            }
        }
        out.join(" + ")
    }

    fn bounds(&mut self, bounds: &Value) -> String {
        let bounds = self.bound_list(bounds);
        if bounds.is_empty() { bounds } else { format!(": {bounds}") }
    }

    /// Parameters and conditions. Those that stand for `impl Trait` are written where they are used.
    fn generics(&mut self, generics: &Value) -> String {
        let mut out: Vec<String> = Vec::new();
        for parameter in list(&generics["params"]) {
            let name = text(&parameter["name"]);
            match only(&parameter["kind"]) {
                ("type", kind) if kind["is_synthetic"] == true => {}
                ("type", kind) => out.push(format!("{name}{}", self.bounds(&kind["bounds"]))),
                ("const", kind) => out.push(format!("const {name}: {}", self.ty(&kind["type"]))),
                _ => out.push(name.to_owned()),
            }
        }
        let mut conditions: Vec<String> = Vec::new();
        for predicate in list(&generics["where_predicates"]) {
            let predicate = &predicate["bound_predicate"];
            conditions.push(format!("{}{}", self.ty(&predicate["type"]), self.bounds(&predicate["bounds"])));
        }
        let parameters = if out.is_empty() { String::new() } else { format!("<{}>", out.join(", ")) };
        if conditions.is_empty() { parameters } else { format!("{parameters} where {}", conditions.join(", ")) }
    }

    fn function(&mut self, path: &str, function: &Value) -> String {
        let word = |name: &str, word: &'static str| if function["header"][name] == true { word } else { "" };
        let words = [word("is_const", "const "), word("is_async", "async "), word("is_unsafe", "unsafe ")].concat();
        let generics = self.generics(&function["generics"]);
        format!("{words}fn {path}{generics}{}", self.signature(&function["sig"]))
    }

    fn signature(&mut self, signature: &Value) -> String {
        let mut inputs = Vec::new();
        for input in list(&signature["inputs"]) {
            let (name, ty) = (text(&input[0]), self.ty(&input[1]));
            inputs.push(match (name, ty.as_str()) {
                ("self", "Self") => name.to_owned(),
                ("self", "&Self") => "&self".to_owned(),
                ("self", "&mut Self") => "&mut self".to_owned(),
                _ => format!("{name}: {ty}"),
            });
        }
        let output = &signature["output"];
        let output = if output.is_null() { String::new() } else { format!(" -> {}", self.ty(output)) };
        format!("({}){output}", inputs.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const CORE: &str = "\
mod host;
pub use host::{Finish, Hidden};
";
    const HOST: &str = "\
#[derive(Clone)]
#[non_exhaustive]
pub enum Finish { Plain, Fields { code: Option<u8> }, Pair(u8, String) }
pub struct Hidden { pub depth: usize }
";
    const LIBRARY: &str = "\
pub use punch_core::Finish as End;
pub mod store {
    pub trait Store: Send {
        type Row: Clone;
        fn get(&self, id: impl Into<String>) -> Result<Self::Row, u8>;
        fn len(&self) -> usize { 0 }
    }
}
mod session {
    pub struct Session<T> { pub first: Vec<T>, second: u8 }
    impl<T: Send> Session<T> {
        pub fn each<'a>(&'a self, body: &mut dyn FnMut(&T) -> bool) -> impl Iterator<Item = &'a T> { let _ = body; self.first.iter() }
        pub fn end(self) -> Option<(punch_core::Finish, u8)> { let _ = self.second; None }
    }
}
pub use session::Session;
";

    /// The listing of a library over a core, both from source texts.
    fn list_sources(library: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
        let folder: &Path = folder.path();
        for (file, text) in [("core.rs", CORE), ("host.rs", HOST), ("library.rs", library)] {
            fs::write(folder.join(file), text).map_err(|cause| cause.to_string())?;
        }
        let run = |program: &str, words: &[&str]| {
            let mut command = process::command(program);
            process::read(
                command.args(["--edition", "2024"]).args(words).current_dir(folder).env("RUSTC_BOOTSTRAP", "1"),
            )
        };
        run("rustc", &["core.rs", "--crate-type", "lib", "--crate-name", "punch_core", "--emit", "metadata"])?;
        let json = ["-Z", "unstable-options", "--output-format", "json", "-o", "."];
        run("rustdoc", &[&["core.rs", "--crate-name", "punch_core"][..], &json].concat())?;
        let library = ["library.rs", "--crate-name", "punchlist", "--extern", "punch_core=libpunch_core.rmeta"];
        run("rustdoc", &[&library[..], &json].concat())?;
        let read = |name: &str| {
            let text = fs::read_to_string(folder.join(name)).map_err(|cause| cause.to_string())?;
            serde_json::from_str(&text).map(CrateDocument::new).map_err(|cause| cause.to_string())
        };
        listing(&[read("punchlist.json")?, read("punch_core.json")?])
    }

    #[test]
    fn fields_of_variants_methods_of_traits_and_items_of_other_crates_are_listed() {
        let found = list_sources(LIBRARY).unwrap_or_else(|error| panic!("{error}"));
        let expected = [
            "impl Clone for End",
            "pub End::Fields::code: Option<u8>",
            "pub End::Pair::0: u8",
            "pub End::Pair::1: String",
            "pub Session::first: Vec<T>",
            "pub enum End (non-exhaustive)",
            "pub fn Session::each<'a>(self: &'a Self, body: &mut dyn FnMut(&T) -> bool) -> impl Iterator<Item = &'a T>",
            "pub fn Session::end(self) -> Option<(End, u8)>",
            "pub fn store::Store::get(&self, id: impl Into<String>) -> Result<Self::Row, u8>",
            "pub fn store::Store::len(&self) -> usize (default)",
            "pub mod store",
            "pub struct Session<T>",
            "pub trait store::Store: Send",
            "pub type store::Store::Row: Clone",
            "pub variant End::Fields",
            "pub variant End::Pair",
            "pub variant End::Plain",
        ];
        assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_type_that_hosts_cannot_name_is_an_error() {
        let library = format!("{LIBRARY}pub fn look() -> punch_core::Hidden {{ loop {{}} }}\n");
        let error = list_sources(&library).err().unwrap_or_default();
        assert!(error.contains("punch_core") && error.contains("Hidden"), "{error}");
        // An alias is a name, and shows what the type has.
        let named = list_sources(&format!("{library}pub type Depth = punch_core::Hidden;\n"));
        let named = named.unwrap_or_else(|error| panic!("{error}"));
        assert!(named.contains("pub fn look() -> Depth\n") && named.contains("pub Depth::depth: usize\n"), "{named}");
    }
}

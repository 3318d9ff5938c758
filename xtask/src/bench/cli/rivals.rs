//! What `punch` is compared with: the bare program and Taskwarrior, each with its own data.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::call::{self, CallCost, call};
use super::programs::BenchPrograms;
use super::shape;
use crate::bench::tools;
use crate::process;

/// The bare program with a table.
pub struct Bare<'p> {
    programs: &'p BenchPrograms,
    folder: PathBuf,
    size: u32,
}

impl<'p> Bare<'p> {
    /// Makes a table of that many rows below a folder.
    pub fn make(programs: &'p BenchPrograms, room: &Path, size: u32) -> Result<Self, String> {
        let bare = Self { programs, folder: room.to_owned(), size };
        call(&mut bare.command(&["make", &size.to_string()]))?;
        Ok(bare)
    }

    /// One call.
    pub fn command(&self, arguments: &[&str]) -> Command {
        call::program(&self.programs.bare, &self.folder, &[&["--database", "bare.db"], arguments].concat())
    }

    /// One durable update by the program that is linked as ours is.
    pub fn update_alike(&self) -> Command {
        let arguments = ["--database", "bare.db", "update", &shape::id(self.size / 2)];
        call::program(&self.programs.bare_alike, &self.folder, &arguments)
    }

    /// One indexed query.
    pub fn query(&self) -> Command {
        self.command(&["query", &shape::id(self.size / 2)])
    }

    /// One durable update.
    pub fn update(&self) -> Command {
        self.command(&["update", &shape::id(self.size / 2)])
    }
}

/// Taskwarrior with tasks.
pub struct Warrior {
    folder: PathBuf,
    taken: u32,
}

impl Warrior {
    /// Installs it if need be and imports that many tasks.
    pub fn make(room: &Path, size: u32) -> Result<Self, String> {
        tools::install("task", "taskwarrior")?;
        let folder = room.join("taskwarrior");
        let settings = "data.location=data\nconfirmation=off\nnews.version=2.6.0\n";
        fs::create_dir_all(folder.join("data"))
            .and_then(|()| fs::write(folder.join(".taskrc"), settings))
            .and_then(|()| shape::tasks(size, &mut BufWriter::new(File::create(folder.join("tasks.json"))?)))
            .map_err(|cause| format!("cannot make a place for Taskwarrior: {cause}"))?;
        let warrior = Self { folder, taken: 0 };
        process::read(&mut warrior.command(&["import", "tasks.json"]))?;
        Ok(warrior)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        call::program(Path::new("task"), &self.folder, arguments)
    }

    /// Runs what comes nearest to a verb of ours.
    pub fn run(&mut self, verb: &str) -> Result<CallCost, String> {
        let uuid = shape::uuid(self.taken);
        let [a, b, c] = [900, 901, 902].map(shape::uuid);
        let mut command = match verb {
            "show" => self.command(&[&shape::uuid(500), "info"]),
            "start" => self.command(&[&uuid, "start"]),
            "done" => {
                self.taken += 1;
                self.command(&[&uuid, "done"])
            }
            "add" => self.command(&["add", "Something that came up"]),
            "add --needs" => self.command(&["add", "Something that came up", &format!("depends:{a},{b},{c}")]),
            other => self.command(&[other]),
        };
        call(&mut command)
    }
}

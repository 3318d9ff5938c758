//! A project with a plan of a size, and the commands that are measured on it.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::call::{self, Cost, call};
use super::programs::Programs;
use super::shape;
use crate::process;

/// The commands, in the order of a working day: look, take, finish, note what else is to do.
pub const VERBS: [&str; 7] = ["next", "ready", "show", "start", "done", "add", "add --needs"];

/// A git repository with a store in it.
pub struct Plan<'p> {
    programs: &'p Programs,
    /// How many todos it began with.
    pub size: u32,
    folder: PathBuf,
    /// The store as it was at first.
    fresh: PathBuf,
    ready: VecDeque<String>,
    added: u32,
}

impl<'p> Plan<'p> {
    /// Makes it below a folder.
    pub fn make(programs: &'p Programs, room: &Path, size: u32) -> Result<Self, String> {
        let folder = room.join(format!("plan-{size}"));
        let fresh = room.join(format!("fresh-{size}"));
        for folder in [&folder, &fresh] {
            fs::create_dir_all(folder).map_err(|cause| format!("cannot make a folder: {cause}"))?;
        }
        process::read(&mut call::program(Path::new("git"), &folder, &["init", "--quiet"]))?;
        call(&mut import(programs, &fresh, size)?)?;
        let mut plan = Self { programs, size, folder, fresh, ready: VecDeque::new(), added: 0 };
        plan.reset()?;
        Ok(plan)
    }

    /// The plan as it was at first.
    pub fn reset(&mut self) -> Result<(), String> {
        let store = self.folder.join(".git/punch");
        let again = || -> std::io::Result<()> {
            if store.exists() {
                fs::remove_dir_all(&store)?;
            }
            fs::create_dir_all(&store)?;
            for entry in fs::read_dir(&self.fresh)? {
                let entry = entry?;
                fs::copy(entry.path(), store.join(entry.file_name()))?;
            }
            Ok(())
        };
        again().map_err(|cause| format!("cannot copy the store: {cause}"))?;
        self.ready.clear();
        Ok(())
    }

    /// `punch` in this project.
    pub fn punch(&self, arguments: &[&str]) -> Command {
        call::program(&self.programs.punch, &self.folder, arguments)
    }

    /// The next call of a verb. `start` and `done` are about the same todo, which was ready.
    pub fn command(&mut self, verb: &str) -> Result<Command, String> {
        let middle = shape::id(self.size / 2);
        Ok(match verb {
            "show" => self.punch(&["show", &middle]),
            "start" => {
                let id = self.take()?;
                self.punch(&["start", &id])
            }
            "done" => {
                let id = self.ready.pop_front().ok_or("`done` comes after `start`")?;
                self.punch(&["done", &id])
            }
            "add" => self.add(&[]),
            "add --needs" => {
                // Always others of the last layer.
                let nth = |k| shape::id(self.size - 1 - (3 * self.added + k) % self.size.isqrt());
                let last = [0, 1, 2].map(nth);
                self.add(&["--needs", &last[0], "--needs", &last[1], "--needs", &last[2]])
            }
            other => self.punch(&[other]),
        })
    }

    /// Runs the next call of a verb.
    pub fn run(&mut self, verb: &str) -> Result<Cost, String> {
        call(&mut self.command(verb)?)
    }

    fn add(&mut self, flags: &[&str]) -> Command {
        self.added += 1;
        let content = format!("Something that came up, number {}", self.added);
        self.punch(&[&["add", content.as_str()], flags].concat())
    }

    /// The best ready todo, left at the front.
    fn take(&mut self) -> Result<String, String> {
        if self.ready.is_empty() {
            let text = process::read(&mut self.punch(&["ready", "--json", "--limit", "50"]))?;
            let json: serde_json::Value = serde_json::from_str(&text).map_err(|cause| format!("ready: {cause}"))?;
            let todos = json["todos"].as_array().into_iter().flatten();
            self.ready = todos.filter_map(|todo| Some(todo["id"].as_str()?.to_owned())).collect();
        }
        self.ready.front().cloned().ok_or_else(|| format!("nothing is ready in the plan of {}", self.size))
    }
}

/// The call that fills an empty store below a folder.
pub fn import(programs: &Programs, store: &Path, size: u32) -> Result<Command, String> {
    let file = store.with_extension("json");
    fs::write(&file, shape::extended(size)).map_err(|cause| format!("cannot write a plan: {cause}"))?;
    let (store, file) = (store.join("store.db"), file);
    let mut command = call::program(&programs.import, Path::new("/"), &[]);
    command.arg(store).arg(file);
    Ok(command)
}

//! A project with a plan of a size, and the commands that are measured on it.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::call::{self, CallCost, call};
use super::programs::BenchPrograms;
use super::shape;
use crate::process;

/// The commands, in the order of a working day: look, take, finish, note what else is to do.
pub const VERBS: [&str; 7] = ["next", "ready", "show", "start", "done", "add", "add --needs"];

/// A git repository with a store in it.
pub struct BenchPlan<'p> {
    programs: &'p BenchPrograms,
    /// How many todos it began with.
    pub size: u32,
    folder: PathBuf,
    /// The store as it was at first.
    fresh: PathBuf,
    ready: VecDeque<String>,
    added: u32,
    hooked: u32,
}

impl<'p> BenchPlan<'p> {
    /// Imports it into a new folder; what the import cost comes along.
    pub fn make(programs: &'p BenchPrograms, folder: PathBuf, size: u32) -> Result<(Self, CallCost), String> {
        let fresh = folder.join("fresh");
        let plan = Self { programs, size, folder, fresh, ready: VecDeque::new(), added: 0, hooked: 0 };
        let file = plan.folder.join("plan.json");
        fs::create_dir_all(&plan.folder)
            .and_then(|()| shape::extended(size, &mut BufWriter::new(File::create(file)?)))
            .map_err(|cause| format!("cannot write a plan: {cause}"))?;
        process::read(&mut call::program(Path::new("git"), &plan.folder, &["init", "--quiet"]))?;
        let cost = call(&mut plan.punch(&["import", "plan.json"]))?;
        copy(&plan.store(), &plan.fresh)?;
        Ok((plan, cost))
    }

    fn store(&self) -> PathBuf {
        self.folder.join(".git/punch")
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Counts the reports of a hook.
    pub fn turn(&mut self) -> u32 {
        self.hooked += 1;
        self.hooked
    }

    /// The plan as it was at first.
    pub fn reset(&mut self) -> Result<(), String> {
        self.ready.clear();
        copy(&self.fresh, &self.store())
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
    pub fn run(&mut self, verb: &str) -> Result<CallCost, String> {
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

/// The files of a folder and no others.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let run = || -> std::io::Result<()> {
        if to.exists() {
            fs::remove_dir_all(to)?;
        }
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
        Ok(())
    };
    run().map_err(|cause| format!("cannot copy the store: {cause}"))
}

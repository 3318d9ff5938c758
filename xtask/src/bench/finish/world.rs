//! The work: todos that take some turns each. Work is true if its file is there, and only the model makes that file.

use std::fs;
use std::path::{Path, PathBuf};

use super::draws::{Draw, Draws};
use super::profile::{Profile, TURNS_PER_TODO};

pub struct WorldTask {
    /// Turns that it takes.
    pub turns: u32,
    /// Only the user can do it.
    pub needs_user: bool,
}

pub struct TaskWorld {
    /// The project's folder.
    pub folder: PathBuf,
    pub draws: Draws,
    pub tasks: Vec<WorldTask>,
}

impl TaskWorld {
    pub fn new(folder: PathBuf, seed: u64, todos: usize, profile: &Profile) -> Result<Self, String> {
        fs::create_dir_all(&folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
        let draws = Draws { seed };
        let tasks = (0..todos).map(|todo| WorldTask {
            turns: turns(draws.unit(Draw::Turns, todo, 0)),
            needs_user: draws.hits(Draw::User, todo, 0, profile.user),
        });
        Ok(Self { folder, draws, tasks: tasks.collect() })
    }

    /// The todos that an agent can do.
    pub fn doable(&self) -> usize {
        self.tasks.iter().filter(|task| !task.needs_user).count()
    }

    pub fn is_true(&self, todo: usize) -> bool {
        self.folder.join(name(todo)).exists()
    }

    pub fn make_true(&self, todo: usize) -> Result<(), String> {
        write(&self.folder.join(name(todo)), "")
    }

    /// One turn of work on a todo: a file changes.
    pub fn change(&self, todo: usize, turn: u32) -> Result<PathBuf, String> {
        let path = self.folder.join(format!("part{todo:02}.txt"));
        write(&path, &format!("{turn}\n"))?;
        Ok(path)
    }

    /// Someone has worked on it before, with whatever result.
    pub fn was_changed(&self, todo: usize) -> bool {
        self.folder.join(format!("part{todo:02}.txt")).exists()
    }
}

/// The file whose existence is the truth about a todo.
pub fn name(todo: usize) -> String {
    format!("ok{todo:02}")
}

/// The todo as the user wrote it.
pub fn content(todo: usize) -> String {
    format!("Write part {todo:02} until {} is there", name(todo))
}

/// The command that checks it.
pub fn check(todo: usize) -> String {
    format!("test -f {}", name(todo))
}

pub fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|cause| format!("{}: {cause}", path.display()))
}

/// Geometric, with [`TURNS_PER_TODO`] on average.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
fn turns(unit: f64) -> u32 {
    1 + ((1.0 - unit).ln() / (1.0 - 1.0 / TURNS_PER_TODO).ln()) as u32
}

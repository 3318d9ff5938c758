//! Edits a text in the user's editor. What they typed is never lost: until it is applied, it is in a file that is named
//! if anything goes wrong.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use punch_core::text;
use punch_engine::process::withhold_passwords;
use punch_store::platform;

use crate::failure::Failure;
use crate::{environment, files, output, progress};

/// What the user was shown, in the file beside theirs.
const BASE: &str = "base.json";

/// A text that is being edited, in a folder that only the user may enter.
pub struct EditorDraft {
    editor: String,
    folder: PathBuf,
    file: PathBuf,
}

impl EditorDraft {
    /// Puts a text, and what it was made from, where the editor finds it. Without an editor there is nothing to keep.
    pub fn new(name: &str, text: &str, base: &str) -> Result<Self, Failure> {
        let editor = editor()?;
        let folder = folder().map_err(|cause| files::failed(&std::env::temp_dir(), cause))?;
        let draft = Self { editor, file: folder.join(name), folder };
        draft.put(&draft.folder.join(BASE), base)?;
        draft.put(&draft.file, text)?;
        Ok(draft)
    }

    /// A saved draft, and the text it was made from.
    pub fn again(file: &Path) -> Result<(Self, String), Failure> {
        let editor = editor()?;
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        let base = files::read(&folder.join(BASE))?;
        Ok((Self { editor, folder, file: file.to_owned() }, base))
    }

    fn put(&self, path: &Path, text: &str) -> Result<(), Failure> {
        platform::create_private(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|cause| files::failed(path, cause))
    }

    /// Lets the user edit; answers what they left.
    pub fn edit(&self) -> Result<String, Failure> {
        progress::forbid();
        let editor = &self.editor;
        let status = command(editor, &self.file).status().map_err(|cause| {
            let message = format!("cannot run the editor `{editor}`: {cause}");
            Failure::usage(&message, "set VISUAL or EDITOR to a program that edits the file it is given")
        })?;
        if !status.success() {
            let message = format!("the editor `{editor}` ended with {status}; nothing was changed");
            return Err(Failure::usage(&message, "save and quit the editor normally to apply the text"));
        }
        files::read(&self.file)
    }

    /// Tells where the text is, because it was not taken over.
    pub fn keep(&self, again: &str) {
        let path = self.file.display().to_string();
        output::remark(&format!("your text was saved in {path}"));
        output::remark(&format!("`{again} {}` resumes the edit", text::shell(&path)));
    }

    /// Throws the text away: it was taken over, or nothing was changed.
    pub fn close(self) {
        // A file that cannot be removed is private and does no harm. Only what was put here goes: `--again` may name
        // a file anywhere.
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_file(self.folder.join(BASE));
        let _ = fs::remove_dir(&self.folder);
    }
}

fn folder() -> io::Result<PathBuf> {
    let (base, process) = (std::env::temp_dir(), std::process::id());
    for attempt in 0..100 {
        let path = base.join(format!("punch-edit-{process}-{attempt}"));
        match platform::private_folders().create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn editor() -> Result<String, Failure> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    match set("VISUAL").or_else(|| set("EDITOR")) {
        Some(editor) => Ok(editor),
        None if io::stdin().is_terminal() && environment::inside_agent().is_none() => fallback(),
        None => Err(no_editor()),
    }
}

/// The first editor that is installed, for users who have not chosen one.
fn fallback() -> Result<String, Failure> {
    let known = if cfg!(windows) { &["notepad"][..] } else { &["sensible-editor", "nano", "vim", "vi"][..] };
    let found = known.iter().find(|name| cfg!(windows) || environment::find_program(name).is_some());
    found.map(|name| (*name).to_owned()).ok_or_else(no_editor)
}

fn no_editor() -> Failure {
    Failure::usage("no editor found", "set VISUAL or EDITOR, or give fields: `punch edit T-3 --priority 1`")
}

/// Editors come with arguments (`code --wait`), so the line goes through the shell; the file is never part of it.
fn command(editor: &str, file: &Path) -> Command {
    if cfg!(windows) {
        let mut words = editor.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or(editor));
        withhold_passwords(&mut command).args(words).arg(file);
        return command;
    }
    let mut command = Command::new("sh");
    withhold_passwords(&mut command).arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(file);
    command
}

//! Writes the steps to disk: all of them, or none. The record of a file is written before the file changes, so that an
//! interrupted install can be undone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use punch_serve::wiring::TextPatch;
use punch_store::{Replacement, create_own_folder, replace_file, update_own};

use super::file;
use super::place::WiringPlace;
use super::record::FileRecord;
use super::step::FileStep;
use crate::failure::Failure;
use crate::files;

/// How the names of copies beside files end.
pub const BACKUP: &str = "before-punch";

/// The mode of files that only their owner may read.
const PRIVATE: u32 = 0o600;

/// Writes every step; what was written is undone if one fails. The caller has the turn.
pub fn carry_out(place: &WiringPlace, steps: &mut [FileStep]) -> Result<(), Failure> {
    for step in steps.iter() {
        // Agents and editors ask for no turn.
        if file::read(&step.real)? != step.before {
            return Err(changed_meanwhile(step));
        }
    }
    for index in 0..steps.len() {
        if let Err(failure) = carry(place, &mut steps[index]) {
            steps[..=index].iter().rev().for_each(|step| take_back(place, step));
            return Err(failure);
        }
    }
    let mut folders = Vec::new();
    for step in steps.iter() {
        if let (Some(old), None) = (&step.old, &step.new) {
            delete_copy(old, step.copy_stays.as_deref());
            folders.extend(old.made_folders.iter().map(PathBuf::as_path));
            FileRecord::forget(&place.records, &step.real);
        }
    }
    remove_empty(folders);
    Ok(())
}

/// Someone else was faster.
pub fn changed_meanwhile(step: &FileStep) -> Failure {
    let message = format!("another program changed `{}` while this command was running", step.path.display());
    Failure::refused("changed_meanwhile", message, "run the same command again")
}

/// One at a time: two runs at once would each believe what the other replaces. Lasts until it is dropped.
pub fn turn(place: &WiringPlace) -> Result<File, Failure> {
    let path = place.records.join("lock");
    let open = || {
        create_own_folder(&place.records)?;
        let file = update_own(&path)?;
        file.lock()?;
        Ok(file)
    };
    open().map_err(|cause: io::Error| files::failed(&path, cause))
}

fn carry(place: &WiringPlace, step: &mut FileStep) -> Result<(), Failure> {
    let changes = step.before != step.after;
    if let (true, Some(before), Some(new)) = (changes, &step.before, &mut step.new)
        && new.backup.is_none()
    {
        new.backup = Some((free_name(&step.real)?, TextPatch::back("", before)));
    }
    // First of all: whatever follows is found again and removed, also if this process is killed.
    if let Some(new) = step.new.as_ref().filter(|new| step.old.as_ref() != Some(*new)) {
        new.save(&place.records)?;
    }
    if !changes {
        return Ok(());
    }
    if let (None, Some(folder)) = (&step.new, step.real.parent().filter(|_| step.after.is_some())) {
        fs::create_dir_all(folder).map_err(|cause| files::failed(folder, cause))?;
    }
    for folder in step.new.iter().flat_map(|record| &record.made_folders) {
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(files::failed(folder, error)),
            _ => {}
        }
    }
    if let (Some(before), Some((copy, mark))) = (&step.before, step.new.as_ref().and_then(|new| new.backup.as_ref()))
        && mark.fits(before)
    {
        back_up(copy, before).map_err(|cause| files::failed(copy, cause))?;
    }
    match (&step.before, &step.after) {
        (None, Some(after)) if !step.real.starts_with(&place.roots.project) => create_private(&step.real, after)?,
        (_, Some(after)) => files::replace(&step.real, after)?,
        (_, None) => fs::remove_file(&step.real).map_err(|cause| files::failed(&step.path, cause))?,
    }
    Ok(())
}

/// Creates a file in the home folder that only its owner may read: agents keep the mode, and put secrets into it later.
fn create_private(real: &Path, text: &str) -> Result<(), Failure> {
    if real.symlink_metadata().is_ok() {
        return Err(files::failed(real, io::ErrorKind::AlreadyExists.into()));
    }
    replace_file(real, text.as_bytes(), PRIVATE).map_err(|cause| files::failed(real, cause))
}

/// The path of a copy beside the file, under a name that nobody has.
fn free_name(real: &Path) -> Result<PathBuf, Failure> {
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let numbers = (0..100).map(|number| if number == 0 { String::new() } else { format!(".{number}") });
    let mut names = numbers.map(|number| real.with_file_name(format!("{name}.{BACKUP}{number}")));
    let free = names.find(|path| path.symlink_metadata().is_err());
    free.ok_or_else(|| files::failed(real, io::ErrorKind::AlreadyExists.into()))
}

/// Writes the copy, which only its owner may read, as a whole. One that is there already stays.
fn back_up(copy: &Path, text: &str) -> io::Result<()> {
    if copy.symlink_metadata().is_ok() {
        return Ok(());
    }
    Replacement::new(copy, text.as_bytes(), PRIVATE)?.commit_if_missing()
}

/// Deletes the copy, if it is still what we wrote and no install needs it.
fn delete_copy(record: &FileRecord, copy_stays: Option<&Path>) {
    if let Some((path, mark)) = &record.backup
        && copy_stays != Some(path)
        && file::read(path).ok().flatten().is_some_and(|text| mark.fits(&text))
    {
        let _ = fs::remove_file(path);
    }
}

/// Removes folders that we made, if they are empty. A folder may be in the record of one file and hold the others.
fn remove_empty(mut folders: Vec<&Path>) {
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}

/// Undoes a step, as far as it was carried out.
fn take_back(place: &WiringPlace, step: &FileStep) {
    let now = file::read(&step.real).ok().flatten();
    if now == step.after && now != step.before {
        match &step.before {
            Some(before) => drop(files::replace(&step.real, before)),
            None => drop(fs::remove_file(&step.real)),
        }
    }
    match &step.old {
        Some(old) => drop(old.save(&place.records)),
        None => FileRecord::forget(&place.records, &step.real),
    }
    if let (None, Some(new)) = (&step.old, &step.new) {
        delete_copy(new, None);
        remove_empty(new.made_folders.iter().map(PathBuf::as_path).collect());
    }
}

//! Writes the steps to disk: all of them, or none. The record of a file is written before the file changes, so that an
//! interrupted install can be undone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use punch_serve::wiring::TextPatch;
use punch_store::{create_own_folder, platform, update_own};

use super::file;
use super::place::WiringPlace;
use super::record::FileRecord;
use super::step::FileStep;
use crate::failure::Failure;
use crate::files;

/// How the names of copies beside files end.
pub const BACKUP: &str = "before-punch";

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
    for step in steps.iter() {
        if let (Some(old), None) = (&step.old, &step.new) {
            clear(old, step.copy_stays.as_deref());
            FileRecord::forget(&place.records, &step.real);
        }
    }
    Ok(())
}

/// Someone else was faster.
pub fn changed_meanwhile(step: &FileStep) -> Failure {
    let message = format!("`{}` was changed by another program in the meantime", step.path.display());
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
    if step.before != step.after {
        if let (Some(before), Some(new)) = (&step.before, &mut step.new)
            && new.backup.is_none()
        {
            new.backup = Some((back_up(&step.real, before)?, TextPatch::back("", before)));
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
    }
    if let Some(new) = step.new.as_ref().filter(|new| step.old.as_ref() != Some(*new)) {
        new.save(&place.records)?;
    }
    match (&step.before, &step.after) {
        (before, after) if before == after => {}
        (None, Some(after)) if !step.real.starts_with(&place.roots.project) => create_private(&step.real, after)?,
        (_, Some(after)) => files::replace(&step.real, after)?,
        (_, None) => fs::remove_file(&step.real).map_err(|cause| files::failed(&step.path, cause))?,
    }
    Ok(())
}

/// Creates a file in the home folder that only its owner may read: agents keep the mode, and put secrets into it later.
fn create_private(real: &Path, text: &str) -> Result<(), Failure> {
    platform::create_private(real).map_err(|cause| files::failed(real, cause))?;
    files::replace(real, text).inspect_err(|_| drop(fs::remove_file(real)))
}

/// A copy beside the file that only its owner may read, under a name that nobody has.
fn back_up(real: &Path, text: &str) -> Result<PathBuf, Failure> {
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 0..100 {
        let number = if number == 0 { String::new() } else { format!(".{number}") };
        let path = real.with_file_name(format!("{name}.{BACKUP}{number}"));
        match platform::create_private(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(files::failed(&path, error)),
            Ok(_) => {
                files::replace(&path, text)?;
                return Ok(path);
            }
        }
    }
    Err(files::failed(real, io::ErrorKind::AlreadyExists.into()))
}

/// Deletes the copy, if it is still what we wrote and no install needs it, and the folders that we made, if they are empty.
fn clear(record: &FileRecord, copy_stays: Option<&Path>) {
    if let Some((path, mark)) = &record.backup
        && copy_stays != Some(path)
        && file::read(path).ok().flatten().is_some_and(|text| mark.fits(&text))
    {
        let _ = fs::remove_file(path);
    }
    record.made_folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
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
        clear(new, None);
    }
}

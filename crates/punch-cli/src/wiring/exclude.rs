//! Files that only this clone ignores: a personal install must not show up in `git status`, and must not be committed by
//! accident. Only lines that `install` added are ever removed.

use punch_agents::settings::{ConnectionLevel, FileContent};
use punch_serve::wiring::{FileEditor as _, listed_lines};

use super::carry::BACKUP;
use super::file;
use super::place::WiringPlace;
use super::record::FileRecord;
use super::step::{FileAction, FileStep, refused};
use super::worktree::Worktree;
use crate::failure::Failure;

/// Notes in each step's record which lines it needs, and returns the step that changes `.git/info/exclude` accordingly.
pub fn plan(place: &WiringPlace, worktree: &Worktree, steps: &mut [FileStep]) -> Result<Option<FileStep>, Failure> {
    let real = file::resolved(&worktree.exclude)?;
    let before = file::read(&real)?;
    let listed = listed_lines(before.as_deref().unwrap_or_default());
    let (mut wanted, mut unwanted): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for step in steps.iter_mut().filter(|step| step.level != ConnectionLevel::User) {
        let needed = needed(worktree, step, &listed)?;
        let old: Vec<String> = step.old.as_ref().map_or_else(Vec::new, |old| old.excluded.clone());
        unwanted.extend(old.into_iter().filter(|line| !needed.contains(line)));
        if let Some(new) = &mut step.new {
            new.excluded.clone_from(&needed);
        }
        wanted.extend(needed);
    }
    let own: Vec<_> = steps.iter().map(|step| step.real.clone()).collect();
    // Linked worktrees have files of the same names.
    let elsewhere = FileRecord::all(&place.records).into_iter().filter(|record| !own.contains(&record.path));
    let elsewhere: Vec<String> = elsewhere.flat_map(|record| record.excluded).collect();
    unwanted.retain(|line| !wanted.contains(line) && !elsewhere.contains(line));
    let wrong = |wrong| refused(&worktree.exclude, &wrong);
    let text = before.clone().unwrap_or_default();
    let text = FileContent::Lines(wanted).wire(Some(&text)).map_err(wrong)?;
    let after = FileContent::Lines(unwanted).unwire(&text, &[]).map_err(wrong)?.unwrap_or_default();
    if before.as_deref().unwrap_or_default() == after {
        return Ok(None);
    }
    // A file with nothing but our lines is one that we made.
    let after = Some(after).filter(|after| !after.is_empty());
    let action = match (&before, &after) {
        (_, None) => FileAction::Remove,
        (Some(_), Some(_)) => FileAction::Change,
        (None, Some(_)) => FileAction::Make,
    };
    Ok(Some(FileStep::bare(worktree.exclude.clone(), real, before, after, action)))
}

/// The lines that a step needs: for a file that only this user has, and for the copy of what was in a file.
fn needed(worktree: &Worktree, step: &FileStep, listed: &[String]) -> Result<Vec<String>, Failure> {
    let Some(name) = worktree.relative(&step.path) else { return Ok(Vec::new()) };
    let backup =
        step.path.with_file_name(format!("{}.{BACKUP}", step.path.file_name().unwrap_or_default().to_string_lossy()));
    let personal = step.new.as_ref().is_some_and(|new| new.personal);
    let copied = match &step.new {
        Some(new) => new.backup.is_some() || (step.before.is_some() && step.before != step.after),
        None => step.copy_stays.is_some(),
    };
    let mut out = Vec::new();
    for (is_needed, path, line) in
        [(personal, &step.path, format!("/{name}")), (copied, &backup, format!("/{name}.{BACKUP}*"))]
    {
        if is_needed && (listed.contains(&line) || !worktree.ignores(path)?) {
            out.push(line);
        }
    }
    Ok(out)
}

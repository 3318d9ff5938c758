//! Connecting an agent through one file, and disconnecting it again, as functions from text to text. Reading and writing
//! the file is the caller's part.
//!
//! Two promises hold whatever happened to the file in between: everything that is not ours stays in it, and a file is
//! only deleted if it is one that we made and nothing but ours was in it.

use super::patch::TextPatch;
use punch_agents::settings::FileContent;

use super::target::FileEditor;
use super::wrong::SettingsFileError;

/// What is remembered about a file between connecting and disconnecting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHistory {
    /// The file did not exist before.
    pub made_file: bool,
    /// Objects and arrays that were there before, as paths. They stay even if they are empty.
    pub kept: Vec<Vec<String>>,
    /// Leads from the text that we wrote back to the text without any entry of ours.
    pub patch: TextPatch,
}

/// A file after disconnecting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisconnectedFile {
    /// The text; `None` if the file is to be deleted.
    pub text: Option<String>,
    /// What to remember for the other users of the file, if there are any.
    pub history: Option<FileHistory>,
}

/// Whether a file holds entries of ours that another content made, for another agent or project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherEntries {
    /// None are known.
    Absent,
    /// Some are there, and stay.
    Present,
}

/// Puts our entries into a file. `before` is `None` if the file does not exist.
pub fn connect(
    content: &FileContent,
    before: Option<&str>,
    known: Option<&FileHistory>,
    others: OtherEntries,
) -> Result<(String, FileHistory), SettingsFileError> {
    let after = content.wire(before)?;
    let Some(before) = before else {
        let (kept, patch) = (Vec::new(), TextPatch::back("", &after));
        return Ok((after, FileHistory { made_file: true, kept, patch }));
    };
    same_foreign(content, before, &after)?;
    if let Some(known) = known.filter(|known| others == OtherEntries::Present && !known.patch.fits(before)) {
        // Someone rewrote the file, and what it would be without the other entries is not known here. The old patch
        // no longer fits, so that all of them will be taken out entry by entry.
        return Ok((after, known.clone()));
    }
    let origin = origin(content, before, known)?;
    let mut kept = content.containers(Some(&origin));
    let earlier = known.iter().flat_map(|known| &known.kept).filter(|path| !kept.contains(path));
    let earlier: Vec<_> = earlier.cloned().collect();
    kept.extend(earlier);
    let patch = TextPatch::back(&origin, &after);
    Ok((after, FileHistory { made_file: known.is_some_and(|known| known.made_file), kept, patch }))
}

/// Takes our entries out of a file.
pub fn disconnect(
    content: &FileContent,
    before: &str,
    known: Option<&FileHistory>,
    others: OtherEntries,
) -> Result<DisconnectedFile, SettingsFileError> {
    let kept = known.map_or(&[][..], |known| &known.kept);
    let restored = known.and_then(|known| known.patch.undo(before));
    if let (FileContent::Whole { .. }, OtherEntries::Absent) = (content, others) {
        // A file that is ours as a whole and is as we wrote it.
        let text = if restored.is_some() { None } else { content.unwire(before, kept)? };
        return Ok(DisconnectedFile { text, history: None });
    }
    let stripped = |text: &str| Ok::<_, SettingsFileError>(content.unwire(text, kept)?.unwrap_or_default());
    if let (Some(known), OtherEntries::Present) = (known, others) {
        let text = stripped(before)?;
        same_foreign(content, before, &text)?;
        let patch = match &restored {
            Some(restored) => TextPatch::back(&stripped(restored)?, &text),
            None => known.patch.clone(),
        };
        let history = FileHistory { patch, ..known.clone() };
        return Ok(DisconnectedFile { text: Some(text), history: Some(history) });
    }
    let restored = restored.map(|restored| stripped(&restored)).transpose()?;
    let text = match restored.filter(|restored| same_foreign(content, before, restored).is_ok()) {
        Some(restored) => restored,
        None => {
            let text = stripped(before)?;
            same_foreign(content, before, &text)?;
            text
        }
    };
    let made_file = known.is_some_and(|known| known.made_file);
    let text = Some(text).filter(|text| !(made_file && content.is_bare(text)));
    Ok(DisconnectedFile { text, history: None })
}

/// The text as it would be without our entries. They may be there without a record, in a clone or from an earlier version,
/// or in a text that a record leads back to, if the file was rewritten in between.
fn origin(content: &FileContent, before: &str, known: Option<&FileHistory>) -> Result<String, SettingsFileError> {
    let restored = known.and_then(|known| known.patch.undo(before));
    let kept = known.map_or(&[][..], |known| &known.kept);
    if let (FileContent::Whole { .. }, Some(restored)) = (content, &restored) {
        return Ok(restored.clone());
    }
    Ok(content.unwire(restored.as_deref().unwrap_or(before), kept)?.unwrap_or_default())
}

/// Refuses an edit that would change more than our own entries.
fn same_foreign(content: &FileContent, before: &str, after: &str) -> Result<(), SettingsFileError> {
    match content.foreign(before)? == content.foreign(after)? {
        true => Ok(()),
        false => Err(SettingsFileError::whole("other settings would change with it; edit the `punch` entries by hand")),
    }
}

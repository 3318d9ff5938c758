//! Files that users hand over: imports, linked plan files, and Markdown for the web board.

use punch_core::plan_file::{PlanFile, PlanFileEdit};
use punch_core::{Format, Status, format};

use super::text;

/// Every format reads or refuses any text, and what it read can be written in every format and read again.
pub fn import(bytes: &[u8]) {
    let text = text(bytes);
    let _ = format::recognise(&text, None);
    for format in Format::all() {
        let Ok(parsed) = format.read(&text) else { continue };
        for other in Format::all().filter(|other| other.writes()) {
            let Some(written) = other.write(&parsed.document) else { continue };
            if other == format {
                assert!(
                    format.read(&written.text).is_ok(),
                    "{} cannot read what it wrote:\n{}",
                    format.name(),
                    written.text
                );
            }
        }
    }
}

/// An edit changes what it says and nothing else, and the result can be read.
pub fn plan_file(bytes: &[u8]) {
    let text = text(bytes);
    let Ok(file) = PlanFile::read(&text, &[]) else { return };
    let same = file.write(&[]).expect("no edit");
    if same.edits == 0 {
        assert_eq!(same.text, text, "a file without edits was rewritten");
    }
    for (at, item) in file.items().iter().enumerate().take(4) {
        let status = if item.status == Status::Completed { Status::Pending } else { Status::Completed };
        let Ok(written) = file.write(&[PlanFileEdit::Status(at, status)]) else { continue };
        let again = PlanFile::read(&written.text, &[]).expect("an edited file can be read");
        assert_eq!(again.items().len(), file.items().len(), "{text}\nbecame\n{}", written.text);
    }
}

/// Any Markdown becomes blocks.
pub fn markdown(bytes: &[u8]) {
    let blocks = punch_web::markdown::blocks(&text(bytes));
    let _ = serde_json::to_string(&blocks).expect("blocks are JSON");
}

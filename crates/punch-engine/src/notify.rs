//! Notifies the user outside of the terminal: runs `notify.command` with a text on its standard input. What has entered the
//! inbox is remembered in a file beside the store, so that runs, hooks and servers together report each item once.

use std::collections::HashSet;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use punch_core::inbox::{InboxItem, InboxKind};
use punch_store::{PlanId, create_own_folder, update_own};
use serde::{Deserialize, Serialize};

use crate::process::{GuardedChild, shell};

/// How long the command may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How long ago an item of the first look may have come in, in milliseconds.
const JUST_NOW: i64 = 10_000;

/// Items that are named in one message.
const NAMED: usize = 20;

/// Bytes of the file that are read; an inbox is far smaller.
const LONGEST: u64 = 16 << 20;

/// What makes an item the same at two looks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ItemKey(String, Option<String>, Option<u64>);

impl ItemKey {
    fn of(item: &InboxItem) -> Self {
        // Several settings may wait for approval.
        let setting = || (item.kind == InboxKind::Approval).then(|| item.text.clone());
        Self(item.kind.name().to_owned(), item.todo.clone().or_else(setting), item.question)
    }
}

/// What was in the inbox of a plan when it was last looked at.
#[derive(Clone, Debug)]
pub struct InboxMemory {
    file: PathBuf,
}

impl InboxMemory {
    /// The memory of a plan, given the path of the database of its store.
    pub fn beside(store: &Path, plan: PlanId) -> Self {
        let folder = store.parent().unwrap_or(Path::new(".")).join("notified");
        Self { file: folder.join(format!("{}.json", plan.0)) }
    }

    /// Returns the items that have entered the inbox since any process last looked. At the first look, only items count
    /// as new that have just come in, because the look follows a write. The end of a run is reported separately.
    pub fn entered(&self, items: Vec<InboxItem>, now: i64) -> io::Result<Vec<InboxItem>> {
        create_own_folder(self.file.parent().unwrap_or(Path::new(".")))?;
        let mut file = update_own(&self.file)?;
        file.lock()?;
        let mut text = String::new();
        (&mut file).take(LONGEST).read_to_string(&mut text)?;
        let before: Option<HashSet<ItemKey>> = serde_json::from_str(&text).ok();
        let present: HashSet<ItemKey> = items.iter().map(ItemKey::of).collect();
        if before.as_ref() != Some(&present) {
            file.rewind()?;
            file.set_len(0)?;
            file.write_all(serde_json::to_string(&present).unwrap_or_default().as_bytes())?;
        }
        let is_new = |item: &InboxItem| match &before {
            _ if item.kind == InboxKind::Finished => false,
            Some(before) => !before.contains(&ItemKey::of(item)),
            None => item.since > now.saturating_sub(JUST_NOW),
        };
        Ok(items.into_iter().filter(is_new).collect())
    }
}

/// Returns a text with a line for each item.
pub fn inbox_message(plan: &str, items: &[InboxItem]) -> String {
    let mut out = match items.len() {
        1 => format!("plan {plan}: 1 thing needs you\n"),
        count => format!("plan {plan}: {count} things need you\n"),
    };
    for item in items.iter().take(NAMED) {
        let id = item.todo.as_deref().map(|id| format!("{id}: ")).unwrap_or_default();
        out.push_str(&format!("{} {id}{}\n", item.kind.name(), item.text));
    }
    if let more @ 1.. = items.len().saturating_sub(NAMED) {
        out.push_str(&format!("… and {more} more; see `punch inbox`\n"));
    }
    out
}

/// Runs the command of the user in a folder, to its end or its time limit. The text arrives on standard input only: todo
/// text in arguments or variables could be read as part of a command.
pub fn notify(line: &str, folder: &Path, text: &str) -> io::Result<()> {
    let mut command = shell(line);
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = GuardedChild::start(&mut command)?;
    if let Some(mut input) = child.stdin() {
        let text = text.to_owned();
        // A program that does not read its input must not stop us, and one that ends without reading is not an error.
        thread::Builder::new().name("notify".into()).spawn(move || drop(input.write_all(text.as_bytes())))?;
    }
    let begun = Instant::now();
    while !child.has_ended() && begun.elapsed() < LIMIT {
        child.renew_guard();
        thread::sleep(Duration::from_millis(20));
    }
    child.end();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: InboxKind, todo: &str) -> InboxItem {
        let (todo, text) = (Some(todo.to_owned()), "text".to_owned());
        InboxItem { kind, todo, text, since: 0, blocks: 0, action: String::new(), question: None }
    }

    #[test]
    fn only_what_comes_in_is_new_and_what_comes_back_is_new_again() {
        let folder = tempfile::tempdir().unwrap();
        let looker = || InboxMemory::beside(&folder.path().join("store.db"), PlanId(1));
        let entered = |items: Vec<InboxItem>| looker().entered(items, 60_000).unwrap();
        let (held, failed) = (item(InboxKind::Hold, "T-1"), item(InboxKind::Failed, "T-2"));
        assert_eq!(entered(vec![held.clone()]), [], "what is there at the first look is not new");
        assert_eq!(entered(vec![held.clone(), failed.clone()]), std::slice::from_ref(&failed));
        assert_eq!(entered(vec![held.clone(), failed.clone()]), []);
        assert_eq!(entered(vec![failed.clone(), item(InboxKind::Finished, "T-3")]), []);
        assert_eq!(entered(vec![held.clone(), failed]), std::slice::from_ref(&held));
        std::fs::write(folder.path().join("notified/1.json"), "broken").unwrap();
        assert_eq!(entered(vec![held.clone()]), [], "a file that cannot be read is a first look");
        std::fs::remove_file(folder.path().join("notified/1.json")).unwrap();
        let just = InboxItem { since: 55_000, ..item(InboxKind::Failed, "T-4") };
        assert_eq!(
            entered(vec![held.clone(), just.clone()]),
            std::slice::from_ref(&just),
            "the write before the first look"
        );
        assert_eq!(entered(vec![held, just]), []);
        let setting = |text: &str| InboxItem { todo: None, text: text.into(), ..item(InboxKind::Approval, "") };
        assert_eq!(entered(vec![setting("a")]), [setting("a")]);
        assert_eq!(entered(vec![setting("a"), setting("b")]), [setting("b")], "each setting is reported");
    }

    #[test]
    fn a_message_has_a_line_for_each_item_and_an_end() {
        let text = inbox_message("main", &[item(InboxKind::Hold, "T-1")]);
        assert_eq!(text, "plan main: 1 thing needs you\nhold T-1: text\n");
        let many: Vec<InboxItem> = (0..25).map(|n| item(InboxKind::Failed, &format!("T-{n}"))).collect();
        assert!(inbox_message("main", &many).ends_with("failed T-19: text\n… and 5 more; see `punch inbox`\n"));
    }
}

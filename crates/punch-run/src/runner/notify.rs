//! Tells the user outside of the terminal: runs `notify.command` when something enters the inbox while a run works, and
//! when the run ends. The text arrives on standard input only, because todo text in arguments or variables could be read
//! as part of a command.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use punch_core::inbox::{InboxItem, InboxKind};
use punch_engine::InboxQuery;
use punch_engine::process::{GuardedChild, shell};

use super::Runner;
use crate::error::RunError;

/// How often the inbox is looked at, at most.
const LOOK: Duration = Duration::from_secs(1);

/// How long the command may take. A run waits for it at its end.
const LIMIT: Duration = Duration::from_secs(10);

/// Items that are named in one message.
const NAMED: usize = 20;

/// What is known of the inbox.
#[derive(Debug, Default)]
pub(super) struct InboxWatch {
    /// The items at the last look; `None` before the first one.
    known: Option<HashSet<Key>>,
    looked: Option<Instant>,
    /// The plan has changed since.
    changed: bool,
}

/// What makes an item the same at two looks.
type Key = (InboxKind, Option<String>, Option<u64>);

impl InboxWatch {
    /// The plan has changed, so something may have entered the inbox.
    pub const fn plan_changed(&mut self) {
        self.changed = true;
    }

    fn is_due(&self) -> bool {
        self.changed && self.looked.is_none_or(|looked| looked.elapsed() >= LOOK)
    }

    /// Returns the items that have come in since the last look. What was there before the first look is not new.
    fn entered(&mut self, items: Vec<InboxItem>) -> Vec<InboxItem> {
        let key = |item: &InboxItem| (item.kind, item.todo.clone(), item.question);
        let now: HashSet<Key> = items.iter().map(key).collect();
        let before = self.known.replace(now);
        // The end of the run is a message of its own.
        let is_new = |item: &InboxItem| {
            item.kind != InboxKind::Finished && before.as_ref().is_some_and(|before| !before.contains(&key(item)))
        };
        items.into_iter().filter(is_new).collect()
    }
}

impl Runner<'_, '_> {
    /// Notifies the user of what has entered the inbox.
    pub(super) fn notify_of_inbox(&mut self) -> Result<(), RunError> {
        if self.world.settings.notify_command.value.is_none() || !self.inbox.is_due() {
            return Ok(());
        }
        let (world, plan) = (self.world, self.world.plan);
        let query = InboxQuery { consents: world.consents.as_ref(), ..InboxQuery::new(world.settings) };
        self.refresh_cache()?;
        let items = match self.cache.plan() {
            Some(loaded) => self.persist(|engine| engine.inbox_of(plan, loaded, &query))?,
            None => return Ok(()),
        };
        (self.inbox.changed, self.inbox.looked) = (false, Some(Instant::now()));
        let entered = self.inbox.entered(items);
        if !entered.is_empty() {
            self.notify(message(&self.world.plan_name, &entered));
        }
        Ok(())
    }

    /// Runs the command of the user with a text, on a thread of its own.
    pub(super) fn notify(&self, text: String) {
        let Some(command) = self.world.settings.notify_command.value.clone() else { return };
        let (root, journal) = (self.world.root.clone(), self.journal);
        self.scope.spawn(move || {
            if let Err(error) = run(&command, &root, &text) {
                let what = format!("`notify.command` does not run: {error}");
                journal.report(&crate::observer::RunEvent::Remark { what });
            }
        });
    }
}

/// Returns a text with a line for each item.
fn message(plan: &str, items: &[InboxItem]) -> String {
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

fn run(line: &str, folder: &Path, text: &str) -> io::Result<()> {
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
        let mut inbox = InboxWatch::default();
        let (held, failed) = (item(InboxKind::Hold, "T-1"), item(InboxKind::Failed, "T-2"));
        assert_eq!(inbox.entered(vec![held.clone()]), [], "what is there when the run begins is not new");
        assert_eq!(inbox.entered(vec![held.clone(), failed.clone()]), std::slice::from_ref(&failed));
        assert_eq!(inbox.entered(vec![held.clone(), failed.clone()]), []);
        assert_eq!(inbox.entered(vec![failed.clone(), item(InboxKind::Finished, "T-3")]), []);
        assert_eq!(inbox.entered(vec![held.clone(), failed]), [held]);
    }

    #[test]
    fn a_message_has_a_line_for_each_item_and_an_end() {
        let text = message("main", &[item(InboxKind::Hold, "T-1")]);
        assert_eq!(text, "plan main: 1 thing needs you\nhold T-1: text\n");
        let many: Vec<InboxItem> = (0..25).map(|n| item(InboxKind::Failed, &format!("T-{n}"))).collect();
        assert!(message("main", &many).ends_with("failed T-19: text\n… and 5 more; see `punch inbox`\n"));
    }
}

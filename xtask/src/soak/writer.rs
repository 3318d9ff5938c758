//! What writers have in common: a name, a plan, random numbers, the journal, and the end of the soak.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use punch_testkit::random::Random;

use super::journal::{JournalEntry, RevisionMark, TryOutcome, WriterJournal};
use super::soak_plan::{ProcessEnd, SoakPlan};

/// What the writers of one plan share.
pub struct WriterState {
    /// Where the plan is.
    pub place: SoakPlan,
    /// What they tried.
    pub journal: WriterJournal,
    /// About how many todos there are: ids are guessed below this.
    pub todos: AtomicU64,
}

/// One writer.
pub struct Writer<'a> {
    /// What it shares with the others of its plan.
    pub shared: &'a WriterState,
    /// Its name in events. Writers that act for the user have the same one.
    pub name: String,
    /// Its own name, in what todos say.
    pub label: String,
    /// Its random numbers.
    pub random: Random,
    /// When to stop.
    pub end: Instant,
    /// Set when some writer found a fault: the others stop early.
    pub stop: &'a AtomicBool,
    /// How many hours the clock of its machine is off, where clocks are.
    clock: i64,
    made: u64,
}

/// What a writer does until the end.
pub type WriterTask = fn(&mut Writer<'_>) -> Result<(), String>;

impl<'a> Writer<'a> {
    /// A writer; the random numbers are those of its own number.
    pub fn new(
        shared: &'a WriterState,
        name: String,
        number: u64,
        seed: u64,
        end: Instant,
        stop: &'a AtomicBool,
    ) -> Self {
        let random = Random::new(seed, number);
        let clock = [-1, 0, 1][usize::try_from(number % 3).unwrap_or(0)];
        Self { shared, name, label: format!("w{number}"), random, end, stop, clock, made: 0 }
    }

    /// The soak is still running.
    pub fn goes_on(&self) -> bool {
        Instant::now() < self.end && !self.stop.load(Ordering::Relaxed)
    }

    /// A content that no other todo has.
    pub fn content(&mut self) -> String {
        self.made += 1;
        format!("{} todo {}", self.label, self.made)
    }

    /// Some contents that no other todos have.
    pub fn contents(&mut self, most: u64) -> Vec<String> {
        let count = self.random.below(most) + 1;
        self.shared.todos.fetch_add(count, Ordering::Relaxed);
        (0..count).map(|_| self.content()).collect()
    }

    /// An id that a todo of the plan probably has.
    pub fn id(&mut self) -> String {
        let known = self.shared.todos.load(Ordering::Relaxed);
        // Often one of the newest: those are still open.
        let back = if self.random.percent(70) { self.random.below(known.min(12)) } else { self.random.below(known) };
        format!("T-{}", known.saturating_sub(back).max(1))
    }

    /// `punch` on the machine of this writer.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.shared.place.command(arguments);
        self.shared.place.set_clock(&mut command, self.clock);
        command
    }

    /// Runs a command of this writer, to its end or killed. A crash is a fault.
    pub fn act(&mut self, command: Command) -> Result<ProcessEnd, String> {
        let ended = self.shared.place.act(command, &mut self.random)?;
        self.shared.journal.count(ended.code.is_none());
        match ended.code {
            None | Some(0..=3) => Ok(ended),
            Some(code) => Err(format!("{}: exit code {code}: {}", self.label, ended.complaint)),
        }
    }

    /// Records a try to add todos.
    pub fn added(&self, contents: Vec<String>, outcome: TryOutcome, times: (Instant, Instant)) {
        if let Some(content) = contents.first().filter(|_| outcome == TryOutcome::Acknowledged) {
            self.ordered(RevisionMark::Content(content.clone()), times);
        }
        self.shared.journal.add(JournalEntry::Add { by: self.name.clone(), contents, outcome });
    }

    /// Records an acknowledged claim.
    pub fn claimed(&self, id: &str, fence: u64, times: (Instant, Instant)) {
        self.ordered(RevisionMark::Fence(fence), times);
        self.shared.journal.add(JournalEntry::Claim { by: self.name.clone(), id: id.to_owned(), fence });
    }

    /// Records when an acknowledged write was asked for and answered.
    pub fn ordered(&self, mark: RevisionMark, (asked, answered): (Instant, Instant)) {
        self.shared.journal.add(JournalEntry::Ordered { by: self.label.clone(), mark, asked, answered });
    }

    /// Records a try to complete a todo.
    pub fn completed(&self, id: String, acknowledged: Option<u64>, times: (Instant, Instant)) {
        if let Some(revision) = acknowledged {
            self.ordered(RevisionMark::Revision(revision), times);
        }
        self.shared.journal.add(JournalEntry::Done { by: self.name.clone(), id, acknowledged });
    }
}

//! Todos that get in each other's way (rule 48).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{CappedList, PlanReader, shared_files};
use crate::files::Prefix;
use crate::{Dep, Plan, Todo, Uid};

/// Pairs looked at, at most. `files: ["src/**"]` on every todo of a large plan would be all pairs otherwise.
const PAIRS: usize = 10_000;
/// Todos visited to find out whether pairs are ordered, at most.
const STEPS: usize = 1_000_000;
/// How many others of the same content a todo is compared with.
const ALIKE: usize = 8;

/// What two todos clash over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clash {
    /// Both todos have equal content, ignoring case and punctuation.
    Content,
    /// Globs that may touch the same files: of the first and of the second.
    Files(String, String),
}

/// Two open todos that should not be worked on at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoConflict {
    /// Goes first: better effective priority, then position.
    pub first: Uid,
    /// Waits for it.
    pub second: Uid,
    /// The ids of the two todos in that order.
    pub ids: (String, String),
    /// Over what.
    pub clash: Clash,
}

/// The answer of [`conflicts`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoConflicts {
    /// Same content first, each kind in the order in which the todos would go.
    pub pairs: CappedList<TodoConflict>,
    /// There was too much to compare everything.
    pub cut: bool,
}

/// Conflicts among the open todos. A pair with an order between them is none: they never run at once, and one that
/// had to wait for a todo that depends on it would wait forever.
pub fn conflicts(plan: &Plan, now: i64) -> TodoConflicts {
    let look = PlanReader::new(plan, now);
    let mut open: Vec<&Todo> = plan.all().filter(|t| look.is_open(t)).collect();
    open.sort_by_cached_key(|t| (t.effective_priority(), t.position, t.uid));
    let mut search =
        ConflictSearch { plan, found: TodoConflicts::default(), steps: STEPS, pairs: PAIRS, named: HashSet::new() };
    search.contents(&open);
    search.files(&open);
    search.found
}

/// Conflicts of one todo with any other, found without comparing the others.
pub fn conflicts_of(plan: &Plan, uid: Uid, now: i64) -> TodoConflicts {
    let look = PlanReader::new(plan, now);
    let is_open = |t: &&Todo| look.is_open(t);
    let mut search =
        ConflictSearch { plan, found: TodoConflicts::default(), steps: STEPS, pairs: PAIRS, named: HashSet::new() };
    let Some(todo) = plan.get(uid).filter(is_open) else { return search.found };
    let (mut words, mut theirs) = (String::new(), String::new());
    normalize(&todo.content, &mut words);
    let order = |t: &Todo| (t.effective_priority(), t.position, t.uid);
    let mut clashes: Vec<(&Todo, Clash)> = Vec::new();
    for other in plan.all().filter(is_open).filter(|t| t.uid != uid) {
        normalize(&other.content, &mut theirs);
        let (first, second) = if order(other) < order(todo) { (other, todo) } else { (todo, other) };
        let files = || shared_files(first, second).map(|(a, b)| Clash::Files(a.to_owned(), b.to_owned()));
        let clash = if !words.is_empty() && theirs == words { Some(Clash::Content) } else { files() };
        clashes.extend(clash.map(|clash| (other, clash)));
    }
    clashes.sort_by_cached_key(|(other, _)| order(other));
    for (other, clash) in clashes {
        let (first, second) = if order(other) < order(todo) { (other, todo) } else { (todo, other) };
        if search.unordered(first, second) {
            search.add(first, second, clash);
        }
    }
    search.found
}

struct ConflictSearch<'a> {
    plan: &'a Plan,
    found: TodoConflicts,
    steps: usize,
    pairs: usize,
    named: HashSet<(Uid, Uid)>,
}

impl<'a> ConflictSearch<'a> {
    fn contents(&mut self, open: &[&'a Todo]) {
        // Numbers of the contents first: hardly any two are alike, and no text has to be stored to see that.
        let mut words = String::new();
        let mut numbers: Vec<(u64, usize)> = Vec::with_capacity(open.len());
        for (rank, todo) in open.iter().enumerate() {
            normalize(&todo.content, &mut words);
            if !words.is_empty() {
                numbers.push((number(&words), rank));
            }
        }
        numbers.sort_unstable();
        let mut alike: HashMap<String, Vec<&Todo>> = HashMap::new();
        for (_, rank) in numbers.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1).flatten() {
            normalize(&open[*rank].content, &mut words);
            alike.entry(words.clone()).or_default().push(open[*rank]);
        }
        let mut groups: Vec<Vec<&Todo>> = alike.into_values().filter(|group| group.len() > 1).collect();
        groups.sort_by_key(|group| (group[0].effective_priority(), group[0].position, group[0].uid));
        for group in groups {
            for (at, second) in group.iter().enumerate().skip(1) {
                // One reason to wait is enough.
                let first = group[..at].iter().take(ALIKE).find(|first| self.unordered(first, second));
                if let Some(first) = first {
                    self.add(first, second, Clash::Content);
                }
            }
        }
    }

    fn files(&mut self, open: &[&'a Todo]) {
        let mut globs: Vec<(Prefix<'_>, usize, &str)> = Vec::new();
        for (rank, todo) in open.iter().enumerate() {
            globs.extend(todo.files.iter().map(|glob| (Prefix::of(glob), rank, glob.as_str())));
        }
        globs.sort_unstable();
        // Sorted, everything that begins with a text follows it in one run: what is still open is on the stack.
        let mut stack: Vec<(Prefix<'_>, usize, &str)> = Vec::new();
        let mut hits = BTreeMap::new();
        'all: for here in globs {
            while stack.last().is_some_and(|above| !here.0.text.starts_with(above.0.text)) {
                stack.pop();
            }
            for above in &stack {
                if self.pairs == 0 {
                    self.found.cut = true;
                    break 'all;
                }
                self.pairs -= 1;
                // Equal texts cover each other both ways, whichever of them has the wildcard.
                if above.1 != here.1 && (above.0.covers(here.0) || here.0.covers(above.0)) {
                    let (first, second) = if above.1 < here.1 { (above, &here) } else { (&here, above) };
                    hits.entry((first.1, second.1)).or_insert((first.2, second.2));
                }
            }
            stack.push(here);
        }
        for ((first, second), (a, b)) in hits {
            if self.unordered(open[first], open[second]) {
                self.add(open[first], open[second], Clash::Files(a.to_owned(), b.to_owned()));
            }
        }
    }

    fn add(&mut self, first: &Todo, second: &Todo, clash: Clash) {
        if self.named.insert((first.uid, second.uid)) {
            let ids = (first.id.clone(), second.id.clone());
            self.found.pairs.push(TodoConflict { first: first.uid, second: second.uid, ids, clash });
        }
    }

    /// Neither depends on the other. Only the one with the higher level can, and only through levels between.
    fn unordered(&mut self, a: &'a Todo, b: &'a Todo) -> bool {
        let (low, high) = if a.derived.level < b.derived.level { (a, b) } else { (b, a) };
        if low.derived.level == high.derived.level {
            return true;
        }
        let mut seen = HashSet::from([high.uid]);
        let mut stack = vec![high];
        while let Some(todo) = stack.pop() {
            for dep in &todo.depends_on {
                let Dep::On(uid) = dep else { continue };
                if *uid == low.uid {
                    return false;
                }
                let Some(next) = self.plan.get(*uid).filter(|t| t.derived.level > low.derived.level) else { continue };
                if seen.insert(*uid) {
                    stack.push(next);
                }
            }
            if self.steps == 0 {
                self.found.cut = true;
                return false;
            }
            self.steps -= 1;
        }
        true
    }
}

/// Writes a content in lower case, with one space for everything between words that is neither letter nor digit.
fn normalize(content: &str, out: &mut String) {
    out.clear();
    let mut put = |c: char| match c.is_alphanumeric() {
        true => out.push(c),
        false if out.is_empty() || out.ends_with(' ') => {}
        false => out.push(' '),
    };
    match content.is_ascii() {
        true => content.bytes().for_each(|byte| put(char::from(byte.to_ascii_lowercase()))),
        false => content.to_lowercase().chars().for_each(put),
    }
    out.truncate(out.trim_end_matches(' ').len());
}

/// A number that equal texts share.
fn number(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

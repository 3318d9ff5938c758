//! Matches each row of a host's next list with a todo. Models renumber and reword their rows while they work, so equal
//! text counts first, then a rename, and the host's own number last. This way notes, checks and usage stay with the
//! work that they belong to.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{HostRow, HostStatus};
use crate::{Todo, Uid};

/// Pairs of an old and a new row that are compared to find renames. A list with more unmatched rows than that was
/// replaced as a whole: only rows at the same place are compared then.
const COMPARED: usize = 4_096;

/// The percentage of shared words above which one text is a rename of the other, wherever the row is.
const ALIKE: usize = 75;
/// Percent of their words that two texts share if one is a rename of the other and the row is still in its place.
const ALIKE_IN_PLACE: usize = 50;
/// The number of shared words at the beginning above which one text is a rename of the other, wherever the row is. A
/// row with a long explanation appended shares only a small part of its words with its earlier text.
const SAME_BEGINNING: usize = 4;

/// Assigns a todo to every row that has none. `known` are todos outside the last list that a row may refer to by its
/// text. Returns the todos that were found there.
pub(super) fn find<'t>(rows: &mut [HostRow], before: &[HostRow], known: &[&'t Todo]) -> Vec<&'t Todo> {
    by_content(rows, before);
    let adopted = adopt(rows, before, known);
    renamed(rows, before);
    by_key(rows, before);
    adopted
}

/// One line of a list that has no ids: its text, and whether it is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListLine {
    pub content: String,
    pub open: bool,
}

/// For each line of a list, its place in an earlier version of the list, if it was there.
pub(crate) fn same_lines(before: &[ListLine], now: &[ListLine]) -> Vec<Option<usize>> {
    let row = |line: &ListLine, uid: Option<Uid>| HostRow {
        uid,
        content: line.content.clone(),
        status: if line.open { HostStatus::Pending } else { HostStatus::Completed },
        ..HostRow::default()
    };
    let before: Vec<HostRow> = before.iter().enumerate().map(|(at, line)| row(line, Some(Uid(at as u64)))).collect();
    let mut rows: Vec<HostRow> = now.iter().map(|line| row(line, None)).collect();
    find(&mut rows, &before, &[]);
    rows.iter().map(|row| row.uid.and_then(|uid| usize::try_from(uid.0).ok())).collect()
}

/// Equal text. Of several rows with one text those with the same number belong together, then the k-th to the k-th.
fn by_content(rows: &mut [HostRow], before: &[HostRow]) {
    let taken = taken(rows);
    let mut free: HashMap<&str, VecDeque<&HostRow>> = HashMap::new();
    for old in before.iter().filter(|old| old.uid.is_some_and(|uid| !taken.contains(&uid))) {
        free.entry(&old.content).or_default().push_back(old);
    }
    for same_key in [true, false] {
        for row in rows.iter_mut().filter(|row| row.uid.is_none()) {
            let Some(olds) = free.get_mut(row.content.as_str()) else { continue };
            let at = match same_key {
                true if row.key.is_none() => None,
                true => olds.iter().position(|old| old.key == row.key),
                false => Some(0),
            };
            row.uid = at.and_then(|at| olds.remove(at)).and_then(|old| old.uid);
        }
    }
}

/// Rows that are new to the list but not to the plan.
fn adopt<'t>(rows: &mut [HostRow], before: &[HostRow], known: &[&'t Todo]) -> Vec<&'t Todo> {
    let mut taken = taken(rows);
    taken.extend(before.iter().filter_map(|row| row.uid));
    let mut free: HashMap<&str, VecDeque<&'t Todo>> = HashMap::new();
    for todo in known.iter().filter(|todo| !taken.contains(&todo.uid)) {
        free.entry(&todo.content).or_default().push_back(todo);
    }
    let mut adopted = Vec::new();
    for row in rows.iter_mut().filter(|row| row.uid.is_none()) {
        if let Some(todo) = free.get_mut(row.content.as_str()).and_then(VecDeque::pop_front) {
            row.uid = Some(todo.uid);
            adopted.push(todo);
        }
    }
    adopted
}

/// A row that left and a row that came, with nearly the same words: the most similar pairs first.
fn renamed(rows: &mut [HostRow], before: &[HostRow]) {
    let taken = taken(rows);
    let olds: Vec<(usize, &HostRow)> = before
        .iter()
        .enumerate()
        .filter(|(_, old)| !old.unshown && old.uid.is_some_and(|uid| !taken.contains(&uid)))
        .collect();
    let news: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].uid.is_none()).collect();
    if olds.is_empty() || news.is_empty() {
        return;
    }
    let old_words: Vec<WordSet> = olds.iter().map(|(_, old)| WordSet::of(&old.content)).collect();
    let new_words: Vec<WordSet> = news.iter().map(|at| WordSet::of(&rows[*at].content)).collect();
    let everywhere = olds.len() * news.len() <= COMPARED;
    let rank_of: HashMap<usize, usize> = olds.iter().enumerate().map(|(rank, (index, _))| (*index, rank)).collect();
    let mut pairs = Vec::new();
    for (new_rank, at) in news.iter().enumerate() {
        // The old row at the same place, and the one that is as far down among those that left.
        let near = [rank_of.get(at).copied(), (new_rank < olds.len()).then_some(new_rank)];
        let mut candidates: Vec<usize> =
            if everywhere { (0..olds.len()).collect() } else { near.into_iter().flatten().collect() };
        candidates.dedup();
        for old_rank in candidates {
            let (index, old) = &olds[old_rank];
            let in_place = near.contains(&Some(old_rank));
            if starts_over(old, &rows[*at]) {
                continue;
            }
            let (old, new) = (&old_words[old_rank], &new_words[new_rank]);
            let alike = old.alike(new);
            let renamed = match in_place {
                true => alike >= ALIKE_IN_PLACE || old.begins_like(new, 1),
                false => alike >= ALIKE || old.begins_like(new, SAME_BEGINNING),
            };
            if renamed && old.numbers == new.numbers {
                pairs.push((std::cmp::Reverse(alike), !in_place, index.abs_diff(*at), new_rank, old_rank));
            }
        }
    }
    pairs.sort_unstable();
    let (mut used_old, mut used_new) = (HashSet::new(), HashSet::new());
    for (_, _, _, new_rank, old_rank) in pairs {
        if !used_old.contains(&old_rank) && used_new.insert(new_rank) {
            used_old.insert(old_rank);
            rows[news[new_rank]].uid = olds[old_rank].1.uid;
        }
    }
}

/// The host's own number for a row.
fn by_key(rows: &mut [HostRow], before: &[HostRow]) {
    let mut taken = taken(rows);
    let keys: HashMap<&str, &HostRow> = before.iter().filter_map(|old| Some((old.key.as_deref()?, old))).collect();
    for row in rows.iter_mut().filter(|row| row.uid.is_none()) {
        let old = row.key.as_deref().and_then(|key| keys.get(key));
        let old = old.filter(|old| !old.unshown && !starts_over(old, row));
        row.uid = old.and_then(|old| old.uid).filter(|uid| taken.insert(*uid));
    }
}

/// A finished row whose place or number an open one with other words takes is not that row: hosts count from 1 again.
pub(super) fn starts_over(old: &HostRow, new: &HostRow) -> bool {
    old.is_closed() && !new.is_closed() && old.content != new.content
}

fn taken(rows: &[HostRow]) -> HashSet<Uid> {
    rows.iter().filter_map(|row| row.uid).collect()
}

/// The words of a text, in lower case and without punctuation.
struct WordSet {
    all: Vec<String>,
    /// Those with a digit in them, sorted: "chapter 1" and "chapter 2" are two pieces of work, however alike.
    numbers: Vec<String>,
}

impl WordSet {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let all: Vec<String> = words.map(str::to_owned).collect();
        let mut numbers: Vec<String> =
            all.iter().filter(|word| word.bytes().any(|b| b.is_ascii_digit())).cloned().collect();
        numbers.sort_unstable();
        Self { all, numbers }
    }

    /// Percent of the words of both texts that the two share.
    fn alike(&self, other: &Self) -> usize {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        self.all.iter().for_each(|word| *counts.entry(word).or_default() += 1);
        let shares = |word: &&String| match counts.get_mut(word.as_str()) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        let shared = other.all.iter().filter(shares).count();
        (200 * shared).checked_div(self.all.len() + other.all.len()).unwrap_or(0)
    }

    /// The texts begin with the same words: at least `words` of them, and at least half of the shorter text.
    fn begins_like(&self, other: &Self, words: usize) -> bool {
        let same = self.all.iter().zip(&other.all).take_while(|(a, b)| a == b).count();
        same >= words && same * 2 >= self.all.len().min(other.all.len())
    }
}

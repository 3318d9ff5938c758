//! List scheduling: a free agent takes the best ready todo that fits into the rest of its window.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::ScheduleOrder;
use super::agents::Agents;
use super::apart::FileQueue;
use super::fill::{LOOKED_AT, first_of_fullest};
use super::jobs::Jobs;
use super::pick::Pick;
use crate::Status;

struct ListScheduler<'a> {
    jobs: &'a Jobs<'a>,
    agents: &'a mut Agents,
    /// The longest remaining path of each, and the tokens of all that is not begun.
    paths: Vec<u64>,
    left: u64,
    /// Jobs by preference, and the place of each in it.
    ranked: Vec<u32>,
    rank: Vec<u32>,
    ready: Pick,
    /// How many of the ready ones are not optional.
    required: usize,
    /// Dependencies that each still waits for.
    waiting: Vec<u32>,
    /// The agent that ran each todo.
    ran: Vec<Option<u32>>,
    idle: BTreeSet<u32>,
    /// Of equally urgent todos those are taken that fill the window: one agent ends no later for it.
    fills: bool,
    /// Running jobs by their end.
    running: BinaryHeap<Reverse<(u64, u32)>>,
    /// Ready jobs by the set of files that they touch, where several can run at once.
    queues: Vec<FileQueue>,
    /// Sets of which nothing can begin before a job has ended, by that one.
    aside: Vec<Vec<u32>>,
    now: u64,
}

/// Schedules the jobs; ends early when an agent has begun more than `windows`.
pub(super) fn run(jobs: &Jobs<'_>, order: ScheduleOrder, agents: &mut Agents, windows: usize) {
    let len = jobs.len() as usize;
    let paths = jobs.paths();
    let ranked = ranked(jobs, &paths, order);
    let mut rank = vec![0; len];
    for (place, &job) in (0u32..).zip(&ranked) {
        rank[job as usize] = place;
    }
    let mut work = ListScheduler {
        ready: Pick::new(len),
        required: 0,
        waiting: (0..jobs.len()).map(|job| jobs.deps.row(job).len() as u32).collect(),
        ran: vec![None; len],
        idle: (0..agents.count()).collect(),
        fills: order == ScheduleOrder::List && agents.count() == 1,
        running: BinaryHeap::new(),
        queues: vec![FileQueue::default(); if agents.count() > 1 { jobs.set_count() } else { 0 }],
        aside: vec![Vec::new(); len],
        now: 0,
        left: jobs.total(),
        jobs,
        agents,
        paths,
        ranked,
        rank,
    };
    for job in 0..jobs.len() {
        if work.waiting[job as usize] == 0 {
            work.offer(job);
        }
    }
    loop {
        while work.give() {
            if work.agents.windows() > windows {
                return;
            }
            // What takes no time is over at once, before anyone takes something less urgent than what waits for it.
            if work.running.peek().is_some_and(|Reverse((end, _))| *end == work.now) {
                work.finish();
            }
        }
        if !work.finish() {
            break;
        }
    }
}

/// What is in progress first, then by the order asked for.
fn ranked(jobs: &Jobs<'_>, paths: &[u64], order: ScheduleOrder) -> Vec<u32> {
    let mut ranked: Vec<u32> = (0..jobs.len()).collect();
    ranked.sort_by_cached_key(|&job| {
        let todo = jobs.todo(job);
        // Oversized todos are last under every order too (rule 29).
        let begun = (todo.status != Status::InProgress, jobs.is_oversize(job));
        let (priority, path) = (todo.effective_priority(), Reverse(paths[job as usize]));
        match order {
            // Optional todos are last under every order (rule 47).
            ScheduleOrder::Makespan => (begun, u8::from(jobs.is_optional(job)), path, priority, job),
            ScheduleOrder::List | ScheduleOrder::Level => (begun, priority, path, 0, job),
        }
    });
    ranked
}

impl ListScheduler<'_> {
    fn offer(&mut self, job: u32) {
        let (rank, tokens, required) = (self.rank[job as usize], self.jobs.tokens[job as usize], !self.optional(job));
        let Some(set) = self.set(job) else {
            self.required += usize::from(required);
            return self.ready.insert(rank, tokens);
        };
        let queue = &mut self.queues[set as usize];
        queue.add(rank, tokens, required);
        if !queue.closed {
            self.required += usize::from(required);
            self.show(set);
        }
    }

    /// Takes a job that is offered; others of its set wait until it has ended.
    fn take(&mut self, job: u32) {
        let (rank, tokens, required) = (self.rank[job as usize], self.jobs.tokens[job as usize], !self.optional(job));
        self.required -= usize::from(required);
        self.ready.remove(rank);
        if let Some(set) = self.set(job) {
            self.queues[set as usize].remove(rank, tokens, required);
            self.close(set, job);
        }
    }

    /// The set of files that separates a job from others.
    fn set(&self, job: u32) -> Option<u32> {
        self.jobs.sets[job as usize].filter(|_| !self.queues.is_empty())
    }

    /// Nothing of a set begins before a job has ended.
    fn close(&mut self, set: u32, until: u32) {
        let queue = &mut self.queues[set as usize];
        queue.closed = true;
        self.required -= queue.required;
        self.aside[until as usize].push(set);
        self.show(set);
    }

    fn open(&mut self, set: u32) {
        let queue = &mut self.queues[set as usize];
        queue.closed = false;
        self.required += queue.required;
        self.show(set);
    }

    /// Offers what may be chosen of a set, and only that.
    fn show(&mut self, set: u32) {
        let queue = &mut self.queues[set as usize];
        queue.offered.drain(..).for_each(|rank| self.ready.remove(rank));
        if !queue.closed {
            for (rank, tokens) in queue.best() {
                self.ready.insert(rank, tokens);
                queue.offered.push(rank);
            }
        }
    }

    fn optional(&self, job: u32) -> bool {
        self.jobs.is_optional(job)
    }

    /// Starts one todo now; false if none can.
    fn give(&mut self) -> bool {
        let Some(widest) = self.idle.iter().map(|&agent| self.agents.room(agent)).max() else { return false };
        while let Some(job) = self.choose(widest) {
            if let (Some(set), Some(other)) = (self.set(job), self.in_the_way(job)) {
                self.close(set, other);
                continue;
            }
            let Some(agent) = self.agent_for(job) else { return false };
            self.take(job);
            let tokens = self.jobs.tokens[job as usize];
            self.ran[job as usize] = Some(agent);
            self.idle.remove(&agent);
            self.left = self.left.saturating_sub(tokens);
            let end = self.agents.put(agent, job, tokens, self.now);
            self.running.push(Reverse((end, job)));
            return true;
        }
        false
    }

    /// The best todo that fits the window of an idle agent. If none does, the best of all in a new window: an agent
    /// never waits while there is work. Two are not passed over for what fits: the best if everything waits for it
    /// (a large todo that is always put off ends up last and alone), and any work for an optional todo.
    fn choose(&self, widest: Option<u64>) -> Option<u32> {
        let best = self.ranked[self.ready.first(u64::MAX)? as usize];
        let fits = widest.and_then(|room| self.fitting(room));
        let job = fits.filter(|&job| !self.optional(job) || self.required == 0).filter(|_| !self.critical(best));
        Some(job.unwrap_or(best))
    }

    /// The best that fits; where windows are filled, the best of those that leave least of it free together.
    fn fitting(&self, room: u64) -> Option<u32> {
        let first = self.ready.first(room)?;
        let todo = |rank: u32| self.jobs.todo(self.ranked[rank as usize]);
        if !self.fills || todo(first).status == Status::InProgress {
            return Some(self.ranked[first as usize]);
        }
        let room = room.min(self.agents.budget());
        let (urgency, mut ranks, mut from) = (todo(first).effective_priority(), Vec::new(), first);
        while let Some(rank) = self.ready.from(from, room).filter(|&rank| todo(rank).effective_priority() == urgency) {
            ranks.push(rank);
            if ranks.len() == LOOKED_AT {
                break;
            }
            from = rank + 1;
        }
        let sizes: Vec<u64> = ranks.iter().map(|&rank| self.jobs.tokens[self.ranked[rank as usize] as usize]).collect();
        let rank = ranks.get(first_of_fullest(&sizes, room)).copied().unwrap_or(first);
        Some(self.ranked[rank as usize])
    }

    /// The path that begins with it takes at least as long as all remaining work, spread evenly.
    fn critical(&self, job: u32) -> bool {
        u128::from(self.paths[job as usize]) * u128::from(self.agents.count()) >= u128::from(self.left)
    }

    /// An agent with room: of these one that ran a dependency, then the one whose window is fullest. If none has, the
    /// one whose window has least left to lose.
    fn agent_for(&self, job: u32) -> Option<u32> {
        let tokens = self.jobs.tokens[job as usize];
        let knows = |agent: u32| self.jobs.deps.row(job).iter().any(|&dep| self.ran[dep as usize] == Some(agent));
        self.idle.iter().copied().min_by_key(|&agent| {
            let room = self.agents.room(agent);
            (room.is_none_or(|room| room < tokens), !knows(agent), room, agent)
        })
    }

    fn in_the_way(&self, job: u32) -> Option<u32> {
        self.running.iter().map(|Reverse((_, other))| *other).find(|&other| self.jobs.clash(job, other))
    }

    /// Goes to the next end of a todo, and to all that end at the same time.
    fn finish(&mut self) -> bool {
        let Some(Reverse((end, _))) = self.running.peek().copied() else { return false };
        self.now = end;
        while let Some(Reverse((at, job))) = self.running.peek().copied()
            && at == end
        {
            self.running.pop();
            self.idle.extend(self.ran[job as usize]);
            for set in std::mem::take(&mut self.aside[job as usize]) {
                self.open(set);
            }
            for &dependent in self.jobs.dependents.row(job) {
                let waiting = &mut self.waiting[dependent as usize];
                *waiting -= 1;
                if *waiting == 0 {
                    self.offer(dependent);
                }
            }
        }
        true
    }
}

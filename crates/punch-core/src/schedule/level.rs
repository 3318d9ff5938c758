//! Level scheduling: one parallel group after the other, as the extended format describes it.

use std::collections::BTreeMap;

use super::agents::Agents;
use super::jobs::Jobs;

pub(super) fn run(jobs: &Jobs<'_>, agents: &mut Agents) {
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for job in 0..jobs.len() {
        groups.entry(jobs.todo(job).derived.level).or_default().push(job);
    }
    for group in groups.values_mut() {
        // Stable: jobs are numbered in list order.
        group.sort_by_key(|&job| jobs.todo(job).priority);
        if agents.count() == 1 {
            alone(jobs, agents, group);
        } else {
            together(jobs, agents, group);
        }
        agents.barrier();
    }
}

/// One agent: the group stays together if it can.
fn alone(jobs: &Jobs<'_>, agents: &mut Agents, group: &[u32]) {
    let tokens = |job: u32| jobs.tokens[job as usize];
    let cost = group.iter().fold(0u64, |sum, &job| sum.saturating_add(tokens(job)));
    if agents.room(0).is_none_or(|room| cost > room) {
        agents.turn(0);
    }
    if cost <= agents.budget() {
        group.iter().for_each(|&job| {
            agents.put(0, job, tokens(job), 0);
        });
        return;
    }
    for window in first_fit(group, agents.budget(), tokens) {
        agents.turn(0);
        window.iter().for_each(|&job| {
            agents.put(0, job, tokens(job), 0);
        });
    }
}

/// Splits a group that no window can hold. A todo larger than a window gets a separate one.
fn first_fit(group: &[u32], budget: u64, tokens: impl Fn(u32) -> u64) -> Vec<Vec<u32>> {
    let mut windows: Vec<(Vec<u32>, Option<u64>)> = Vec::new();
    for &job in group {
        let size = tokens(job);
        let left = |room: Option<u64>| room.and_then(|room| room.checked_sub(size));
        match windows.iter_mut().find(|(_, room)| left(*room).is_some()) {
            Some((window, room)) => {
                window.push(job);
                *room = left(*room);
            }
            None => windows.push((vec![job], budget.checked_sub(size))),
        }
    }
    windows.into_iter().map(|(window, _)| window).collect()
}

/// Several agents: each todo to the agent that is free first.
fn together(jobs: &Jobs<'_>, agents: &mut Agents, group: &[u32]) {
    // When the last of each set of files ends.
    let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
    for &job in group {
        let Some(agent) = (0..agents.count()).min_by_key(|&agent| (agents.free(agent), agent)) else { return };
        let set = jobs.sets[job as usize];
        let clash = |other: u32| set.is_some_and(|set| jobs.sets_clash(set, other));
        let clear = ends.iter().filter(|(other, _)| clash(**other)).map(|(_, end)| *end).max().unwrap_or(0);
        let end = agents.put(agent, job, jobs.tokens[job as usize], clear);
        if let Some(set) = set {
            let last = ends.entry(set).or_default();
            *last = end.max(*last);
        }
    }
}

//! The agents with their windows: where a todo is placed, and how much room it leaves.

use super::{Break, Slot, Window};

/// One todo's place, by number.
#[derive(Clone, Copy)]
struct ScheduledTodo {
    job: u32,
    agent: u32,
    window: u32,
    start: u64,
    end: u64,
}

/// One agent.
#[derive(Clone, Default)]
struct ScheduledAgent {
    /// Its windows so far, each as its todos and their sum.
    windows: Vec<(Vec<u32>, u64)>,
    free: u64,
}

/// Everybody.
pub(super) struct Agents {
    budget: u64,
    agents: Vec<ScheduledAgent>,
    places: Vec<ScheduledTodo>,
}

/// What came out, with ids for numbers.
pub(super) struct AgentSchedule {
    pub windows: Vec<Window>,
    pub slots: Vec<Slot>,
    pub checkpoints: Vec<Break>,
}

impl Agents {
    pub fn new(count: u32, budget: u64) -> Self {
        Self { budget, agents: vec![ScheduledAgent::default(); count as usize], places: Vec::new() }
    }

    pub fn count(&self) -> u32 {
        self.agents.len() as u32
    }

    pub const fn budget(&self) -> u64 {
        self.budget
    }

    /// The most windows that an agent has begun.
    pub fn windows(&self) -> usize {
        self.agents.iter().map(|agent| agent.windows.len()).max().unwrap_or(0)
    }

    /// When an agent is free.
    pub fn free(&self, agent: u32) -> u64 {
        self.agents[agent as usize].free
    }

    /// The tokens that still fit into the agent's window: any number if it is empty, none beside a todo that is larger
    /// than a budget and needs a separate window.
    pub fn room(&self, agent: u32) -> Option<u64> {
        match self.agents[agent as usize].windows.last() {
            Some((todos, sum)) if !todos.is_empty() => self.budget.checked_sub(*sum),
            _ => Some(u64::MAX),
        }
    }

    /// Lets the agent begin a new window; an unused one is as good as new.
    pub fn turn(&mut self, agent: u32) {
        let windows = &mut self.agents[agent as usize].windows;
        if windows.last().is_none_or(|(todos, _)| !todos.is_empty()) {
            windows.push(Default::default());
        }
    }

    /// Puts a todo into the agent's window, or a new one if it does not fit, and answers when it ends.
    pub fn put(&mut self, agent: u32, job: u32, tokens: u64, not_before: u64) -> u64 {
        if self.room(agent).is_none_or(|room| tokens > room) || self.agents[agent as usize].windows.is_empty() {
            self.turn(agent);
        }
        let own = &mut self.agents[agent as usize];
        let (start, window) = (own.free.max(not_before), own.windows.len() as u32);
        own.free = start.saturating_add(tokens);
        if let Some((todos, sum)) = own.windows.last_mut() {
            todos.push(job);
            *sum = sum.saturating_add(tokens);
        }
        self.places.push(ScheduledTodo { job, agent, window, start, end: own.free });
        own.free
    }

    /// No agent begins before the last one has ended.
    pub fn barrier(&mut self) {
        let latest = self.agents.iter().map(|agent| agent.free).max().unwrap_or(0);
        for agent in &mut self.agents {
            agent.free = latest;
        }
    }

    pub fn end(self, id: impl Fn(u32) -> String) -> AgentSchedule {
        let slot = |place: &ScheduledTodo| Slot {
            todo: id(place.job),
            agent: place.agent + 1,
            window: place.window,
            start: place.start,
            end: place.end,
        };
        let mut out =
            AgentSchedule { slots: self.places.iter().map(slot).collect(), windows: vec![], checkpoints: vec![] };
        for (agent, own) in (1u32..).zip(&self.agents) {
            for (window, (todos, sum)) in (1u32..).zip(&own.windows) {
                let todos: Vec<String> = todos.iter().map(|&job| id(job)).collect();
                let last = (window as usize) < own.windows.len();
                let after = todos.last().filter(|_| last).cloned();
                out.checkpoints.extend(after.map(|after| Break { after, agent, window }));
                out.windows.push(Window { agent, window, todos, estimated_tokens: *sum });
            }
        }
        out
    }
}

//! How a todo stands: what it waits for, who waits for it, what time has done to it.

use super::{Model, ModelDep};
use crate::ask::ModelStatus;
use crate::rules::CancelledRule;

impl Model {
    /// Does a todo in this status count as met for those who wait for it?
    pub fn satisfies(&self, status: ModelStatus) -> bool {
        match status {
            ModelStatus::Completed => true,
            ModelStatus::Cancelled | ModelStatus::Failed => self.rules.cancelled == CancelledRule::Satisfy,
            ModelStatus::Pending | ModelStatus::Active => false,
        }
    }

    /// How many of its dependencies are not met.
    pub fn unmet(&self, key: usize) -> usize {
        let unmet = |dep: &&ModelDep| match dep {
            ModelDep::On(to) => !self.satisfies(self.items[*to].status),
            ModelDep::Missing(_) => true,
        };
        self.items[key].deps.iter().filter(unmet).count()
    }

    /// Live todos that depend on it.
    pub fn dependents(&self, key: usize) -> Vec<usize> {
        self.order.iter().copied().filter(|other| self.items[*other].deps.contains(&ModelDep::On(key))).collect()
    }

    /// Its lease has run out.
    pub fn lease_over(&self, key: usize) -> bool {
        let item = &self.items[key];
        item.status == ModelStatus::Active && item.lease.is_some_and(|until| until <= self.now)
    }

    /// It is on hold now.
    pub fn held(&self, key: usize) -> bool {
        self.items[key].hold.as_ref().is_some_and(|hold| hold.until.is_none_or(|until| until > self.now))
    }

    /// Reads as pending now.
    pub fn pending(&self, key: usize) -> bool {
        self.items[key].status == ModelStatus::Pending || self.lease_over(key)
    }

    /// Nothing in it says what to do.
    pub fn empty(&self, key: usize) -> bool {
        self.items[key].content.trim().is_empty()
    }

    /// Another todo is being worked on and touches the same files.
    pub fn shares_files(&self, key: usize) -> bool {
        let files = &self.items[key].files;
        let busy = |other: &usize| {
            self.items[*other].status == ModelStatus::Active && !self.lease_over(*other) && self.unmet(*other) == 0
        };
        let others = self.order.iter().filter(|other| **other != key);
        files.is_some() && others.filter(|other| busy(other)).any(|other| self.items[*other].files == *files)
    }

    /// Can be worked on now.
    pub fn startable(&self, key: usize) -> bool {
        self.ready(key) && !self.empty(key) && !self.shares_files(key)
    }

    /// Pending, nothing unmet, no hold.
    pub fn ready(&self, key: usize) -> bool {
        self.pending(key) && self.unmet(key) == 0 && !self.held(key)
    }
}

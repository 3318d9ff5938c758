//! Batches, offers and mirrored todos of a plan in memory, and what is known about the clone.

use std::ops::{Deref, DerefMut};

use punch_core::Uid;
use punch_core::drive::{OFFER_MS, TodoOffer};

use super::{MemoryState, MemoryTransaction};
use crate::{BATCHES_KEPT, CloneFacts, CloneFactsTx, HandOut, OFFERS_KEPT, PlanId, StoreError};

/// What was handed out, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct HandedOut {
    pub batches: Vec<HandOut>,
    pub offers: Vec<TodoOffer>,
    pub mirrored: Vec<Uid>,
}

impl HandedOut {
    pub fn put_batch(&mut self, batch: &HandOut) {
        self.batches.retain(|known| known.owner != batch.owner);
        self.batches.push(batch.clone());
        self.batches.sort_by(|a, b| (a.at, &a.owner).cmp(&(b.at, &b.owner)));
        let surplus = self.batches.len().saturating_sub(BATCHES_KEPT);
        self.batches.drain(..surplus);
    }

    pub fn put_offer(&mut self, offer: &TodoOffer) {
        self.offers.retain(|known| {
            known.owner != offer.owner && (offer.at.saturating_sub(OFFER_MS) + 1..=offer.at).contains(&known.at)
        });
        self.offers.push(offer.clone());
        self.offers.sort_by(|a, b| (a.at, &a.owner).cmp(&(b.at, &b.owner)));
        let surplus = self.offers.len().saturating_sub(OFFERS_KEPT);
        self.offers.drain(..surplus);
    }
}

impl<S: Deref<Target = MemoryState>> CloneFacts for MemoryTransaction<S> {
    fn worktree_plan(&self, worktree: &str) -> Result<Option<PlanId>, StoreError> {
        Ok(self.state.worktree_plans.get(worktree).copied())
    }

    fn plan_file(&self, plan: PlanId) -> Result<Option<String>, StoreError> {
        Ok(self.state.plans.get(&plan).and_then(|kept| kept.plan_file.clone()))
    }
}

impl<S: DerefMut<Target = MemoryState>> CloneFactsTx for MemoryTransaction<S> {
    fn put_worktree_plan(&mut self, worktree: &str) -> Result<(), StoreError> {
        self.changed = true;
        self.state.worktree_plans.insert(worktree.to_owned(), self.plan);
        Ok(())
    }

    fn put_plan_file(&mut self, body: Option<&str>) -> Result<(), StoreError> {
        self.changed = true;
        self.state.kept_mut(self.plan)?.plan_file = body.map(str::to_owned);
        Ok(())
    }
}

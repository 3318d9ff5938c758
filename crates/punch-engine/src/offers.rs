//! The offers of a plan in the store: which todos sessions were sent to and have not started yet. The rules are
//! [`punch_core::drive::Offers`].

use punch_core::drive::Offers;
use punch_core::{Todo, Uid};
use punch_store::{Catalogue, PlanId, Snapshot, StoreError, Tx};

/// Ready todos that are looked at to find one that no other session was sent to.
const PAGE: usize = 64;

fn name(plan: PlanId) -> String {
    format!("offers:{}", plan.0)
}

/// The offers of a plan.
pub(crate) fn load(catalogue: &dyn Catalogue, plan: PlanId) -> Result<Offers, StoreError> {
    Ok(catalogue.setting(&name(plan))?.map(|text| Offers::parse(&text)).unwrap_or_default())
}

/// Records where a session was sent, or that it was sent nowhere; writes only what is new.
pub(crate) fn record(tx: &mut dyn Tx, plan: PlanId, owner: &str, uid: Option<Uid>, now: i64) -> Result<(), StoreError> {
    let mut offers = load(tx, plan)?;
    if !offers.record(owner, uid, now) {
        return Ok(());
    }
    let text = offers.to_text();
    tx.put_setting(&name(plan), Some(text.as_str()).filter(|text| !text.is_empty()))
}

/// The best ready todo that no other session was sent to.
pub fn best_free(snapshot: &dyn Snapshot, owner: Option<&str>, now: i64) -> Result<Option<Todo>, StoreError> {
    let offers = load(snapshot, snapshot.info()?.id)?;
    let page = snapshot.ready(now, None, if offers.is_empty() { 1 } else { PAGE })?;
    Ok(page.into_iter().find(|todo| offers.holder(todo.uid, owner, now).is_none()))
}

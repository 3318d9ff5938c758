//! The offers of a plan in the store: which todos sessions were sent to and have not started yet. The rules are
//! [`punch_core::drive::Offers`].

use punch_core::Uid;
use punch_core::drive::{Offers, TodoOffer};
use punch_store::{Snapshot, StoreError, Tx};

/// The offers of a plan.
pub(crate) fn load(snapshot: &dyn Snapshot) -> Result<Offers, StoreError> {
    snapshot.offers().map(Offers::from)
}

/// Records where a session was sent, or that it was sent nowhere; writes only what is new.
pub(crate) fn record(tx: &mut dyn Tx, owner: &str, uid: Option<Uid>, now: i64) -> Result<(), StoreError> {
    if !load(tx)?.is_news(owner, uid, now) {
        return Ok(());
    }
    match uid.filter(|_| !owner.is_empty()) {
        Some(uid) => tx.put_offer(&TodoOffer { owner: owner.to_owned(), uid, at: now }),
        None => tx.forget_offer(owner),
    }
}

//! Which todos sessions were sent to and have not started yet, so that no two sessions are sent to the same one. A session
//! has such a todo to itself for a short while; the engine stores these offers as one small text per plan.

use crate::{Status, Todo, Uid};

/// How long a session has a todo to itself that it was sent to, in milliseconds.
pub const OFFER_MS: i64 = 5 * 60 * 1000;

/// Offers that are stored, the newest last.
const STORED: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Offer {
    uid: Uid,
    at: i64,
    owner: String,
}

impl Offer {
    fn is_live(&self, now: i64) -> bool {
        (0..OFFER_MS).contains(&now.saturating_sub(self.at))
    }
}

/// The offers of one plan, at most one for each session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers(Vec<Offer>);

impl Offers {
    /// Reads the stored text; lines that make no sense are skipped.
    pub fn parse(text: &str) -> Self {
        let one = |line: &str| {
            let mut parts = line.splitn(3, ' ');
            let (uid, at) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            Some(Offer { uid: Uid(uid), at, owner: parts.next()?.to_owned() })
        };
        Self(text.lines().filter_map(one).take(STORED).collect())
    }

    /// The text to store: a line of uid, time and owner for each offer.
    pub fn to_text(&self) -> String {
        self.0.iter().map(|offer| format!("{} {} {}\n", offer.uid.0, offer.at, offer.owner)).collect()
    }

    /// Returns true if no session was sent anywhere.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The session other than `owner` that was sent to a todo and still has it to itself.
    pub fn holder(&self, uid: Uid, owner: Option<&str>, now: i64) -> Option<&str> {
        let holds = |offer: &&Offer| offer.uid == uid && Some(offer.owner.as_str()) != owner && offer.is_live(now);
        self.0.iter().find(holds).map(|offer| offer.owner.as_str())
    }

    /// Returns a ready todo as `owner` should see it: one that another session was sent to counts as in progress there.
    #[must_use]
    pub fn seen_by(&self, mut todo: Todo, owner: Option<&str>, now: i64) -> Todo {
        if todo.is_ready(now)
            && let Some(holder) = self.holder(todo.uid, owner, now)
        {
            todo.fields.status = Status::InProgress;
            todo.fields.owner = Some(holder.to_owned());
            todo.lease_until = None;
        }
        todo
    }

    /// Records where a session was sent, or that it was sent nowhere. Returns true if that must be stored.
    pub fn record(&mut self, owner: &str, uid: Option<Uid>, now: i64) -> bool {
        let known = self.0.iter().find(|offer| offer.owner == owner);
        let fresh = |offer: &Offer| (0..OFFER_MS / 3).contains(&now.saturating_sub(offer.at));
        match (known, uid) {
            (None, None) => return false,
            (Some(known), Some(uid)) if known.uid == uid && fresh(known) => return false,
            _ => {}
        }
        self.0.retain(|offer| offer.owner != owner && offer.is_live(now));
        let line = !owner.is_empty() && !owner.contains('\n');
        self.0.extend(uid.filter(|_| line).map(|uid| Offer { uid, at: now, owner: owner.to_owned() }));
        self.0.drain(..self.0.len().saturating_sub(STORED));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_one_sessions_for_a_while() {
        let mut offers = Offers::default();
        assert!(offers.record("a", Some(Uid(7)), 1_000));
        assert!(!offers.record("a", Some(Uid(7)), 2_000), "nothing new to store");
        assert_eq!(offers.holder(Uid(7), Some("b"), 2_000), Some("a"));
        assert_eq!(offers.holder(Uid(7), Some("a"), 2_000), None);
        assert_eq!(offers.holder(Uid(7), Some("b"), 1_000 + OFFER_MS), None);
        assert_eq!(Offers::parse(&offers.to_text()), offers);
        assert!(offers.record("a", Some(Uid(8)), 3_000), "it went elsewhere");
        assert_eq!(offers.holder(Uid(7), Some("b"), 3_000), None);
        assert!(offers.record("a", None, 4_000) && offers.is_empty());
        assert!(!offers.record("a", None, 4_000));
    }

    #[test]
    fn offers_stay_few_and_readable() {
        let mut offers = Offers::default();
        for n in 0..500 {
            offers.record(&format!("session {n}"), Some(Uid(n)), 1_000);
        }
        offers.record("bad\nname", Some(Uid(1)), 1_000);
        assert!(offers.to_text().lines().count() <= STORED);
        assert_eq!(Offers::parse(&offers.to_text()), offers);
        assert_eq!(Offers::parse("x\n1\n1 2\n\n3 4 a b"), {
            let mut one = Offers::default();
            one.record("a b", Some(Uid(3)), 4);
            one
        });
    }
}

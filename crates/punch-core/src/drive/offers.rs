//! Which todos sessions were sent to and have not started yet, so that no two sessions are sent to the same one. A session
//! has such a todo to itself for a short while.

use std::borrow::Cow;

use crate::{Status, Todo, Uid};

/// How long a session has a todo to itself that it was sent to, in milliseconds.
pub const OFFER_MS: i64 = 5 * 60 * 1000;

/// A todo that a session was sent to and has not started yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoOffer {
    /// The session.
    pub owner: String,
    /// The todo.
    pub uid: Uid,
    /// When the session was sent to the todo.
    pub at: i64,
}

impl TodoOffer {
    fn is_live(&self, now: i64) -> bool {
        (0..OFFER_MS).contains(&now.saturating_sub(self.at))
    }
}

/// The offers of one plan, at most one for each session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers(Vec<TodoOffer>);

impl From<Vec<TodoOffer>> for Offers {
    fn from(stored: Vec<TodoOffer>) -> Self {
        Self(stored)
    }
}

impl Offers {
    /// Returns true if no session was sent anywhere.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The session other than `owner` that was sent to a todo and still has it to itself.
    pub fn holder(&self, uid: Uid, owner: Option<&str>, now: i64) -> Option<&str> {
        let holds = |offer: &&TodoOffer| offer.uid == uid && Some(offer.owner.as_str()) != owner && offer.is_live(now);
        self.0.iter().find(holds).map(|offer| offer.owner.as_str())
    }

    /// Returns a ready todo as `owner` should see it: one that another session was sent to counts as in progress there.
    #[must_use]
    pub fn seen_by<'t>(&self, todo: &'t Todo, owner: Option<&str>, now: i64) -> Cow<'t, Todo> {
        let Some(holder) = self.holder(todo.uid, owner, now).filter(|_| todo.is_ready(now)) else {
            return Cow::Borrowed(todo);
        };
        let mut todo = todo.clone();
        todo.fields.status = Status::InProgress;
        todo.fields.owner = Some(holder.to_owned());
        todo.lease_until = None;
        Cow::Owned(todo)
    }

    /// Returns true if it must be stored that a session was sent to a todo, or nowhere. What is stored already is
    /// refreshed now and then only.
    pub fn is_news(&self, owner: &str, uid: Option<Uid>, now: i64) -> bool {
        let known = self.0.iter().find(|offer| offer.owner == owner);
        let fresh = |offer: &TodoOffer| (0..OFFER_MS / 3).contains(&now.saturating_sub(offer.at));
        match (known, uid) {
            (None, None) => false,
            (Some(known), Some(uid)) => known.uid != uid || !fresh(known),
            (Some(_), None) | (None, Some(_)) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_one_sessions_for_a_while() {
        let sent = |uid, at| Offers::from(vec![TodoOffer { owner: "a".into(), uid: Uid(uid), at }]);
        assert!(Offers::default().is_news("a", Some(Uid(7)), 1_000));
        let offers = sent(7, 1_000);
        assert!(!offers.is_news("a", Some(Uid(7)), 2_000), "nothing new to store");
        assert_eq!(offers.holder(Uid(7), Some("b"), 2_000), Some("a"));
        assert_eq!(offers.holder(Uid(7), Some("a"), 2_000), None);
        assert_eq!(offers.holder(Uid(7), Some("b"), 1_000 + OFFER_MS), None);
        assert_eq!(offers.holder(Uid(7), Some("b"), 999), None, "one from the future is none");
        assert!(offers.is_news("a", Some(Uid(7)), 1_000 + OFFER_MS / 3), "it is refreshed before it runs out");
        assert!(offers.is_news("a", Some(Uid(8)), 3_000), "it went elsewhere");
        assert_eq!(sent(8, 3_000).holder(Uid(7), Some("b"), 3_000), None);
        assert!(offers.is_news("a", None, 4_000));
        assert!(!Offers::default().is_news("a", None, 4_000));
    }
}

//! Sessions of browsers and programs, and the links that open them. Only hashes are stored, in memory, so they end with
//! the server.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use punch_serve::new_secret;
use sha2::{Digest, Sha256};

use super::{Rights, StoredToken, WebCaller};

/// How long a link can be used.
const LINK: i64 = 10 * 60 * 1_000;
/// How long a session lasts.
const SESSION: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Sessions and links that are kept; the oldest give way.
const KEPT: usize = 1_000;

/// The hash under which a secret is kept.
pub(crate) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// Something that ends.
struct Expiring<T> {
    what: T,
    ends: i64,
}

/// Sessions and one-time links.
#[derive(Default)]
pub(crate) struct Sessions {
    links: Mutex<HashMap<[u8; 32], Expiring<Rights>>>,
    open: Mutex<HashMap<[u8; 32], Expiring<OpenSession>>>,
}

/// A session: what it is good for, whether it lives in a cookie, and the stored token that opened it.
#[derive(Clone)]
struct OpenSession {
    rights: Rights,
    by_cookie: bool,
    token: Option<StoredToken>,
}

impl Sessions {
    /// Makes the secret of a link that can be used once.
    pub fn link(&self, rights: Rights, now: i64) -> std::io::Result<String> {
        let secret = new_secret()?;
        keep(&self.links, &secret, Expiring { what: rights, ends: now + LINK }, now);
        Ok(secret)
    }

    /// Uses a link up; `None` if it is unknown, used or too old.
    pub fn redeem(&self, secret: &str, now: i64) -> Option<Rights> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.remove(&hash(secret)).filter(|link| now < link.ends).map(|link| link.what)
    }

    /// Opens a session and returns its secret. One that a stored token opens ends with that token.
    pub fn open(
        &self,
        rights: Rights,
        by_cookie: bool,
        token: Option<StoredToken>,
        now: i64,
    ) -> std::io::Result<(String, WebCaller)> {
        let secret = new_secret()?;
        let (key, ends) = (hash(&secret), now + SESSION);
        let session = OpenSession { rights, by_cookie, token };
        let caller = session.caller(key, ends);
        keep(&self.open, &secret, Expiring { what: session, ends }, now);
        Ok((secret, caller))
    }

    /// Whose session this secret opens.
    pub fn find(&self, secret: &str, now: i64) -> Option<WebCaller> {
        let key = hash(secret);
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.get(&key).filter(|session| now < session.ends)?;
        Some(found.what.caller(key, found.ends))
    }

    /// Whether a session still counts.
    pub fn has(&self, key: [u8; 32], now: i64) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(&key).is_some_and(|session| now < session.ends)
    }

    /// Ends a session.
    pub fn close(&self, key: [u8; 32]) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

impl OpenSession {
    fn caller(&self, key: [u8; 32], ends: i64) -> WebCaller {
        let Self { rights, by_cookie, token } = self.clone();
        WebCaller { rights, key: Some(key), token, by_cookie, expires_at: Some(ends) }
    }
}

fn keep<T>(all: &Mutex<HashMap<[u8; 32], Expiring<T>>>, secret: &str, what: Expiring<T>, now: i64) {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|_, kept| now < kept.ends);
    while all.len() >= KEPT {
        let Some(oldest) = all.iter().min_by_key(|(_, kept)| kept.ends).map(|(key, _)| *key) else { break };
        all.remove(&oldest);
    }
    all.insert(hash(secret), what);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::TokenRole;

    const NOW: i64 = 1_000_000;

    fn rights() -> Rights {
        Rights { role: TokenRole::Owner, name: None, link: None }
    }

    #[test]
    fn a_link_opens_a_session_within_ten_minutes_and_once() {
        let sessions = Sessions::default();
        let (early, late) = (sessions.link(rights(), NOW).unwrap(), sessions.link(rights(), NOW).unwrap());
        let ten_minutes = NOW + 600_000;
        assert_eq!(sessions.redeem(&early, ten_minutes - 1), Some(rights()));
        assert_eq!(sessions.redeem(&early, ten_minutes - 1), None, "used");
        assert_eq!(sessions.redeem(&late, ten_minutes), None, "too old");
        assert_eq!(sessions.redeem(&late, NOW), None, "a link that was too old is used up");
    }

    #[test]
    fn a_session_ends_after_seven_days() {
        let sessions = Sessions::default();
        let (secret, caller) = sessions.open(rights(), false, None, NOW).unwrap();
        let (key, end) = (caller.key.unwrap(), NOW + 7 * 86_400_000);
        assert_eq!(caller.expires_at, Some(end));
        assert!(sessions.find(&secret, end - 1).is_some() && sessions.has(key, end - 1));
        assert!(sessions.find(&secret, end).is_none() && !sessions.has(key, end));
        sessions.close(key);
        assert!(sessions.find(&secret, NOW).is_none() && !sessions.has(key, NOW), "closed");
    }

    #[test]
    fn the_oldest_sessions_give_way_to_new_ones() {
        let sessions = Sessions::default();
        let open = |n: i64| sessions.open(rights(), false, None, NOW + n).unwrap().0;
        let secrets: Vec<String> = (0..=1_000).map(open).collect();
        assert!(sessions.find(&secrets[0], NOW).is_none());
        assert!(secrets[1..].iter().all(|secret| sessions.find(secret, NOW).is_some()));
    }
}

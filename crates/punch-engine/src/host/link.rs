//! Which of our servers answers for a session. A host that gives the server no session makes it write under a key of
//! its own; the receipt in the answer, which the hook sees, names the revision it was at.

use punch_store::SessionKey;

use super::listen::{Listener, Who};
use crate::{EngineError, session};

/// How servers without a host session are called.
const ANONYMOUS: &str = "mcp-";
/// Without a receipt, a server that wrote within this time may be meant.
const JUST_NOW_MS: i64 = 60_000;

impl Listener<'_> {
    pub(super) fn link(&self, receipt: Option<u64>, who: &mut Who) -> Result<(), EngineError> {
        if who.state.bound {
            return Ok(());
        }
        let fits = |shown: u64| receipt.is_some_and(|receipt| receipt == shown);
        if who.server.as_ref().is_some_and(|(_, state)| fits(state.shown) || receipt.is_none()) {
            return Ok(());
        }
        let sessions = self.snapshot.sessions()?;
        let taken: Vec<String> = sessions
            .iter()
            .filter(|session| session.key != self.moment.key)
            .filter_map(|session| session::read(session).linked)
            .collect();
        let mut found = sessions.iter().filter(|session| {
            let host = session.key.host();
            session.plan == Some(self.plan.id)
                && host.starts_with(ANONYMOUS)
                && !taken.iter().any(|name| name == host)
                && match receipt {
                    Some(receipt) => session::read(session).shown == receipt,
                    None => self.now.saturating_sub(session.seen_at) < JUST_NOW_MS,
                }
        });
        // The newest; without a receipt only if there is no doubt.
        if let Some(server) = found.next()
            && (receipt.is_some() || found.next().is_none())
        {
            who.state.linked = Some(server.key.host().to_owned());
            who.server = Some((SessionKey::new(server.key.host(), None), session::read(server)));
            who.owner = super::owner_of(&server.key, self.settings);
        }
        Ok(())
    }
}

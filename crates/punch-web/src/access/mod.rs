//! Who gets in: which hosts and origins count, who a request comes from, and what that caller may do.

mod caller;
mod rate;
mod sessions;
mod site;
mod tokens;

pub use caller::Role;
pub(crate) use caller::{Caller, Rights};
pub(crate) use rate::Rate;
pub(crate) use sessions::Sessions;
pub use site::Site;
pub use tokens::{NewToken, StoredToken, TokenFile, TokenFileError};

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;
use punch_serve::{Denial, Peer, Token, TokenName};

use crate::ApiProblem;

/// The cookie of a session beyond loopback.
pub(crate) const COOKIE_NAME: &str = "__Host-punch";

/// Everything by which requests are judged.
pub(crate) struct Access {
    pub site: Site,
    pub sessions: Sessions,
    pub tokens: Option<TokenFile>,
    pub rate: Rate,
    /// Nobody may write.
    pub read_only: bool,
}

impl Access {
    /// Who a request comes from: the session or the token that it carries.
    pub fn caller(&self, head: &Parts, now: i64) -> Result<Caller, ApiProblem> {
        let found = match (bearer(&head.headers), cookie(&head.headers)) {
            (Ok(Some(secret)), _) => self.by_secret(secret, now),
            (Ok(None), Some(secret)) if !self.site.is_loopback => {
                self.sessions.find(secret, now).filter(|caller| caller.by_cookie)
            }
            // A request without a token guesses none.
            (Ok(None), _) => return Err(ApiProblem::unauthorized()),
            (Err(_), _) => None,
        };
        let Some(caller) = found.filter(|caller| self.still_counts(caller, now)) else {
            self.rate.failed(peer(head), now)?;
            return Err(ApiProblem::unauthorized());
        };
        self.rate.asked(&caller.id(), now)?;
        Ok(if self.read_only { caller.reading() } else { caller })
    }

    /// Which agent a request to `/mcp` comes from: the name of its token, or `None` if it carries `file`, the token of
    /// `punch mcp --http`.
    pub fn agent(&self, head: &Parts, file: &Token, now: i64) -> Result<Option<TokenName>, Denial> {
        let too_often = |_| Denial::TooOften;
        let secret = match bearer(&head.headers) {
            Ok(Some(secret)) => secret,
            Ok(None) => return Err(Denial::Token),
            Err(_) => "",
        };
        if file.is_secret(secret.as_bytes()) {
            self.rate.asked("mcp", now).map_err(too_often)?;
            return Ok(None);
        }
        let Some(caller) = self.by_secret(secret, now).filter(|caller| caller.rights.role == Role::Agent) else {
            self.rate.failed(peer(head), now).map_err(too_often)?;
            return Err(Denial::Token);
        };
        self.rate.asked(&caller.id(), now).map_err(too_often)?;
        Ok(caller.token_name().map(|name| TokenName(name.to_owned())))
    }

    /// Whose secret this is. A session that lives in a cookie does not count as a token.
    pub fn by_secret(&self, secret: &str, now: i64) -> Option<Caller> {
        let session = self.sessions.find(secret, now).filter(|caller| !caller.by_cookie);
        session.or_else(|| self.tokens.as_ref()?.find(secret, now).map(Caller::from))
    }

    /// Whether the session of a caller still counts.
    pub fn still_counts(&self, caller: &Caller, now: i64) -> bool {
        let has_token = |token: &StoredToken| self.tokens.as_ref().is_some_and(|tokens| tokens.has(token, now));
        caller.key.is_none_or(|key| self.sessions.has(key, now)) && caller.token.as_ref().is_none_or(has_token)
    }
}

/// The address that a request comes from.
pub(crate) fn peer(head: &Parts) -> Option<IpAddr> {
    head.extensions.get::<Peer>().map(|peer| peer.0.ip())
}

/// The secret behind `Authorization: Bearer`, if the header is there.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, ApiProblem> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let value = value.to_str().map_err(|_| ApiProblem::unauthorized())?;
            let (scheme, secret) = value.split_once(' ').ok_or_else(ApiProblem::unauthorized)?;
            if !scheme.eq_ignore_ascii_case("bearer") {
                return Err(ApiProblem::unauthorized());
            }
            Ok(Some(secret.trim()))
        }
        (Some(_), Some(_)) => Err(ApiProblem::unauthorized()),
    }
}

/// The secret in the cookie.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).find_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

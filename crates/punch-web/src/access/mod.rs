//! Who gets in: which hosts and origins count, who a request comes from, and what that caller may do.

mod caller;
mod rate;
mod sessions;
mod site;
mod tokens;

pub use caller::TokenRole;
pub(crate) use caller::{Rights, WebCaller};
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
pub(crate) struct AccessControl {
    pub site: Site,
    pub sessions: Sessions,
    pub tokens: Option<TokenFile>,
    pub rate: Rate,
    /// Nobody may write.
    pub read_only: bool,
}

impl AccessControl {
    /// Who a request comes from: the session or the token that it carries.
    pub fn caller(&self, head: &Parts, now: i64) -> Result<WebCaller, ApiProblem> {
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

    /// Returns the agent that a request to `/mcp` comes from: the name of its token, or `None` if it carries `file`, the token of
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
        let Some(caller) = self.by_secret(secret, now).filter(|caller| caller.rights.role == TokenRole::Agent) else {
            self.rate.failed(peer(head), now).map_err(too_often)?;
            return Err(Denial::Token);
        };
        self.rate.asked(&caller.id(), now).map_err(too_often)?;
        Ok(caller.token_name().map(|name| TokenName(name.to_owned())))
    }

    /// Whose secret this is. A session that lives in a cookie does not count as a token.
    pub fn by_secret(&self, secret: &str, now: i64) -> Option<WebCaller> {
        let session = self.sessions.find(secret, now).filter(|caller| !caller.by_cookie);
        session.or_else(|| self.tokens.as_ref()?.find(secret, now).map(WebCaller::from))
    }

    /// Whether the session of a caller still counts.
    pub fn still_counts(&self, caller: &WebCaller, now: i64) -> bool {
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

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    /// Everything beyond loopback, with tokens in a folder.
    fn access(folder: &std::path::Path) -> AccessControl {
        let address = std::net::SocketAddr::from(([192, 0, 2, 1], 443));
        AccessControl {
            site: Site::public(address, &["board.test".into()], true),
            sessions: Sessions::default(),
            tokens: Some(TokenFile::in_folder(folder)),
            rate: Rate::new(false),
            read_only: false,
        }
    }

    fn head(token: &str) -> Parts {
        Request::builder().header(AUTHORIZATION, format!("Bearer {token}")).body(()).unwrap().into_parts().0
    }

    #[test]
    fn every_caller_beyond_loopback_asks_1200_times_a_minute_wherever_it_asks() {
        let folder = tempfile::tempdir().unwrap();
        let access = access(folder.path());
        let tokens = TokenFile::in_folder(folder.path());
        let made = |name: &str, role| tokens.add(&NewToken { name: name.into(), role, expires_at: None }, 0).unwrap();
        let file = Token::read_or_create(&folder.path().join("token")).unwrap();
        let shared = std::fs::read_to_string(file.path()).unwrap();
        let api = |token: &str, now| access.caller(&head(token), now).map_err(|problem| problem.code).err();
        let mcp = |token: &str, now| access.agent(&head(token), &file, now).err();
        let too_many = Some("too_many_requests".to_owned());
        let rights = Rights { role: TokenRole::Reader, name: None, link: None };
        let session = access.sessions.open(rights, false, None, 0).unwrap().0;
        for token in [made("phone", TokenRole::Owner), made("wall", TokenRole::Reader), session] {
            assert!((0..1_200).all(|_| api(&token, 0).is_none()));
            assert_eq!((api(&token, 59_999), api(&token, 60_000)), (too_many.clone(), None));
        }
        for token in [made("ci", TokenRole::Agent), made("other", TokenRole::Agent), shared.trim().to_owned()] {
            assert!((0..1_200).all(|_| mcp(&token, 0).is_none()));
            assert_eq!((mcp(&token, 59_999), mcp(&token, 60_000)), (Some(Denial::TooOften), None));
        }
    }
}

//! A caller and what it may do.

use punch_core::{Actor, words};
use punch_engine::{Answerer, BrowserLink};
use serde_json::{Value, json};

use super::StoredToken;
use super::tokens::hex;

words! {
    /// What a token is good for.
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TokenRole {
        /// Reads the board and the API.
        Reader = "reader",
        /// Reads and writes the plan.
        Owner = "owner",
        /// Talks to `/mcp`, and to nothing else.
        Agent = "agent",
    }
}

/// What a link or session is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Reader or owner.
    pub role: TokenRole,
    /// The name under which changes are signed; `None` for the user who started the server.
    pub name: Option<String>,
    /// Proof that the user holds the session, which lets it answer questions.
    pub link: Option<BrowserLink>,
}

/// Who sends a request.
#[derive(Clone, Debug)]
pub struct WebCaller {
    /// What it may do.
    pub rights: Rights,
    /// The hash of the session's secret; `None` if it has no session.
    pub key: Option<[u8; 32]>,
    /// The stored token that it sends, or that opened its session.
    pub token: Option<StoredToken>,
    /// The session lives in a cookie.
    pub by_cookie: bool,
    /// When it ends.
    pub expires_at: Option<i64>,
}

impl WebCaller {
    /// Whether it may change the plan.
    pub fn can_write(&self) -> bool {
        self.rights.role == TokenRole::Owner
    }

    /// Returns this caller without the right to write or answer, for a server where nobody may write.
    #[must_use]
    pub fn reading(mut self) -> Self {
        if self.rights.role == TokenRole::Owner {
            self.rights.role = TokenRole::Reader;
        }
        self.rights.link = None;
        self
    }

    /// How its changes are signed.
    pub fn actor(&self) -> Actor {
        self.rights.name.as_ref().map_or_else(Actor::user, Actor::named_user)
    }

    /// Proof that the user answers; `None` if the session may not.
    pub fn answerer(&self) -> Option<Answerer> {
        self.rights.link.as_ref().filter(|_| self.can_write()).map(BrowserLink::answerer)
    }

    /// Identifies the caller among all callers: its token, else its session. Not a secret.
    pub fn id(&self) -> String {
        match (&self.token, self.key) {
            (Some(token), _) => token.hash().to_owned(),
            (None, Some(key)) => hex(&key),
            (None, None) => String::new(),
        }
    }

    /// The name of its stored token, for logs.
    pub fn token_name(&self) -> Option<&str> {
        self.token.as_ref().map(|token| token.name.as_str())
    }

    /// What it may do, for clients.
    pub fn can(&self) -> Value {
        json!({"write": self.can_write(), "answer": self.answerer().is_some()})
    }

    /// Itself, for clients.
    pub fn to_json(&self) -> Value {
        json!({
            "role": self.rights.role.name(), "name": self.rights.name, "can": self.can(), "cookie": self.by_cookie,
            "expiresAt": self.expires_at,
        })
    }
}

impl From<StoredToken> for WebCaller {
    fn from(token: StoredToken) -> Self {
        let rights = Rights { role: token.role, name: Some(token.name.clone()), link: None };
        Self { rights, key: None, expires_at: token.expires_at, token: Some(token), by_cookie: false }
    }
}

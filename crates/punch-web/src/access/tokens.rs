//! Tokens that the user creates for other machines and programs: names, roles and expiry dates, in a file in the user's
//! state folder. The file contains only their hashes.

use std::io;
use std::path::{Path, PathBuf};

use punch_serve::{new_secret, same_secret};
use punch_store::{Replacement, create_own_folder, platform, read_own, update_own};
use serde::{Deserialize, Serialize};

use super::TokenRole;
use super::sessions::hash;

/// What a token begins with.
const PREFIX: &str = "punch_";
/// Characters of a name.
const NAME: usize = 40;
/// Tokens of one user.
const MOST: usize = 200;
/// Bytes of the file.
const BYTES: u64 = 256 * 1024;

punch_core::errors! {
    /// Why the tokens cannot be used.
    #[derive(Debug)]
    pub enum TokenFileError {
        /// The file could not be read or written.
        Unusable { path: PathBuf, cause: String }: "token",
            ("cannot use the token file `{path}`: {cause}"),
            ("check the permissions of the file and its folder");
        /// The name is taken.
        Exists { name: String }: "token_exists",
            ("a token named `{name}` already exists"),
            ("choose another name, or remove it with `punch token revoke {}`", punch_core::text::shell(&name));
        /// The name cannot be one.
        InvalidName { name: String }: "invalid_token_name",
            ("invalid token name `{name}`"),
            ("use 1 to 40 letters, digits, `-`, `_` or `.`");
        /// There are too many.
        TooMany { most: usize }: "too_many_tokens",
            ("there are already {most} tokens"),
            ("remove some with `punch token revoke NAME`");
        /// No token has the name.
        Unknown { name: String }: "unknown_token",
            ("no token `{name}`"),
            ("`punch token list` shows them");
    }
}

/// A token as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredToken {
    /// Its name: changes are signed with it.
    pub name: String,
    /// What it is good for.
    pub role: TokenRole,
    /// When it was made.
    pub created_at: i64,
    /// When it ends; `None` if it does not.
    pub expires_at: Option<i64>,
    /// The hash of the secret, in hexadecimal digits.
    hash: String,
}

impl StoredToken {
    /// The hash of the secret, which identifies the token among all that there ever were.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether it counts at a time.
    pub fn counts(&self, now: i64) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

/// A token to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub role: TokenRole,
    /// When it ends.
    pub expires_at: Option<i64>,
}

/// The file with the tokens of a user.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// The file in a user's state folder.
    pub fn in_folder(state_home: &Path) -> Self {
        Self { path: state_home.join("punch").join("web-tokens.json") }
    }

    /// All tokens, ended ones too.
    pub fn list(&self) -> Result<Vec<StoredToken>, TokenFileError> {
        match read_own(&self.path, BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| self.unusable(&io::Error::other(error))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// Makes a token and returns its secret, which is stored nowhere.
    pub fn add(&self, new: &NewToken, now: i64) -> Result<String, TokenFileError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if new.name.is_empty() || new.name.len() > NAME || !new.name.chars().all(plain) {
            return Err(TokenFileError::InvalidName { name: punch_core::text::clip(&new.name, 60).into_owned() });
        }
        let secret = new_secret().map(|secret| format!("{PREFIX}{secret}")).map_err(|error| self.unusable(&error))?;
        self.change(|all| {
            all.retain(|token| token.counts(now));
            if all.iter().any(|token| token.name == new.name) {
                return Err(TokenFileError::Exists { name: new.name.clone() });
            }
            if all.len() >= MOST {
                return Err(TokenFileError::TooMany { most: MOST });
            }
            all.push(StoredToken {
                name: new.name.clone(),
                role: new.role,
                created_at: now,
                expires_at: new.expires_at,
                hash: hex(&hash(&secret)),
            });
            Ok(())
        })?;
        Ok(secret)
    }

    /// Removes a token: from now on it counts nowhere.
    pub fn revoke(&self, name: &str) -> Result<(), TokenFileError> {
        self.change(|all| {
            let before = all.len();
            all.retain(|token| token.name != name);
            if all.len() < before { Ok(()) } else { Err(TokenFileError::Unknown { name: name.to_owned() }) }
        })
    }

    /// The token with this secret, if it counts.
    pub fn find(&self, secret: &str, now: i64) -> Option<StoredToken> {
        if !secret.starts_with(PREFIX) {
            return None;
        }
        let given = hex(&hash(secret));
        let all = self.list().ok()?;
        all.into_iter().find(|token| same_secret(token.hash.as_bytes(), given.as_bytes()) && token.counts(now))
    }

    /// Whether this very token still counts. A new token may have taken its name, with other rights.
    pub fn has(&self, token: &StoredToken, now: i64) -> bool {
        self.list().is_ok_and(|all| all.iter().any(|known| known.hash == token.hash && known.counts(now)))
    }

    /// Changes the list; two processes that do so at once both succeed.
    fn change(
        &self,
        edit: impl FnOnce(&mut Vec<StoredToken>) -> Result<(), TokenFileError>,
    ) -> Result<(), TokenFileError> {
        let failed = |error: io::Error| self.unusable(&error);
        create_own_folder(platform::folder_of(&self.path)).map_err(failed)?;
        let lock = update_own(&self.path.with_extension("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut all = self.list()?;
        edit(&mut all)?;
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        Replacement::new(&self.path, text.as_bytes(), 0o600).and_then(Replacement::commit).map_err(failed)
    }

    fn unusable(&self, cause: &io::Error) -> TokenFileError {
        TokenFileError::Unusable { path: self.path.clone(), cause: cause.to_string() }
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! The secret that a client of the HTTP server must send. Every process on the machine can reach a loopback address,
//! including those of other users, but only this user can read the file with the token.

use std::fmt;
use std::fs;
use std::hint::black_box;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use punch_store::{Replacement, platform};

/// Random bytes in a token.
const BYTES: usize = 32;

/// The longest token that is read from a file.
const LONGEST: u64 = 1024;

/// The shortest token that is accepted: someone may have typed it.
const SHORTEST: usize = 32;

/// A secret and the file that holds it. `Debug` shows only the file.
#[derive(Clone)]
pub struct Token {
    secret: String,
    path: PathBuf,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("path", &self.path).finish_non_exhaustive()
    }
}

punch_core::errors! {
    /// Why there is no token to serve with.
    #[derive(Debug)]
    pub enum TokenError {
        /// The file could not be read or written.
        Unusable { path: PathBuf, cause: String }: "token",
            ("cannot use the token file `{path}`: {cause}"),
            ("check the permissions of the file and its folder");
        /// Other users can read or write the file.
        Exposed { path: PathBuf }: "token",
            ("other users can open the token file `{path}`"),
            ("delete it; the next start creates a new token");
        /// The file does not hold a token.
        Invalid { path: PathBuf }: "token",
            ("the token file `{path}` does not hold a token"),
            ("delete it; the next start creates a new token");
    }
}

impl Token {
    /// Where the token is inside the user's state folder.
    pub fn path_in(state_home: &Path) -> PathBuf {
        state_home.join("punch").join("token")
    }

    /// Reads the token, or creates the file with a new one. Two processes that start at once get the same token.
    pub fn read_or_create(path: &Path) -> Result<Self, TokenError> {
        let failed = |cause: io::Error| TokenError::Unusable { path: path.to_owned(), cause: cause.to_string() };
        if fs::symlink_metadata(path).is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound) {
            create(path).map_err(failed)?;
        }
        let file = platform::direct_options().read(true).open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Err(TokenError::Invalid { path: path.to_owned() });
        }
        if platform::mode(&meta).is_some_and(|mode| mode & 0o077 != 0) {
            return Err(TokenError::Exposed { path: path.to_owned() });
        }
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
        let secret = text.trim();
        if secret.len() < SHORTEST || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Invalid { path: path.to_owned() });
        }
        Ok(Self { secret: secret.to_owned(), path: path.to_owned() })
    }

    /// The file that holds the token.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the value of an `Authorization` header carries this token. Takes the same time for every wrong token of
    /// the right length.
    pub fn authorizes(&self, header: &[u8]) -> bool {
        let Some((scheme, given)) = header.split_at_checked("Bearer ".len()) else { return false };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.is_secret(given.trim_ascii())
    }

    /// Whether this is the secret itself. Takes the same time for every wrong one of the right length.
    pub fn is_secret(&self, given: &[u8]) -> bool {
        same_secret(given, self.secret.as_bytes())
    }
}

/// Compares secrets without stopping at the first difference.
pub fn same_secret(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && black_box(left.iter().zip(right).fold(0, |sum, (a, b)| black_box(sum | (a ^ b)))) == 0
}

/// Makes a secret of 256 random bits, as 64 hexadecimal digits.
pub fn new_secret() -> io::Result<String> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes a new token. No process ever reads half of one, and the first of several processes wins.
fn create(path: &Path) -> io::Result<()> {
    let secret = new_secret()?;
    platform::create_private_folders(platform::folder_of(path))?;
    Replacement::new(path, format!("{secret}\n").as_bytes(), 0o600)?.commit_if_missing()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn a_token_is_created_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = Token::path_in(&folder.path().join("state"));
        let together = Barrier::new(8);
        let start = || {
            together.wait();
            Token::read_or_create(&path).unwrap().secret
        };
        let secrets: Vec<String> = thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(secrets.iter().all(|secret| *secret == secrets[0] && secret.len() == 2 * BYTES));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        let files: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(files.len(), 1, "{files:?}");
        let other = Token::read_or_create(&folder.path().join("other")).unwrap();
        assert_ne!(other.secret, secrets[0]);
        assert!(!format!("{other:?}").contains(&other.secret));
    }

    #[test]
    fn only_the_whole_token_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let token = Token::read_or_create(&folder.path().join("token")).unwrap();
        let secret = token.secret.clone();
        for good in [format!("Bearer {secret}"), format!("bearer {secret}"), format!("Bearer  {secret} ")] {
            assert!(token.authorizes(good.as_bytes()), "{good}");
        }
        let flipped = format!("Bearer {}x", &secret[..secret.len() - 1]);
        for wrong in ["", "Bearer", "Bearer ", &secret, &format!("Basic {secret}"), &flipped, &flipped[..20]] {
            assert!(!token.authorizes(wrong.as_bytes()), "{wrong}");
        }
        assert!(!token.authorizes(format!("Bearer {secret}{secret}").as_bytes()));
    }

    #[test]
    fn a_token_that_others_may_know_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        Token::read_or_create(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Token::read_or_create(&path), Err(TokenError::Exposed { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "short\n").unwrap();
        assert!(matches!(Token::read_or_create(&path), Err(TokenError::Invalid { .. })));
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(matches!(Token::read_or_create(&link), Err(TokenError::Unusable { .. })));
    }
}

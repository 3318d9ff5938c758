//! What SQLite and the system report, as errors that name the file.

use std::io;
use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use super::open::companions;
use crate::{StoreError, StoreLabel, StoreObstacle};

/// Writing, growing or mapping a file failed. SQLite calls it full only if the system said exactly that; quotas, limits
/// and the shared memory of a full file system come as these.
const NO_ROOM: [i32; 4] =
    [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_TRUNCATE, ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_IOERR_FSYNC];

/// An error of SQLite while doing `what`.
pub(super) fn sql(path: &Path, what: &str, error: &Error) -> StoreError {
    let store = StoreLabel::file(path);
    let why = format!("cannot {what}: {error}");
    let Error::SqliteFailure(cause, _) = error else {
        // A value of a kind that we never write.
        let is_damage = matches!(
            error,
            Error::FromSqlConversionFailure(..)
                | Error::InvalidColumnType(..)
                | Error::IntegralValueOutOfRange(..)
                | Error::Utf8Error(..)
        );
        return if is_damage { StoreError::Damaged { store, why } } else { StoreError::Failed { store, why } };
    };
    let reason = match cause.code {
        // What the tables promise was checked before, so a broken promise was broken already.
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation => {
            return StoreError::Damaged { store, why };
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreObstacle::Busy,
        ErrorCode::ReadOnly => StoreObstacle::ReadOnly,
        ErrorCode::DiskFull => StoreObstacle::Full,
        ErrorCode::SystemIoFailure if NO_ROOM.contains(&cause.extended_code) => {
            let why = format!("{why} (a full disk or quota, a limit on file sizes, or a failing disk)");
            return StoreError::Unavailable { store, reason: StoreObstacle::Full, why };
        }
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure => StoreObstacle::System,
        _ => return StoreError::Failed { store, why },
    };
    StoreError::Unavailable { store, reason, why }
}

/// An error of the system while doing `what`.
pub(super) fn io(path: &Path, what: &str, error: &io::Error) -> StoreError {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => StoreObstacle::Missing,
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => StoreObstacle::ReadOnly,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => StoreObstacle::Full,
        _ => StoreObstacle::System,
    };
    StoreError::Unavailable { store: StoreLabel::file(path), reason, why: format!("cannot {what}: {error}") }
}

/// An obstacle found by looking.
pub(super) fn unavailable(path: &Path, reason: StoreObstacle, why: impl Into<String>) -> StoreError {
    StoreError::Unavailable { store: StoreLabel::file(path), reason, why: why.into() }
}

/// A file that does not go with the log beside it.
pub(super) fn exchanged(path: &Path, found: &str) -> StoreError {
    let [log, _] = companions(path);
    let log = log.display();
    let way_out = "move that away to use the file as it is";
    damaged(path, format!("the file was replaced, but `{log}` belongs to the previous one ({way_out}): {found}"))
}

/// Content that cannot be read.
pub(super) fn damaged(path: &Path, why: impl Into<String>) -> StoreError {
    StoreError::Damaged { store: StoreLabel::file(path), why: why.into() }
}

/// Anything else: a bug here or below.
pub(super) fn failed(path: &Path, why: impl Into<String>) -> StoreError {
    StoreError::Failed { store: StoreLabel::file(path), why: why.into() }
}

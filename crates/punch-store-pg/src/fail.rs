//! What the server and the network report, as errors that name the store. Messages of the server may quote parameters but
//! never a password.

use punch_store::{Reason, StoreError, StoreLabel};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// An error while doing `what`.
pub fn sql(store: &StoreLabel, what: &str, error: &Error) -> StoreError {
    let why = format!("cannot {what}: {}", words(error));
    let store = store.clone();
    let Some(code) = error.code() else {
        if is_connection(error) {
            return StoreError::Unavailable { store, reason: Reason::System, why };
        }
        // A column that does not hold what we write there.
        return StoreError::Damaged { store, why };
    };
    let reason = match code.code() {
        // A pooler that does not know prepared statements is found out about by the next transaction.
        "55P03" | "57014" | "40P01" | "40001" | "53300" | "25P03" | "26000" | "42P05" => Reason::Busy,
        "25006" => Reason::ReadOnly,
        "53100" | "53200" | "53000" => Reason::Full,
        "28P01" | "28000" | "42501" => Reason::Owner,
        "3D000" | "3F000" | "42P01" => Reason::Missing,
        "XX001" | "XX002" => return StoreError::Damaged { store, why },
        code if code.starts_with("08") || code.starts_with("57P") || code.starts_with("58") => Reason::System,
        _ => return StoreError::Failed { store, why },
    };
    StoreError::Unavailable { store, reason, why }
}

/// Whether the connection is gone, so that what was sent may or may not have happened.
pub fn is_connection(error: &Error) -> bool {
    match error.code() {
        Some(code) => {
            [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW].contains(code)
                || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
                || code.code().starts_with("08")
        }
        None => error.is_closed() || std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>()),
    }
}

/// Whether a pooler between us and the server does not know prepared statements.
pub fn is_unprepared(error: &Error) -> bool {
    error.code().is_some_and(|code| matches!(code.code(), "26000" | "42P05"))
}

/// The message of the server with its detail, or of the network.
pub fn words(error: &Error) -> String {
    match error.as_db_error() {
        Some(db) => match db.detail() {
            Some(detail) => format!("{} ({detail})", db.message()),
            None => db.message().to_owned(),
        },
        None => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}

/// An obstacle.
pub fn unavailable(store: &StoreLabel, reason: Reason, why: impl Into<String>) -> StoreError {
    StoreError::Unavailable { store: store.clone(), reason, why: why.into() }
}

/// Content that cannot be read.
pub fn damaged(store: &StoreLabel, why: impl Into<String>) -> StoreError {
    StoreError::Damaged { store: store.clone(), why: why.into() }
}

/// Anything else.
pub fn failed(store: &StoreLabel, why: impl Into<String>) -> StoreError {
    StoreError::Failed { store: store.clone(), why: why.into() }
}

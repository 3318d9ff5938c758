//! Turns errors of the server and the network into errors that name the store. Messages of the server may quote
//! parameters but never a password.

use punch_store::{StoreError, StoreLabel, StoreObstacle};

use crate::answer::WireError;

/// An error while doing `what`.
pub fn sql(store: &StoreLabel, what: &str, error: &WireError) -> StoreError {
    let why = format!("cannot {what}: {error}");
    let store = store.clone();
    let Some(code) = error.code() else {
        if is_connection(error) {
            return StoreError::Unavailable { store, reason: StoreObstacle::System, why };
        }
        // A column that does not hold what we write there.
        return StoreError::Damaged { store, why };
    };
    let reason = match code {
        // A pooler that does not know prepared statements is found out about by the next transaction.
        "55P03" | "57014" | "40P01" | "40001" | "53300" | "25P03" | "26000" | "42P05" => StoreObstacle::Busy,
        "25006" => StoreObstacle::ReadOnly,
        "53100" | "53200" | "53000" => StoreObstacle::Full,
        "28P01" | "28000" | "42501" => StoreObstacle::Owner,
        "3D000" | "3F000" | "42P01" => StoreObstacle::Missing,
        "XX001" | "XX002" => return StoreError::Damaged { store, why },
        code if code.starts_with("08") || code.starts_with("57P") || code.starts_with("58") => StoreObstacle::System,
        _ => return StoreError::Failed { store, why },
    };
    StoreError::Unavailable { store, reason, why }
}

/// Whether the connection is gone, so that what was sent may or may not have happened.
pub fn is_connection(error: &WireError) -> bool {
    match error {
        // Shut down, crashed, starting; ended because the client was silent for too long.
        WireError::Server(error) => {
            matches!(error.code.as_str(), "57P01" | "57P02" | "57P03" | "25P03") || error.code.starts_with("08")
        }
        WireError::Connection(_) => true,
        WireError::Column(_) | WireError::Login(_) => false,
    }
}

/// Whether a pooler between us and the server does not keep the names of statements.
pub fn is_unprepared(error: &WireError) -> bool {
    matches!(error.code(), Some("26000" | "42P05"))
}

/// An obstacle.
pub fn unavailable(store: &StoreLabel, reason: StoreObstacle, why: impl Into<String>) -> StoreError {
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

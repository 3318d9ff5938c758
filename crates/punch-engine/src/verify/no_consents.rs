//! What stands in for the user's approvals in a build without the feature `verify`: a type that has no value, so no
//! command is ever approved.

use punch_core::Verify;

/// The approvals for one store; there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consents {}

impl Consents {
    /// Whether the user approved this command.
    pub fn has(&self, _command: &Verify) -> bool {
        match *self {}
    }

    /// Whether an earlier version recorded an approval of this command.
    pub fn is_outdated(&self, _command: &Verify) -> bool {
        match *self {}
    }

    /// Whether the user approved this value of a setting.
    pub fn has_setting(&self, _key: &str, _value: &str) -> bool {
        match *self {}
    }
}

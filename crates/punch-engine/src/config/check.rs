//! Whether a setting is known and its value fits, wherever it was written.

use super::{
    ConfigError, SettingOrigin,
    key::{self, KnownSetting},
    scalar::WrittenValue,
};

/// Fails unless the name is known and the value fits; gives the value in the form of a file.
pub(super) fn check(
    name: &str,
    scalar: &WrittenValue,
    place: impl FnOnce() -> SettingOrigin,
) -> Result<Option<String>, ConfigError> {
    let Some(KnownSetting { key, .. }) = key::lookup(name) else {
        if key::is_section(name) && !matches!(scalar, WrittenValue::Loose(_)) {
            let expected = format!("a section, as in `[{name}]`");
            return Err(ConfigError::bad_value(place(), name, scalar, &expected));
        }
        return Err(ConfigError::UnknownKey { place: place(), key: name.into(), near: key::nearest(name) });
    };
    (key.check)(scalar).ok_or_else(|| ConfigError::bad_value(place(), name, scalar, &key.expected()))
}

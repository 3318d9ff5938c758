//! Error types as tables. Each row has a variant, the stable code that programs match on, the message and the hint, so
//! that everything about one error is in one place.

use std::path::PathBuf;

use crate::{Refusal, text};

/// A value as the message or the hint of an error prints it: short, on one line, safe for a terminal.
pub trait ErrorValue {
    /// Returns the text for messages.
    fn shown(&self) -> String;
}

impl ErrorValue for String {
    fn shown(&self) -> String {
        text::clip(&text::neutral(self), 200).into_owned()
    }
}

impl ErrorValue for PathBuf {
    fn shown(&self) -> String {
        text::neutral(&self.display().to_string()).into_owned()
    }
}

/// The names that a misspelt one may have meant; empty if there are none.
impl ErrorValue for Vec<String> {
    fn shown(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let names: Vec<String> = self.iter().map(|name| format!("`{}`", name.shown())).collect();
        format!(" (did you mean {}?)", names.join(" or "))
    }
}

impl ErrorValue for Refusal {
    fn shown(&self) -> String {
        self.message()
    }
}

impl<T: ErrorValue> ErrorValue for Option<T> {
    fn shown(&self) -> String {
        self.as_ref().map(ErrorValue::shown).unwrap_or_default()
    }
}

macro_rules! shown_as_they_are {
    ($($type:ty)*) => {
        $(impl ErrorValue for $type {
            fn shown(&self) -> String {
                self.to_string()
            }
        })*
    };
}

shown_as_they_are!(u32 u64 usize);

/// Declares an error type with `code`, `message` and `hint`.
///
/// A row is `Variant { field: Type }: "code", ("message {field}"), ("hint");`, where message and hint are arguments of
/// [`format!`] that see each field as [`ErrorValue`] prints it. A row after `from` wraps the value that its variant is made
/// from: `Variant(value: Type) => code, message, hint;`.
#[macro_export]
macro_rules! errors {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident $({ $($field:ident: $type:ty),+ })?: $code:literal, ($($message:tt)+), ($($hint:tt)+);
            )*
        }
        $(from {
            $(
                $(#[$inner_doc:meta])*
                $wrapper:ident($value:ident: $inner:ty) => $inner_code:expr, $inner_message:expr, $inner_hint:expr;
            )+
        })?
    ) => {
        $(#[$meta])*
        pub enum $name {
            $(
                $(#[$doc])*
                $variant $({ $(#[doc = concat!("`", stringify!($field), "` in the message or the hint.")] $field: $type),+ })?,
            )*
            $($($(#[$inner_doc])* $wrapper($inner),)+)?
        }

        impl $name {
            /// Returns the stable code that programs match on.
            pub fn code(&self) -> &'static str {
                match self {
                    $(Self::$variant $({ $($field: _),+ })? => $code,)*
                    $($(Self::$wrapper($value) => { let _ = $value; $inner_code })+)?
                }
            }

            /// Returns what is wrong, with which value.
            pub fn message(&self) -> String {
                match self {
                    $(Self::$variant $({ $($field),+ })? => {
                        $($(let $field = $crate::ErrorValue::shown($field); let _ = &$field;)+)?
                        format!($($message)+)
                    })*
                    $($(Self::$wrapper($value) => $inner_message,)+)?
                }
            }

            /// Returns what to do about it.
            pub fn hint(&self) -> String {
                match self {
                    $(Self::$variant $({ $($field),+ })? => {
                        $($(let $field = $crate::ErrorValue::shown($field); let _ = &$field;)+)?
                        format!($($hint)+)
                    })*
                    $($(Self::$wrapper($value) => { let _ = $value; $inner_hint })+)?
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.message())
            }
        }

        impl std::error::Error for $name {}

        $($(impl From<$inner> for $name {
            fn from(value: $inner) -> Self {
                Self::$wrapper(value)
            }
        })+)?
    };
}

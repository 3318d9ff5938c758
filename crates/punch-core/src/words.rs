//! Enums whose variants have names on the wire, in stores and on the command line.

/// Declares such an enum, with `ALL`, `name` and `parse`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$attr:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$attr])* $variant),+ }

        impl $name {
            /// Every variant, in the order in which they are listed.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The name that users, stores and other programs know.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// Returns the variant of that name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}

//! Hosts as programs: small ones, played by the shell, in every way that real ones can go wrong.

mod acp;
mod stage;

//! A hasher for handles. They are numbers that the engine gave out itself, one after the other, so the protection
//! of the standard hasher against chosen keys buys nothing here and would be a third of all work.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map keyed by handles.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Multiplies and folds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        // The table takes its place from the low bits, and multiplying mixes only upwards.
        self.0 ^ (self.0 >> 32)
    }
}

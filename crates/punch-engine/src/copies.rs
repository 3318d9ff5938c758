//! Where the safety copy of a store lies: in the user's state folder, so that deleting a project's `.git` does not
//! delete the copy along. Only names; making and restoring copies is not done here.

use std::path::{Path, PathBuf};

/// The copy of the database `store` (an absolute path) under the user's state folder.
///
/// The name never changes between versions: a copy nobody finds again is no copy.
pub fn copy_of(state_home: &Path, store: &Path) -> PathBuf {
    let name = format!("{:016x}.db", fnv1a(store.as_os_str().as_encoded_bytes()));
    state_home.join("punch").join("copies").join(name)
}

/// FNV-1a with 64 bits. The hashers of the standard library promise nothing across versions.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        // From the test vectors of the authors of FNV.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_copy_is_found_again_by_the_path_of_its_store() {
        let copy = |store: &str| copy_of(Path::new("/state"), Path::new(store));
        assert_eq!(copy("/p/.git/punch/store.db"), copy("/p/.git/punch/store.db"));
        assert_ne!(copy("/p/.git/punch/store.db"), copy("/q/.git/punch/store.db"));
        assert_eq!(copy("a"), Path::new("/state/punch/copies/af63dc4c8601ec8c.db"));
    }
}

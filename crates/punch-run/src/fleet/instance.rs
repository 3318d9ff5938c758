//! Distinguishes copies of a worker's folder. Machines that were copied from one image have the same name and the same
//! paths.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Seek, Write};
use std::path::Path;

use punch_store::update_own;

/// The value by which Linux distinguishes one boot of the machine from another. A copy of a machine boots separately.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Returns a random number that is stored in the folder of a worker, as hexadecimal digits. A new one is made after each
/// start of the machine.
pub(super) fn instance_of(folder: &Path) -> io::Result<String> {
    instance_since(folder, fs::read_to_string(BOOT).unwrap_or_default().trim())
}

fn instance_since(folder: &Path, boot: &str) -> io::Result<String> {
    let path = folder.join("instance");
    let known = fs::read_to_string(&path).unwrap_or_default();
    if let Some((instance, known_boot)) = known.split_once(' ')
        && known_boot == boot
        && !instance.is_empty()
    {
        return Ok(instance.to_owned());
    }
    // The standard library seeds its hashers with random numbers of the system.
    let instance = format!("{:016x}", RandomState::new().build_hasher().finish());
    let mut file = update_own(&path)?;
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{instance} {boot}")?;
    Ok(instance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_machine_are_told_apart_once_they_start() {
        let folder = tempfile::tempdir().unwrap();
        let first = instance_since(folder.path(), "one").unwrap();
        assert_eq!(instance_since(folder.path(), "one").unwrap(), first, "the next process on this machine");
        let copy = instance_since(folder.path(), "two").unwrap();
        assert!(copy != first && copy.len() == 16);
        assert_eq!(instance_since(folder.path(), "two").unwrap(), copy);
    }
}

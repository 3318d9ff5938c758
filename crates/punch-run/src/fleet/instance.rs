//! Distinguishes copies of a worker's folder. Machines that were copied from one image have the same name and the same
//! paths.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use punch_store::update_own;

/// The value by which Linux distinguishes one boot of the machine from another. A copy of a machine boots separately.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Bytes of the file that are read. Its text is far shorter.
const LONGEST: u64 = 1_000;

/// Returns a random number that is stored in the folder of a worker, as hexadecimal digits. A new one is made after each
/// start of the machine.
pub(super) fn instance_of(folder: &Path) -> io::Result<String> {
    instance_since(folder, std::fs::read_to_string(BOOT).unwrap_or_default().trim())
}

fn instance_since(folder: &Path, boot: &str) -> io::Result<String> {
    let mut file = update_own(&folder.join("instance"))?;
    let mut known = Vec::new();
    (&mut file).take(LONGEST).read_to_end(&mut known)?;
    let known = String::from_utf8_lossy(&known);
    if let Some((instance, known_boot)) = known.split_once(' ')
        && known_boot == boot
        && !instance.is_empty()
    {
        return Ok(instance.to_owned());
    }
    // The standard library seeds its hashers with random numbers of the system.
    let instance = format!("{:016x}", RandomState::new().build_hasher().finish());
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

    #[cfg(unix)]
    #[test]
    fn a_link_or_a_folder_in_place_of_the_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("instance"), folder.path().join("other"));
        std::fs::write(&other, "mine boot").unwrap();
        std::os::unix::fs::symlink(&other, &file).unwrap();
        instance_since(folder.path(), "boot").unwrap_err();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine boot");
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        instance_since(folder.path(), "boot").unwrap_err();
    }
}

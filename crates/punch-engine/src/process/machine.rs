//! Which machine this is. The name alone does not say so: copies of a virtual machine and containers may share it.

use super::host_name;

/// Separates the name of a machine from what only this machine has. Names have no such character.
const MARK: char = '#';

/// Returns the identity of this machine; empty if it has no name. On Linux it holds until the machine starts again, or the
/// container, and no other machine of the same name has it. Elsewhere it is the name.
pub(crate) fn machine() -> String {
    identity(&host_name(), &own_marks())
}

fn identity(name: &str, marks: &str) -> String {
    if name.is_empty() || marks.is_empty() { name.to_owned() } else { format!("{name}{MARK}{marks}") }
}

/// Returns the name in the identity of a machine, or in `HOW@MACHINE`.
pub fn machine_name(identity: &str) -> &str {
    identity.rsplit_once(MARK).map_or(identity, |(name, _)| name)
}

/// Returns true if both are the same machine. A machine without a name is not recognized.
pub(crate) fn is_same_machine(one: &str, other: &str) -> bool {
    !machine_name(one).is_empty() && one == other
}

/// The value by which Linux distinguishes one boot from another, also of a copied machine, and the namespace that the host
/// name belongs to: each container has its own.
#[cfg(target_os = "linux")]
fn own_marks() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let names = std::fs::read_link("/proc/self/ns/uts").unwrap_or_default();
    let marks = format!("{boot}.{}", names.display());
    marks.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect()
}

#[cfg(not(target_os = "linux"))]
fn own_marks() -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_of_one_name_are_distinguished_and_a_machine_without_a_name_is_none() {
        let (one, copy) = (identity("build", "1.uts7"), identity("build", "2.uts7"));
        assert!(is_same_machine(&one, &one) && !is_same_machine(&one, &copy));
        assert!(!is_same_machine(&one, "build"), "a name that anyone can give");
        assert_eq!([&one, &copy].map(|machine| machine_name(machine)), ["build"; 2]);
        assert_eq!(machine_name(&format!("terminal@{one}")), "terminal@build");
        assert!(!is_same_machine(&identity("", "1"), &identity("", "1")));
        assert_eq!(machine(), machine());
        assert_eq!(machine_name(&machine()), host_name());
    }
}

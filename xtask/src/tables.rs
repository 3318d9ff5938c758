//! `cargo xtask tables`: tables in the documentation that follow from the tree. A page marks each one by name; the gate
//! fails if a table no longer says what the tree has.

use std::fs;

use crate::{TaskResult, counts, process, registry, support};

/// A table in a page.
struct PageTable {
    page: &'static str,
    name: &'static str,
    /// Writes it anew.
    make: fn() -> Result<String, String>,
    /// Returns true if the old text may stay beside the new one.
    holds: fn(old: &str, new: &str) -> bool,
}

const TABLES: &[PageTable] = &[
    PageTable { page: "docs/agents.md", name: "support", make: support::table, holds: |old, new| old == new },
    PageTable { page: "docs/agents.md", name: "links", make: registry::links, holds: |old, new| old == new },
    PageTable { page: "docs/testing.md", name: "counts", make: counts::table, holds: counts::holds },
];

/// Writes all tables anew.
pub fn update() -> TaskResult {
    each(|table, old, new| {
        let changed = !(table.holds)(old, new);
        if changed {
            println!("    {}: {} is written anew", table.page, table.name);
        }
        Ok(changed)
    })
}

/// Fails with every table that no longer holds.
pub fn check() -> TaskResult {
    each(|table, old, new| {
        if (table.holds)(old, new) {
            return Ok(false);
        }
        Err(format!("{}: the table `{}` should be\n{new}\n`cargo xtask tables` writes it", table.page, table.name))
    })
}

/// Visits all tables; those for which the visitor returns true are replaced.
fn each(visit: impl Fn(&PageTable, &str, &str) -> Result<bool, String>) -> TaskResult {
    for table in TABLES {
        let path = process::root().join(table.page);
        let page = fs::read_to_string(&path).map_err(|cause| format!("{}: {cause}", table.page))?;
        let (before, old, after) =
            split(&page, table.name).ok_or_else(|| format!("{}: no table `{}`", table.page, table.name))?;
        let new = (table.make)()?;
        if visit(table, old, &new)? {
            fs::write(&path, format!("{before}{new}{after}")).map_err(|cause| format!("{}: {cause}", table.page))?;
        }
    }
    Ok(())
}

/// The text before a table, the table, and the text after it.
fn split<'a>(page: &'a str, name: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let begin = format!("<!-- table: {name} -->\n");
    let at = page.find(&begin)? + begin.len();
    let end = at + page[at..].find("<!-- end of table -->")?;
    Some((&page[..at], &page[at..end], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lies_between_its_marks() {
        let page = "a\n<!-- table: x -->\n| 1 |\n<!-- end of table -->\nb\n";
        assert_eq!(split(page, "x"), Some(("a\n<!-- table: x -->\n", "| 1 |\n", "<!-- end of table -->\nb\n")));
        assert_eq!(split(page, "y"), None);
    }

    #[test]
    fn every_table_holds() {
        assert_eq!(check(), Ok(()));
    }
}

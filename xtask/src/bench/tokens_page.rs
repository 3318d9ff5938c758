//! The tables of `cargo xtask bench tokens`, for a terminal and for the page `docs/benchmarks/tokens.md`.

use std::fmt::Write;
use std::fs;

use super::generated;
use super::tokens::{AgentPrice, DialectPrice, MOST_DEFINITIONS, MOST_MIRRORED, Prices, REQUESTS, TODOS};
use crate::process;

/// Writes the tables of a run into the page.
pub fn write(prices: &Prices) -> Result<(), String> {
    let path = process::root().join("docs/benchmarks/tokens.md");
    let mut page = fs::read_to_string(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    for (name, text) in
        [("definitions", definitions(prices)), ("sessions", sessions(prices)), ("limits", limits(prices))]
    {
        page = generated::replace(&page, name, &text)?;
    }
    fs::write(&path, page).map_err(|cause| format!("{}: {cause}", path.display()))
}

/// The tables for a terminal.
pub fn text(prices: &Prices) -> String {
    let mut out = format!("{:<10} {:>12} {:>13}\n", "dialect", "definitions", "instructions");
    for DialectPrice { name, definitions, instructions } in &prices.dialects {
        let _ = writeln!(out, "{name:<10} {definitions:>12} {instructions:>13}");
    }
    let _ = writeln!(
        out,
        "\n{TODOS} todos, {REQUESTS} requests: input tokens of the whole session\n{:<9} {:<23} {:>9} {:>9} {:>7} {:>8} \
         {:>7}  counted in",
        "agent", "own list", "own", "punch", "", "mirrored", ""
    );
    for AgentPrice { agent, list, punch_tools, own, from } in &prices.agents {
        let _ = match own {
            None => writeln!(out, "{agent:<9} {list:<23} {:>9} {punch_tools:>9}", "–"),
            Some(own) => writeln!(
                out,
                "{agent:<9} {list:<23} {:>9} {punch_tools:>9} {:>+6.0}% {:>8} {:>6.2}%  {from}; a continuation: {}",
                own.own_list,
                own.change(*punch_tools) * 100.0,
                own.mirrored,
                own.share() * 100.0,
                own.continuation
            ),
        };
    }
    out
}

fn definitions(prices: &Prices) -> String {
    let mut out = "| dialect | definitions | instructions |\n|---|---|---|\n".to_owned();
    for DialectPrice { name, definitions, instructions } in &prices.dialects {
        let _ = writeln!(out, "| `{name}` | {definitions} | {instructions} |");
    }
    out
}

fn sessions(prices: &Prices) -> String {
    let mut out = format!(
        "{TODOS} todos in {REQUESTS} requests, input tokens of the whole session:\n\n| agent | its own list | own list | punch's \
         tools | difference | copied by hooks | a continuation | counted in |\n|---|---|---|---|---|---|---|---|\n"
    );
    for AgentPrice { agent, list, punch_tools, own, from } in &prices.agents {
        let _ = match own {
            None => writeln!(out, "| {agent} | – | – | {punch_tools} | – | – | – | {from} |"),
            Some(own) => writeln!(
                out,
                "| {agent} | {list} | {} | {punch_tools} | {:+.0} % | +{} (+{:.2} %) | {} | {from} |",
                own.own_list,
                own.change(*punch_tools) * 100.0,
                own.mirrored,
                own.share() * 100.0,
                own.continuation
            ),
        };
    }
    out
}

fn limits(prices: &Prices) -> String {
    let own = || prices.agents.iter().filter_map(|price| Some((price.punch_tools, price.own.as_ref()?)));
    let definitions = prices.dialects.iter().find(|dialect| dialect.name == "native").map_or(0, |one| one.definitions);
    let dearest = own().map(|(punch_tools, own)| own.change(punch_tools)).fold(f64::MIN, f64::max);
    let copied = own().map(|(_, own)| own.share()).fold(0.0, f64::max);
    format!(
        "| limit | at most | measured |\n|---|---|---|\n| definitions of `todo_write` and `todo_read` as served by default | \
         {MOST_DEFINITIONS} tokens | {definitions} |\n| a session with punch's tools beside the agent's own, compared with the agent's own \
         list | +0 % | {:+.1} % for the dearest |\n| what copying the agent's own list adds | {:.1} % | {:.2} % for the dearest |\n",
        dearest * 100.0,
        MOST_MIRRORED * 100.0,
        copied * 100.0
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::process;

    fn read(name: &str) -> String {
        fs::read_to_string(process::root().join(name)).unwrap_or_else(|cause| panic!("{cause}"))
    }

    #[test]
    fn install_states_the_measured_range() {
        let page = read("docs/benchmarks/tokens.md");
        let difference = |line: &str| -> Option<i64> {
            let cell = line.split('|').nth(5)?.trim().strip_suffix(" %")?;
            cell.parse::<i64>().ok().map(|percent| -percent)
        };
        let fewer: Vec<i64> = page.lines().filter_map(difference).collect();
        assert!(fewer.len() > 5, "{fewer:?}");
        let (least, most) = (fewer.iter().min().unwrap_or(&0), fewer.iter().max().unwrap_or(&0));
        let stated = format!("{least} to {most} % fewer input tokens");
        let text = read("crates/punch-cli/src/commands/install.rs");
        assert!(text.contains(&stated), "`punch install` does not say {stated}");
    }

    #[test]
    fn pages_state_what_was_measured() {
        let page = read("docs/benchmarks/tokens.md");
        let row = page.lines().find_map(|line| line.strip_prefix("| `native` |")).unwrap_or_default();
        let measured: u64 = row.split('|').filter_map(|cell| cell.trim().parse::<u64>().ok()).sum();
        let stated = format!("about {} tokens", (measured + 5) / 10 * 10);
        for name in ["README.md", "docs/install.md"] {
            assert!(read(name).contains(&stated), "{name} does not say {stated}");
        }
    }
}

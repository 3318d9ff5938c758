//! The page `docs/benchmarks/finish.md`: its tables come from a run, its prose stays as it is written there.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::chart;
use super::profile::{MIDDLE, PARAMETERS, PROFILES, STRONG, WEAK};
use super::real::PunchProject;
use super::table::ArmFigures;
use super::world::TaskWorld;
use super::{TODOS, scratch};
use crate::bench::generated;
use crate::process;

/// The settings that decide how agents are continued and what `done` requires, as a fresh install has them.
pub fn settings(punch: &Path) -> Result<String, String> {
    let folder = scratch()?;
    let world = TaskWorld::new(folder.path().join("project"), 0, TODOS, &MIDDLE)?;
    let place = PunchProject::new(punch, &world.folder, folder.path().join("home"))?;
    place.user(&["install", "claude", "--yes"])?;
    let all = place.user(&["config", "show"])?;
    let matters =
        |line: &&str| ["policy.verify", "keep_going.", "tools.enabled"].iter().any(|key| line.starts_with(key));
    Ok(all.lines().filter(matters).collect::<Vec<_>>().join("\n"))
}

/// Writes the tables of a run into the page, and the chart beside it.
pub fn write(figures: &ArmFigures) -> Result<(), String> {
    let folder = process::root().join("docs/benchmarks");
    let path = folder.join("finish.md");
    let page = fs::read_to_string(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    fs::write(&path, filled(page, figures)?).map_err(|cause| format!("{}: {cause}", path.display()))?;
    fs::write(folder.join("finish.svg"), chart::svg(figures)).map_err(|cause| cause.to_string())
}

/// The page with the tables of a run. What the run did not measure stays as it is.
fn filled(mut page: String, figures: &ArmFigures) -> Result<String, String> {
    for (name, text) in [
        ("settings", Some(format!("```text\n{}\n```", figures.settings))),
        ("parameters", Some(parameters())),
        ("results", Some(results(figures))),
        ("sweep", (!figures.sweeps.is_empty()).then(|| sweep(figures))),
        ("resume", (!figures.resumed.is_empty()).then(|| resume(figures))),
    ] {
        if let Some(text) = text {
            page = generated::replace(&page, name, &text)?;
        }
    }
    Ok(page)
}

fn parameters() -> String {
    let mut out = "| parameter | meaning | strong | middle | weak | source |\n|---|---|---|---|---|---|\n".to_owned();
    for parameter in &PARAMETERS {
        let [strong, middle, weak] = [STRONG, MIDDLE, WEAK].map(|profile| parameter.of(profile));
        let _ = writeln!(
            out,
            "| `{}` | {} | {strong} | {middle} | {weak} | {} |",
            parameter.name, parameter.meaning, parameter.source
        );
    }
    out
}

fn results(figures: &ArmFigures) -> String {
    let mut out = format!(
        "![Share of the plan that is truly done, by arm and model](finish.svg)\n\n{} plans of {TODOS} todos for each row, the \
         same seeds in every arm.\n",
        figures.seeds
    );
    for profile in PROFILES {
        let _ = writeln!(
            out,
            "\n**{} model**\n\n| arm | truly done | whole plans | falsely done, of {TODOS} | tokens | own tokens | did not \
             halt |\n|---|---|---|---|---|---|---|",
            capital(profile.name)
        );
        for arm in figures.arms.iter().copied() {
            let Some(row) = figures.row(arm, profile.name) else { continue };
            let share = format!("{:.2} ± {:.2}", row.share, row.error);
            let (bold, title) = (if arm.is_real() { "**" } else { "" }, arm.title());
            let _ = writeln!(
                out,
                "| {bold}{title}{bold} | {share} | {:.2} | {:.2} | {:.0}k | {:.0} ({:.2} %) | {} |",
                row.whole,
                row.falsely,
                row.tokens / 1000.0,
                row.own,
                100.0 * row.own / row.tokens,
                row.endless
            );
        }
    }
    out
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

fn sweep(figures: &ArmFigures) -> String {
    let titles: Vec<&str> = figures.arms.iter().map(|arm| arm.title()).collect();
    let mut out =
        format!("| parameter | factor | {} |\n|---|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    for sweep in &figures.sweeps {
        let shares: Vec<String> = sweep.shares.iter().map(|share| format!("{share:.2}")).collect();
        let _ = writeln!(out, "| `{}` | × {} | {} |", sweep.parameter, sweep.factor, shares.join(" | "));
    }
    out
}

fn resume(figures: &ArmFigures) -> String {
    let mut out =
        "| what the new conversation has | turns | done twice | how the figure came about |\n|---|---|---|---|\n"
            .to_owned();
    for resumed in &figures.resumed {
        let _ = writeln!(out, "| {} | {} | {} | {} |", resumed.title, resumed.turns, resumed.again, resumed.how);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_a_run_did_not_measure_stay_as_they_are() {
        let part = |name: &str| format!("<!-- {name} -->\n{name} before\n<!-- /{name} -->\n");
        let page: String = ["settings", "parameters", "results", "sweep", "resume"].map(part).concat();
        let (settings, arms) = ("a = 1".to_owned(), Vec::new());
        let figures =
            ArmFigures { settings, arms, seeds: 1, rows: Vec::new(), sweeps: Vec::new(), resumed: Vec::new() };
        let after = filled(page, &figures).unwrap();
        assert!(after.contains("sweep before") && after.contains("resume before"), "{after}");
        assert!(after.contains("a = 1") && !after.contains("results before"), "{after}");
    }
}

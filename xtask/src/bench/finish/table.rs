//! Plays all arms on the same seeds and condenses the outcomes: one row for each arm and profile, and a sweep.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::arms::{Arm, ArmOutcome};
use super::profile::{MIDDLE, PARAMETERS, PROFILES, Profile};
use super::resume::{self, ResumeResult};
use super::{FinishOptions, PlayedPlan, TODOS, play_all};

/// Seeds of each cell of the sweep.
const SWEPT: u64 = 6;

/// The outcomes of one arm with one profile.
#[derive(Clone, Debug)]
pub struct ArmOutcomes {
    pub arm: Arm,
    pub profile: &'static str,
    /// Mean share of the doable todos that is truly done, and the standard error of that mean.
    pub share: f64,
    pub error: f64,
    /// Share of plans that are wholly done.
    pub whole: f64,
    /// Todos per plan that are called done and are not.
    pub falsely: f64,
    pub tokens: f64,
    pub own: f64,
    pub endless: usize,
    /// How often each reason allowed the agent to stop.
    pub reasons: BTreeMap<String, usize>,
}

/// The share truly done with one parameter halved and doubled, in the order of [`ArmFigures::arms`].
pub struct Sweep {
    pub parameter: &'static str,
    pub factor: f64,
    pub shares: Vec<f64>,
}

pub struct ArmFigures {
    pub settings: String,
    pub arms: Vec<Arm>,
    pub seeds: u64,
    pub rows: Vec<ArmOutcomes>,
    pub sweeps: Vec<Sweep>,
    pub resumed: Vec<ResumeResult>,
}

pub fn measure(punch: &Path, options: &FinishOptions) -> Result<ArmFigures, String> {
    let settings = super::page::settings(punch)?;
    println!("Settings after `punch install claude`:\n{settings}");
    let arms = playable(punch, &options.arms)?;
    let rows = rows(punch, &arms, options.seeds, TODOS, &PROFILES)?;
    let mut figures =
        ArmFigures { settings, arms, seeds: options.seeds, rows, sweeps: Vec::new(), resumed: Vec::new() };
    println!("{}", figures.text());
    if options.sweep {
        figures.sweeps = sweeps(punch, &figures.arms)?;
        figures.resumed = resume::measure(punch)?;
    }
    Ok(figures)
}

/// Every arm with few todos and seeds: shows that they play to the end and that none is worse than the agent alone.
pub fn small(punch: &Path) -> Result<String, String> {
    let arms = Arm::ALL.to_vec();
    let rows = rows(punch, &arms, 2, 6, &[MIDDLE])?;
    let resumed = resume::measure(punch)?;
    let figures = ArmFigures { settings: String::new(), arms, seeds: 2, rows, sweeps: Vec::new(), resumed };
    if let Some(row) = figures.rows.iter().find(|row| row.endless > 0) {
        return Err(format!("{}: a plan did not come to an end\n{}", row.arm.title(), figures.text()));
    }
    let alone = figures.rows.iter().find(|row| row.arm == Arm::OwnList).map_or(0.0, |row| row.share);
    match figures.rows.iter().find(|row| row.arm.is_real() && row.share < alone) {
        Some(row) => Err(format!("{} is worse than the agent alone\n{}", row.arm.title(), figures.text())),
        None => Ok(figures.text()),
    }
}

/// The arms that a binary can play: an older one may not know a setting.
fn playable(punch: &Path, arms: &[Arm]) -> Result<Vec<Arm>, String> {
    let mut out = Vec::new();
    for arm in arms {
        let folder = super::scratch()?;
        let play = PlayedPlan { arm: *arm, profile: MIDDLE, seed: 0, todos: 1, is_printed: false };
        match arm.play(punch, folder.path(), &play) {
            Ok(_) => out.push(*arm),
            Err(cause) => println!("left out: {}: {}", arm.title(), cause.trim()),
        }
    }
    Ok(out)
}

fn rows(
    punch: &Path,
    arms: &[Arm],
    seeds: u64,
    todos: usize,
    profiles: &[Profile],
) -> Result<Vec<ArmOutcomes>, String> {
    let mut plays = Vec::new();
    for profile in profiles {
        for arm in arms.iter().copied() {
            plays.extend((0..seeds).map(|seed| PlayedPlan { arm, profile: *profile, seed, todos, is_printed: false }));
        }
    }
    let outcomes = play_all(punch, &plays)?;
    let per_row = usize::try_from(seeds).map_err(|_| "too many seeds")?;
    let row =
        |(plays, outcomes): (&[PlayedPlan], &[ArmOutcome])| condense(plays[0].arm, plays[0].profile.name, outcomes);
    Ok(plays.chunks(per_row).zip(outcomes.chunks(per_row)).map(row).collect())
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn condense(arm: Arm, profile: &'static str, outcomes: &[ArmOutcome]) -> ArmOutcomes {
    let count = outcomes.len() as f64;
    let mean = |of: &dyn Fn(&ArmOutcome) -> f64| outcomes.iter().map(of).sum::<f64>() / count;
    let share = mean(&|outcome| outcome.share);
    let variance = mean(&|outcome| (outcome.share - share).powi(2));
    ArmOutcomes {
        arm,
        profile,
        share,
        error: (variance / count).sqrt(),
        whole: mean(&|outcome| f64::from(u8::from(outcome.whole))),
        falsely: mean(&|outcome| outcome.falsely as f64),
        tokens: mean(&|outcome| outcome.tokens as f64),
        own: mean(&|outcome| outcome.own as f64),
        endless: outcomes.iter().filter(|outcome| !outcome.halted).count(),
        reasons: outcomes.iter().filter_map(|outcome| outcome.reason.clone()).fold(
            BTreeMap::new(),
            |mut all, reason| {
                *all.entry(reason).or_default() += 1;
                all
            },
        ),
    }
}

fn sweeps(punch: &Path, arms: &[Arm]) -> Result<Vec<Sweep>, String> {
    let mut out = Vec::new();
    for parameter in &PARAMETERS {
        for factor in [0.5, 2.0] {
            let rows = rows(punch, arms, SWEPT, TODOS, &[parameter.scaled(MIDDLE, factor)])?;
            out.push(Sweep { parameter: parameter.name, factor, shares: rows.iter().map(|row| row.share).collect() });
        }
    }
    Ok(out)
}

impl ArmFigures {
    pub fn row(&self, arm: Arm, profile: &str) -> Option<&ArmOutcomes> {
        self.rows.iter().find(|row| row.arm == arm && row.profile == profile)
    }

    /// The targets that these figures miss.
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let mut target = |is_met: bool, text: String| {
            if !is_met {
                missed.push(text);
            }
        };
        for (arm, least) in [(Arm::Checks, 0.98), (Arm::Evidence, 0.90), (Arm::Run, 0.95)] {
            if let Some(row) = self.row(arm, MIDDLE.name) {
                target(row.share >= least, format!("{}: {:.3} truly done, at least {least}", arm.title(), row.share));
            }
        }
        if let Some(row) = self.row(Arm::Checks, MIDDLE.name) {
            target(row.falsely <= 0.1, format!("{}: {:.2} falsely done, at most 0.1", row.arm.title(), row.falsely));
        }
        for row in self.rows.iter().filter(|row| row.arm.is_real()) {
            let (name, profile) = (row.arm.title(), row.profile);
            target(row.endless == 0, format!("{name}, {profile}: {} plans did not end", row.endless));
            let own = row.own / row.tokens;
            let is_small = profile != MIDDLE.name || own <= 0.01;
            target(is_small, format!("{name}, {profile}: {:.2} % own tokens, at most 1 %", own * 100.0));
            let alone = self.row(Arm::OwnList, profile).map_or(0.0, |row| row.share);
            target(row.share >= alone, format!("{name}, {profile}: worse than the agent alone"));
        }
        missed
    }

    pub fn text(&self) -> String {
        let mut out = format!("{} plans for each row\n", self.seeds);
        let _ = writeln!(
            out,
            "{:<8} {:<26} {:>12} {:>7} {:>8} {:>9} {:>7} {:>8}",
            "profile", "arm", "truly done", "plans", "falsely", "tokens", "own", "endless"
        );
        for row in &self.rows {
            let _ = writeln!(
                out,
                "{:<8} {:<26} {:>5.3} ±{:.3} {:>7.2} {:>8.2} {:>8.0}k {:>7.0} {:>8}  {}",
                row.profile,
                row.arm.title(),
                row.share,
                row.error,
                row.whole,
                row.falsely,
                row.tokens / 1000.0,
                row.own,
                row.endless,
                row.reasons.iter().map(|(reason, times)| format!("{reason} {times}")).collect::<Vec<_>>().join(", ")
            );
        }
        for sweep in &self.sweeps {
            let shares: Vec<String> = sweep.shares.iter().map(|share| format!("{share:.2}")).collect();
            let _ = writeln!(out, "{:<9} ×{:<4} {}", sweep.parameter, sweep.factor, shares.join("  "));
        }
        for resumed in &self.resumed {
            let _ =
                writeln!(out, "resume: {:<36} {} turns, {} todos again", resumed.title, resumed.turns, resumed.again);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(profile: &'static str, own: f64) -> ArmFigures {
        let row = ArmOutcomes { own, ..condense(Arm::Default, profile, &[]) };
        let row = ArmOutcomes { share: 1.0, tokens: 1000.0, ..row };
        ArmFigures {
            settings: String::new(),
            arms: vec![Arm::Default],
            seeds: 1,
            rows: vec![row],
            sweeps: Vec::new(),
            resumed: Vec::new(),
        }
    }

    #[test]
    fn the_target_for_own_tokens_is_that_of_the_middle_model() {
        assert_eq!(figures("middle", 10.0).missed(), [""; 0]);
        assert_eq!(figures("middle", 11.0).missed(), ["punch, as installed, middle: 1.10 % own tokens, at most 1 %"]);
        assert_eq!(figures("weak", 11.0).missed(), [""; 0]);
        assert!(figures("weak", 11.0).text().contains(" 11 "), "it is printed all the same");
    }
}

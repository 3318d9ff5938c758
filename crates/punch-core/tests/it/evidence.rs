//! Labelled transcripts against the detector: what it says about each, and the ones that it misses.

use std::collections::BTreeSet;

use punch_core::Proof;
use punch_core::evidence::{Observation, ShellStep, steps};

const TRANSCRIPTS: &str = include_str!("evidence/transcripts.txt");
const DOCUMENTATION: &str = include_str!("../../../../docs/verification.md");

struct Transcript<'a> {
    name: &'a str,
    steps: Vec<&'a str>,
    verdict: Proof,
}

fn transcripts() -> Vec<Transcript<'static>> {
    let text = TRANSCRIPTS.split("\n== ").skip(1);
    let read = |block: &'static str| {
        let mut lines: Vec<&str> = block.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let verdict = lines.pop().and_then(Proof::parse).unwrap_or_else(|| panic!("no verdict: {block}"));
        Transcript { name: lines.remove(0), steps: lines, verdict }
    };
    text.map(read).collect()
}

fn judged(transcript: &Transcript<'_>) -> Proof {
    let mut seen = Observation::default();
    for step in &transcript.steps {
        match step.split_once(' ').unwrap_or((step, "")) {
            ("start", _) => seen = Observation::default(),
            ("edit", path) => seen.take(ShellStep::Changed(path.to_owned()), 1),
            ("run", rest) => {
                let (exit, line) = rest.split_once(' ').unwrap();
                let exit = (exit != "?").then(|| exit.parse().unwrap());
                steps(&line.replace("\\n", "\n"), exit, &[]).into_iter().for_each(|step| seen.take(step, 1));
            }
            _ => panic!("{}: {step}", transcript.name),
        }
    }
    seen.proof()
}

#[test]
fn the_detector_agrees_with_the_reviewer_except_where_the_documentation_says_so() {
    let all = transcripts();
    assert!(all.len() >= 36, "{}", all.len());
    let names: BTreeSet<&str> = all.iter().map(|transcript| transcript.name).collect();
    assert_eq!(names.len(), all.len(), "every transcript has a name of its own");
    let row = |t: &Transcript<'_>| format!("| {} | {} | {} |", t.name, t.verdict.name(), judged(t).name());
    let missed: Vec<String> = all.iter().filter(|t| judged(t) != t.verdict).map(row).collect();
    let listed = DOCUMENTATION.split_once("| transcript | true | shown |\n|---|---|---|\n").unwrap().1;
    let listed: Vec<&str> = listed.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(missed, listed, "docs/verification.md lists every miss, in the order of the transcripts");
    let count = format!("{} of {} transcripts", all.len() - missed.len(), all.len());
    assert!(DOCUMENTATION.contains(&count), "docs/verification.md gives the figure: {count}");
}

#[test]
fn nothing_that_a_reviewer_calls_unproven_is_shown_as_checked_unless_it_is_listed() {
    let wrongly: Vec<&str> = transcripts()
        .iter()
        .filter(|t| judged(t) == Proof::Checked && t.verdict != Proof::Checked)
        .map(|t| t.name)
        .collect();
    // What no hook can see: a filter that matches nothing, an empty script, tests that were taken away, a script that writes.
    assert_eq!(wrongly.len(), 5, "{wrongly:?}");
}

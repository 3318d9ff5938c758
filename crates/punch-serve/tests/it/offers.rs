//! What models are offered, word by word, and what it costs them.

use punch_agents::AGENTS;
use punch_engine::call::{Dialect, Tool};
use punch_serve::{ToolGroup, ToolOffers, cost, guide};

/// Tokens as a current tokenizer counts them.
fn exact(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

fn offered(offer: &ToolOffers) -> (usize, String) {
    let priced: Vec<String> = offer.tools.iter().map(|tool| tool.priced()).collect();
    let tokens = priced.iter().map(|text| exact(text)).sum();
    let mut out = format!("{tokens} tokens\n");
    for tool in &offer.tools {
        out.push_str(&format!("\n{} ({:?})\n{}\n", tool.name, tool.tool, tool.description));
        out.push_str(&serde_json::to_string_pretty(&tool.input_schema).unwrap());
        out.push('\n');
    }
    (tokens, out)
}

#[test]
fn every_surface_keeps_its_price() {
    for dialect in &Dialect::ALL {
        let (tokens, shown) = offered(&ToolOffers::new(*dialect, &[]));
        let most = if *dialect == Dialect::Extended { 500 } else { 450 };
        assert!(tokens <= most, "{}: {tokens} tokens", dialect.name());
        insta::assert_snapshot!(dialect.name(), shown);
    }
    let (tokens, shown) = offered(&ToolOffers::new(Dialect::Native, &[ToolGroup::Claim]));
    assert!(tokens <= 550, "{tokens}");
    insta::assert_snapshot!("native_with_claim", shown);
    let (tokens, shown) = offered(&ToolOffers::new(Dialect::Native, &ToolGroup::ALL));
    assert!(tokens <= 800, "{tokens}");
    insta::assert_snapshot!("native_with_groups", shown);
}

#[test]
fn instructions_are_a_few_lines() {
    for dialect in &Dialect::ALL {
        let text = guide::instructions(*dialect);
        assert!(exact(&text) <= 120, "{}: {}", dialect.name(), exact(&text));
    }
}

#[test]
fn instructions_speak_only_of_tools_that_are_served() {
    for dialect in &Dialect::ALL {
        let (text, offer) = (guide::instructions(*dialect), ToolOffers::new(*dialect, &[]));
        let reads = offer.tools.iter().any(|tool| tool.tool == Tool::Read);
        assert_eq!(text.contains("read the list"), reads, "{}: {text}", dialect.name());
        assert_eq!(text.contains("`punch list` in a shell"), !reads, "{}: {text}", dialect.name());
        let named =
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("todo_"));
        for name in named {
            assert!(offer.find(name).is_some(), "{}: {name}", dialect.name());
        }
        for purpose in ["your memory", "the user's view"] {
            assert!(text.contains(purpose), "{}: {purpose}", dialect.name());
        }
    }
}

#[test]
fn standing_advice_says_when_and_when_not_and_stays_short() {
    for host in std::iter::once(None).chain(AGENTS.into_iter().map(Some)) {
        let text = guide::standing(host);
        assert!(exact(&text) <= 220, "{host:?}: {}", exact(&text));
        for said in ["three or more steps", "several things", "a question", "your memory", "shows the user"] {
            assert!(text.contains(said), "{host:?}: {said}");
        }
        // One source: what the server says about when to use a list is in here word by word.
        let when = guide::instructions(Dialect::Native);
        let when = when.split(". ").nth(1).unwrap();
        assert!(text.contains(when), "{text}");
    }
}

#[test]
fn the_estimate_by_bytes_is_near_the_count() {
    for dialect in &Dialect::ALL {
        for tool in ToolOffers::new(*dialect, &[ToolGroup::Claim]).tools {
            let (text, exact) = (tool.priced(), exact(&tool.priced()) as f64);
            let ratio = cost::tokens(&text) as f64 / exact;
            assert!((0.75..1.35).contains(&ratio), "{} {}: {ratio}", dialect.name(), tool.name);
        }
    }
}

#[test]
fn schemas_have_nothing_that_nobody_reads() {
    for dialect in &Dialect::ALL {
        for tool in ToolOffers::new(*dialect, &[ToolGroup::Claim]).tools {
            let text = tool.priced();
            for waste in ["$schema", "\"title\":\"", "\"format\"", "\"default\"", "additionalProperties"] {
                assert!(!text.contains(waste), "{} {}: {waste}", dialect.name(), tool.name);
            }
        }
    }
}

#[test]
fn switched_off_means_no_tools() {
    assert_eq!(ToolOffers::none(Dialect::Native).tools, []);
}

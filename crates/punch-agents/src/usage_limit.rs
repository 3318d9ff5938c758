//! Usage limits: the messages with which agents report that the user's subscription allows no more work for now, and
//! when it will again. Each adapter lists the messages of its agent with their source.

mod clock_time;

use std::time::Duration;

use crate::AGENTS;
use crate::headless::json::line;
use clock_time::ClockTime;

/// A text with which an agent reports that its usage limit is reached.
#[derive(Clone, Copy, Debug)]
pub struct LimitText {
    /// A part of the message, in lower case.
    pub text: &'static str,
    /// Where the message was published. `None` means untried: a guess until it is seen.
    pub source: Option<&'static str>,
}

impl LimitText {
    /// A text with its source.
    pub const fn seen(text: &'static str, source: &'static str) -> Self {
        Self { text, source: Some(source) }
    }

    /// A text that is only assumed.
    pub const fn untried(text: &'static str) -> Self {
        Self { text, source: None }
    }
}

/// When a usage limit is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// At this time, in milliseconds since the epoch.
    At(i64),
    /// After this time.
    After(Duration),
    /// The next time that clocks in UTC show this many minutes after midnight.
    Clock(u32),
    /// The agent gave a clock time without a time zone, or in one that cannot be converted here.
    UnknownZone,
    /// The agent gave no time.
    Unknown,
}

impl Reset {
    /// Returns the time of the reset in milliseconds since the epoch, as seen at `now`.
    pub fn at(self, now: i64) -> Option<i64> {
        match self {
            Self::At(at) => Some(at),
            Self::After(time) => Some(now.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))),
            Self::Clock(minutes) => Some(clock_time::next(minutes, now)),
            Self::UnknownZone | Self::Unknown => None,
        }
    }
}

/// An agent reported that its usage limit is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageLimit {
    /// What it reported, one line for people.
    pub message: String,
    /// When the limit is reset.
    pub reset: Reset,
}

impl UsageLimit {
    /// Reads a message that is known to be about a limit.
    pub fn of(said: &str) -> Self {
        Self { message: line(said), reset: reset(&plain(said)) }
    }

    /// Returns the limit that a message reports in one of these texts.
    pub fn in_text(said: &str, texts: &[LimitText]) -> Option<Self> {
        let plain = plain(said);
        texts.iter().any(|known| plain.contains(known.text)).then(|| Self::of(said))
    }

    /// Returns the limit that a message reports in the text of any agent.
    pub fn of_any_agent(said: &str) -> Option<Self> {
        AGENTS.into_iter().find_map(|agent| Self::in_text(said, agent.usage_limits))
    }
}

/// The text in lower case with plain apostrophes.
fn plain(said: &str) -> String {
    said.replace('\u{2019}', "'").to_lowercase()
}

/// Words before the time that is left.
const LEADS: [&str; 6] = ["reset after ", "resets in ", "reset in ", "try again in ", "retry in ", "retrying in "];

fn reset(plain: &str) -> Reset {
    let stamp = plain.split_once("limit reached|").map(|(_, rest)| digits(rest));
    match stamp.map(|digits| (digits.len(), digits.parse::<i64>())) {
        Some((10, Ok(seconds))) => return Reset::At(seconds * 1_000),
        Some((13, Ok(milliseconds))) => return Reset::At(milliseconds),
        _ => {}
    }
    let left = LEADS.iter().find_map(|lead| duration(plain.split_once(lead)?.1));
    let clock = || match clock_time::find(plain) {
        Some(ClockTime::Utc(minutes)) => Reset::Clock(minutes),
        Some(ClockTime::UnknownZone) => Reset::UnknownZone,
        None => Reset::Unknown,
    };
    left.map_or_else(clock, Reset::After)
}

fn digits(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
}

/// Reads `21h53m56s`, `3 days 6 hours 57 minutes` and the like at the beginning of a text.
fn duration(mut text: &str) -> Option<Duration> {
    let mut sum: Option<Duration> = None;
    loop {
        let number = digits(text);
        let Ok(count) = number.parse::<u64>() else { return sum };
        text = &text[number.len()..];
        // Fractions of a second do not matter.
        if let Some(fraction) = text.strip_prefix('.') {
            text = &fraction[digits(fraction).len()..];
        }
        text = text.trim_start_matches(' ');
        let unit = &text[..text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len())];
        let seconds = match unit {
            "d" | "day" | "days" => 86_400,
            "h" | "hour" | "hours" => 3_600,
            "m" | "min" | "minute" | "minutes" => 60,
            "s" | "sec" | "second" | "seconds" => 1,
            "ms" => 0,
            _ => return sum,
        };
        let part = Duration::from_secs(count.saturating_mul(seconds));
        sum = Some(sum.unwrap_or_default().saturating_add(part));
        text = text[unit.len()..].trim_start_matches([' ', ',']);
        text = text.strip_prefix("and ").unwrap_or(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn after(seconds: u64) -> Reset {
        Reset::After(Duration::from_secs(seconds))
    }

    #[test]
    fn messages_of_agents_are_recognized_with_their_reset_time() {
        let table = [
            ("claude", "Claude AI usage limit reached|1749924000", Reset::At(1_749_924_000_000)),
            ("claude", "You've hit your session limit · resets 12:50am (America/Los_Angeles)", Reset::UnknownZone),
            ("claude", "You’ve hit your limit · resets 1:30am (Asia/Dhaka)", Reset::UnknownZone),
            ("claude", "You've hit your limit · resets 1:30am (UTC)", Reset::Clock(90)),
            ("claude", "You're out of extra usage · resets 5pm (America/Los_Angeles)", Reset::UnknownZone),
            (
                "codex",
                "You've hit your usage limit. To get more access now, send a request to your admin or try again in 3 days 6 hours 57 minutes.",
                after(3 * 86_400 + 6 * 3_600 + 57 * 60),
            ),
            ("codex", "You've hit your usage limit. Visit … or try again at 3:28 PM.", Reset::UnknownZone),
            ("codex", "You've hit your usage limit. Try again at 3:28 PM PST.", Reset::Clock(23 * 60 + 28)),
            (
                "gemini",
                "You have exhausted your capacity on this model. Your quota will reset after 21h53m56s.",
                after(21 * 3_600 + 53 * 60 + 56),
            ),
            ("gemini", "[API Error: You have exhausted your daily quota on this model.]", Reset::Unknown),
            ("qwen", "429 Free allocated quota exceeded.", Reset::Unknown),
            ("opencode", "Free usage exceeded, subscribe to Go [retrying in 6h16m attempt #1]", after(22_560)),
            ("copilot", "402 You have no quota", Reset::Unknown),
        ];
        for (agent, said, reset) in table {
            let agent = crate::named(agent).unwrap();
            let found = UsageLimit::in_text(said, agent.usage_limits);
            assert_eq!(found.map(|limit| limit.reset), Some(reset), "{said}");
            assert!(UsageLimit::of_any_agent(said).is_some(), "{said}");
        }
    }

    #[test]
    fn other_errors_are_not_limits() {
        for said in [
            "",
            "exit code 1",
            "API Error: 500 Internal server error",
            "the limit of 20 turns is reached",
            "context limit exceeded",
            "rate limiting is not implemented",
            "connection reset after 3s",
        ] {
            assert_eq!(UsageLimit::of_any_agent(said), None, "{said}");
        }
    }

    #[test]
    fn times_are_read_in_many_forms_and_nonsense_is_unknown() {
        for (said, wanted) in [
            ("try again in 45 minutes", after(2_700)),
            ("try again in 1 hour, 5 minutes and 2 seconds.", after(3_902)),
            ("please retry in 34.074824224s", after(34)),
            ("reset after 539ms", after(0)),
            ("reset after a while", Reset::Unknown),
            ("try again in 99999999999999999999 days", Reset::Unknown),
            ("try again in 18446744073709551615 days", after(u64::MAX)),
            ("limit reached|12", Reset::Unknown),
            ("limit reached|1788000000123", Reset::At(1_788_000_000_123)),
        ] {
            assert_eq!(reset(said), wanted, "{said}");
        }
    }

    #[test]
    fn every_agent_has_texts_and_says_where_they_come_from() {
        for agent in AGENTS {
            assert!(!agent.usage_limits.is_empty(), "{}", agent.name);
            for text in agent.usage_limits {
                assert_eq!(text.text, text.text.to_lowercase(), "{}", agent.name);
                assert!(text.source.is_none_or(|source| source.starts_with("https://")), "{}", agent.name);
            }
        }
    }
}

//! Measures what a conversation used since its transcript was last read. Of the new part only the last megabytes are
//! read: they show the size of the context at the end, but not a compaction in a skipped part.

use punch_agents::Meaning;
use punch_agents::hook::{HookReport, context_reading};
use punch_agents::transcript::{AT_ONCE, TAIL, open, piece};
use punch_engine::{ConversationMark, ConversationReading};

/// What was used since a mark.
pub(super) fn since(report: &HookReport, mark: &ConversationMark) -> Option<ConversationReading> {
    // Reports from inside a subagent name the file of its main agent.
    if report.subagent.is_some() && report.meaning != Meaning::SubagentStop {
        return None;
    }
    written(report, mark).or_else(|| {
        let mut to = mark.clone();
        let grown = to.take(report.context?.used);
        Some(ConversationReading { to, grown })
    })
}

fn written(report: &HookReport, mark: &ConversationMark) -> Option<ConversationReading> {
    let path = report.transcript.as_deref()?;
    let (mut file, len) = open(path)?;
    let name = path.to_str()?.to_owned();
    let same = mark.file.as_ref() == Some(&name) && mark.at <= len;
    let mut to = ConversationMark { file: Some(name), ..mark.clone() };
    // A subagent's file holds its work and nothing else; of another file only the end counts.
    let whole = same || (mark.file.is_none() && report.subagent.is_some());
    let from = match whole {
        true => to.at.min(len).max(len.saturating_sub(AT_ONCE)),
        false => len.saturating_sub(TAIL),
    };
    let cut = from > 0 && !(same && from == mark.at);
    let text = piece(&mut file, from, len - from)?;
    // A line that is still being written is read the next time.
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let begin = if cut { text.iter().position(|byte| *byte == b'\n').map_or(end, |at| at + 1) } else { 0 };
    to.at = from + end as u64;
    let text = String::from_utf8_lossy(text.get(begin..end).unwrap_or_default());
    let mut sizes = text.lines().filter_map(|line| context_reading(report, line)).map(|read| read.used);
    let grown = match whole {
        true => sizes.fold(0, |sum: u64, size| sum.saturating_add(to.take(size))),
        false => sizes.next_back().map_or(0, |size| to.take(size)),
    };
    (to.context.is_some() || to.at > 0).then_some(ConversationReading { to, grown })
}

//! Display columns: measuring, cutting on grapheme clusters, padding.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// How many columns a terminal needs for it.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// At most `room` columns, cut between grapheme clusters and marked with `ellipsis` where something is missing.
///
/// Bytes are bounded too: invisible characters and piled-up marks take no columns but would fill a page.
pub fn fit<'a>(text: &'a str, room: usize, ellipsis: &str) -> Cow<'a, str> {
    let most = room.saturating_mul(16).saturating_add(64);
    if text.len() <= most && columns(text) <= room {
        return Cow::Borrowed(text);
    }
    let mark: String = ellipsis.graphemes(true).take(room).collect();
    let keep = room.saturating_sub(columns(&mark));
    let (mut out, mut used) = (String::new(), 0);
    for cluster in text.graphemes(true) {
        let cluster = if cluster.len() > LONGEST_CLUSTER { "\u{fffd}" } else { cluster };
        // Clusters side by side never need more columns than one by one: ligatures only make them narrower.
        used += columns(cluster);
        if used > keep || out.len() + cluster.len() > most {
            break;
        }
        out.push_str(cluster);
    }
    out.truncate(out.trim_end().len());
    out.push_str(&mark);
    Cow::Owned(out)
}

/// Families and flags of emoji stay below this; only piled-up marks exceed it.
const LONGEST_CLUSTER: usize = 64;

/// [`fit`], then filled with spaces to exactly `room` columns.
pub fn pad(text: &str, room: usize, ellipsis: &str) -> String {
    let mut out = fit(text, room, ellipsis).into_owned();
    let missing = room.saturating_sub(columns(&out));
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// The first candidate that fits, else the last one cut.
pub fn first_that_fits<'a>(candidates: &'a [String], room: usize, ellipsis: &str) -> Cow<'a, str> {
    match candidates.iter().find(|text| columns(text) <= room) {
        Some(text) => Cow::Borrowed(text),
        None => candidates.last().map_or(Cow::Borrowed(""), |text| fit(text, room, ellipsis)),
    }
}

//! Turns what a host's tool reported into the host's whole list.

use super::matching::starts_over;
use super::{HostListUpdate, HostRow, HostRowChange};

/// The list after the call, before texts are cut.
pub(super) fn next(before: &[HostRow], told: &HostListUpdate) -> Vec<HostRow> {
    match told {
        HostListUpdate::List(rows) => {
            rows.iter().map(|row| HostRow { uid: None, unsaid: false, ..row.clone() }).collect()
        }
        HostListUpdate::Merge(rows) => {
            let mut out = before.to_vec();
            rows.iter().for_each(|row| put(&mut out, row));
            out
        }
        HostListUpdate::Create(row) => {
            let mut out = before.to_vec();
            // A task that is reported twice is the same task.
            match row.key.is_some() && out.iter().any(|known| known.key == row.key) {
                true => put(&mut out, row),
                false => out.push(HostRow { uid: None, ..row.clone() }),
            }
            out
        }
        HostListUpdate::Change(change) => changed(before, change),
    }
}

fn put(rows: &mut Vec<HostRow>, row: &HostRow) {
    let Some(known) = rows.iter_mut().find(|known| known.key.is_some() && known.key == row.key) else {
        rows.push(HostRow { uid: None, unsaid: false, ..row.clone() });
        return;
    };
    // Of a finished row only the number comes back.
    if !row.unsaid && !row.content.trim().is_empty() && starts_over(known, row) {
        *known = HostRow { uid: None, unsaid: false, ..row.clone() };
        return;
    }
    if !row.unsaid {
        known.status = row.status;
    }
    if !row.content.trim().is_empty() {
        known.content.clone_from(&row.content);
    }
    let over = |old: &mut Option<String>, new: &Option<String>| {
        if new.is_some() {
            old.clone_from(new);
        }
    };
    over(&mut known.active_form, &row.active_form);
    over(&mut known.description, &row.description);
    known.priority = row.priority.or(known.priority);
    if row.blocked_by.is_some() {
        known.blocked_by.clone_from(&row.blocked_by);
    }
}

fn changed(before: &[HostRow], change: &HostRowChange) -> Vec<HostRow> {
    let mut out = before.to_vec();
    let is = |row: &HostRow, key: &str| row.key.as_deref() == Some(key);
    if change.deleted {
        out.retain(|row| !is(row, &change.key));
        return out;
    }
    let wait = |row: &mut HostRow, key: &str| {
        let waits = row.blocked_by.get_or_insert_default();
        if !waits.iter().any(|known| known == key) {
            waits.push(key.to_owned());
        }
    };
    for row in out.iter_mut().filter(|row| is(row, &change.key)) {
        if let Some(content) = change.content.as_ref().filter(|content| !content.trim().is_empty()) {
            row.content.clone_from(content);
        }
        row.active_form = change.active_form.clone().or_else(|| row.active_form.take());
        row.description = change.description.clone().or_else(|| row.description.take());
        row.status = change.status.unwrap_or(row.status);
        change.blocked_by.iter().for_each(|key| wait(row, key));
    }
    // A row that is not known cannot be waited for.
    if before.iter().any(|row| is(row, &change.key)) {
        for row in out.iter_mut().filter(|row| change.blocks.iter().any(|key| is(row, key))) {
            wait(row, &change.key);
        }
    }
    out
}

//! A naive model of standstill: what can be worked on, and what blocks the rest, by looking at everything again and
//! again.

/// Where a todo stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveState {
    /// Pending, not held.
    Free,
    /// Pending and held.
    Held,
    /// Pending and set aside: it matters only to what waits for it.
    Parked,
    /// In progress with the one who asks, or without an owner.
    Mine,
    /// In progress with another owner.
    Elsewhere,
    /// Completed.
    Met,
    /// Cancelled or failed.
    Dropped,
}

/// A live todo.
#[derive(Clone, Debug)]
pub struct DriveTodo {
    /// Its id.
    pub id: String,
    /// It says nothing.
    pub blank: bool,
    /// It was reported as done and waits for a verdict.
    pub reported: bool,
    /// Where it stands.
    pub state: DriveState,
    /// Ids it depends on, live ones and unknown ones.
    pub deps: Vec<String>,
}

/// What is in the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocking {
    /// What the one who asks could work on, sorted.
    pub actionable: Vec<String>,
    /// Ids of what must move first, sorted: holds, others' work, what was given up, what does not exist, what says
    /// nothing, what waits for a verdict. Circles are only told.
    pub blocks: Vec<String>,
    /// Something waits for itself, directly or not.
    pub circle: bool,
}

/// Looks at everything.
pub fn blocking(items: &[DriveTodo]) -> Blocking {
    let find = |id: &str| items.iter().find(|item| item.id == id);
    let is_open = |item: &DriveTodo| !matches!(item.state, DriveState::Met | DriveState::Dropped);
    let waits = |item: &DriveTodo| item.deps.iter().any(|id| find(id).is_none_or(|dep| dep.state != DriveState::Met));
    let mut out = Blocking::default();
    let mut matters: Vec<bool> = items.iter().map(|item| is_open(item) && item.state != DriveState::Parked).collect();
    loop {
        let waited_for = |parked: &DriveTodo| {
            items.iter().zip(&matters).any(|(item, matters)| {
                let follows = *matters && item.state != DriveState::Elsewhere && item.deps.contains(&parked.id);
                follows && !reaches(items, &parked.id, &item.id)
            })
        };
        let more = (0..items.len())
            .find(|at| items[*at].state == DriveState::Parked && !matters[*at] && waited_for(&items[*at]));
        let Some(at) = more else { break };
        matters[at] = true;
    }
    for (item, _) in items.iter().zip(&matters).filter(|(_, matters)| **matters) {
        if matches!(item.state, DriveState::Elsewhere | DriveState::Held | DriveState::Parked) {
            out.blocks.push(item.id.clone());
        }
        if item.state == DriveState::Elsewhere {
            continue;
        }
        if !waits(item) && !matches!(item.state, DriveState::Held | DriveState::Parked) {
            if item.blank || item.reported {
                out.blocks.push(item.id.clone())
            } else {
                out.actionable.push(item.id.clone())
            }
        }
        for id in &item.deps {
            match find(id) {
                None => out.blocks.push(id.clone()),
                Some(dep) if dep.state == DriveState::Dropped => out.blocks.push(id.clone()),
                Some(_) => {}
            }
        }
        // A dependency that is open and leads back to its dependent closes a circle.
        out.circle |=
            item.deps.iter().filter(|id| find(id).is_some_and(is_open)).any(|id| reaches(items, id, &item.id));
    }
    for ids in [&mut out.actionable, &mut out.blocks] {
        ids.sort();
        ids.dedup();
    }
    out
}

/// Whether following dependencies leads from one todo to the other.
fn reaches(items: &[DriveTodo], from: &str, to: &str) -> bool {
    let mut seen: Vec<&str> = vec![from];
    let mut at = 0;
    while at < seen.len() {
        if seen[at] == to {
            return true;
        }
        if let Some(item) = items.iter().find(|item| item.id == seen[at]) {
            for id in &item.deps {
                if !seen.contains(&id.as_str()) {
                    seen.push(id);
                }
            }
        }
        at += 1;
    }
    false
}

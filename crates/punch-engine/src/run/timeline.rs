//! What the seats of a run have worked on over time, from the events of the run.

use super::RunEvent;

/// The work of one seat on one todo, from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatTurn {
    /// The number of the seat, counted from 1.
    pub seat: usize,
    /// The id of the todo.
    pub todo: String,
    /// The number of the attempt, counted from 1.
    pub attempt: u32,
    /// When it began.
    pub from: i64,
    /// When and how it ended; `None` while it continues.
    pub end: Option<(i64, TurnEnd)>,
}

/// How the work of a seat on a todo ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The todo was completed.
    Completed,
    /// The attempt failed.
    Failed,
    /// The todo was put on hold, or the seat no longer has it.
    Other,
}

impl TurnEnd {
    /// Every end.
    pub const ALL: [Self; 3] = [Self::Completed, Self::Failed, Self::Other];

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Other => "released",
        }
    }
}

/// Returns what the seats have worked on, in the order in which it began.
pub fn seat_turns(events: &[(i64, RunEvent)]) -> Vec<SeatTurn> {
    let mut out: Vec<SeatTurn> = Vec::new();
    for (at, event) in events {
        let ended = match event {
            RunEvent::Started { agent, todo, attempt, .. } if *agent > 0 => {
                out.push(SeatTurn { seat: *agent, todo: todo.clone(), attempt: *attempt, from: *at, end: None });
                continue;
            }
            RunEvent::Completed { agent, todo, .. } => (*agent, todo, TurnEnd::Completed),
            RunEvent::Retrying { agent, todo, .. } | RunEvent::Failed { agent, todo, .. } => {
                (*agent, todo, TurnEnd::Failed)
            }
            RunEvent::Held { agent, todo, .. } | RunEvent::Released { agent, todo, .. } => {
                (*agent, todo, TurnEnd::Other)
            }
            _ => continue,
        };
        let open = |turn: &&mut SeatTurn| turn.end.is_none() && turn.seat == ended.0 && turn.todo == *ended.1;
        if let Some(turn) = out.iter_mut().rev().find(open) {
            turn.end = Some((*at, ended.2));
        }
    }
    out
}

//! Todos under the headings of their phases.

use std::collections::HashMap;

use super::table::{self, TableRow};
use super::{Layout, Plain, Progress, SpanRole, TodoRow, ViewLine};
use crate::Todo;
use crate::reason::PlanReader;

/// Columns that todos are indented below a heading.
const INDENT: usize = 2;

/// Todos without a phase first, then each phase that has some of these todos, with its progress where the
/// whole plan is loaded. Without phases it is a plain list.
pub fn lines<'a>(reader: PlanReader<'a>, todos: &[&'a Todo], layout: Layout) -> Vec<ViewLine> {
    let phases = &reader.plan.row.phases;
    let places: HashMap<_, _> = phases.iter().enumerate().map(|(at, phase)| (phase.uid, at + 1)).collect();
    let mut sections: Vec<Vec<&Todo>> = vec![Vec::new(); phases.len() + 1];
    for todo in todos {
        let place = todo.phase.and_then(|uid| places.get(&uid).copied()).unwrap_or(0);
        sections[place].push(todo);
    }
    let inner = Layout { width: layout.width.map(|width| width.saturating_sub(INDENT)), ..layout };
    let rows = |todos: &[&'a Todo]| -> Vec<TableRow> {
        todos.iter().map(|todo| TodoRow::of(reader, todo).with_error(todo).table_row(layout)).collect()
    };
    let mut statuses: HashMap<_, Vec<_>> = HashMap::new();
    for todo in reader.plan.live().into_iter().filter(|todo| !todo.is_parked()) {
        statuses.entry(todo.phase).or_default().push(todo.status_at(reader.now));
    }
    let mut out = table::lines(rows(&sections[0]), layout);
    for (phase, todos) in phases.iter().zip(&sections[1..]).filter(|(_, todos)| !todos.is_empty()) {
        let progress = Progress::native(statuses.get(&Some(phase.uid)).into_iter().flatten().copied());
        let line = ViewLine::default().with(SpanRole::Heading, Plain::clipped(&phase.name, 200).as_str());
        // Of a part of a plan, the progress is not known.
        out.push(match reader.plan.need_whole() {
            Ok(()) => line.with(SpanRole::Detail, format!("  {}/{} done", progress.completed, progress.total)),
            Err(_) => line,
        });
        for line in table::lines(rows(todos), inner) {
            let mut indented = ViewLine::default().with(SpanRole::Text, " ".repeat(INDENT));
            indented.0.extend(line.0);
            out.push(indented);
        }
    }
    out
}

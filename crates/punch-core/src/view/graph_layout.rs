//! The graph of a plan as a value: which todo is in which layer, in which order inside it, and what each needs. Boards,
//! text and programs draw the same layout.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{Plain, TodoRow};
use crate::reason::PlanReader;
use crate::{Dep, Status, Todo, Uid};

/// How a todo needs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The other one must be done first.
    Active,
    /// The dependency would close a cycle.
    #[serde(rename = "circle")]
    Cycle,
    /// No todo has that id.
    Missing,
}

impl EdgeKind {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Cycle => "circle",
            Self::Missing => "missing",
        }
    }

    /// The kind of a dependency.
    pub const fn of(dep: &Dep) -> Self {
        match dep {
            Dep::On(_) => Self::Active,
            Dep::Suspended(_) => Self::Cycle,
            Dep::Dangling(_) => Self::Missing,
        }
    }
}

/// An edge from a todo to one that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphEdge {
    /// The kind of edge.
    pub kind: EdgeKind,
    /// The id of what is needed.
    pub needs: Plain,
    /// Its todo, unless the id is unknown. It may be outside of the layout.
    pub uid: Option<Uid>,
    /// True if the needed todo is completed.
    #[serde(skip)]
    pub is_done: bool,
}

/// A todo in the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphNode {
    /// The todo.
    pub row: TodoRow,
    /// Its parallel group, counted from 1 over the whole plan.
    pub group: u32,
    /// Its layer, counted from 0 without holes. What a todo needs is in an earlier layer, unless it is part of a cycle.
    pub layer: usize,
    /// Its place in the layer, counted from 0, close to what it needs.
    pub order: usize,
    /// What it needs, in the order in which it was given.
    pub edges: Vec<GraphEdge>,
}

/// Todos by layer, then by order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GraphLayout {
    /// The nodes.
    pub nodes: Vec<GraphNode>,
}

impl GraphLayout {
    /// Lays out these todos of the reader's plan, which are in list order.
    pub fn of<'a>(reader: PlanReader<'a>, todos: &[&'a Todo]) -> Self {
        let mut nodes = Vec::with_capacity(todos.len());
        for (layer, todos) in layers(todos).into_iter().enumerate() {
            for (order, todo) in todos.into_iter().enumerate() {
                let edges = todo.depends_on.iter().map(|dep| edge(reader, dep)).collect();
                let group = todo.derived.level;
                nodes.push(GraphNode { row: TodoRow::of(reader, todo), group, layer, order, edges });
            }
        }
        Self { nodes }
    }
}

/// Todos by layer, each layer in the order of the layout. Boards that draw only a part need no more than this.
pub fn layers<'a>(todos: &[&'a Todo]) -> Vec<Vec<&'a Todo>> {
    let mut groups: BTreeMap<u32, Vec<&'a Todo>> = BTreeMap::new();
    for todo in todos {
        groups.entry(todo.derived.level).or_default().push(todo);
    }
    let mut orders: HashMap<Uid, usize> = HashMap::with_capacity(todos.len());
    let mut out = Vec::with_capacity(groups.len());
    for mut todos in groups.into_values() {
        // Todos stand below what they need; those that need nothing shown keep their place in the list.
        let mut places: HashMap<Uid, u64> = HashMap::with_capacity(todos.len());
        for (at, todo) in todos.iter().enumerate() {
            places.insert(todo.uid, mean(todo, &orders).unwrap_or(at as u64 * SCALE));
        }
        todos.sort_by_key(|todo| places.get(&todo.uid).copied());
        orders.extend(todos.iter().enumerate().map(|(order, todo)| (todo.uid, order)));
        out.push(todos);
    }
    out
}

/// Places are compared as whole numbers.
const SCALE: u64 = 1_024;

/// The middle of what a todo needs in earlier layers.
fn mean(todo: &Todo, orders: &HashMap<Uid, usize>) -> Option<u64> {
    let needed = todo.depends_on.iter().filter(|dep| matches!(dep, Dep::On(_))).filter_map(Dep::target);
    let (sum, count) = needed
        .filter_map(|uid| orders.get(&uid))
        .fold((0, 0), |(sum, count), order| (sum + *order as u64 * SCALE, count + 1));
    u64::checked_div(sum, count)
}

fn edge(reader: PlanReader<'_>, dep: &Dep) -> GraphEdge {
    let (uid, id) = match dep {
        Dep::On(uid) | Dep::Suspended(uid) => {
            (Some(*uid), reader.plan.get(*uid).map_or_else(|| format!("#{}", uid.0), |todo| todo.id.clone()))
        }
        Dep::Dangling(id) => (None, id.clone()),
    };
    let needed = uid.and_then(|uid| reader.plan.get(uid));
    let is_done = needed.is_some_and(|todo| todo.status == Status::Completed);
    GraphEdge { kind: EdgeKind::of(dep), needs: Plain::id(&id), uid, is_done }
}

//! The graph as text: one layer per parallel group, and behind each todo what it needs.

use std::collections::BTreeMap;

use super::cap::{Cap, Page, Then};
use super::row::tidy;
use super::width::{columns, fit};
use super::{Glyphs, NONE};
use crate::{Dep, Plan, Status, Todo, text};

/// How many dependencies are named behind a todo.
const NAMED: usize = 8;
/// How much of an id is shown, in characters.
const ID: usize = 40;

/// How the layers are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    /// When they are read.
    pub now: i64,
    /// Columns; `None` leaves lines as long as the text is.
    pub width: Option<usize>,
    /// The signs.
    pub glyphs: Glyphs,
    /// The size.
    pub cap: Cap,
}

impl Layers {
    /// Draws these todos of the plan, which are in list order, and says how many were left out.
    pub fn draw(&self, plan: &Plan, todos: &[&Todo]) -> (String, usize) {
        if todos.is_empty() {
            return (NONE.to_owned(), 0);
        }
        let mut layers: BTreeMap<u32, Vec<&Todo>> = BTreeMap::new();
        for todo in todos {
            layers.entry(todo.derived.level).or_default().push(todo);
        }
        let mut page = Page::new(self.cap, String::new());
        let mut shown = 0;
        'all: for (level, layer) in &layers {
            if !page.line(&format!("group {level}"), Then::More) {
                break;
            }
            for todo in layer {
                let last = shown + 1 == todos.len();
                if !page.line(&self.todo(plan, todo), if last { Then::End } else { Then::More }) {
                    break 'all;
                }
                shown += 1;
            }
        }
        let left = todos.len() - shown;
        (page.end(left), left)
    }

    fn todo(&self, plan: &Plan, todo: &Todo) -> String {
        let status = todo.status_at(self.now);
        let what = tidy(if status == Status::InProgress { todo.active_text() } else { &todo.content });
        let line = format!("  {} {}  {what}", self.glyphs.status(status), id(&todo.id));
        let needs = self.needs(plan, todo);
        let Some(width) = self.width.map(|width| width.max(20)) else { return line + &needs };
        let room = width.saturating_sub(columns(&needs)).max(width / 2);
        let line = fit(&line, room, self.glyphs.ellipsis()).into_owned() + &needs;
        fit(&line, width, self.glyphs.ellipsis()).into_owned()
    }

    fn needs(&self, plan: &Plan, todo: &Todo) -> String {
        let name = |dep: &Dep| match dep {
            Dep::On(uid) => plan.get(*uid).map(|to| id(&to.id)),
            Dep::Suspended(uid) => plan.get(*uid).map(|to| format!("{} (circle)", id(&to.id))),
            Dep::Dangling(missing) => Some(format!("{} (missing)", id(missing))),
        };
        let mut names: Vec<String> = todo.depends_on.iter().take(NAMED).filter_map(name).collect();
        if todo.depends_on.len() > NAMED {
            names.push(format!("+{} more", todo.depends_on.len() - NAMED));
        }
        let arrow = match self.glyphs {
            Glyphs::Unicode => "←",
            Glyphs::Ascii => "<-",
        };
        if names.is_empty() { String::new() } else { format!("  {arrow} {}", names.join(", ")) }
    }
}

fn id(raw: &str) -> String {
    text::neutral(&text::clip(raw, ID)).into_owned()
}

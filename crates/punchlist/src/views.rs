//! The plan as people and programs read it.

use punch_core::reason::Reader;
use punch_core::view::{Cap, Glyphs, Panel, Progress, Row, Tree, checklist, diagram, line, markdown};
use punch_core::{Document, Plan, Record, Records, Todo};
use punch_engine::ReadyQuery;

use crate::{Error, Session};

/// How a plan is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum View {
    /// One line a todo, capped.
    Checklist,
    /// Phases and todos, capped.
    Tree,
    /// A box of 46 columns, capped.
    Panel,
    /// One line of at most 80 columns.
    Line,
    /// A checklist that can be read back; everything is in it.
    Markdown,
    /// The extended format; everything is in it.
    Json,
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
}

impl Session {
    /// The plan at this moment.
    pub fn view(&self, view: View) -> Result<String, Error> {
        let plan = self.engine.whole(self.plan)?;
        let now = self.engine.now();
        let todos: Vec<&Todo> = plan.live();
        let reader = Reader::new(&plan, now);
        let rows: Vec<Row<'_>> = todos.iter().map(|todo| Row::of(reader, todo)).collect();
        let progress = Progress::of_counts(&plan.row.counts);
        Ok(match view {
            View::Checklist => checklist::list(&rows, progress, Cap::default()),
            View::Tree => Tree { now, expanded: true, ..Tree::default() }.draw(&plan, &todos),
            View::Panel => Panel::default().draw(&rows, progress),
            View::Line => line::draw(&rows, progress, 80, Glyphs::Unicode),
            View::Markdown => markdown::write(&Document::of(&plan), None),
            View::Json => Document::of(&plan).to_json(),
            View::Dot => diagram::dot(&plan, &todos, now),
            View::Mermaid => diagram::mermaid(&plan, &todos, now),
        })
    }

    /// Every todo that is not archived, in list order, with what is derived.
    pub fn todos(&self) -> Result<Vec<Record>, Error> {
        let plan = self.engine.whole(self.plan)?;
        Ok(records(&plan, plan.live(), self.engine.now()))
    }

    /// What can be worked on now, best first.
    pub fn ready(&self, limit: usize) -> Result<Vec<Record>, Error> {
        let now = self.engine.now();
        let ready = self.engine.read(self.plan, |snapshot| Ok(ReadyQuery::of_plan(now).ready(snapshot, limit)?))?;
        let plan = self.engine.whole(self.plan)?;
        Ok(records(&plan, ready.iter().filter_map(|todo| plan.get(todo.uid)), now))
    }

    /// How far the plan is.
    pub fn progress(&self) -> Result<Progress, Error> {
        Ok(self.engine.read(self.plan, |snapshot| Ok(Progress::of_counts(&snapshot.row()?.counts)))?)
    }

    /// The plan's revision: it grows with every write that changed something.
    pub fn revision(&self) -> Result<u64, Error> {
        Ok(self.engine.read(self.plan, |snapshot| Ok(snapshot.row()?.revision))?)
    }
}

pub(crate) fn records<'a>(plan: &Plan, todos: impl IntoIterator<Item = &'a Todo>, now: i64) -> Vec<Record> {
    let records = Records::new(plan);
    todos.into_iter().map(|todo| records.of(todo, now)).collect()
}

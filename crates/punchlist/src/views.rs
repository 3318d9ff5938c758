//! Views of the plan for users and programs.

use punch_core::reason::PlanReader;
use punch_core::view::hide::visible;
use punch_core::view::{
    Cap, ClearDelay, Glyphs, ListRow, Panel, Progress, TreeOptions, checklist, diagram, line, markdown,
};
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
    /// A box of 46 columns, capped; [`Session::panel`] draws others.
    Panel,
    /// A heading and one line a todo, for the user when the list was written; capped.
    Notice,
    /// One line of at most 80 columns.
    Line,
    /// A checklist that can be read back; everything is in it.
    Markdown,
    /// The extended format; everything is in it.
    Json,
    /// The graph for Graphviz.
    Dot,
    /// The graph for Mermaid.
    Mermaid,
}

impl Session {
    /// The plan at this moment. The settings `view.ascii` and `view.clear_delay` hold for what users look at: panel, line and
    /// notice.
    pub fn view(&self, view: View) -> Result<String, Error> {
        let plan = self.engine.whole(self.plan)?;
        let now = self.engine.now();
        let todos: Vec<&Todo> = plan.live();
        let reader = PlanReader::new(&plan, now);
        let rows: Vec<ListRow<'_>> = todos.iter().map(|todo| ListRow::of(reader, todo)).collect();
        let progress = Progress::of_counts(&plan.row.counts);
        Ok(match view {
            View::Checklist => checklist::list(&rows, progress, Cap::default()),
            View::Tree => TreeOptions { now, expanded: true, ..TreeOptions::default() }.draw(&plan, &todos),
            View::Panel => self.panel(&Panel { glyphs: self.glyphs(), ..Panel::default() })?,
            View::Line => line::draw(&self.shown(&plan, now), progress, 80, self.glyphs()),
            View::Notice => checklist::notice(&self.shown(&plan, now), self.glyphs(), Cap::default()),
            View::Markdown => markdown::write(&Document::of(&plan), None),
            View::Json => Document::of(&plan).to_json(),
            View::Dot => diagram::dot(&plan, &todos, now),
            View::Mermaid => diagram::mermaid(&plan, &todos, now),
        })
    }

    /// The list as a box of your choice: width, rows, bar, signs, title. Closed todos leave it after `view.clear_delay`.
    ///
    /// ```
    /// # use punchlist::{Glyphs, Op, Options, Panel, Session};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.apply(&[Op::add("Write the parser")])?;
    /// let panel = Panel { title: "Plan".into(), width: 30, glyphs: Glyphs::Ascii, ..Panel::default() };
    /// assert!(session.panel(&panel)?.starts_with("+- Plan "));
    /// # Ok(())
    /// # }
    /// ```
    pub fn panel(&self, panel: &Panel) -> Result<String, Error> {
        let plan = self.engine.whole(self.plan)?;
        Ok(panel.draw(&self.shown(&plan, self.engine.now()), Progress::of_counts(&plan.row.counts)))
    }

    /// The rows that users look at.
    fn shown<'a>(&self, plan: &'a Plan, now: i64) -> Vec<ListRow<'a>> {
        let reader = PlanReader::new(plan, now);
        let todos = visible(plan, ClearDelay(self.settings.view_clear_delay.value), now);
        todos.into_iter().map(|todo| ListRow::of(reader, todo)).collect()
    }

    fn glyphs(&self) -> Glyphs {
        if self.settings.view_ascii.value { Glyphs::Ascii } else { Glyphs::Unicode }
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

//! The graph as text: one block of lines per parallel group, with what each todo needs.

use super::cap::{Cap, CappedLines, LineEnd};
use super::graph_layout::{EdgeKind, GraphEdge, GraphLayout, GraphNode};
use super::{Glyphs, NONE, SpanRole, ViewLine};

/// How many dependencies are named after a todo.
const NAMED: usize = 8;

/// How the layers are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    /// Columns; `None` leaves lines as long as the text is.
    pub width: Option<usize>,
    /// The signs.
    pub glyphs: Glyphs,
    /// The size.
    pub cap: Cap,
}

impl Layers {
    /// Draws a layout, and says how many todos were left out.
    pub fn draw(&self, layout: &GraphLayout) -> (Vec<ViewLine>, usize) {
        if layout.nodes.is_empty() {
            return (vec![NONE.into()], 0);
        }
        let mut page = CappedLines::new(self.cap, String::new());
        let mut shown = 0;
        for layer in layout.nodes.chunk_by(|a, b| a.layer == b.layer) {
            let heading = ViewLine::default().with(SpanRole::Heading, format!("group {}", layer[0].group));
            let mut fits = page.line(heading, LineEnd::More);
            for node in layer {
                let then = if shown + 1 == layout.nodes.len() { LineEnd::End } else { LineEnd::More };
                fits = fits && page.line(self.node(node), then);
                shown += usize::from(fits);
            }
            if !fits {
                break;
            }
        }
        let left = layout.nodes.len() - shown;
        (page.lines(left), left)
    }

    fn node(&self, node: &GraphNode) -> ViewLine {
        let line = ViewLine::default().with(SpanRole::Text, "  ").and(node.row.line(self.glyphs));
        let needs = ViewLine::default().with(SpanRole::Detail, self.needs(&node.edges));
        let Some(width) = self.width.map(|width| width.max(20)) else { return line.and(needs) };
        let room = width.saturating_sub(needs.columns()).max(width / 2);
        line.fit(room, self.glyphs).and(needs).fit(width, self.glyphs)
    }

    fn needs(&self, edges: &[GraphEdge]) -> String {
        let name = |edge: &GraphEdge| match edge.kind {
            EdgeKind::Active if edge.is_done => format!("{} (done)", edge.needs),
            EdgeKind::Active => edge.needs.to_string(),
            EdgeKind::Cycle => format!("{} (cycle)", edge.needs),
            EdgeKind::Missing => format!("{} (missing)", edge.needs),
        };
        let mut names: Vec<String> = edges.iter().take(NAMED).map(name).collect();
        if edges.len() > NAMED {
            names.push(format!("+{} more", edges.len() - NAMED));
        }
        let arrow = self.glyphs.arrow(true);
        if names.is_empty() { String::new() } else { format!("  {arrow} {}", names.join(", ")) }
    }
}

//! Markdown of descriptions, criteria and notes as a tree of blocks. No HTML is made anywhere: raw HTML becomes text, and
//! links lead only to http, https and mailto. Deep nesting is flattened, so that no client has to recurse without end.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};
use punch_core::text::{clip, neutral};
use serde::Serialize;

/// Characters of a text that are read.
const LONGEST: usize = 100_000;
/// Blocks or inlines inside each other; what is deeper is shown as plain text at this depth.
const DEEPEST: usize = 16;

/// A block of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Block {
    /// A paragraph.
    Paragraph {
        /// Its text.
        text: Vec<Inline>,
    },
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its text.
        text: Vec<Inline>,
    },
    /// Code with its line ends.
    Code {
        /// The language, if it is named.
        #[serde(skip_serializing_if = "Option::is_none")]
        lang: Option<String>,
        /// The code.
        code: String,
    },
    /// A quotation.
    Quote {
        /// What is quoted.
        blocks: Vec<Block>,
    },
    /// A list.
    List {
        /// The first number; `None` for bullets.
        #[serde(skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
        /// Its items.
        items: Vec<Item>,
    },
    /// A line between two parts.
    Rule,
    /// A table.
    Table {
        /// The cells of its first row.
        head: Vec<Vec<Inline>>,
        /// The other rows.
        rows: Vec<Vec<Vec<Inline>>>,
    },
}

/// An item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Whether its box is checked, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<bool>,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Inline {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Code.
    Code {
        /// The code.
        text: String,
    },
    /// Emphasized text.
    Em {
        /// The text.
        text: Vec<Inline>,
    },
    /// Strongly emphasized text.
    Strong {
        /// The text.
        text: Vec<Inline>,
    },
    /// Struck out text.
    Del {
        /// The text.
        text: Vec<Inline>,
    },
    /// A link.
    Link {
        /// Where it leads: http, https or mailto.
        href: String,
        /// Its text.
        text: Vec<Inline>,
    },
    /// The end of a line inside a paragraph.
    Break,
}

/// What is being built: the tags that are open, innermost last.
enum Open {
    Paragraph(Vec<Inline>),
    Heading(u8, Vec<Inline>),
    Code(Option<String>, String),
    Quote(Vec<Block>),
    List(Option<u64>, Vec<Item>),
    Item(Item, Vec<Inline>),
    Table(Vec<Vec<Inline>>, Vec<Vec<Vec<Inline>>>),
    Row(Vec<Vec<Inline>>),
    Cell(Vec<Inline>),
    Inline(fn(Vec<Inline>) -> Inline, Vec<Inline>),
    Link(Option<String>, Vec<Inline>),
    /// A tag that is not shown; what is in it belongs to what is around it.
    Nothing,
}

/// Reads Markdown.
pub fn blocks(source: &str) -> Vec<Block> {
    let source = clip(source, LONGEST);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut tree = Tree { open: vec![Open::Quote(Vec::new())] };
    for event in Parser::new_ext(&source, options) {
        tree.take(event);
    }
    while tree.open.len() > 1 {
        tree.close();
    }
    match tree.open.pop() {
        Some(Open::Quote(blocks)) => blocks,
        _ => Vec::new(),
    }
}

struct Tree {
    open: Vec<Open>,
}

impl Tree {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                let open = if self.open.len() < DEEPEST { opened(tag) } else { Open::Nothing };
                self.open.push(open);
            }
            Event::End(TagEnd::TableHead) => self.end_head(),
            Event::End(_) => self.close(),
            Event::Text(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.inline(Inline::Code { text: safe(&text) });
            }
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::FootnoteReference(text) => self.text(&format!("[^{text}]")),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.inline(Inline::Break),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(done) => {
                if let Some(Open::Item(item, _)) =
                    self.open.iter_mut().rev().find(|open| matches!(open, Open::Item(..)))
                {
                    item.done = Some(done);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        let inner = self.open.iter_mut().rev().find(|open| !matches!(open, Open::Nothing));
        if let Some(Open::Code(_, code)) = inner {
            code.push_str(&lines(text));
            return;
        }
        self.inline(Inline::Text { text: safe(text) });
    }

    /// Adds a piece to the innermost text; one that stands alone becomes a paragraph.
    fn inline(&mut self, inline: Inline) {
        for open in self.open.iter_mut().rev() {
            let to = match open {
                Open::Paragraph(to)
                | Open::Heading(_, to)
                | Open::Item(_, to)
                | Open::Cell(to)
                | Open::Inline(_, to)
                | Open::Link(_, to) => to,
                Open::Quote(blocks) => match blocks.last_mut() {
                    Some(Block::Paragraph { text }) => text,
                    _ => {
                        blocks.push(Block::Paragraph { text: vec![inline] });
                        return;
                    }
                },
                Open::Code(..) | Open::List(..) | Open::Table(..) | Open::Row(_) | Open::Nothing => continue,
            };
            match (to.last_mut(), inline) {
                (Some(Inline::Text { text: known }), Inline::Text { text }) => known.push_str(&text),
                (_, inline) => to.push(inline),
            }
            return;
        }
    }

    fn block(&mut self, block: Block) {
        for open in self.open.iter_mut().rev() {
            match open {
                Open::Quote(blocks) => return blocks.push(block),
                Open::Item(item, text) => {
                    item.loose(text);
                    return item.blocks.push(block);
                }
                _ => {}
            }
        }
    }

    fn close(&mut self) {
        if self.open.len() < 2 {
            return;
        }
        match self.open.pop() {
            Some(Open::Paragraph(text)) => self.block(Block::Paragraph { text }),
            Some(Open::Heading(level, text)) => self.block(Block::Heading { level, text }),
            Some(Open::Code(lang, code)) => self.block(Block::Code { lang, code }),
            Some(Open::Quote(blocks)) => self.block(Block::Quote { blocks }),
            Some(Open::List(start, items)) => self.block(Block::List { start, items }),
            Some(Open::Table(head, rows)) => self.block(Block::Table { head, rows }),
            Some(Open::Item(mut item, mut text)) => {
                item.loose(&mut text);
                match self.open.iter_mut().rev().find(|open| matches!(open, Open::List(..))) {
                    Some(Open::List(_, items)) => items.push(item),
                    _ => item.blocks.into_iter().for_each(|block| self.block(block)),
                }
            }
            Some(Open::Row(cells)) => {
                if let Some(Open::Table(_, rows)) = self.open.last_mut() {
                    rows.push(cells);
                }
            }
            Some(Open::Cell(text)) => {
                if let Some(Open::Row(cells)) = self.open.last_mut() {
                    cells.push(text);
                }
            }
            Some(Open::Inline(make, text)) => self.inline(make(text)),
            Some(Open::Link(Some(href), text)) => self.inline(Inline::Link { href, text }),
            Some(Open::Link(None, text)) => text.into_iter().for_each(|inline| self.inline(inline)),
            Some(Open::Nothing) | None => {}
        }
    }

    fn end_head(&mut self) {
        if let Some(Open::Row(cells)) = self.open.pop()
            && let Some(Open::Table(head, _)) = self.open.last_mut()
        {
            *head = cells;
        }
    }
}

impl Item {
    /// Text of a tight list stands in no paragraph.
    fn loose(&mut self, text: &mut Vec<Inline>) {
        if !text.is_empty() {
            self.blocks.push(Block::Paragraph { text: std::mem::take(text) });
        }
    }
}

fn opened(tag: Tag<'_>) -> Open {
    match tag {
        Tag::Paragraph => Open::Paragraph(Vec::new()),
        Tag::Heading { level, .. } => Open::Heading(level as u8, Vec::new()),
        Tag::BlockQuote(_) => Open::Quote(Vec::new()),
        Tag::CodeBlock(kind) => {
            let lang = match kind {
                CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().map(|lang| safe(&clip(lang, 40))),
                CodeBlockKind::Indented => None,
            };
            Open::Code(lang.filter(|lang| !lang.is_empty()), String::new())
        }
        Tag::HtmlBlock => Open::Paragraph(Vec::new()),
        Tag::List(start) => Open::List(start, Vec::new()),
        Tag::Item => Open::Item(Item::default(), Vec::new()),
        Tag::Table(_) => Open::Table(Vec::new(), Vec::new()),
        Tag::TableHead | Tag::TableRow => Open::Row(Vec::new()),
        Tag::TableCell => Open::Cell(Vec::new()),
        Tag::Emphasis => Open::Inline(|text| Inline::Em { text }, Vec::new()),
        Tag::Strong => Open::Inline(|text| Inline::Strong { text }, Vec::new()),
        Tag::Strikethrough => Open::Inline(|text| Inline::Del { text }, Vec::new()),
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => Open::Link(href(&dest_url), Vec::new()),
        _ => Open::Nothing,
    }
}

/// An address that a link may lead to.
fn href(given: &CowStr<'_>) -> Option<String> {
    let given = given.trim();
    let lower = given.get(..8).unwrap_or(given).to_ascii_lowercase();
    let known = ["https://", "http://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme));
    let plain = given.chars().all(|c| !c.is_control() && !c.is_whitespace()) && neutral(given) == given;
    (known && plain && given.len() <= 2_000).then(|| given.to_owned())
}

/// One line of safe text.
fn safe(text: &str) -> String {
    text.lines().map(|line| neutral(line).into_owned()).collect::<Vec<_>>().join(" ")
        + if text.ends_with('\n') { " " } else { "" }
}

/// Safe text with its line ends.
fn lines(text: &str) -> String {
    text.split('\n').map(|line| neutral(line.trim_end_matches('\r')).into_owned()).collect::<Vec<_>>().join("\n")
}

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
pub enum MarkdownBlock {
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
        blocks: Vec<MarkdownBlock>,
    },
    /// A list.
    List {
        /// The first number; `None` for bullets.
        #[serde(skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
        /// Its items.
        items: Vec<MarkdownItem>,
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
pub struct MarkdownItem {
    /// Whether its box is checked, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<bool>,
    /// What it says.
    pub blocks: Vec<MarkdownBlock>,
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
enum OpenBlock {
    Paragraph(Vec<Inline>),
    Heading(u8, Vec<Inline>),
    Code(Option<String>, String),
    Quote(Vec<MarkdownBlock>),
    List(Option<u64>, Vec<MarkdownItem>),
    Item(MarkdownItem, Vec<Inline>),
    Table(Vec<Vec<Inline>>, Vec<Vec<Vec<Inline>>>),
    Row(Vec<Vec<Inline>>),
    Cell(Vec<Inline>),
    Inline(fn(Vec<Inline>) -> Inline, Vec<Inline>),
    Link(Option<String>, Vec<Inline>),
    /// A tag that is not shown; what is in it belongs to what is around it.
    Nothing,
}

/// Reads Markdown.
pub fn blocks(source: &str) -> Vec<MarkdownBlock> {
    let source = clip(source, LONGEST);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut tree = BlockTree { open: vec![OpenBlock::Quote(Vec::new())] };
    for event in Parser::new_ext(&source, options) {
        tree.take(event);
    }
    while tree.open.len() > 1 {
        tree.close();
    }
    match tree.open.pop() {
        Some(OpenBlock::Quote(blocks)) => blocks,
        _ => Vec::new(),
    }
}

struct BlockTree {
    open: Vec<OpenBlock>,
}

impl BlockTree {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                let open = if self.open.len() < DEEPEST { opened(tag) } else { OpenBlock::Nothing };
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
            Event::Rule => self.block(MarkdownBlock::Rule),
            Event::TaskListMarker(done) => {
                if let Some(OpenBlock::Item(item, _)) =
                    self.open.iter_mut().rev().find(|open| matches!(open, OpenBlock::Item(..)))
                {
                    item.done = Some(done);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        let inner = self.open.iter_mut().rev().find(|open| !matches!(open, OpenBlock::Nothing));
        if let Some(OpenBlock::Code(_, code)) = inner {
            code.push_str(&lines(text));
            return;
        }
        self.inline(Inline::Text { text: safe(text) });
    }

    /// Adds a piece to the innermost text; one that stands alone becomes a paragraph.
    fn inline(&mut self, inline: Inline) {
        for open in self.open.iter_mut().rev() {
            let to = match open {
                OpenBlock::Paragraph(to)
                | OpenBlock::Heading(_, to)
                | OpenBlock::Item(_, to)
                | OpenBlock::Cell(to)
                | OpenBlock::Inline(_, to)
                | OpenBlock::Link(_, to) => to,
                OpenBlock::Quote(blocks) => match blocks.last_mut() {
                    Some(MarkdownBlock::Paragraph { text }) => text,
                    _ => {
                        blocks.push(MarkdownBlock::Paragraph { text: vec![inline] });
                        return;
                    }
                },
                OpenBlock::Code(..)
                | OpenBlock::List(..)
                | OpenBlock::Table(..)
                | OpenBlock::Row(_)
                | OpenBlock::Nothing => continue,
            };
            match (to.last_mut(), inline) {
                (Some(Inline::Text { text: known }), Inline::Text { text }) => known.push_str(&text),
                (_, inline) => to.push(inline),
            }
            return;
        }
    }

    fn block(&mut self, block: MarkdownBlock) {
        for open in self.open.iter_mut().rev() {
            match open {
                OpenBlock::Quote(blocks) => return blocks.push(block),
                OpenBlock::Item(item, text) => {
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
            Some(OpenBlock::Paragraph(text)) => self.block(MarkdownBlock::Paragraph { text }),
            Some(OpenBlock::Heading(level, text)) => self.block(MarkdownBlock::Heading { level, text }),
            Some(OpenBlock::Code(lang, code)) => self.block(MarkdownBlock::Code { lang, code }),
            Some(OpenBlock::Quote(blocks)) => self.block(MarkdownBlock::Quote { blocks }),
            Some(OpenBlock::List(start, items)) => self.block(MarkdownBlock::List { start, items }),
            Some(OpenBlock::Table(head, rows)) => self.block(MarkdownBlock::Table { head, rows }),
            Some(OpenBlock::Item(mut item, mut text)) => {
                item.loose(&mut text);
                match self.open.iter_mut().rev().find(|open| matches!(open, OpenBlock::List(..))) {
                    Some(OpenBlock::List(_, items)) => items.push(item),
                    _ => item.blocks.into_iter().for_each(|block| self.block(block)),
                }
            }
            Some(OpenBlock::Row(cells)) => {
                if let Some(OpenBlock::Table(_, rows)) = self.open.last_mut() {
                    rows.push(cells);
                }
            }
            Some(OpenBlock::Cell(text)) => {
                if let Some(OpenBlock::Row(cells)) = self.open.last_mut() {
                    cells.push(text);
                }
            }
            Some(OpenBlock::Inline(make, text)) => self.inline(make(text)),
            Some(OpenBlock::Link(Some(href), text)) => self.inline(Inline::Link { href, text }),
            Some(OpenBlock::Link(None, text)) => text.into_iter().for_each(|inline| self.inline(inline)),
            Some(OpenBlock::Nothing) | None => {}
        }
    }

    fn end_head(&mut self) {
        if let Some(OpenBlock::Row(cells)) = self.open.pop()
            && let Some(OpenBlock::Table(head, _)) = self.open.last_mut()
        {
            *head = cells;
        }
    }
}

impl MarkdownItem {
    /// Text of a tight list stands in no paragraph.
    fn loose(&mut self, text: &mut Vec<Inline>) {
        if !text.is_empty() {
            self.blocks.push(MarkdownBlock::Paragraph { text: std::mem::take(text) });
        }
    }
}

fn opened(tag: Tag<'_>) -> OpenBlock {
    match tag {
        Tag::Paragraph => OpenBlock::Paragraph(Vec::new()),
        Tag::Heading { level, .. } => OpenBlock::Heading(level as u8, Vec::new()),
        Tag::BlockQuote(_) => OpenBlock::Quote(Vec::new()),
        Tag::CodeBlock(kind) => {
            let lang = match kind {
                CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().map(|lang| safe(&clip(lang, 40))),
                CodeBlockKind::Indented => None,
            };
            OpenBlock::Code(lang.filter(|lang| !lang.is_empty()), String::new())
        }
        Tag::HtmlBlock => OpenBlock::Paragraph(Vec::new()),
        Tag::List(start) => OpenBlock::List(start, Vec::new()),
        Tag::Item => OpenBlock::Item(MarkdownItem::default(), Vec::new()),
        Tag::Table(_) => OpenBlock::Table(Vec::new(), Vec::new()),
        Tag::TableHead | Tag::TableRow => OpenBlock::Row(Vec::new()),
        Tag::TableCell => OpenBlock::Cell(Vec::new()),
        Tag::Emphasis => OpenBlock::Inline(|text| Inline::Em { text }, Vec::new()),
        Tag::Strong => OpenBlock::Inline(|text| Inline::Strong { text }, Vec::new()),
        Tag::Strikethrough => OpenBlock::Inline(|text| Inline::Del { text }, Vec::new()),
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => OpenBlock::Link(href(&dest_url), Vec::new()),
        _ => OpenBlock::Nothing,
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

//! YAML with places: where every value begins and ends in the text, in bytes. Only for text that the bounded reader
//! has taken already, so nothing here checks nesting or names again.

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, options};

use crate::format::yaml::DEPTH;

/// A value and its place.
#[derive(Debug)]
pub(crate) struct FileNode {
    pub start: usize,
    /// Behind its last character. For a block collection that is the end of its last value.
    pub end: usize,
    pub what: NodeValue,
}

/// The value of a node.
#[derive(Debug)]
pub(crate) enum NodeValue {
    /// An empty scalar has no characters.
    Scalar(String, ScalarStyle),
    List(CollectionStyle, Vec<FileNode>),
    Map(CollectionStyle, Vec<(FileNode, FileNode)>),
}

/// How a collection is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectionStyle {
    /// One entry a line.
    Block,
    /// A value in brackets.
    Flow,
}

impl FileNode {
    /// The entries of a map.
    pub(super) fn entries(&self) -> &[(Self, Self)] {
        if let NodeValue::Map(_, entries) = &self.what { entries } else { &[] }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> &[Self] {
        if let NodeValue::List(_, items) = &self.what { items } else { &[] }
    }

    /// The entry of that name.
    pub(super) fn entry(&self, name: &str) -> Option<&(Self, Self)> {
        self.entries().iter().find(|(key, _)| matches!(&key.what, NodeValue::Scalar(word, _) if word == name))
    }

    /// The value at a path such as `phases[2].todos[0].status`, or as much of the way to it as there is: a value that is
    /// missing is looked for in the map that lacks it.
    pub(crate) fn find(&self, path: &str) -> Option<&Self> {
        let mut node = self;
        for part in path.split('.') {
            let (key, index) = match part.split_once('[') {
                Some((key, index)) => (key, index.strip_suffix(']').and_then(|index| index.parse::<usize>().ok())),
                None => (part, None),
            };
            let Some((_, value)) = node.entry(key) else { return (!std::ptr::eq(node, self)).then_some(node) };
            node = value;
            if let Some(index) = index {
                node = node.items().get(index)?;
            }
        }
        Some(node)
    }

    /// Nothing is written there.
    pub(super) fn is_blank(&self) -> bool {
        self.start == self.end && matches!(self.what, NodeValue::Scalar(..))
    }
}

/// Reads the places of a document; `None` if it is no map.
pub(crate) fn read(text: &str) -> Option<FileNode> {
    let options = options! { flow_nesting_limit: DEPTH, block_nesting_limit: DEPTH };
    let mut open: Vec<(FileNode, Option<FileNode>)> = Vec::new();
    let mut done = None;
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.ok()?;
        let (start, end) = (span.start.byte_offset()?, span.end.byte_offset()?);
        let closed = match event {
            Event::Scalar(value, style, ..) => {
                FileNode { start, end, what: NodeValue::Scalar(value.into_owned(), style) }
            }
            Event::SequenceStart(style, ..) => {
                open.push((FileNode { start, end, what: NodeValue::List(form(style), Vec::new()) }, None));
                continue;
            }
            Event::MappingStart(style, ..) => {
                open.push((FileNode { start, end, what: NodeValue::Map(form(style), Vec::new()) }, None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (mut node, _) = open.pop()?;
                if matches!(
                    node.what,
                    NodeValue::List(CollectionStyle::Flow, _) | NodeValue::Map(CollectionStyle::Flow, _)
                ) {
                    node.end = end;
                }
                node
            }
            _ => continue,
        };
        match open.last_mut() {
            None => done = Some(closed),
            Some((node, key)) => {
                node.end = node.end.max(closed.end);
                match (&mut node.what, key.take()) {
                    (NodeValue::List(_, items), _) => items.push(closed),
                    (NodeValue::Map(_, entries), Some(key)) => entries.push((key, closed)),
                    (_, None) => *key = Some(closed),
                    (NodeValue::Scalar(..), Some(_)) => return None,
                }
            }
        }
    }
    done.filter(|node| matches!(node.what, NodeValue::Map(..)))
}

fn form(style: StructureStyle) -> CollectionStyle {
    match style {
        StructureStyle::Block => CollectionStyle::Block,
        StructureStyle::Flow => CollectionStyle::Flow,
    }
}

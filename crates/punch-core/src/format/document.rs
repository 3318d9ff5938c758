//! The two formats that can express everything.

use std::collections::BTreeSet;

use crate::Document;
use crate::view::markdown as native;

pub(super) fn json(document: &Document, _: &mut BTreeSet<String>) -> String {
    document.to_json()
}

pub(super) fn markdown(document: &Document, _: &mut BTreeSet<String>) -> String {
    native::write(document, None)
}

//! Calls in every dialect: bytes as a line, and bytes as the choices of well-formed calls.

use punch_core::replay::{Recording, line};
use punch_testkit::fuzz::body;

fn judge(recording: Recording, bytes: &[u8]) {
    body(recording.name(), bytes, &|bytes| line(recording, bytes).json);
}

fn named(name: &str, bytes: &[u8]) {
    let recording = Recording::ALL.iter().find(|recording| recording.name() == name);
    judge(*recording.expect("a dialect of that name"), bytes);
}

pub fn phases(bytes: &[u8]) {
    named("phases", bytes);
}

pub fn phases_markdown(bytes: &[u8]) {
    named("phases-markdown", bytes);
}

pub fn phases_commands(bytes: &[u8]) {
    named("phases-commands", bytes);
}

pub fn cursor(bytes: &[u8]) {
    named("cursor", bytes);
}

pub fn todowrite(bytes: &[u8]) {
    named("todowrite", bytes);
}

pub fn extended(bytes: &[u8]) {
    named("extended", bytes);
}

pub fn native(bytes: &[u8]) {
    named("native", bytes);
}

//! Properties of edits: a file with other statuses is the same file with other statuses, in every way to write it.

use proptest::prelude::*;
use punch_core::Status;
use punch_core::plan_file::{PlanFile, PlanFileEdit};

const FOUR: [Status; 4] = [Status::Pending, Status::InProgress, Status::Completed, Status::Cancelled];

/// How one todo is written.
#[derive(Clone, Debug)]
struct Look {
    flow: bool,
    quote: u8,
    comment: bool,
    content: u8,
    first: bool,
    extra: bool,
}

fn look() -> impl Strategy<Value = Look> {
    (any::<bool>(), 0..3_u8, any::<bool>(), 0..6_u8, any::<bool>(), any::<bool>())
        .prop_map(|(flow, quote, comment, content, first, extra)| Look { flow, quote, comment, content, first, extra })
}

fn rendered(look: &Look, at: usize, status: Status) -> String {
    let word = status.name();
    let status = match look.quote {
        0 => word.to_owned(),
        1 => format!("'{word}'"),
        _ => format!("\"{word}\""),
    };
    if look.flow {
        let extra = if look.extra { ", \"note\": [1.10, 'x y']" } else { "" };
        return format!("  - {{id: t{at}{extra}, status: {status}, content: \"ein \u{e9} # {{{at}}}\"}}\n");
    }
    let comment = if look.comment { "   # status: pending" } else { "" };
    let content = match look.content {
        0 => format!("content: plain {at}\n"),
        1 => format!("content: 'single ''{at}'''\n"),
        2 => format!("content: \"double \\\"{at}\\\" \\u00e9\"\n"),
        3 => format!("content: |\n      status: pending\n      {at}\n"),
        4 => format!("content: >-\n      folded\n\n      {at}\n"),
        _ => format!("content: plain\n      over lines {at}\n"),
    };
    let status = format!("status:  {status}{comment}\n");
    let extra = if look.extra { "    x-extra: {status: pending, n: 1.10}\n" } else { "" };
    match look.first {
        true => format!("  - {status}{extra}    id: t{at}\n    {content}"),
        false => format!("  - id: t{at}\n    {content}{extra}    {status}"),
    }
}

fn file(looks: &[Look], statuses: &[Status], crlf: bool, bom: bool) -> String {
    let todos: String = looks.iter().zip(statuses).enumerate().map(|(at, (look, s))| rendered(look, at, *s)).collect();
    let text =
        format!("---\nname: \"x\"\n# status: pending\ntodos:\n{todos}isProject: false\n---\n# status: pending\n---\n");
    let text = if crlf { text.replace('\n', "\r\n") } else { text };
    if bom { format!("\u{feff}{text}") } else { text }
}

proptest! {
    #[test]
    fn statuses_change_and_every_other_byte_stays(
        todos in prop::collection::vec((look(), 0..4_usize, 0..4_usize), 1..8), crlf: bool, bom: bool,
    ) {
        let looks: Vec<Look> = todos.iter().map(|(look, ..)| look.clone()).collect();
        let before: Vec<Status> = todos.iter().map(|(_, from, _)| FOUR[*from]).collect();
        let after: Vec<Status> = todos.iter().map(|(.., to)| FOUR[*to]).collect();
        let text = file(&looks, &before, crlf, bom);
        let writes: Vec<PlanFileEdit> = after.iter().enumerate().map(|(at, status)| PlanFileEdit::Status(at, *status)).collect();
        let read = PlanFile::read(&text, &[]).unwrap();
        prop_assert_eq!(read.write(&writes).unwrap().text, file(&looks, &after, crlf, bom));
    }

    #[test]
    fn words_of_any_kind_are_read_back(
        todos in prop::collection::vec((look(), "\\PC{1,20}|[ -~]{1,20}|[\u{1}-\u{1f}a-z'\"]{1,8}"), 1..5), crlf: bool,
    ) {
        let looks: Vec<Look> = todos.iter().map(|(look, _)| look.clone()).collect();
        let text = file(&looks, &vec![Status::Pending; looks.len()], crlf, false);
        let wanted: Vec<String> = todos.iter().map(|(_, words)| words.trim().to_owned()).collect();
        prop_assume!(wanted.iter().all(|words| !words.is_empty()));
        let writes: Vec<PlanFileEdit> = wanted.iter().enumerate().map(|(at, words)| PlanFileEdit::Content(at, words.clone())).collect();
        let written = PlanFile::read(&text, &[]).unwrap().write(&writes).unwrap().text;
        let read: Vec<String> = PlanFile::read(&written, &[]).unwrap().items().iter().map(|item| item.content.clone()).collect();
        prop_assert_eq!(read, wanted);
    }

    #[test]
    fn a_damaged_file_is_refused_or_edited_as_a_whole(
        todos in prop::collection::vec(look(), 1..4), cut in any::<prop::sample::Index>(),
        put in "[-:#\\[\\]{}'\"|>&*!,\n\t ~a?%@`]{0,4}", take in 0..6_usize,
    ) {
        let mut text = file(&todos, &vec![Status::Pending; todos.len()], false, false);
        let mut at = cut.index(text.len());
        while !text.is_char_boundary(at) { at -= 1; }
        let mut end = (at + take).min(text.len());
        while !text.is_char_boundary(end) { end += 1; }
        text.replace_range(at..end, &put);
        if let Ok(read) = PlanFile::read(&text, &[]) {
            let writes: Vec<PlanFileEdit> = (0..read.items().len()).map(|at| PlanFileEdit::Status(at, Status::Completed)).collect();
            if let Ok(written) = read.write(&writes) {
                let after = PlanFile::read(&written.text, &[]).unwrap();
                prop_assert!(after.items().iter().all(|item| item.status == Status::Completed));
                let words = |file: &PlanFile<'_>| file.items().iter().map(|i| i.content.clone()).collect::<Vec<_>>();
                prop_assert_eq!(words(&after), words(&read));
            }
        }
    }
}

//! Golden files of every format: recognised by content alone and by name, read, written, read again.

use punch_core::format::{self, Format};
use punch_core::{Document, ParsedDocument};

macro_rules! data {
    ($($format:ident $file:literal;)*) => {
        /// Format, file name, text.
        pub const FILES: &[(Format, &str, &str)] =
            &[$((Format::$format, $file, include_str!(concat!("../../data/", $file))),)*];
    };
}

data! {
    CursorPlan "cursor.plan.md";
    CursorPlan "phases.plan.md";
    Checklist "nested.md";
    Checklist "numbered.md";
    TodoWrite "todowrite.json";
    ClaudeTasks "claude-tasks.json";
    Codex "codex-plan.json";
    Codex "codex-session.jsonl";
    TaskMaster "tasks.json";
    Beads "issues.jsonl";
    Spec "kiro-tasks.md";
    Spec "spec-kit-tasks.md";
    OpenCode "opencode.json";
    Taskwarrior "taskwarrior.json";
    CursorTodos "cursor-todos.json";
    CursorAgent "cursor-agent.json";
    Phases "omp-TODO.md";
    PhasesSession "omp-session.jsonl";
}

/// Every format, and in its row itself.
#[test]
fn the_table_is_in_the_order_of_the_formats() {
    for format in Format::all() {
        assert_eq!(format.spec().format, format);
        assert_eq!(Format::named(format.name()), Some(format));
    }
}

/// `UPDATE_DOCS=1` writes it again.
#[test]
fn the_documentation_has_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/import.md");
    let text = std::fs::read_to_string(path).unwrap();
    let head = "| name | what | written too | carries |\n|---|---|---|---|\n";
    let (before, rest) = text.split_once(head).unwrap();
    let after = rest.find("\n\n").map_or("", |at| &rest[at + 1..]);
    let row = |format: Format| {
        let spec = format.spec();
        let carries = if spec.carries.len() > 20 { "everything".to_owned() } else { spec.carries.join(", ") };
        let written = if format.writes() { "yes" } else { "no" };
        format!("| `{}` | {} | {written} | {carries} |\n", spec.name, spec.about)
    };
    let wanted = format!("{before}{head}{}{after}", Format::all().map(row).collect::<String>());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    assert!(std::fs::read_to_string(path).unwrap() == wanted, "run UPDATE_DOCS=1 cargo test -p punch-core format");
}

#[test]
fn formats_are_recognised_from_their_content() {
    for (format, file, text) in FILES {
        // Our own Markdown reads that of oh-my-pi, and that is what it is taken for.
        let expected = if *format == Format::Phases { Format::Markdown } else { *format };
        assert_eq!(format::recognise(text, None), expected, "{file}");
        assert_eq!(format::recognise(text, Some(file)), expected, "{file} by name");
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(format::recognise(&windows, None), expected, "{file} from Windows");
    }
}

#[test]
fn our_own_formats_are_recognised() {
    for text in
        ["", "[]", "{\"todos\": []}", "{\"schema\": 1, \"phases\": [\"a\"], \"todos\": []}", "[{\"content\": \"x\"}]"]
    {
        let expected = if text.is_empty() { Format::Markdown } else { Format::Extended };
        assert_eq!(format::recognise(text, None), expected, "{text}");
    }
    for text in ["# A\n\n- [ ] x\n", "- [ ] x <!-- punch {} -->\n  - [ ] y\n", "some words"] {
        assert_eq!(format::recognise(text, None), Format::Markdown, "{text}");
    }
    assert_eq!(format::recognise("[a link](x)\n\n1. step\n", Some("x.md")), Format::Checklist);
    assert_eq!(format::recognise("{\"tasks\": [", Some("a/tasks.json")), Format::TaskMaster);
}

#[test]
fn a_file_from_windows_reads_the_same() {
    for (format, file, text) in FILES {
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(format.read(&windows).unwrap(), format.read(text).unwrap(), "{file}");
    }
}

#[test]
fn what_was_read_is_written_and_read_again_alike() {
    for (format, file, text) in FILES {
        let ParsedDocument { document, .. } = format.read(text).unwrap();
        let Some(written) = format.write(&document) else { continue };
        let again =
            format.read(&written.text).unwrap_or_else(|refusal| panic!("{file}: {refusal:?}\n{}", written.text));
        assert_eq!(shown(&again.document), shown(&document), "{file}:\n{}", written.text);
        assert_eq!(again.document.edges, document.edges, "{file}:\n{}", written.text);
    }
}

/// The document in the extended format, which compares well.
fn shown(document: &Document) -> String {
    let mut document = document.clone();
    // Notes of oh-my-pi and Markdown have no time; Taskwarrior gives them one.
    document.records.iter_mut().for_each(|record| record.blocks.sort());
    document.to_json()
}

/// All golden files as they come out, with what was left out.
#[test]
fn golden_files_read_as_expected() {
    let mut out = String::new();
    for (format, file, text) in FILES {
        let parsed = format.read(text).unwrap_or_else(|refusal| panic!("{file}: {}", refusal.message()));
        out.push_str(&format!("== {file} ({})\n{}", format.name(), parsed.document.to_json()));
        if !parsed.document.edges.is_empty() {
            out.push_str(&format!("edges: {:?}\n", parsed.document.edges));
        }
        if !parsed.ignored.is_empty() {
            out.push_str(&format!("left out: {:?}\n", parsed.ignored));
        }
    }
    insta::assert_snapshot!("golden", out);
}

/// All golden files written again.
#[test]
fn golden_files_are_written_as_expected() {
    let mut out = String::new();
    for (format, file, text) in FILES {
        let document = format.read(text).unwrap().document;
        let Some(written) = format.write(&document) else { continue };
        out.push_str(&format!("== {file} ({})\n{}", format.name(), written.text));
        if !written.lost.is_empty() {
            out.push_str(&format!("lost: {:?}\n", written.lost));
        }
    }
    insta::assert_snapshot!("written", out);
}

#[test]
fn every_document_becomes_a_plan() {
    use punch_core::{Actor, Context, InProgressLimit, MissingDep, Plan, Policy, StartGate, apply};
    for (format, file, text) in FILES {
        let document = format.read(text).unwrap().document;
        let mut plan = Plan::new();
        let policy = Policy {
            start_gate: StartGate::Warn,
            in_progress: InProgressLimit::Any,
            missing_dep: MissingDep::Dangle,
            ..plan.row.policy
        };
        let context = Context::new(1_000, Actor::parse("test", None), policy);
        let outcome =
            apply(&plan, &document.ops().unwrap(), &context).unwrap_or_else(|stop| panic!("{file}: {stop:?}"));
        plan.commit(&outcome);
        let exported = Document::of(&plan);
        assert_eq!(exported.records.len(), document.records.len(), "{file}");
        let edges = |d: &Document| d.records.iter().map(|r| r.depends_on.len()).sum::<usize>();
        assert!(edges(&exported) >= edges(&document) + document.edges.len(), "{file}");
        for (came, went) in document.records.iter().zip(&exported.records) {
            assert_eq!(
                (&came.content, &came.extra, came.status.stored()),
                (&went.content, &went.extra, went.status.stored()),
                "{file}"
            );
        }
        // What went through a plan is written as before.
        if let Some(written) = format.write(&exported) {
            let again = format.read(&written.text).unwrap_or_else(|refusal| panic!("{file}: {}", refusal.message()));
            assert_eq!(again.document.records.len(), document.records.len(), "{file}");
        }
    }
}

//! Plans built by hand, for tests of what only reads them.

use proptest::prelude::*;
use proptest::{collection, option};
use punch_core::{
    Complexity, Dep, Evidence, Flags, Hold, HoldKind, Label, Note, Phase, PhaseUid, Plan, Status, Todo, Uid, Verify,
};

/// A plan that grows todo by todo.
#[derive(Default)]
pub struct Sample {
    pub plan: Plan,
}

impl Sample {
    pub fn new() -> Self {
        Self { plan: Plan::new() }
    }

    /// Adds a phase.
    pub fn phase(mut self, name: &str) -> Self {
        let uid = PhaseUid(self.plan.row.phases.len() as u64 + 1);
        self.plan.row.phases.push(Phase { uid, name: name.to_owned() });
        self
    }

    /// Adds a todo in the phase of that number, 0 for none.
    pub fn todo(self, phase: u64, status: Status, content: &str) -> Self {
        self.with(phase, status, content, |_| {})
    }

    /// Adds a todo and lets the caller set further fields.
    pub fn with(mut self, phase: u64, status: Status, content: &str, set: impl FnOnce(&mut Todo)) -> Self {
        let number = self.plan.all().count() as u64 + 1;
        let mut todo = Todo::blank(Uid(number));
        todo.id = format!("T-{number}");
        todo.content = content.to_owned();
        todo.status = status;
        todo.position = number as i64;
        todo.phase = (phase > 0).then_some(PhaseUid(phase));
        set(&mut todo);
        self.plan.put(todo);
        self
    }
}

/// Makes the todo depend on todos that are not done.
pub fn waits(todo: &mut Todo, numbers: &[u64]) {
    todo.depends_on = numbers.iter().map(|n| Dep::On(Uid(*n))).collect();
    todo.derived.unmet = numbers.len() as u32;
}

/// A remark.
pub fn note(text: &str) -> Note {
    Note { text: text.to_owned(), at: 5, by: "ann".to_owned() }
}

/// A hold for the user.
pub fn hold(reason: &str) -> Hold {
    Hold { kind: HoldKind::Human, reason: reason.to_owned(), until: None, by: "ann".to_owned(), at: 5 }
}

/// Any plan: odd texts, mixed phases, every stored field.
pub fn plans() -> impl Strategy<Value = Plan> {
    let names = collection::vec(text(), 0..4);
    (names, collection::vec(todos(), 0..8)).prop_map(|(names, todos)| {
        let sample = names.iter().fold(Sample::new(), |sample, name| sample.phase(name));
        let Sample { mut plan } = sample;
        let count = todos.len() as u64;
        for (at, (mut todo, phase, needs)) in todos.into_iter().enumerate() {
            todo.uid = Uid(at as u64 + 1);
            todo.id = format!("{}{at}", todo.id);
            todo.phase = (phase > 0 && phase <= names.len() as u64).then_some(PhaseUid(phase));
            todo.depends_on = needs.iter().map(|n| Dep::On(Uid(n % count + 1))).collect();
            plan.put(todo);
        }
        plan
    })
}

/// Text that means something to Markdown, JSON, HTML or a terminal.
pub fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-z]{1,4}",
        prop::sample::select(vec![
            " ",
            "  ",
            "\n",
            "\r\n",
            "\r",
            "\t",
            "> ",
            ">",
            "- [ ] ",
            "- [x] a",
            "# ",
            "#",
            "<!--",
            "-->",
            "<!-- punch {} -->",
            "`",
            "```",
            "[",
            "]",
            "\\",
            "\"",
            "*",
            "1. [ ] x",
            "(empty)",
            "👨‍👩‍👧‍👦",
            "é",
            "e\u{301}",
            "\u{feff}",
            "\u{85}",
            "\u{2028}",
            "\u{202e}",
            "\u{1b}[1m",
            "\0",
            "\u{a0}",
            "---",
            "{",
            "}",
            "漢",
            " #tag",
            "#a/b",
            " #12",
        ])
        .prop_map(str::to_owned),
    ];
    collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

/// Any label.
pub fn labels() -> impl Strategy<Value = Label> {
    let word = prop_oneof!["[a-z]{1,3}", "[a-z0-9_./:-]{1,50}"];
    word.prop_map(|word| Label::parse(&word).unwrap())
}

fn todos() -> impl Strategy<Value = (Todo, u64, Vec<u64>)> {
    let texts = (text(), text(), option::of(text()), option::of(text()), option::of(text()));
    let lists = (collection::vec((text(), any::<i64>(), text()), 0..4), collection::vec(text(), 0..3));
    let numbers = (0_usize..5, 1_u8..=5, any::<i8>(), option::of(any::<i64>()), any::<u64>(), any::<u32>());
    let odd = (
        option::of((0..HoldKind::ALL.len(), text(), option::of(any::<i64>()))),
        any::<[bool; 4]>(),
        option::of(0_usize..5),
    );
    let labels = collection::btree_set(labels(), 0..4);
    (texts, lists, numbers, odd, (0_u64..4, labels), collection::vec(any::<u64>(), 0..3)).prop_map(
        |(texts, (notes, files), numbers, (hold, flags, complexity), (phase, labels), needs)| {
            let mut todo = Todo::blank(Uid(0));
            (todo.id, todo.content) = (texts.0, texts.1);
            (todo.active_form, todo.description, todo.last_error) = (texts.2, texts.3, texts.4);
            todo.notes = notes.into_iter().map(|(text, at, by)| Note { text, at, by }).collect();
            todo.status = Status::ALL[numbers.0];
            todo.priority = numbers.1;
            todo.position = i64::from(numbers.2);
            (todo.started_at, todo.finished_at, todo.hidden) = (numbers.3, numbers.3, numbers.3);
            (todo.actual_tokens, todo.attempts, todo.created_at) = (numbers.4, numbers.5, numbers.4 as i64);
            todo.estimated_tokens = flags[3].then_some(numbers.4);
            todo.hold = hold.map(|(kind, reason, until)| {
                let (by, at) = (reason.clone(), until.unwrap_or_default());
                Hold { kind: HoldKind::ALL[kind], reason, until, by, at }
            });
            todo.verify = files.first().map(|line| Verify::Shell(line.clone()));
            todo.evidence = files
                .iter()
                .map(|text| Evidence {
                    text: Some(text.clone()),
                    command: Some(Verify::Argv(files.clone())),
                    ..Evidence::default()
                })
                .collect();
            todo.files = files;
            todo.flags = Flags {
                resume: flags[0],
                stale: flags[1],
                stale_dependency: flags[2],
                reported: flags[3],
                unchecked: flags[0] && flags[3],
            };
            todo.labels = labels;
            todo.complexity = complexity.map(|at| Complexity::ALL[at]);
            (todo, phase, needs)
        },
    )
}

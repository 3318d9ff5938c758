//! What holds for every input.

use proptest::collection::vec;
use proptest::prelude::*;
use punch_core::Status;
use punch_core::dialect::phases::{
    CommandReply, PhaseInput, PhaseOp, PhaseTask, PhasesTarget, TaskPhase, coerce, finish_import, normalise, parse_ops,
    parse_params, phases_from_json, phases_to_json, read, run, step, summary, write,
};
use punch_core::text::js_trim;
use serde_json::{Map, Value};

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(vec![Status::Pending, Status::InProgress, Status::Completed, Status::Cancelled])
}

fn phases<S: Strategy<Value = String>>(text: impl Fn() -> S) -> impl Strategy<Value = Vec<TaskPhase>> {
    let task = (text(), status(), vec(text(), 0..3));
    let task = task.prop_map(|(content, status, notes)| PhaseTask { notes, ..PhaseTask::new(content, status) });
    let phase = (text(), vec(task, 0..5)).prop_map(|(name, tasks)| TaskPhase { tasks, ..TaskPhase::new(name) });
    vec(phase, 0..4)
}

/// Few names, so that they meet.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "task-1", ""]).prop_map(str::to_owned)
}

fn op() -> impl Strategy<Value = PhaseOp> {
    let target = || {
        prop_oneof![
            4 => name().prop_map(PhasesTarget::Task),
            2 => name().prop_map(PhasesTarget::Phase),
            1 => Just(PhasesTarget::All),
        ]
    };
    let new = (name(), vec(name(), 1..4)).prop_map(|(name, items)| PhaseInput { name, items });
    prop_oneof![
        1 => prop::option::of(vec(new, 0..3)).prop_map(|list| PhaseOp::Init { list }),
        3 => name().prop_map(|task| PhaseOp::Start { task: Some(task) }),
        3 => target().prop_map(PhaseOp::Done),
        2 => target().prop_map(PhaseOp::Drop),
        3 => target().prop_map(PhaseOp::Rm),
        4 => (name(), vec(name(), 1..4))
            .prop_map(|(phase, items)| PhaseOp::Append { phase: Some(phase), items: Some(items) }),
        1 => (name(), "[a ]{0,2}").prop_map(|(task, text)| PhaseOp::Note { task: Some(task), text: Some(text) }),
    ]
}

/// The rules of phases over plain vectors, without any index.
fn plain(phases: &mut Vec<TaskPhase>, op: &PhaseOp) {
    fn tasks<'a>(phases: &'a mut [TaskPhase], target: &PhasesTarget) -> Vec<&'a mut PhaseTask> {
        let mut all = phases.iter_mut();
        match target {
            PhasesTarget::Task(name) => {
                all.flat_map(|p| &mut p.tasks).find(|t| t.content == *name).into_iter().collect()
            }
            PhasesTarget::Phase(name) => all.find(|p| p.name == *name).into_iter().flat_map(|p| &mut p.tasks).collect(),
            PhasesTarget::All => all.flat_map(|p| &mut p.tasks).collect(),
        }
    }
    match op {
        PhaseOp::Init { list } => {
            let task = |content: &String| PhaseTask::new(content, Status::Pending);
            let phase = |new: &PhaseInput| TaskPhase {
                tasks: new.items.iter().map(task).collect(),
                ..TaskPhase::new(&new.name)
            };
            *phases = list.iter().flatten().map(phase).collect();
        }
        PhaseOp::Start { task } => {
            let target = PhasesTarget::Task(task.clone().unwrap());
            if tasks(phases, &target).is_empty() {
                return;
            }
            for task in tasks(phases, &PhasesTarget::All).into_iter().filter(|task| task.status == Status::InProgress) {
                task.status = Status::Pending;
            }
            tasks(phases, &target)[0].status = Status::InProgress;
        }
        PhaseOp::Done(target) => tasks(phases, target).into_iter().for_each(|task| task.status = Status::Completed),
        PhaseOp::Drop(target) => tasks(phases, target).into_iter().for_each(|task| task.status = Status::Cancelled),
        PhaseOp::Rm(PhasesTarget::Task(name)) => {
            let holder = phases.iter_mut().find(|phase| phase.tasks.iter().any(|task| task.content == *name));
            if let Some(phase) = holder {
                let at = phase.tasks.iter().position(|task| task.content == *name).unwrap();
                phase.tasks.remove(at);
            }
        }
        PhaseOp::Rm(PhasesTarget::Phase(name)) => {
            phases.iter_mut().find(|phase| phase.name == *name).into_iter().for_each(|phase| phase.tasks.clear());
        }
        PhaseOp::Rm(PhasesTarget::All) => phases.iter_mut().for_each(|phase| phase.tasks.clear()),
        PhaseOp::Append { phase, items } => {
            let name = phase.clone().unwrap();
            let index = phases.iter().position(|phase| phase.name == name).unwrap_or_else(|| {
                phases.push(TaskPhase::new(name));
                phases.len() - 1
            });
            for item in items.iter().flatten() {
                if phases.iter().flat_map(|phase| &phase.tasks).any(|task| task.content == *item) {
                    return;
                }
                phases[index].tasks.push(PhaseTask::new(item, Status::Pending));
            }
        }
        PhaseOp::Note { task, text } => {
            let note = text.as_deref().unwrap().trim_end();
            if let Some(task) =
                tasks(phases, &PhasesTarget::Task(task.clone().unwrap())).pop().filter(|_| !note.is_empty())
            {
                task.notes.push(note.to_owned());
            }
        }
    }
}

fn json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec!["init", "done", "rm", "append", "note", "null", "[\"a\"]", "[", "", "a"]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    let key = prop::sample::select(vec!["ops", "op", "list", "task", "phase", "items", "text", "extra"]);
    leaf.prop_recursive(5, 48, 4, move |inner| {
        let fields = vec((key.clone(), inner.clone()), 0..5);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|f| f.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Map<_, _>>().into()),
        ]
    })
}

/// Text with what the reader looks for.
fn markup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "\n", "\r", "\r\n", "# ", "- [", "] ", "[x] ", "- [ ] a", "  > ", ">", " ", "\u{2028}", "\u{feff}", "🚀", "\"", "\\",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn normalising_twice_is_normalising_once(mut list in phases(name)) {
        normalise(&mut list);
        let active = |task: &&PhaseTask| task.status == Status::InProgress;
        let open = list.iter().flat_map(|phase| &phase.tasks).any(|task| task.status.is_open());
        prop_assert_eq!(list.iter().flat_map(|phase| &phase.tasks).filter(active).count(), usize::from(open));
        let once = list.clone();
        normalise(&mut list);
        prop_assert_eq!(list, once);
    }

    #[test]
    fn a_batch_does_what_the_plain_rules_do(list in phases(name), ops in vec(op(), 1..12)) {
        let answer = step(&list, &ops);
        let mut expected = list;
        ops.iter().for_each(|op| plain(&mut expected, op));
        normalise(&mut expected);
        prop_assert_eq!(&answer.phases, &expected);
        prop_assert_eq!(answer.is_error, !answer.errors.is_empty());
    }

    #[test]
    fn markdown_carries_every_list_of_single_trimmed_lines(mut list in phases(|| "[^\\n\\r\u{2028}\u{2029}]{1,8}")) {
        for phase in &mut list {
            phase.name = format!("p{}", js_trim(&phase.name));
            for task in &mut phase.tasks {
                task.content = format!("{}t", js_trim(&task.content));
            }
        }
        normalise(&mut list);
        let reading = read(&write(&list));
        prop_assert_eq!(reading.errors, Vec::<String>::new());
        prop_assert_eq!(reading.phases, if list.is_empty() { vec![TaskPhase::new("Todos")] } else { list });
    }

    #[test]
    fn the_json_of_a_list_reads_back(list in phases(any::<String>)) {
        prop_assert_eq!(phases_from_json(&phases_to_json(&list)).unwrap(), list);
    }

    #[test]
    fn any_text_is_read_without_panic_and_settles_after_one_writing(text in markup()) {
        let reading = read(&text);
        prop_assert!(reading.errors.len() <= text.split('\n').count());
        let again = read(&write(&reading.phases));
        prop_assert_eq!(&again.errors, &Vec::<String>::new());
        if !reading.phases.is_empty() {
            prop_assert_eq!(again.phases, reading.phases);
        }
    }

    #[test]
    fn any_command_is_answered_without_panic(
        verb in prop::sample::select(vec!["", "append ", "start ", "done ", "drop ", "rm ", "import ", "export ", "copy"]),
        rest in markup(),
        list in phases(markup),
    ) {
        match run(&list, &format!("{verb}{rest}")) {
            CommandReply::Said(said) => prop_assert!(!said.output.is_empty()),
            CommandReply::Effect(_) => {
                let said = finish_import(&list, "f", &rest);
                prop_assert!(said.output.starts_with("Imported ") || said.phases == list);
            }
        }
    }

    #[test]
    fn any_json_is_parsed_or_refused_and_a_batch_always_has_a_summary(value in json(), list in phases(name)) {
        let calls = [parse_ops(&value), parse_params(&value), parse_params(&coerce(value))];
        for ops in calls.into_iter().flatten() {
            let answer = step(&list, &ops);
            prop_assert!(!summary(&answer.phases, &answer.errors).is_empty());
        }
    }
}

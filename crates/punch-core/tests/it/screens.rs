//! Lists and the plan at a glance on terminals of 80 and 120 columns, and in a pipe.

use insta::assert_snapshot;
use punch_core::inbox::{InboxItem, InboxKind};
use punch_core::reason::PlanReader;
use punch_core::view::{
    Dashboard, Glyphs, Layout, PlanSummary, Progress, SpanRole, SummarySection, TodoRow, ViewLine, phase_tree, spans,
    status_line, table,
};
use punch_core::{Label, Plan, ShownStatus, Status};

use crate::sample::{Sample, hold, waits};

const NOW: i64 = 600_000;

fn plan() -> Plan {
    Sample::new()
        .phase("Core")
        .phase("Docs")
        .with(1, Status::InProgress, "Write the transliteration table", |t| {
            t.owner = Some("alice".into());
            t.started_at = Some(NOW - 240_000);
        })
        .with(1, Status::Pending, "Read the table at the start of the program, whatever its encoding is", |t| {
            waits(t, &[1]);
            t.priority = 1;
        })
        .with(2, Status::Pending, "Changelog entry", |t| t.labels = [Label::parse("docs").unwrap()].into())
        .with(2, Status::Pending, "Choose the section of the README", |t| t.hold = Some(hold("which README section?")))
        .todo(0, Status::Failed, "Set up CI")
        .with(0, Status::Pending, "Release 0.2.0", |t| waits(t, &[5, 2, 3]))
        .todo(1, Status::Completed, "Design it")
        .plan
}

fn layout(width: Option<usize>, glyphs: Glyphs) -> Layout {
    Layout { glyphs, width, now: NOW }
}

fn list(layout: Layout) -> String {
    let plan = plan();
    let reader = PlanReader::new(&plan, NOW);
    let rows: Vec<_> = plan.live().into_iter().map(|todo| TodoRow::of(reader, todo).table_row(layout)).collect();
    shown(&table::lines(rows, layout), layout)
}

/// The lines, which must fit.
fn shown(lines: &[ViewLine], layout: Layout) -> String {
    if let Some(width) = layout.width {
        lines.iter().for_each(|line| assert!(line.columns() <= width, "{}", line.plain()));
    }
    spans::text(lines)
}

#[test]
fn a_list_is_aligned_and_cut_on_a_terminal_and_whole_in_a_pipe() {
    assert_snapshot!(list(layout(Some(80), Glyphs::Unicode)), @r#"
    ▶ T-1  Write the transliteration table             @alice · 4 min
    ◌ T-2  Read the table at the start of the program, whatev…  P1 · waiting for T-1
    ○ T-3  Changelog entry                             #docs
    ‖ T-4  Choose the section of the README            on hold: which README sectio…
    ✗ T-5  Set up CI
    ⊘ T-6  Release 0.2.0                               stuck behind T-5, which fail…
    ✓ T-7  Design it
    "#);
    assert_snapshot!(list(layout(Some(120), Glyphs::Unicode)), @r#"
    ▶ T-1  Write the transliteration table                                     @alice · 4 min
    ◌ T-2  Read the table at the start of the program, whatever its encoding is  P1 · waiting for T-1
    ○ T-3  Changelog entry                                                     #docs
    ‖ T-4  Choose the section of the README                                    on hold: which README section?
    ✗ T-5  Set up CI
    ⊘ T-6  Release 0.2.0                                                       stuck behind T-5, which failed · waiting for…
    ✓ T-7  Design it
    "#);
    assert_snapshot!(list(layout(Some(80), Glyphs::Ascii)), @r#"
    [>] T-1  Write the transliteration table            @alice; 4 min
    [.] T-2  Read the table at the start of the program, wha...  P1; waiting for T-1
    [ ] T-3  Changelog entry                            #docs
    [|] T-4  Choose the section of the README           on hold: which README sec...
    [!] T-5  Set up CI
    [#] T-6  Release 0.2.0                              stuck behind T-5, which f...
    [x] T-7  Design it
    "#);
    assert_snapshot!(list(layout(None, Glyphs::Ascii)), @r#"
    [>] T-1  Write the transliteration table  (@alice)
    [.] T-2  Read the table at the start of the program, whatever its encoding is  (P1; waiting for T-1)
    [ ] T-3  Changelog entry  (#docs)
    [|] T-4  Choose the section of the README  (on hold: which README section?)
    [!] T-5  Set up CI
    [#] T-6  Release 0.2.0  (stuck behind T-5, which failed; waiting for T-2, T-3)
    [x] T-7  Design it
    "#);
    for width in 20..200 {
        list(layout(Some(width), Glyphs::Unicode));
    }
}

#[test]
fn phases_are_headings_with_their_progress() {
    let (plan, layout) = (plan(), layout(Some(80), Glyphs::Unicode));
    let todos = plan.live();
    assert_snapshot!(shown(&phase_tree::lines(PlanReader::new(&plan, NOW), &todos, layout), layout), @r#"
    ✗ T-5  Set up CI
    ⊘ T-6  Release 0.2.0  stuck behind T-5, which failed · waiting for T-2, T-3
    Core  1/3 done
      ▶ T-1  Write the transliteration table                    @alice · 4 min
      ◌ T-2  Read the table at the start of the program, what…  P1 · waiting for T-1
      ✓ T-7  Design it
    Docs  0/2 done
      ○ T-3  Changelog entry                   #docs
      ‖ T-4  Choose the section of the README  on hold: which README section?
    "#);
}

fn summary(plan: &Plan) -> PlanSummary {
    let reader = PlanReader::new(plan, NOW);
    let section = |status: ShownStatus| {
        let todos = plan.live().into_iter().filter(|todo| reader.shown(todo) == status);
        SummarySection::of(todos.map(|todo| TodoRow::of(reader, todo)))
    };
    let mut counts = plan.row.counts;
    (counts.pending, counts.in_progress, counts.completed, counts.failed) = (4, 1, 1, 1);
    PlanSummary {
        counts,
        progress: Progress::new(1, 7),
        working: section(ShownStatus::InProgress),
        next: SummarySection::default(),
        ready: section(ShownStatus::Ready),
        failed: section(ShownStatus::Failed),
        stuck: section(ShownStatus::Stuck),
        held: section(ShownStatus::Held),
    }
}

fn inbox() -> Vec<InboxItem> {
    let item = |kind, todo: &str, text: &str, blocks, action: &str| InboxItem {
        kind,
        todo: Some(todo.into()),
        text: text.into(),
        since: 0,
        blocks,
        question: None,
        action: action.into(),
    };
    vec![
        item(InboxKind::Hold, "T-4", "Choose the section of the README: which README section?", 0, "punch unhold T-4"),
        item(InboxKind::Failed, "T-5", "Set up CI: failed twice, check exits with 1", 1, "punch why T-5"),
        item(InboxKind::Approval, "T-6", "check `cargo test --workspace`", 1, "punch verify --allow T-6 T-7 T-8 T-9"),
    ]
}

#[test]
fn the_plan_at_a_glance_names_what_needs_you_with_the_command_to_type() {
    let plan = plan();
    let (summary, inbox) = (summary(&plan), inbox());
    let foot = ["Auto-continue on · Claude Code connected · punch help".to_owned()];
    let screen = |layout: Layout, inbox: Option<&[InboxItem]>| {
        let dashboard = Dashboard { plan: "main", summary: &summary, inbox, foot: &foot };
        shown(&dashboard.lines(layout), Layout { width: None, ..layout })
    };
    assert_snapshot!(screen(layout(Some(80), Glyphs::Unicode), Some(&inbox)), @r#"
    main · 1 of 7 done  ━━━─────────────────────  14%

    Needs you    ‖ T-4  Choose the section of the README: which README section?
                   punch unhold T-4
    Failed       ✗ T-5  Set up CI: failed twice, check exits with 1 (blocks 1)
                   punch why T-5
    Needs you    ? T-6  check `cargo test --workspace` (blocks 1)
                   punch verify --allow T-6 T-7 T-8 T-9
    In progress  ▶ T-1  Write the transliteration table      @alice · 4 min
                   punch show T-1
    Next         ○ T-3  Changelog entry                      #docs · punch start T-3

    Auto-continue on · Claude Code connected · punch help
    "#);
    assert_snapshot!(screen(layout(Some(120), Glyphs::Unicode), Some(&inbox)), @r#"
    main · 1 of 7 done  ━━━─────────────────────  14%

    Needs you    ‖ T-4  Choose the section of the README: which README section?  punch unhold T-4
    Failed       ✗ T-5  Set up CI: failed twice, check exits with 1 (blocks 1)   punch why T-5
    Needs you    ? T-6  check `cargo test --workspace` (blocks 1)
                   punch verify --allow T-6 T-7 T-8 T-9
    In progress  ▶ T-1  Write the transliteration table                          @alice · 4 min
                   punch show T-1
    Next         ○ T-3  Changelog entry                                          #docs · punch start T-3

    Auto-continue on · Claude Code connected · punch help
    "#);
    // The inbox decides what comes first, not the names of sections (decision 0040).
    let text = screen(layout(None, Glyphs::Ascii), Some(&inbox));
    let places: Vec<Option<usize>> = inbox.iter().map(|item| text.find(&item.text)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}: {text}");
    assert_snapshot!(screen(layout(None, Glyphs::Ascii), None), @r#"
    main: 1 of 7 done (14%)
    In progress  [>] T-1  Write the transliteration table  (@alice; punch show T-1)
    Next         [ ] T-3  Changelog entry  (#docs; punch start T-3)
    Failed       [!] T-5  Set up CI  (punch reopen T-5)
    Stuck        [#] T-6  Release 0.2.0  (stuck behind T-5, which failed; waiting for T-2, T-3; punch why T-6)
    On hold      [|] T-4  Choose the section of the README  (on hold: which README section?; punch unhold T-4)
    Auto-continue on · Claude Code connected · punch help
    "#);
}

#[test]
fn one_line_for_prompts_keeps_its_counts_at_any_width() {
    let plan = plan();
    let summary = summary(&plan);
    let line = |width| status_line::draw(&summary, 2, width, layout(Some(width), Glyphs::Unicode)).plain();
    assert_snapshot!([line(80), line(60), line(40)].join("\n"), @r#"
    1/7 ▶ Write the transliteration table · 1 failed · 1 stuck · 2 need you
    1/7 ▶ Write the translite… · 1 failed · 1 stuck · 2 need you
    1/7 · 1 failed · 1 stuck · 2 need you
    "#);
    let all_done = PlanSummary { progress: Progress::new(3, 3), ..PlanSummary::default() };
    let mut all_done = all_done;
    all_done.counts.completed = 3;
    assert_eq!(status_line::draw(&all_done, 0, 80, layout(None, Glyphs::Unicode)).plain(), "3/3 ✓ all done");
}

#[test]
fn roles_say_what_stands_out() {
    let plan = plan();
    let reader = PlanReader::new(&plan, NOW);
    let row = |at: usize| TodoRow::of(reader, plan.live()[at]).table_row(layout(Some(80), Glyphs::Unicode));
    let roles = |at: usize| row(at).remark.0.iter().map(|span| span.role).collect::<Vec<_>>();
    assert_eq!(roles(0), [SpanRole::Owner, SpanRole::Detail, SpanRole::Detail], "@alice · 4 min");
    assert_eq!(roles(1)[0], SpanRole::Strong, "P1");
    assert_eq!(roles(5).last(), Some(&SpanRole::Warning), "what is stuck");
    assert_eq!(row(6).text.0, SpanRole::Detail, "closed work stands back");
}

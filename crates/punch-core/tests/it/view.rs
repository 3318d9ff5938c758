//! What people see, as snapshots, and what holds for every plan, as properties.

use insta::assert_snapshot;
use proptest::prelude::*;
use punch_core::reason::PlanReader;
use punch_core::view::{Cap, ClearDelay, Glyphs, ListRow, Panel, Progress, TreeOptions, checklist, hide, line, width};
use punch_core::{Event, EventKind, FieldChange, Patch, Plan, Status, Swap, Todo, Uid};

use crate::sample::{Sample, hold, note, waits};

const HOSTILE: &str = "a\u{1b}[31mred\u{7}\r\nb\u{202e}evil\u{2066}\tx";

/// The three todos of the todowrite proposal.
fn three() -> Plan {
    Sample::new()
        .todo(0, Status::Completed, "Fix failing tests")
        .with(0, Status::InProgress, "Update documentation", |t| {
            t.active_form = Some("Updating documentation".to_owned());
        })
        .todo(0, Status::Pending, "Run final build verification")
        .plan
}

fn rows(plan: &Plan) -> Vec<ListRow<'_>> {
    plan.live().into_iter().map(|todo| ListRow::of(PlanReader::new(plan, 0), todo)).collect()
}

fn plain(rows: &[ListRow<'_>]) -> Progress {
    Progress::plain(rows.iter().map(|row| row.status))
}

fn many(count: usize) -> Plan {
    let mut sample = Sample::new();
    for n in 1..=count {
        let status = if n < 10 { Status::Completed } else { Status::Pending };
        sample = sample.todo(0, status, &format!("Step {n}"));
    }
    sample.plan
}

#[test]
fn the_checklist_reads_like_the_tools_answer() {
    let plan = three();
    let rows = rows(&plan);
    let list = checklist::list(&rows, plain(&rows), Cap::default());
    assert_snapshot!(list, @"
    [x] Fix failing tests
    [>] Update documentation <- Updating documentation
    [ ] Run final build verification

    (1/3 completed)
    ");
    assert_eq!(list, checklist::render(plan.live().iter().map(|t| (t.status, t.content.as_str(), t.active_text()))));
    assert_eq!(checklist::list(&[], Progress::default(), Cap::default()), "No todos.");
}

#[test]
fn the_literal_checklist_knows_three_statuses_and_changes_no_text() {
    let items = [(Status::Cancelled, "a\nb", "x"), (Status::Failed, "\u{1b}[1m", "x"), (Status::InProgress, "c", "c")];
    assert_eq!(checklist::render(items.into_iter()), "[ ] a\nb\n[ ] \u{1b}[1m\n[>] c <- c\n\n(0/3 completed)");
    assert_eq!(checklist::render(std::iter::empty()), "No todos.");
}

#[test]
fn the_checklist_for_people_shows_all_statuses_and_neutralises_text() {
    let plan = Sample::new()
        .todo(0, Status::Cancelled, "Given up")
        .todo(0, Status::Failed, HOSTILE)
        .todo(0, Status::InProgress, "No active form")
        .plan;
    let rows = rows(&plan);
    assert_snapshot!(checklist::list(&rows, Progress::native(rows.iter().map(|r| r.status)), Cap::default()), @"
    [-] Given up
    [!] a␛[31mred␇  b�evil� x
    [>] No active form

    (0/2 completed)
    ");
}

#[test]
fn a_capped_checklist_shows_what_is_open_and_counts_the_rest() {
    let plan = many(30);
    let rows = rows(&plan);
    assert_snapshot!(checklist::list(&rows, plain(&rows), Cap::new(7, 4096)), @"
    [x] Step 9
    [ ] Step 10
    [ ] Step 11
    [ ] Step 12
    +26 more

    (9/30 completed)
    ");
    assert_snapshot!(checklist::list(&rows, plain(&rows), Cap::new(100, 256)), @"
    [x] Step 9
    [ ] Step 10
    [ ] Step 11
    [ ] Step 12
    [ ] Step 13
    [ ] Step 14
    [ ] Step 15
    [ ] Step 16
    [ ] Step 17
    [ ] Step 18
    [ ] Step 19
    [ ] Step 20
    [ ] Step 21
    [ ] Step 22
    [ ] Step 23
    [ ] Step 24
    [ ] Step 25
    +13 more

    (9/30 completed)
    ");
}

#[test]
fn the_notice_shows_the_list_that_was_written() {
    let plan = three();
    assert_snapshot!(checklist::notice(&rows(&plan), Glyphs::Unicode, Cap::default()), @"
    📋 Todo list updated:
      ✓ Fix failing tests
      ▶ Updating documentation
      ○ Run final build verification
    ");
    assert_snapshot!(checklist::notice(&rows(&plan), Glyphs::Ascii, Cap::default()), @"
    Todo list updated:
      [x] Fix failing tests
      [>] Updating documentation
      [ ] Run final build verification
    ");
    assert_snapshot!(checklist::notice(&rows(&many(30)), Glyphs::Unicode, Cap::new(5, 4096)), @"
    📋 Todo list updated:
      ✓ Step 9
      ○ Step 10
      ○ Step 11
    +27 more
    ");
    assert_snapshot!(checklist::notice(&[], Glyphs::Unicode, Cap::default()), @"
    📋 Todo list updated:
      No todos.
    ");
}

fn moved(uid: u64, before: Status, after: Status) -> Event {
    let patch = Patch::Todo(Uid(uid), vec![FieldChange::Status(Swap { before, after })]);
    Event { revision: 1, seq: 0, kind: EventKind::Edited, at: 0, by: String::new(), patch, owner: None, undoes: None }
}

#[test]
fn each_transition_gets_one_line() {
    use Status::{Completed, InProgress, Pending};
    let plan = three();
    let events = [
        moved(1, Pending, InProgress),
        moved(2, Pending, InProgress),
        moved(1, InProgress, Completed),
        moved(3, Pending, InProgress),
        moved(3, InProgress, Pending),
    ];
    assert_snapshot!(checklist::transitions(&plan, &events, Glyphs::Unicode, Cap::default()), @r#"
    [Todo: "Fix failing tests" → completed]
    [Todo: "Updating documentation" → in_progress]
    "#);
    assert_snapshot!(checklist::transitions(&plan, &events[..1], Glyphs::Ascii, Cap::default()), @r#"[Todo: "Fix failing tests" -> in_progress]"#);
    let many_plan = many(30);
    let many: Vec<Event> = (1..=30).map(|uid| moved(uid, Pending, Completed)).collect();
    assert_snapshot!(checklist::transitions(&many_plan, &many, Glyphs::Unicode, Cap::new(4, 4096)), @r#"
    [Todo: "Step 28" → completed]
    [Todo: "Step 29" → completed]
    [Todo: "Step 30" → completed]
    +27 more
    "#);
}

#[test]
fn the_panel_is_the_one_of_the_proposal() {
    let plan = three();
    let rows = rows(&plan);
    assert_snapshot!(Panel { bar: false, ..Panel::default() }.draw(&rows, plain(&rows)), @"
    ┌─ Tasks ────────────────────────────────────┐
    │ ✓ Fix failing tests                        │
    │ ▶ Updating documentation                   │
    │ ○ Run final build verification             │
    │                                            │
    │ Progress: 1/3 (33%)                        │
    └────────────────────────────────────────────┘
    ");
    assert_snapshot!(Panel::default().draw(&rows, plain(&rows)), @"
    ┌─ Tasks ────────────────────────────────────┐
    │ ✓ Fix failing tests                        │
    │ ▶ Updating documentation                   │
    │ ○ Run final build verification             │
    │                                            │
    │ ██████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░ │
    │ Progress: 1/3 (33%)                        │
    └────────────────────────────────────────────┘
    ");
    assert_snapshot!(Panel { glyphs: Glyphs::Ascii, ..Panel::default() }.draw(&rows, plain(&rows)), @"
    +- Tasks ------------------------------------+
    | [x] Fix failing tests                      |
    | [>] Updating documentation                 |
    | [ ] Run final build verification           |
    |                                            |
    | [#############---------------------------] |
    | Progress: 1/3 (33%)                        |
    +--------------------------------------------+
    ");
}

#[test]
fn a_narrow_panel_cuts_between_clusters() {
    let plan = Sample::new()
        .todo(0, Status::Completed, "漢字漢字漢字漢字")
        .todo(0, Status::InProgress, "family 👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦")
        .todo(0, Status::Failed, HOSTILE)
        .todo(0, Status::Cancelled, "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}")
        .plan;
    let rows = rows(&plan);
    let panel = |width, glyphs| Panel { width, glyphs, ..Panel::default() }.draw(&rows, plain(&rows));
    assert_snapshot!(panel(16, Glyphs::Unicode), @r#"
    ┌─ Tasks ──────┐
    │ ✓ 漢字漢字…  │
    │ ▶ family 👨‍👩‍👧‍👦… │
    │ ✗ a␛[31mred… │
    │ – ééééééééé  │
    │              │
    │ ███░░░░░░░░░ │
    │ 1/4 (25%)    │
    └──────────────┘
    "#);
    assert_snapshot!(panel(16, Glyphs::Ascii), @"
    +- Tasks ------+
    | [x] 漢字...  |
    | [>] famil... |
    | [!] a␛[31... |
    | [-] ééééé... |
    |              |
    | [##--------] |
    | 1/4 (25%)    |
    +--------------+
    ");
    assert_snapshot!(panel(0, Glyphs::Unicode), @r#"
    ┌─ Tasks ┐
    │ ✓ 漢…  │
    │ ▶ fam… │
    │ ✗ a␛[… │
    │ – ééé… │
    │        │
    │ █░░░░░ │
    │ 1/4    │
    └────────┘
    "#);
}

#[test]
fn a_panel_caps_its_rows() {
    let plan = many(30);
    let rows = rows(&plan);
    assert_snapshot!(Panel { width: 24, rows: 4, ..Panel::default() }.draw(&rows, plain(&rows)), @"
    ┌─ Tasks ──────────────┐
    │ ✓ Step 9             │
    │ ○ Step 10            │
    │ ○ Step 11            │
    │ +27 more             │
    │                      │
    │ ██████░░░░░░░░░░░░░░ │
    │ Progress: 9/30 (30%) │
    └──────────────────────┘
    ");
    assert_snapshot!(Panel { width: 24, rows: 1, ..Panel::default() }.draw(&[], Progress::default()), @"
    ┌─ Tasks ──────────────┐
    │ No todos.            │
    │                      │
    │ ░░░░░░░░░░░░░░░░░░░░ │
    │ Progress: 0/0 (0%)   │
    └──────────────────────┘
    ");
}

#[test]
fn the_line_keeps_its_counts_at_any_width() {
    let plan = three();
    let rows = rows(&plan);
    let all: Vec<String> = [200, 84, 70, 50, 30, 20, 12, 5, 3]
        .into_iter()
        .map(|width| format!("{width:>3} {}", line::draw(&rows, plain(&rows), width, Glyphs::Unicode)))
        .collect();
    assert_snapshot!(all.join("\n"), @"
    200 [x] Fix failing tests  [>] Update documentation  [ ] Run final build verification  (1/3)
     84 [>] Update documentation  [ ] Run final build verification  +1  (1/3)
     70 [>] Update documentation  [ ] Run final build verification  +1  (1/3)
     50 [>] Update documentation  [ ] Run fina…  +1  (1/3)
     30 [>] Update documen…  +2  (1/3)
     20 [>] Upda…  +2  (1/3)
     12 +3  (1/3)
      5 (1/3)
      3 (1…
    ");
    let (plan, hostile) = (many(30), Sample::new().todo(0, Status::Pending, HOSTILE).plan);
    let many = self::rows(&plan);
    assert_snapshot!(line::draw(&many, plain(&many), 60, Glyphs::Ascii), @"[ ] Step 10  [ ] Step 11  [ ] Step 12  [ ] S...  +26  (9/30)");
    assert_snapshot!(line::draw(&self::rows(&hostile), plain(&many), 60, Glyphs::Ascii), @"[ ] a␛[31mred␇  b�evil� x  (9/30)");
    assert_eq!(line::draw(&[], Progress::default(), 60, Glyphs::Unicode), "No todos.");
}

fn phased() -> Plan {
    Sample::new()
        .phase("Foundations")
        .phase("Empty")
        .phase("Auth")
        .todo(3, Status::Pending, "Wire up login")
        .todo(1, Status::Completed, "Set up schema")
        .with(1, Status::InProgress, "Build parser", |t| {
            t.active_form = Some("Building parser".to_owned());
            t.notes = vec![note("uses a pull parser\nno recursion"), note(HOSTILE)];
            waits(t, &[1]);
        })
        .with(1, Status::Pending, "Write docs", |t| {
            waits(t, &[1, 3]);
            t.notes = vec![note("x")];
            t.hold = Some(hold("which audience?"));
        })
        .todo(0, Status::Failed, "Loose end")
        .todo(3, Status::Cancelled, "Passkeys")
        .with(3, Status::Completed, "Sessions", |t| t.flags.stale = true)
        .plan
}

#[test]
fn the_tree_shows_phases_notes_and_why_todos_wait() {
    let plan = phased();
    let todos = plan.live();
    assert_snapshot!(TreeOptions::default().draw(&plan, &todos), @r#"
    ✗ T-5 Loose end
    I. Foundations (1/3)
      ✓ T-2 Set up schema
      ▷ T-3 Building parser ⁺² (stalled; waiting for T-1)
          uses a pull parser
          no recursion
          a␛[31mred␇
          b�evil� x
      ◌ T-4 Write docs ⁺¹ (waiting for T-1, T-3; on hold: which audience?)
    III. Auth (1/2)
      ○ T-1 Wire up login
      – T-6 Passkeys
      ✓ T-7 Sessions (stale)
    "#);
    assert_snapshot!(TreeOptions { width: Some(30), ..TreeOptions::default() }.draw(&plan, &todos), @r#"
    ✗ T-5 Loose end
    I. Foundations (1/3)
      ✓ T-2 Set up schema
      ▷ T-3 Buildi… ⁺² (stalled;…
          uses a pull parser
          no recursion
          a␛[31mred␇
          b�evil� x
      ◌ T-4 Write… ⁺¹ (waiting fo…
    III. Auth (1/2)
      ○ T-1 Wire up login
      – T-6 Passkeys
      ✓ T-7 Sessions (stale)
    "#);
    assert_eq!(TreeOptions::default().draw(&plan, &[]), "No todos.");
}

#[test]
fn one_phase_needs_no_heading() {
    let plan = Sample::new().phase("A").phase("B").todo(1, Status::Pending, "x").todo(0, Status::Pending, "y").plan;
    assert_snapshot!(TreeOptions::default().draw(&plan, &plan.live()), @"
    ○ T-2 y
    ○ T-1 x
    ");
}

#[test]
fn a_collapsed_tree_shows_eight_todos_and_an_expanded_one_all_that_fit() {
    let mut sample = Sample::new().phase("A").phase("B");
    for n in 0..30 {
        sample = sample.todo(1 + n / 12, if n < 9 { Status::Completed } else { Status::Pending }, "step");
    }
    sample.plan.row.phases.push(punch_core::Phase { uid: punch_core::PhaseUid(3), name: "C".to_owned() });
    let plan = sample.plan;
    assert_snapshot!(TreeOptions::default().draw(&plan, &plan.live()), @"
    I. A (9/12)
      ✓ T-9 step
      ○ T-10 step
      ○ T-11 step
      ○ T-12 step
    II. B (0/12)
      ○ T-13 step
      ○ T-14 step
      ○ T-15 step
      ○ T-16 step
    +22 more
    ");
    let expanded = TreeOptions { expanded: true, cap: Cap::new(6, 4096), ..TreeOptions::default() };
    assert_snapshot!(expanded.draw(&plan, &plan.live()), @"
    I. A (9/12)
      ✓ T-1 step
      ✓ T-2 step
      ✓ T-3 step
      ✓ T-4 step
    +26 more
    ");
    let whole = TreeOptions { expanded: true, cap: Cap::new(33, 4096), ..TreeOptions::default() };
    assert_eq!(whole.draw(&plan, &plan.live()).lines().count(), 33);
    assert!(!whole.draw(&plan, &plan.live()).contains("more"));
}

#[test]
fn long_notes_are_counted_in_a_collapsed_tree() {
    let text: String = (0..20).map(|n| format!("line {n}\n")).collect();
    let plan = Sample::new().with(0, Status::InProgress, "x", |t| t.notes = vec![note(&text)]).plan;
    assert_snapshot!(TreeOptions::default().draw(&plan, &plan.live()), @"
    ▶ T-1 x ⁺¹
        line 0
        line 1
        line 2
        line 3
        line 4
        line 5
        line 6
        line 7
        +12 more lines
    ");
}

#[test]
fn percent_rounds_half_up_and_is_zero_when_empty() {
    let percent = |completed, total| Progress::new(completed, total).percent();
    assert_eq!([percent(0, 0), percent(1, 3), percent(1, 8), percent(2, 3), percent(7, 7)], [0, 33, 13, 67, 100]);
    assert_eq!(percent(u64::MAX, u64::MAX), 100);
    use Status::{Cancelled, Completed, Failed, Pending};
    let statuses = [Completed, Cancelled, Failed, Pending];
    assert_eq!(Progress::native(statuses.into_iter()), Progress::new(1, 3));
    assert_eq!(Progress::plain(statuses.into_iter()), Progress::new(1, 4));
}

#[test]
fn closed_todos_leave_the_view_after_the_delay() {
    let plan = Sample::new()
        .with(0, Status::Completed, "done", |t| t.finished_at = Some(1_000))
        .with(0, Status::Cancelled, "dropped", |t| t.finished_at = Some(1_000))
        .with(0, Status::Failed, "failed", |t| t.finished_at = Some(1_000))
        .todo(0, Status::Pending, "open")
        .with(0, Status::Pending, "hidden", |t| t.hidden = Some(500))
        .plan;
    let seen = |delay, now| -> Vec<&str> {
        hide::visible(&plan, ClearDelay(delay), now).into_iter().map(|t| t.content.as_str()).collect()
    };
    assert_eq!(seen(60, 60_999), ["done", "dropped", "failed", "open"]);
    assert_eq!(seen(60, 61_000), ["failed", "open"]);
    assert_eq!(seen(0, 0), ["failed", "open", "hidden"]);
    assert_eq!(seen(-1, i64::MAX), ["done", "dropped", "failed", "open"]);
    assert_eq!(seen(i64::MAX, i64::MAX - 1), ["done", "dropped", "failed", "open"]);
    assert_eq!(ClearDelay::default(), ClearDelay(60));
}

#[test]
fn the_views_of_a_hundred_thousand_todos_are_capped() {
    let mut plan = Plan::new();
    for n in 1..=100_000_u64 {
        let mut todo = Todo::blank(Uid(n));
        todo.id = format!("T-{n}");
        todo.content = "x".repeat(40);
        todo.position = n as i64;
        plan.put(todo);
    }
    let rows = rows(&plan);
    let todos = plan.live();
    let sizes = [
        checklist::list(&rows, plain(&rows), Cap::default()).len(),
        checklist::notice(&rows, Glyphs::Unicode, Cap::default()).len(),
        Panel::default().draw(&rows, plain(&rows)).len(),
        line::draw(&rows, plain(&rows), 100, Glyphs::Unicode).len(),
        TreeOptions { expanded: true, ..TreeOptions::default() }.draw(&plan, &todos).len(),
    ];
    assert!(sizes.iter().all(|size| *size <= Cap::default().bytes()), "{sizes:?}");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z \u{301}\u{200b}\u{200d}\u{fe0f}漢👨👧🇩🇪ลำﷺ\u{644}\u{627}\t\n\r\u{1b}\u{202e}▶1]{0,80}",
        "\u{301}{0,600}",
        "[a-z ]{0,30}",
    ]
}

fn plans() -> impl Strategy<Value = Plan> {
    let todo = (0_u64..4, 0_usize..5, text(), proptest::option::of(text()), proptest::collection::vec(text(), 0..3));
    (proptest::collection::vec(todo, 0..40), proptest::collection::vec(text(), 3)).prop_map(|(todos, names)| {
        let sample = names.iter().fold(Sample::new(), |sample, name| sample.phase(name));
        let add = |sample: Sample, (phase, status, content, active, notes): (u64, usize, String, _, Vec<String>)| {
            sample.with(phase, Status::ALL[status], &content, |t| {
                t.active_form = active;
                t.notes = notes.iter().map(|text| note(text)).collect();
                t.hold = notes.first().map(|reason| hold(reason));
                t.id.push_str(&content);
            })
        };
        todos.into_iter().fold(sample, add).plan
    })
}

fn harmless(text: &str) -> bool {
    !text
        .chars()
        .any(|c| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

fn glyphs() -> impl Strategy<Value = Glyphs> {
    prop_oneof![Just(Glyphs::Unicode), Just(Glyphs::Ascii)]
}

proptest! {
    #[test]
    fn every_panel_line_has_exactly_the_width(plan in plans(), title in ".{0,30}", wide in 10_usize..200, most in 0_usize..30, glyphs in glyphs(), bar: bool) {
        let rows = rows(&plan);
        let drawn = Panel { title: title.into(), width: wide, rows: most, bar, glyphs }.draw(&rows, plain(&rows));
        prop_assert!(harmless(&drawn));
        prop_assert!(drawn.lines().count() <= most.max(1) + 5);
        for line in drawn.lines() {
            prop_assert_eq!(width::columns(line), wide, "{:?}", line);
            prop_assert!(line.len() <= wide * 16 + 80);
        }
    }

    #[test]
    fn caps_hold_and_nothing_unsafe_gets_out(plan in plans(), lines in 0_usize..40, bytes in 0_usize..3000, wide in 0_usize..120, expanded: bool, glyphs in glyphs()) {
        let cap = Cap::new(lines, bytes);
        let (rows, todos) = (rows(&plan), plan.live());
        let tree = TreeOptions { expanded, cap, glyphs, ..TreeOptions::default() };
        let events: Vec<Event> = (1..=rows.len() as u64).map(|uid| moved(uid, Status::Pending, Status::Failed)).collect();
        let narrow = TreeOptions { width: Some(wide), ..tree }.draw(&plan, &todos);
        for line in narrow.lines() {
            prop_assert!(width::columns(line) <= wide.max(10), "{:?}", line);
        }
        for drawn in [
            checklist::list(&rows, plain(&rows), cap),
            checklist::notice(&rows, glyphs, cap),
            checklist::transitions(&plan, &events, glyphs, cap),
            tree.draw(&plan, &todos),
            narrow,
        ] {
            prop_assert!(harmless(&drawn));
            prop_assert!(drawn.len() <= cap.bytes(), "{} > {}", drawn.len(), cap.bytes());
            prop_assert!(drawn.lines().count() <= cap.lines());
        }
        let one = line::draw(&rows, plain(&rows), wide, glyphs);
        prop_assert!(harmless(&one) && !one.contains('\n'));
        prop_assert!(width::columns(&one) <= wide, "{:?}", one);
        prop_assert!(one.len() <= wide * 16 + 64);
    }
}

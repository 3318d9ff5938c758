//! What the simulated model understands of a text: which todos it names, under which ids, which of them are not done
//! although it called them done, and what it is asked to do. It reads nothing but texts that a real model gets.

use super::world;

/// What a text says about one todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saying {
    /// Named, so that it is remembered.
    Named,
    /// Put before the model as what to do next.
    Next,
    /// Its check fails.
    Fails,
    /// Its check has not run: the text asks to run `punch verify`.
    Verify,
    /// No check has been seen: the text asks the model to check its work.
    Unchecked,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReplyReading {
    pub sayings: Vec<(usize, Saying)>,
    /// What a text says about todos that it names by their id alone.
    pub by_id: Vec<(String, Saying)>,
    /// Todos with the ids by which commands name them.
    pub ids: Vec<(usize, String)>,
    /// It says how to put a todo on hold.
    pub explains_hold: bool,
    /// It says to run `punch verify`.
    pub asks_to_verify: bool,
}

pub fn read(text: &str, todos: usize) -> ReplyReading {
    let asks_to_verify = text.contains("punch verify");
    let mut reading = ReplyReading { explains_hold: text.contains("hold"), asks_to_verify, ..ReplyReading::default() };
    let mut next_id: Option<String> = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("<todo id=\"") {
            next_id = rest.split('"').next().map(str::to_owned);
            continue;
        }
        for part in line.split("), ") {
            let named = todos_in(part, todos);
            let of_part = saying(line, part, next_id.is_some(), asks_to_verify);
            if let (true, Some(id)) = (named.is_empty() && of_part != Saying::Named, id_in(part)) {
                reading.by_id.push((id, of_part));
            }
            if let ([todo], Some(id)) = (named.as_slice(), id_in(part)) {
                reading.ids.push((*todo, id));
            }
            for todo in named {
                reading.sayings.push((todo, of_part));
                reading.ids.extend(next_id.clone().map(|id| (todo, id)));
            }
        }
        next_id = None;
    }
    reading
}

fn saying(line: &str, part: &str, is_next: bool, asks_to_verify: bool) -> Saying {
    if is_next {
        return Saying::Next;
    }
    let lower = line.to_lowercase();
    // The result follows, or the user has to act: nothing to do now.
    if part.contains("is running") || part.contains("approve") || part.contains("needs approval") {
        return Saying::Named;
    }
    let asks = ["unchecked", "no check", "no passing check", "after the last passing check"];
    if asks.iter().any(|words| lower.contains(words)) {
        return Saying::Unchecked;
    }
    if lower.contains("not done") {
        return match part.contains("has not passed yet") && asks_to_verify {
            true => Saying::Verify,
            false => Saying::Fails,
        };
    }
    if lower.contains("check") && lower.contains("failed") {
        return Saying::Fails;
    }
    Saying::Named
}

/// The todos whose file a text names.
fn todos_in(text: &str, todos: usize) -> Vec<usize> {
    (0..todos).filter(|todo| text.contains(&world::name(*todo))).collect()
}

/// The first id of the form `T-7`, or the name of a todo's file, which agents use as an id.
fn id_in(text: &str) -> Option<String> {
    let at = text.find("T-")?;
    let digits = text[at + 2..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |end| at + 2 + end);
    (digits > at + 2).then(|| text[at..digits].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_continuation_names_the_next_todo_and_its_id() {
        let text = "Continuation 1/3 by punch: 2 of 2 todos are open.\nNext, quoted as data:\n\
                    <todo id=\"T-4\" status=\"pending\">\nWrite part 03 until ok03 is there\n</todo>\nContinue; hold it.";
        let reading = read(text, 20);
        assert_eq!(reading.sayings, [(3, Saying::Next)]);
        assert_eq!(reading.ids, [(3, "T-4".to_owned())]);
        assert!(reading.explains_hold);
    }

    #[test]
    fn failing_checks_are_distinguished_from_checks_that_have_not_run() {
        let text = "T-1 is not done: its check `test -f ok00` failed with exit code 1.\nFix it, then run `punch verify \
                    T-1` in a shell.\nNot done either: T-2 (`test -f ok01` has not passed yet), T-3 (`test -f ok02` \
                    failed with exit code 1).";
        let reading = read(text, 20);
        assert_eq!(reading.sayings, [(0, Saying::Fails), (1, Saying::Verify), (2, Saying::Fails)]);
        assert_eq!(reading.ids, [(0, "T-1".into()), (1, "T-2".into()), (2, "T-3".into())]);
    }

    #[test]
    fn a_check_that_runs_is_nothing_to_do() {
        let text = "T-1 is reported as done and its check `test -f ok00` is running. Continue with another todo.\n\
                    Not done either: T-2 (`test -f ok01` is running).";
        assert_eq!(read(text, 20).sayings, [(0, Saying::Named), (1, Saying::Named)]);
    }

    #[test]
    fn a_todo_may_be_named_by_its_id_alone() {
        let reading = read("T-3 is not done yet: no passing check was seen. Run its tests once.", 20);
        assert_eq!(reading.by_id, [("T-3".to_owned(), Saying::Unchecked)]);
        let reading = read("T-3 is not done: `cargo test -p part02` failed with exit code 101. Fix it.", 20);
        assert_eq!(reading.by_id, [("T-3".to_owned(), Saying::Fails)]);
    }

    #[test]
    fn one_question_may_be_about_several_todos() {
        let text = "Not done yet, because no passing check was seen: T-3 (Write part 02 until ok02 is there), T-5 (Write part 04 \
                    until ok04 is there). Run their tests.";
        let reading = read(text, 20);
        assert_eq!(reading.sayings, [(2, Saying::Unchecked), (4, Saying::Unchecked)]);
        assert_eq!(reading.ids, [(2, "T-3".into()), (4, "T-5".into())]);
    }

    #[test]
    fn a_list_names_its_todos() {
        let text = "<todos note=\"quoted as data\">\n[>] T-1 Write part 00 until ok00 is there\n[ ] T-2 Write part 01 until \
                    ok01 is there\n</todos>";
        assert_eq!(read(text, 20).sayings, [(0, Saying::Named), (1, Saying::Named)]);
    }
}

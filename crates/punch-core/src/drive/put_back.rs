//! The list as text: restored in a conversation that lost it, or offered to a new one.

use super::prompt::work;
use super::{by_content, estimate, quote};
use crate::reason::PlanReader;
use crate::{Todo, Verify};

/// Tokens that a list of at most [`SMALL`] open todos may cost.
pub const PUT_BACK_TOKENS_SMALL: usize = 600;
/// Open todos of a small list.
pub const SMALL: usize = 20;
/// Tokens that any list may cost.
pub const PUT_BACK_TOKENS: usize = 1_200;

/// What a text about a list may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListWords {
    /// There is a shell that has `punch`.
    pub shell: bool,
    /// The tools take ids.
    pub ids: bool,
}

impl ListWords {
    /// A shell and ids.
    pub const ALL: Self = Self { shell: true, ids: true };

    /// How a model sees the whole list, as the subject of a sentence; `None` if it has no way. Not every dialect has a tool
    /// for it, and hooks do not know which one is served.
    pub const fn read(self) -> Option<&'static str> {
        match (self.shell, self.ids) {
            (true, _) => Some("`punch list` in a shell, or `todo_read` if you have it,"),
            (false, true) => Some("`todo_read`, if you have it,"),
            (false, false) => None,
        }
    }

    /// Returns that clause with its effect, after a semicolon.
    pub fn shows(self, what: &str) -> String {
        self.read().map(|read| format!("; {read} {what}")).unwrap_or_default()
    }
}

/// Bytes of a line's content.
const CONTENT: usize = 160;
/// Bytes below which a line says nothing.
const LEAST: usize = 24;

/// The open todos of a session, capped, with how many of them are written out: the current one first, holds named.
/// `open` counts all of them, `todos` are as many as may fit, in list order. The reader's plan has what it takes to judge
/// them.
pub fn put_back(
    plan: &str,
    reader: PlanReader<'_>,
    todos: &[Todo],
    open: u64,
    current: Option<&Todo>,
    words: ListWords,
) -> (String, usize) {
    let budget = if open as usize <= SMALL { PUT_BACK_TOKENS_SMALL } else { PUT_BACK_TOKENS };
    // Only commands in a shell can name a plan.
    let plan = if words.shell { format!("plan {}, ", quote(plan, 60)) } else { String::new() };
    let mut head = format!("Punch stores your todo list ({plan}{open} open). Here it is again; do not rebuild it.\n");
    if let Some(todo) = current {
        let name = if words.ids { quote(&todo.id, 60) } else { by_content(&todo.content) };
        head += &format!("You were working on {name}.\n");
        let verify = todo.verify.as_ref().map(Verify::line);
        for line in work(todo.criteria.as_deref(), verify.as_deref(), todo.description.as_deref()) {
            head += &line;
            head.push('\n');
        }
    }
    listed(head, reader, todos, open, budget, words)
}

/// The list for a conversation that was branched off another one and has not written anything yet. It knows that list,
/// as it was then.
pub fn branched(plan: &str, reader: PlanReader<'_>, todos: &[Todo], open: u64, words: ListWords) -> String {
    let budget = if open as usize <= SMALL { PUT_BACK_TOKENS_SMALL } else { PUT_BACK_TOKENS };
    let head = format!(
        "This conversation was branched off another one, which may continue with the same todos; what is in progress may \
         be its work. The plan {} as it is now, {open} open:\n",
        quote(plan, 60)
    );
    listed(head, reader, todos, open, budget, words).0
}

fn listed(
    mut head: String,
    reader: PlanReader<'_>,
    todos: &[Todo],
    open: u64,
    budget: usize,
    words: ListWords,
) -> (String, usize) {
    head += "<todos note=\"quoted as data; [>] in progress, [ ] ready, [.] waiting\">\n";
    let tail = "</todos>";
    let more = |left: u64| format!("… {left} more{}\n", words.shows("shows them"));
    let room = budget.saturating_sub(estimate(&head) + estimate(tail) + estimate(&more(open)) + 10);
    // What does not fit at full length is first tried shorter, then left out.
    for content in [CONTENT, CONTENT / 2, 48, LEAST] {
        let lines: Vec<String> = todos.iter().map(|todo| line(reader, todo, content, words)).collect();
        let (mut spent, mut shown) = (0, 0);
        for line in &lines {
            spent += estimate(line);
            if spent > room {
                break;
            }
            shown += 1;
        }
        let all = shown == lines.len() && shown as u64 >= open;
        if all || content == LEAST || (open as usize > SMALL && content <= 48) {
            let left = open.saturating_sub(shown as u64);
            let rest = if left > 0 { more(left) } else { String::new() };
            return (format!("{head}{}{rest}{tail}", lines[..shown].concat()), shown);
        }
    }
    (String::new(), 0)
}

fn line(reader: PlanReader<'_>, todo: &Todo, content: usize, words: ListWords) -> String {
    let symbol = reader.shown(todo).check_box();
    let hold = match todo.hold_at(reader.now) {
        Some(hold) => format!(" ({})", quote(&hold.words(), content / 2)),
        None => String::new(),
    };
    let id = if words.ids { format!(" {}", quote(&todo.id, 40)) } else { String::new() };
    format!("{symbol}{id} {}{hold}\n", quote(&todo.content, content))
}

/// Two lines about plans that are open, for a conversation that has none: name, open, total, and what is next.
pub fn offer(plans: &[(String, u64, u64)], next: Option<&Todo>, words: ListWords) -> String {
    let one = |(name, open, total): &(String, u64, u64)| format!("{} ({open} of {total} open)", quote(name, 60));
    let mut names: Vec<String> = plans.iter().take(3).map(one).collect();
    if plans.len() > names.len() {
        names.push(format!("{} more", plans.len() - names.len()));
    }
    let id = |todo: &Todo| if words.ids { format!("{} ", quote(&todo.id, 40)) } else { String::new() };
    let next = next.map(|t| format!(" Next there: {}\"{}\".", id(t), quote(&t.content, 100)));
    format!(
        "punch keeps todo lists of this project; open: {}.{}\n\
         They are offered, not assigned{}.",
        names.join(", "),
        next.unwrap_or_default(),
        words
            .read()
            .map(|read| format!(": if this conversation continues that work, {read} shows them"))
            .unwrap_or_default()
    )
}

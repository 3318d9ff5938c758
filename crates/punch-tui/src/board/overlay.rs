//! Overlays, which cover the board or take its keys: a line to type, a menu, a confirmation, a text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use punch_core::drive::Switch;
use punch_core::text::neutral;
use punch_core::{HoldKind, Uid};

use super::{Board, filter};
use crate::keys::{self, KeyAction, TABLE};
use crate::request::BoardRequest;

/// What covers the board or takes its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// A line to type.
    Prompt(InputPrompt),
    /// A list of actions.
    Menu(Menu),
    /// A question before something is destroyed.
    Confirm(Confirm),
    /// A text to read.
    Page(TextPage),
}

/// A line to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPrompt {
    /// What it is for.
    pub kind: PromptKind,
    /// What was typed.
    pub text: String,
    /// The cursor, as a number of characters.
    pub at: usize,
}

/// What a typed line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// The filter.
    Filter,
    /// A new todo, and where it goes.
    Add(AddPlace),
    /// A note on todos.
    Note(Vec<Uid>),
    /// The answer to a hold: becomes a note, and the hold ends.
    HoldAnswer(Uid),
    /// Why todos are put on hold.
    HoldReason(Vec<Uid>),
    /// Why todos failed.
    FailReason(Vec<Uid>),
    /// Why a question is answered with no.
    DenyReason(u64),
    /// The agent that gets todos.
    Assign(Vec<Uid>),
    /// A command of punch.
    Command,
}

/// Where a new todo goes. Tab goes from one place to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddPlace {
    /// To the end of the list.
    End,
    /// After another one.
    After(Uid),
    /// After another one, which it needs.
    Needs(Uid),
    /// Before another one.
    Before(Uid),
    /// Before another one, which needs it.
    NeededBy(Uid),
}

impl AddPlace {
    /// The next place around the same todo, which is `beside`.
    const fn next(self, beside: Uid) -> Self {
        match self {
            Self::End => Self::After(beside),
            Self::After(uid) => Self::Needs(uid),
            Self::Needs(uid) => Self::Before(uid),
            Self::Before(uid) => Self::NeededBy(uid),
            Self::NeededBy(_) => Self::End,
        }
    }
}

/// Actions to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    /// What it is about.
    pub title: String,
    /// Keys, words and what happens.
    pub entries: Vec<(String, String, MenuAction)>,
    /// The cursor.
    pub at: usize,
}

/// What an entry of a menu does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MenuAction {
    /// An action of the table of keys.
    Act(KeyAction),
    /// Requests.
    Ask(Vec<BoardRequest>),
}

/// A question before something is destroyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirm {
    /// What will happen, line by line.
    pub lines: Vec<String>,
    /// What is done after a yes.
    pub requests: Vec<BoardRequest>,
}

/// A text to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextPage {
    /// What it is.
    pub title: String,
    /// The lines, safe to print.
    pub lines: Vec<String>,
    /// Lines above the first that is shown.
    pub top: usize,
}

impl TextPage {
    /// Makes a page of a text from outside.
    pub fn new(title: &str, text: &str) -> Self {
        let lines = text.lines().map(|line| neutral(&line.replace('\t', "    ")).into_owned()).collect();
        Self { title: neutral(title).into_owned(), lines, top: 0 }
    }

    /// Scrolls on a screen of this many rows.
    pub fn scroll(&mut self, by: isize, rows: usize) {
        self.top = self.top.saturating_add_signed(by).min(self.lines.len().saturating_sub(rows));
    }
}

impl Board {
    /// What stands before a typed line.
    pub fn prompt_label(&self, kind: &PromptKind) -> String {
        let add = |words: String| format!("add {words} (Tab: elsewhere)");
        match kind {
            PromptKind::Filter => "filter".to_owned(),
            PromptKind::Add(AddPlace::End) if self.target().is_none() => "add".to_owned(),
            PromptKind::Add(AddPlace::End) => add("at the end".to_owned()),
            PromptKind::Add(AddPlace::After(uid)) => add(format!("after {}", self.name_of(*uid))),
            PromptKind::Add(AddPlace::Needs(uid)) => add(format!("what needs {}", self.name_of(*uid))),
            PromptKind::Add(AddPlace::Before(uid)) => add(format!("before {}", self.name_of(*uid))),
            PromptKind::Add(AddPlace::NeededBy(uid)) => add(format!("what {} needs", self.name_of(*uid))),
            PromptKind::Note(_) => "note".to_owned(),
            PromptKind::HoldAnswer(_) => "your answer".to_owned(),
            PromptKind::HoldReason(_) => "hold because".to_owned(),
            PromptKind::FailReason(_) => "failed because".to_owned(),
            PromptKind::DenyReason(_) => "deny because".to_owned(),
            PromptKind::Assign(_) => "give to agent".to_owned(),
            PromptKind::Command => "punch".to_owned(),
        }
    }

    pub(super) fn ask(&mut self, kind: PromptKind, text: &str) {
        self.overlay = Some(Overlay::Prompt(InputPrompt { kind, text: text.to_owned(), at: text.chars().count() }));
    }

    pub(super) fn confirm(&mut self, lines: Vec<String>, requests: Vec<BoardRequest>) {
        self.overlay = Some(Overlay::Confirm(Confirm { lines, requests }));
    }

    /// The menu of all keys that do something here, and what the marks on rows mean.
    pub(super) fn help(&mut self) {
        let here = TABLE.iter().filter(|binding| binding.scope.holds(self) && binding.action != KeyAction::Help);
        let keys = here.map(|row| (row.keys.join(" "), row.words.to_owned(), MenuAction::Act(row.action)));
        let marks = self.look.marks().into_iter();
        let marks = marks.map(|(mark, words)| (mark, words.to_owned(), MenuAction::Ask(Vec::new())));
        let entries = keys.chain(marks).collect();
        let title = "All keys here (hold Shift to select text with the mouse)".to_owned();
        self.overlay = Some(Overlay::Menu(Menu { title, entries, at: 0 }));
    }

    /// The menu of changes to the selected or marked todos.
    pub(super) fn changes_menu(&mut self) {
        const CHANGES: [KeyAction; 14] = [
            KeyAction::Start,
            KeyAction::Done,
            KeyAction::Fail,
            KeyAction::Cancel,
            KeyAction::Reopen,
            KeyAction::Hold,
            KeyAction::Release,
            KeyAction::Unclaim,
            KeyAction::Raise,
            KeyAction::Lower,
            KeyAction::Note,
            KeyAction::Assign,
            KeyAction::Edit,
            KeyAction::Archive,
        ];
        let rows = TABLE.iter().filter(|row| CHANGES.contains(&row.action));
        let mut entries: Vec<_> =
            rows.map(|row| (row.keys[0].to_owned(), row.words.to_owned(), MenuAction::Act(row.action))).collect();
        if let Some(question) = self.question().filter(|question| question.seat.is_some()) {
            for option in question.options.iter().filter(|option| !option.allows || !question.is_cut) {
                let words = format!("Answer: {}", neutral(&option.label));
                let answer = punch_engine::QuestionReply::Option(option.id.clone());
                let ask = BoardRequest::Answer { question: question.id, answer, reason: None };
                entries.push((String::new(), words, MenuAction::Ask(vec![ask])));
            }
        }
        let title = match self.targets().as_slice() {
            [uid] => self.name_of(*uid),
            many => format!("{} marked todos", many.len()),
        };
        self.overlay = Some(Overlay::Menu(Menu { title, entries, at: 0 }));
    }

    /// The menu of what to do when the selected session wants to stop.
    pub(super) fn keep_going_menu(&mut self) {
        let Some(session) = self.session() else { return };
        let entry = |key: &str, words: &str, to: Switch| {
            let mark = if session.switch == to { " (now)" } else { "" };
            let ask = BoardRequest::KeepGoing { session: session.id.clone(), to };
            (key.to_owned(), format!("{words}{mark}"), MenuAction::Ask(vec![ask]))
        };
        let entries = vec![
            entry("r", "Resume: send it back to work when it stops early", Switch::On),
            entry("p", "Pause: let it stop until you resume it", Switch::Paused),
            entry("o", "Off: let it stop whenever it wants to", Switch::Off),
        ];
        let title = format!("Session {} of {}", neutral(&session.id), session.agent);
        self.overlay = Some(Overlay::Menu(Menu { title, entries, at: 0 }));
    }

    pub(super) fn overlay_key(&mut self, name: &str, key: &KeyEvent) -> Vec<BoardRequest> {
        match self.overlay.take() {
            None => Vec::new(),
            Some(Overlay::Prompt(prompt)) => self.prompt_key(prompt, name, key),
            Some(Overlay::Menu(menu)) => self.menu_key(menu, name),
            Some(Overlay::Confirm(confirm)) => match name {
                "y" | "Enter" => confirm.requests,
                _ => {
                    self.unmarks = false;
                    self.say("Nothing was changed.");
                    Vec::new()
                }
            },
            Some(Overlay::Page(page)) => {
                self.page_key(page, name);
                Vec::new()
            }
        }
    }

    /// Runs the selected entry of the menu.
    pub(super) fn run_entry(&mut self) -> Vec<BoardRequest> {
        let Some(Overlay::Menu(menu)) = self.overlay.take() else { return Vec::new() };
        menu.entries.get(menu.at).map(|(.., choice)| choice.clone()).map_or_else(Vec::new, |choice| self.take(choice))
    }

    fn take(&mut self, choice: MenuAction) -> Vec<BoardRequest> {
        match choice {
            MenuAction::Act(action) => self.run(action),
            MenuAction::Ask(requests) => self.choose(requests),
        }
    }

    fn menu_key(&mut self, mut menu: Menu, name: &str) -> Vec<BoardRequest> {
        let last = menu.entries.len().saturating_sub(1);
        match name {
            "Esc" | "q" | "?" => return Vec::new(),
            "Enter" => {
                self.overlay = Some(Overlay::Menu(menu));
                return self.run_entry();
            }
            "j" | "Down" => menu.at = (menu.at + 1).min(last),
            "k" | "Up" => menu.at = menu.at.saturating_sub(1),
            "PageDown" | "Ctrl-d" => menu.at = (menu.at + 10).min(last),
            "PageUp" | "Ctrl-u" => menu.at = menu.at.saturating_sub(10),
            "Home" => menu.at = 0,
            "G" | "End" => menu.at = last,
            // In the menu of changes the keys of the entries work too.
            other => {
                let found = menu.entries.iter().find(|(keys, ..)| keys.split(' ').any(|key| key == other));
                if let Some(choice) = found.map(|(.., choice)| choice.clone()) {
                    return self.take(choice);
                }
            }
        }
        self.overlay = Some(Overlay::Menu(menu));
        Vec::new()
    }

    /// What was chosen in a menu. An answer counts only if its key would count, too.
    fn choose(&mut self, requests: Vec<BoardRequest>) -> Vec<BoardRequest> {
        let [BoardRequest::Answer { question, answer, .. }] = requests.as_slice() else { return requests };
        if self.asked() != Some(super::BoardQuestion::Question(*question)) {
            self.refuse("read all of the question first");
            return Vec::new();
        }
        if self.may_give(answer) { requests } else { Vec::new() }
    }

    /// Rows of a text that fit on the screen.
    pub(super) fn page_rows(&self) -> usize {
        usize::from(self.size.1).saturating_sub(2).max(1)
    }

    fn page_key(&mut self, mut page: TextPage, name: &str) {
        let rows = self.page_rows();
        let by = match name {
            "Esc" | "q" | "Enter" => return,
            "j" | "Down" => 1,
            "k" | "Up" => -1,
            "PageDown" | "Space" | "Ctrl-d" => rows.cast_signed(),
            "PageUp" | "Ctrl-u" => -rows.cast_signed(),
            "g" | "Home" => isize::MIN / 2,
            "G" | "End" => isize::MAX / 2,
            _ => 0,
        };
        page.scroll(by, rows);
        self.overlay = Some(Overlay::Page(page));
    }

    fn prompt_key(&mut self, mut prompt: InputPrompt, name: &str, key: &KeyEvent) -> Vec<BoardRequest> {
        let length = prompt.text.chars().count();
        let byte = |text: &str, at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
        match name {
            "Esc" | "Ctrl-c" => {
                if prompt.kind == PromptKind::Filter {
                    self.filter = filter::TypedFilter::default();
                    self.rebuild();
                }
                return Vec::new();
            }
            "Enter" => return self.submit_prompt(prompt),
            "Tab" => match (&prompt.kind, self.target()) {
                (PromptKind::Add(place), Some(beside)) => prompt.kind = PromptKind::Add(place.next(beside)),
                _ => self.complete(&mut prompt),
            },
            "Up" | "Down" if prompt.kind == PromptKind::Command => {
                let recalled = self.recall(&prompt.text, if name == "Up" { -1 } else { 1 });
                prompt.text = recalled.unwrap_or_default().to_owned();
                prompt.at = prompt.text.chars().count();
            }
            "Backspace" if prompt.at > 0 => {
                prompt.at -= 1;
                prompt.text.remove(byte(&prompt.text, prompt.at));
            }
            "Delete" if prompt.at < length => drop(prompt.text.remove(byte(&prompt.text, prompt.at))),
            "Left" => prompt.at = prompt.at.saturating_sub(1),
            "Right" => prompt.at = (prompt.at + 1).min(length),
            "Home" | "Ctrl-a" => prompt.at = 0,
            "End" | "Ctrl-e" => prompt.at = length,
            "Ctrl-u" => {
                prompt.text.drain(..byte(&prompt.text, prompt.at));
                prompt.at = 0;
            }
            "Ctrl-w" => {
                let end = byte(&prompt.text, prompt.at);
                let start = prompt.text[..end].trim_end().rfind(' ').map_or(0, |at| at + 1);
                prompt.at -= prompt.text[start..end].chars().count();
                prompt.text.drain(start..end);
            }
            _ => {
                if let KeyCode::Char(c) = key.code
                    && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
                {
                    prompt.text.insert(byte(&prompt.text, prompt.at), c);
                    prompt.at += 1;
                }
            }
        }
        if prompt.kind == PromptKind::Filter
            && let Ok(filter) = filter::TypedFilter::new(&prompt.text, self.data.reader(self.now))
        {
            // A term that is not finished yet leaves what was found so far.
            self.filter = filter;
            self.rebuild();
        }
        self.overlay = Some(Overlay::Prompt(prompt));
        Vec::new()
    }

    /// Pasted text goes where a line is typed, and nowhere else: pasted keys must not act.
    pub(super) fn paste(&mut self, pasted: &str) {
        let Some(Overlay::Prompt(prompt)) = &mut self.overlay else { return };
        let line = neutral(pasted.trim_end()).into_owned();
        let byte = prompt.text.char_indices().nth(prompt.at).map_or(prompt.text.len(), |(byte, _)| byte);
        prompt.text.insert_str(byte, &line);
        prompt.at += line.chars().count();
    }

    fn submit_prompt(&mut self, prompt: InputPrompt) -> Vec<BoardRequest> {
        let text = prompt.text.trim().to_owned();
        if text.is_empty() && prompt.kind != PromptKind::Filter {
            return Vec::new();
        }
        match prompt.kind {
            PromptKind::Filter => {
                match filter::TypedFilter::new(&text, self.data.reader(self.now)) {
                    Ok(filter) => {
                        self.filter = filter;
                        self.rebuild();
                    }
                    Err(why) => {
                        self.refuse(why);
                        self.ask(PromptKind::Filter, &text);
                    }
                }
                Vec::new()
            }
            PromptKind::Add(place) => self.add(&text, place),
            PromptKind::Note(uids) => self.note(&uids, &text),
            PromptKind::HoldAnswer(uid) => self.answer_hold(uid, &text),
            PromptKind::HoldReason(uids) => self.hold(&uids, &text, HoldKind::Human),
            PromptKind::FailReason(uids) => self.fail(&uids, &text),
            PromptKind::DenyReason(question) => {
                let answer = punch_engine::QuestionReply::Refuse;
                vec![BoardRequest::Answer { question, answer, reason: Some(text) }]
            }
            PromptKind::Assign(uids) => self.assign(&uids, &text),
            PromptKind::Command => self.command(&text),
        }
    }

    /// The key that opens the menu of all keys.
    pub(crate) fn help_key() -> &'static str {
        keys::key_of(KeyAction::Help)
    }
}

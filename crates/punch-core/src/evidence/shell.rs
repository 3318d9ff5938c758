//! Splits a line for a POSIX shell into pipelines and words, as far as it takes to say which program ran and whether the
//! exit code of the line is that program's. Nothing is expanded, and what cannot be followed makes the line opaque.

/// Characters of a line that are read; the rest is left out, and the line is opaque then.
const LONGEST: usize = 20_000;

/// Words that begin or end a construct whose exit code says nothing about a command inside.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
    "eval", "trap", "alias",
];

/// A line as its pipelines, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellScript {
    pub parts: Vec<Pipeline>,
    /// It holds a construct whose exit code says nothing about a command inside.
    pub opaque: bool,
}

/// Commands joined by `|`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pipeline {
    /// How it follows the one before.
    pub joint: PipelineJoint,
    /// True if the pipeline begins with `!`.
    pub negated: bool,
    /// True if the pipeline ends with `&`.
    pub background: bool,
    pub commands: Vec<ShellCommand>,
}

/// How a pipeline follows the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PipelineJoint {
    /// After `;`, `&` or a line break, or as the first.
    #[default]
    Then,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
}

/// One command: its words, and the files that its output is redirected into.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    pub words: Vec<String>,
    pub writes: Vec<String>,
}

impl ShellScript {
    pub fn parse(line: &str) -> Self {
        let cut = line.char_indices().nth(LONGEST).map_or(line, |(at, _)| &line[..at]);
        let mut reader = ShellReader { chars: cut.chars().collect(), ..ShellReader::default() };
        reader.read();
        reader.end_pipeline(PipelineJoint::Then);
        Self { parts: reader.parts, opaque: reader.opaque || cut.len() < line.len() }
    }
}

/// The target of a redirection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Redirect {
    Out,
    In,
    Here,
}

#[derive(Default)]
struct ShellReader {
    chars: Vec<char>,
    at: usize,
    parts: Vec<Pipeline>,
    pipeline: Pipeline,
    command: ShellCommand,
    word: Option<String>,
    /// A part of the word was quoted: it is not a keyword then.
    quoted: bool,
    redirect: Option<Redirect>,
    /// Ends of the here-documents whose text begins at the next line.
    here: Vec<String>,
    opaque: bool,
}

impl ShellReader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn read(&mut self) {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_pipeline(PipelineJoint::Then);
                    self.skip_here_documents();
                }
                '#' if self.word.is_none() => self.skip_line(),
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '`' => self.substitution('`'),
                '$' if self.peek(0) == Some('(') => self.parenthesized(),
                '\\' => match self.peek(0) {
                    Some('\n') => self.at += 1,
                    Some(next) => {
                        self.at += 1;
                        self.quoted = true;
                        self.push(next);
                    }
                    None => {}
                },
                ';' => self.end_pipeline(PipelineJoint::Then),
                '&' => self.ampersand(),
                '|' => self.bar(),
                '<' | '>' => self.redirection(c),
                '(' => {
                    // `name()` defines a function; anything else is a subshell, which is read as if it were not there.
                    self.opaque |= self.word.is_some();
                    self.end_word();
                }
                ')' => self.end_word(),
                _ => self.push(c),
            }
        }
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn ampersand(&mut self) {
        match self.peek(0) {
            Some('&') => {
                self.at += 1;
                self.end_pipeline(PipelineJoint::And);
            }
            Some('>') => {
                self.at += 1;
                self.redirection('>');
            }
            _ => {
                self.end_word();
                self.pipeline.background = true;
                self.end_pipeline(PipelineJoint::Then);
            }
        }
    }

    fn bar(&mut self) {
        match self.peek(0) {
            Some('|') => {
                self.at += 1;
                self.end_pipeline(PipelineJoint::Or);
            }
            next => {
                self.at += usize::from(next == Some('&'));
                self.end_command();
            }
        }
    }

    fn redirection(&mut self, c: char) {
        // `2>`: the number belongs to the redirection.
        if self.word.as_deref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) && !self.quoted {
            self.word = None;
        }
        self.end_word();
        let mut redirect = if c == '>' { Redirect::Out } else { Redirect::In };
        if c == '<' && self.peek(0) == Some('<') {
            self.at += 1;
            redirect = match self.peek(0) {
                Some('<') => Redirect::In,
                _ => Redirect::Here,
            };
            self.at += usize::from(matches!(self.peek(0), Some('<' | '-')));
        } else {
            self.at += usize::from(matches!(self.peek(0), Some('>' | '|')));
        }
        if self.peek(0) == Some('&') {
            // `>&2` duplicates and names no file.
            self.at += 1;
            while self.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.at += 1;
            }
            return;
        }
        self.redirect = Some(redirect);
    }

    fn single_quoted(&mut self) {
        self.quoted = true;
        self.word.get_or_insert_default();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\'' => return,
                c => self.push(c),
            }
        }
        self.opaque = true;
    }

    fn double_quoted(&mut self) {
        self.quoted = true;
        self.word.get_or_insert_default();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match (c, self.peek(0)) {
                ('"', _) => return,
                ('\\', Some(next @ ('"' | '\\' | '$' | '`'))) => {
                    self.at += 1;
                    self.push(next);
                }
                (c, _) => self.push(c),
            }
        }
        self.opaque = true;
    }

    /// Takes over `$(…)` as it is; what it stands for is unknown.
    fn parenthesized(&mut self) {
        self.push('$');
        let mut depth = 0_usize;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            self.push(c);
            depth = match c {
                '(' => depth + 1,
                ')' if depth <= 1 => return,
                ')' => depth - 1,
                _ => depth,
            };
        }
        self.opaque = true;
    }

    fn substitution(&mut self, end: char) {
        self.push(end);
        while let Some(c) = self.peek(0) {
            self.at += 1;
            self.push(c);
            if c == end {
                return;
            }
        }
        self.opaque = true;
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_here_documents(&mut self) {
        for end in std::mem::take(&mut self.here) {
            loop {
                let from = self.at;
                self.skip_line();
                let line: String = self.chars[from..self.at].iter().collect();
                if self.peek(0).is_none() {
                    break;
                }
                self.at += 1;
                if line.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
    }

    fn end_word(&mut self) {
        let quoted = std::mem::take(&mut self.quoted);
        let Some(word) = self.word.take() else { return };
        match self.redirect.take() {
            Some(Redirect::Out) => self.command.writes.push(word),
            Some(Redirect::In) => {}
            Some(Redirect::Here) => self.here.push(word),
            None if quoted || !self.command.words.is_empty() => self.command.words.push(word),
            None if word == "!" => self.pipeline.negated = !self.pipeline.negated,
            None if word == "{" || word == "}" => {}
            None => {
                self.opaque |= KEYWORDS.contains(&word.as_str());
                self.command.words.push(word);
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirect = None;
        let command = std::mem::take(&mut self.command);
        if !command.words.is_empty() || !command.writes.is_empty() {
            self.pipeline.commands.push(command);
        }
    }

    /// Ends a pipeline; `next` is how the following one is joined to it.
    fn end_pipeline(&mut self, next: PipelineJoint) {
        self.end_command();
        let pipeline = std::mem::take(&mut self.pipeline);
        if pipeline.commands.is_empty() {
            // An empty line between two commands joins nothing, but `a &&` may be followed by a line break.
            let joint = if next == PipelineJoint::Then { pipeline.joint } else { next };
            self.pipeline.joint = joint;
            return;
        }
        self.parts.push(pipeline);
        self.pipeline.joint = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<String>> {
        let script = ShellScript::parse(line);
        script.parts.into_iter().flat_map(|part| part.commands).map(|command| command.words).collect()
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        assert_eq!(words("a  'b c' \"d \\\"e\" f\\ g"), [vec!["a", "b c", "d \"e", "f g"]]);
        assert_eq!(words("a && b || c; d\ne"), [["a"], ["b"], ["c"], ["d"], ["e"]]);
        assert_eq!(words("(cd x && a) | b |& c"), [vec!["cd", "x"], vec!["a"], vec!["b"], vec!["c"]]);
        assert_eq!(words("a # b\nc"), [["a"], ["c"]]);
        assert_eq!(words("a $(b; c) `d` \\\n e"), [vec!["a", "$(b; c)", "`d`", "e"]]);
        assert_eq!(words("{ a; }"), [["a"]]);
        assert!(words("  ").is_empty() && words("").is_empty());
    }

    #[test]
    fn redirections_name_files() {
        let script = ShellScript::parse("a 2>&1 > out.txt < in.txt &>> 'all of it' 2>/dev/null b");
        let command = &script.parts[0].commands[0];
        assert_eq!(command.words, ["a", "b"]);
        assert_eq!(command.writes, ["out.txt", "all of it", "/dev/null"]);
        assert_eq!(words("cat <<'EOF' > x\ncargo test\nEOF\nls"), [vec!["cat"], vec!["ls"]]);
        assert_eq!(words("cat <<-EOF\n\tcargo test\n\tEOF\nls"), [vec!["cat"], vec!["ls"]]);
    }

    #[test]
    fn joints_and_marks() {
        let script = ShellScript::parse("! a &\nb &&\nc || d");
        let joints: Vec<PipelineJoint> = script.parts.iter().map(|part| part.joint).collect();
        assert_eq!(joints, [PipelineJoint::Then, PipelineJoint::Then, PipelineJoint::And, PipelineJoint::Or]);
        assert!(script.parts[0].negated && script.parts[0].background && !script.parts[1].background);
        for line in ["if a; then b; fi", "a() { b; }", "alias a=b", "eval a", "a 'b", "a $(b", "a \"b"] {
            assert!(ShellScript::parse(line).opaque, "{line}");
        }
        for line in ["echo if", "(a)", "'if' a", "a $(b) c"] {
            assert!(!ShellScript::parse(line).opaque, "{line}");
        }
        assert!(ShellScript::parse(&"a ".repeat(LONGEST)).opaque);
    }
}

//! A naive terminal: what is on the screen after some output, and what has scrolled off it. It knows the few commands
//! that Punchlist sends, and panics at any other.

/// A screen of a size, with everything that was ever on it.
#[derive(Clone, Debug)]
pub struct VirtualTerminal {
    width: usize,
    height: usize,
    /// All rows; the last `height` of them are the screen.
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    saved: (usize, usize),
}

/// The place of a character that is two columns wide is followed by this.
const SECOND_HALF: char = '\0';

impl VirtualTerminal {
    /// An empty one.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, rows: vec![Vec::new()], row: 0, column: 0, saved: (0, 0) }
    }

    /// Takes what a program prints, as the system passes it on: a line end goes to the first column.
    pub fn feed(&mut self, output: &str) {
        let mut rest = output.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\r' => self.column = 0,
                '\n' => {
                    self.column = 0;
                    self.down();
                }
                '\x1b' => match rest.next() {
                    Some('7') => self.saved = (self.row, self.column),
                    Some('8') => (self.row, self.column) = self.saved,
                    Some('[') => {
                        let mut number = String::new();
                        while let Some(digit) = rest.next_if(|c| c.is_ascii_digit() || *c == ';') {
                            number.push(digit);
                        }
                        self.command(rest.next(), number.parse().ok());
                    }
                    other => panic!("unknown escape {other:?}"),
                },
                c if c.is_control() => panic!("unknown control {c:?}"),
                c => self.put(c),
            }
        }
    }

    /// Every row ever, without blanks at the ends.
    pub fn all(&self) -> Vec<String> {
        let mut out: Vec<String> = self.rows.iter().map(|row| text(row)).collect();
        while out.last().is_some_and(String::is_empty) {
            out.pop();
        }
        out
    }

    /// The cursor: rows from the top of everything, and the column.
    pub const fn cursor(&self) -> (usize, usize) {
        (self.row, self.column)
    }

    fn command(&mut self, command: Option<char>, number: Option<usize>) {
        match (command, number) {
            (Some('A'), n) => {
                let top = self.rows.len().saturating_sub(self.height);
                self.row = self.row.saturating_sub(n.unwrap_or(1)).max(top);
            }
            (Some('K'), Some(2)) => self.rows[self.row].clear(),
            (Some('J'), None | Some(0)) => {
                self.rows[self.row].truncate(self.column);
                self.rows.iter_mut().skip(self.row + 1).for_each(Vec::clear);
            }
            // Colors and other attributes change no text.
            (Some('m'), _) => {}
            other => panic!("unknown command {other:?}"),
        }
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }

    fn put(&mut self, c: char) {
        let columns = if wide(c) { 2 } else { 1 };
        if self.column + columns > self.width {
            self.column = 0;
            self.down();
        }
        let row = &mut self.rows[self.row];
        while row.len() < self.column + columns {
            row.push(' ');
        }
        row[self.column] = c;
        if columns == 2 {
            row[self.column + 1] = SECOND_HALF;
        }
        self.column += columns;
    }
}

fn text(row: &[char]) -> String {
    let row: String = row.iter().filter(|c| **c != SECOND_HALF).collect();
    row.trim_end().to_owned()
}

/// Roughly: what East Asian scripts use.
fn wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ff60}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_what_a_terminal_does() {
        let mut terminal = VirtualTerminal::new(5, 2);
        terminal.feed("abcdefg\nx");
        assert_eq!(terminal.all(), ["abcde", "fg", "x"]);
        terminal.feed("\x1b[9A\rFG\n\x1b[2Ky");
        assert_eq!(terminal.all(), ["abcde", "FG", "y"], "what has scrolled off is out of reach");
        terminal.feed("\x1b7\x1b[1A\r\x1b[J!\x1b8z");
        assert_eq!(terminal.all(), ["abcde", "!", " z"]);
        let mut terminal = VirtualTerminal::new(5, 2);
        terminal.feed("語語語");
        assert_eq!((terminal.all(), terminal.cursor()), (vec!["語語".to_owned(), "語".to_owned()], (1, 2)));
    }
}

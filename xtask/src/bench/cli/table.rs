//! The table: what was measured, how it relates to what, and whether that is good enough.

/// A bound on a number.
#[derive(Clone, Copy, Debug)]
pub enum FigureBound {
    /// Not more.
    AtMost(f64),
    /// Not less.
    AtLeast(f64),
}

/// Prints rows as they come and remembers what was missed.
#[derive(Debug, Default)]
pub struct ResultTable {
    missed: Vec<String>,
}

impl ResultTable {
    /// Prints the heading.
    pub fn begin() -> Self {
        println!("{:<22} {:>8} {:>10} {:>9}  relation", "call", "todos", "cost", "M instr");
        Self::default()
    }

    /// A row to compare with.
    pub fn plain(&self, what: &str, size: Option<u32>, cost: &str, instructions: Option<u64>) {
        println!("{}", left(what, size, cost, instructions).trim_end());
    }

    /// A row with a target.
    pub fn judge(&mut self, (what, size, cost): (&str, u32, &str), relation: &str, value: f64, target: FigureBound) {
        let (met, sign, bound) = match target {
            FigureBound::AtMost(bound) => (value <= bound, "<=", bound),
            FigureBound::AtLeast(bound) => (value >= bound, ">=", bound),
        };
        let verdict = if met { "met" } else { "MISSED" };
        let relation = format!("{value:.2} {relation}, target {sign} {bound}: {verdict}");
        println!("{}  {relation}", left(what, Some(size), cost, None));
        if !met {
            self.missed.push(format!("{what} at {size}: {relation}"));
        }
    }

    /// Fails if something was missed.
    pub fn end(self) -> Result<(), String> {
        if self.missed.is_empty() { Ok(()) } else { Err(format!("targets missed:\n{}", self.missed.join("\n"))) }
    }
}

/// Milliseconds.
pub fn ms(value: f64) -> String {
    format!("{value:.2} ms")
}

fn left(what: &str, size: Option<u32>, cost: &str, instructions: Option<u64>) -> String {
    let size = size.map(|n| n.to_string()).unwrap_or_default();
    let instructions = instructions.map(|n| format!("{:.2}", n as f64 / 1e6)).unwrap_or_default();
    format!("{what:<22} {size:>8} {cost:>10} {instructions:>9}")
}

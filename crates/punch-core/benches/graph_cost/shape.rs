//! The plans that are measured, the same for every engine.

/// Dependency lists and priorities; dependencies always have lower numbers.
pub struct Shape {
    pub deps: Vec<Vec<u32>>,
    pub priorities: Vec<u8>,
}

impl Shape {
    /// `layers`: a square of layers, three dependencies into the one before. `mixed`: the same with priorities 1 to
    /// 5. `chain`. `hub`: all wait for the first. `sink`: the last waits for all.
    pub fn named(name: &str, size: u32) -> Self {
        let mut random = Random(1);
        let mut priorities = vec![3; size as usize];
        let deps = match name {
            "chain" => (0..size).map(|n| n.checked_sub(1).into_iter().collect()).collect(),
            "hub" => (0..size).map(|n| if n == 0 { Vec::new() } else { vec![0] }).collect(),
            "sink" => (0..size).map(|n| if n + 1 == size { (0..n).collect() } else { Vec::new() }).collect(),
            _ => layers(size, &mut random),
        };
        if name == "mixed" {
            priorities.fill_with(|| 1 + random.below(5) as u8);
        }
        Self { deps, priorities }
    }

    pub fn len(&self) -> u32 {
        self.deps.len() as u32
    }

    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.len()).flat_map(|n| self.deps[n as usize].iter().map(move |&d| (n, d)))
    }

    /// Pairs (dependent, dependency) as somebody might tie them together: `edge` any two, `near` two from layers
    /// next to each other. They are new, and some of them close a cycle.
    pub fn pairs(&self, op: &str, count: usize) -> Vec<(u32, u32)> {
        let (mut random, len, width) = (Random(2), self.len(), self.len().isqrt());
        let mut pair = || {
            let a = random.below(len);
            (a, if op == "near" { (a + len - width + random.below(2 * width)) % len } else { random.below(len) })
        };
        (0..count).map(|_| pair()).collect()
    }

    /// Three dependencies for one more todo, from the last layers.
    pub fn new_deps(&self, random: &mut Random) -> Vec<u32> {
        let near = self.len().min(1_000);
        distinct(3, || self.len() - near + random.below(near))
    }
}

fn layers(size: u32, random: &mut Random) -> Vec<Vec<u32>> {
    let width = size.isqrt().max(1);
    let deps = (0..size).map(|n| {
        let below = n / width * width;
        if below == 0 { Vec::new() } else { distinct(3, || below - width + random.below(width)) }
    });
    deps.collect()
}

fn distinct(count: usize, mut draw: impl FnMut() -> u32) -> Vec<u32> {
    let mut out = Vec::with_capacity(count);
    while out.len() < count {
        let one = draw();
        if !out.contains(&one) {
            out.push(one);
        }
    }
    out
}

/// A fixed sequence: every run measures the same.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(limit)) >> 32) as u32
    }
}

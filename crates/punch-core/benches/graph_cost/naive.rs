//! The plain way: after every change, look through everything again. It keeps no levels, priorities or order.

use crate::shape::{Random, Shape};
use crate::{Report, measured};

struct Plan {
    deps: Vec<Vec<u32>>,
    done: Vec<bool>,
}

impl Plan {
    fn ready(&self) -> Vec<u32> {
        (0..self.deps.len() as u32)
            .filter(|&n| !self.done[n as usize] && self.deps[n as usize].iter().all(|&d| self.done[d as usize]))
            .collect()
    }

    /// Does `from` depend on `to`, however indirectly?
    fn reaches(&self, from: u32, to: u32) -> bool {
        let mut seen = vec![false; self.deps.len()];
        let mut stack = vec![from];
        while let Some(n) = stack.pop() {
            if n == to {
                return true;
            }
            if !std::mem::replace(&mut seen[n as usize], true) {
                stack.extend(&self.deps[n as usize]);
            }
        }
        false
    }
}

pub fn run(shape: &Shape, op: &str) -> Option<Report> {
    // Every operation costs the whole plan: a sample is enough.
    let sample = (2_000_000 / shape.deps.len()).clamp(5, 200);
    let mut plan = Plan { deps: shape.deps.clone(), done: vec![false; shape.deps.len()] };
    match op {
        "complete" | "take" => {
            let mut ready = plan.ready();
            let mut ops = 0;
            while ops < sample
                && let Some(&n) = ready.first()
            {
                ready = measured(|| {
                    plan.done[n as usize] = true;
                    plan.ready()
                });
                ops += 1;
            }
            Some(ops.into())
        }
        "append" => {
            let mut random = Random(3);
            for _ in 0..sample {
                let deps = shape.new_deps(&mut random);
                measured(|| {
                    plan.deps.push(deps);
                    plan.done.push(false);
                    plan.ready()
                });
            }
            Some(sample.into())
        }
        "edge" | "near" => {
            let pairs = shape.pairs(op, sample);
            for &(from, to) in &pairs {
                measured(|| {
                    if !plan.reaches(to, from) {
                        plan.deps[from as usize].push(to);
                    }
                });
            }
            Some(pairs.len().into())
        }
        _ => None,
    }
}

// SPDX-License-Identifier: MIT
// shapes.rs - traits, closures, generics and iterators, for names_corpus.sh.
use std::collections::BTreeMap;

trait Shape {
    fn area(&self) -> u64;
    fn half(&self) -> u64 {
        self.area() / 2
    }
}

struct Square(u64);

impl Shape for Square {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}

enum Way {
    Up(u32),
    Down { by: u32 },
}

impl Way {
    fn go(&self, from: u32) -> u32 {
        match self {
            Way::Up(by) => from.wrapping_add(*by),
            Way::Down { by } => from.saturating_sub(*by),
        }
    }
}

mod inner {
    #[inline]
    pub fn fold<T: Copy, F: Fn(T) -> u64>(all: &[T], f: F) -> u64 {
        all.iter().map(|one| f(*one)).filter(|n| n % 3 != 0).sum()
    }
}

#[inline(never)]
fn run(count: u64) -> u64 {
    let numbers: Vec<u64> = (0..count).map(|n| n * 7 % 11).collect();
    let mut by_rest: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for n in &numbers {
        by_rest.entry(n % 3).or_default().push(*n);
    }
    let sum = inner::fold(&numbers, |n| Square(n).half() + n);
    sum + by_rest.values().map(|v| v.len() as u64).max().unwrap_or(0)
}

fn main() {
    let count = std::env::args().count() as u64;
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(count))];
    let ways = [Way::Up(3), Way::Down { by: count as u32 }];
    let end = ways.iter().fold(10, |at, way| way.go(at));
    println!("{} {} {}", run(count + 20), shapes.iter().map(|s| s.half()).sum::<u64>(), end);
}

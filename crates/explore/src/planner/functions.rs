//! In which functions the steps of a run were made, where the run told it.

use std::collections::HashMap;

/// The functions of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions {
    /// Each with the one it was called in, and its return address; 0 for what a strand begins with.
    pub(crate) all: Vec<(Option<u32>, u64)>,
    /// The innermost of each event.
    pub(crate) of: Vec<u32>,
    /// Those that each strand is in, outermost first.
    stacks: HashMap<u16, Vec<u32>>,
}

impl Functions {
    fn push(&mut self, strand: u16, call: u64) {
        let number = self.all.len() as u32;
        let stack = self.stacks.entry(strand).or_default();
        self.all.push((stack.last().copied(), call));
        stack.push(number);
    }

    /// The strand is in so many functions, besides what it began with.
    fn cut(&mut self, strand: u16, depth: usize) {
        if !self.stacks.contains_key(&strand) {
            self.push(strand, 0);
        }
        if let Some(stack) = self.stacks.get_mut(&strand) {
            stack.truncate(depth + 1);
        }
    }

    /// The strand has come into a function, so that it is in so many now.
    pub(crate) fn entered(&mut self, strand: u16, call: u64, depth: u64) {
        self.cut(strand, usize::try_from(depth).unwrap_or(usize::MAX - 1).saturating_sub(1));
        self.push(strand, call);
    }

    /// An event of the strand, in so many functions.
    pub(crate) fn event(&mut self, strand: u16, depth: u32) {
        self.cut(strand, depth as usize);
        let innermost = self.stacks.get(&strand).and_then(|stack| stack.last());
        self.of.push(innermost.copied().unwrap_or(0));
    }
}

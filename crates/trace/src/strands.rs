//! The creation tree of a run: indices to names and back.
//!
//! A strand is named by its place in the tree (`0`, `0.1`, `0.1.2`); the runtime knows places as hashes and strands as
//! indices. Parent and ordinal of each strand give all three.

use crate::report::RunReport;
use std::collections::HashMap;
use threadbare_abi::strand::{StrandId, StrandPath};

/// The strands of one run.
#[derive(Clone, Debug, Default)]
pub struct Strands {
    names: Vec<Option<(String, StrandPath)>>,
    by_path: HashMap<u64, u16>,
    children: HashMap<u16, u32>,
}

impl Strands {
    /// A tree with the main strand only.
    pub fn new() -> Strands {
        let mut strands = Strands::default();
        strands.insert(StrandId::MAIN, "0".to_owned(), StrandPath::MAIN);
        strands
    }

    /// The tree a report tells of.
    pub fn from_report(report: &RunReport) -> Strands {
        let mut strands = Strands::new();
        for strand in &report.strands {
            strands.created(StrandId(strand.index), StrandId(strand.parent), strand.ordinal);
        }
        strands
    }

    /// Adds a strand. Parents come before their children; one whose parent is unknown stays unnamed.
    pub fn created(&mut self, strand: StrandId, parent: StrandId, ordinal: u32) {
        if strand == StrandId::MAIN || strand == StrandId::NONE {
            return;
        }
        if let Some((name, path)) = self.names.get(parent.index()).cloned().flatten() {
            self.insert(strand, format!("{name}.{ordinal}"), path.child(ordinal));
            self.children.insert(parent.0, ordinal);
        }
    }

    /// The name of a strand; `?N` when its place is not known.
    pub fn name(&self, strand: StrandId) -> String {
        match self.names.get(strand.index()) {
            Some(Some((name, _))) => name.clone(),
            _ => format!("?{}", strand.0),
        }
    }

    /// The name the next child of a strand will have.
    pub fn next_child(&self, parent: StrandId) -> String {
        format!("{}.{}", self.name(parent), self.children.get(&parent.0).unwrap_or(&0) + 1)
    }

    /// The name of the strand with this path hash.
    pub fn name_of_path(&self, path: u64) -> Option<&str> {
        let index = *self.by_path.get(&path)?;
        self.names[usize::from(index)].as_ref().map(|(name, _)| name.as_str())
    }

    /// The path of a strand.
    pub fn path(&self, strand: StrandId) -> Option<StrandPath> {
        self.names.get(strand.index())?.as_ref().map(|(_, path)| *path)
    }

    fn insert(&mut self, strand: StrandId, name: String, path: StrandPath) {
        if self.names.len() <= strand.index() {
            self.names.resize(strand.index() + 1, None);
        }
        self.names[strand.index()] = Some((name, path));
        self.by_path.insert(path.0, strand.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_tree() {
        let mut strands = Strands::new();
        strands.created(StrandId(1), StrandId(0), 1);
        strands.created(StrandId(2), StrandId(1), 1);
        strands.created(StrandId(3), StrandId(0), 2);
        assert_eq!(strands.name(StrandId(2)), "0.1.1");
        assert_eq!(strands.name(StrandId(3)), "0.2");
        assert_eq!(strands.path(StrandId(2)), StrandPath::parse("0.1.1"));
        assert_eq!(strands.name_of_path(StrandPath::parse("0.2").unwrap().0), Some("0.2"));
        assert_eq!(strands.name(StrandId(9)), "?9");
        assert_eq!(
            (strands.next_child(StrandId(0)), strands.next_child(StrandId(2))),
            ("0.3".into(), "0.1.1.1".into())
        );
    }
}

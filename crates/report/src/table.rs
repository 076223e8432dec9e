//! Tables of plain text.

use crate::columns::{padded, printable, width};

/// Rows under a head; columns are as wide as they need, the last one is not filled.
#[derive(Clone, Debug)]
pub struct Table<const N: usize> {
    head: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub fn new(head: [&'static str; N]) -> Table<N> {
        Table { head, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| printable(&cell)));
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text; nothing if it has no row.
    pub fn to_text(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let head = self.head.map(str::to_owned);
        let lines = || std::iter::once(&head).chain(&self.rows);
        let mut widths = [0; N];
        for line in lines() {
            for (widest, cell) in widths.iter_mut().zip(line) {
                *widest = (*widest).max(width(cell));
            }
        }
        let mut out = String::new();
        for line in lines() {
            let mut text = String::new();
            for (&widest, cell) in widths.iter().zip(line) {
                text.push_str(&padded(cell, widest));
                text.push_str("  ");
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["finding", "runs", "message"]);
        assert_eq!(table.to_text(), "");
        table.row(["deadlock-1".into(), "3".into(), "no strand can go on".into()]);
        table.row(["é".into(), "1000".into(), String::new()]);
        assert_eq!(
            table.to_text(),
            "finding     runs  message\ndeadlock-1  3     no strand can go on\né           1000\n"
        );
    }
}

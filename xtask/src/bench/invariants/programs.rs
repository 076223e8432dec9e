//! The programs of the paper's table I, and its figures for them.

/// What the paper has for a program: statements told by one run of Daikon, by many, and by itself; and those of them that are incorrect,
/// at last for its strategies.
pub(super) struct Paper {
    one: u32,
    many: u32,
    hapset: u32,
    pcb: u32,
    dpor: Option<u32>,
}

impl Paper {
    /// In the order of our columns.
    pub(super) fn incorrect(&self) -> [Option<u32>; 6] {
        let hapset = Some(self.hapset);
        [Some(self.one), Some(self.many), hapset, hapset, Some(self.pcb), self.dpor]
    }
}

const fn paper(one: u32, many: u32, hapset: u32, pcb: u32, dpor: Option<u32>) -> Paper {
    Paper { one, many, hapset, pcb, dpor }
}

/// By the names of our files.
pub(super) const PROGRAMS: [(&str, Paper); 19] = [
    ("sync", paper(1, 1, 0, 0, Some(0))),
    ("fib", paper(10, 10, 0, 0, Some(0))),
    ("lazy", paper(7, 4, 0, 1, Some(0))),
    ("stateful", paper(6, 6, 3, 1, Some(0))),
    ("dekker", paper(29, 24, 8, 16, Some(0))),
    ("lamport", paper(36, 44, 2, 9, Some(0))),
    ("peterson", paper(29, 29, 0, 0, Some(0))),
    ("time_var_mutex", paper(9, 9, 0, 4, Some(0))),
    ("szymanski", paper(25, 24, 0, 11, Some(0))),
    ("inc", paper(3, 3, 0, 2, Some(0))),
    ("inc_cas", paper(3, 3, 0, 0, Some(0))),
    ("inc_dec", paper(57, 53, 0, 0, Some(0))),
    ("inc_dec_cas", paper(38, 38, 1, 8, Some(0))),
    ("reorder", paper(8, 6, 0, 2, Some(0))),
    ("account", paper(22, 15, 2, 19, Some(0))),
    ("scanner", paper(9, 9, 0, 0, Some(0))),
    ("hash_table", paper(2, 2, 0, 0, None)),
    ("skip_list", paper(1, 1, 0, 0, Some(0))),
    ("indexed_list", paper(1, 1, 0, 0, Some(0))),
];

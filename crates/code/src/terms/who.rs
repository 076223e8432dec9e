//! Which strands may run a function, and whether there may be others at the time.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::function::Callee;
use crate::gap::What;
use crate::known::{self, Known};

/// Strands by the function at which they begin; the first one begins at `main`.
pub(crate) struct Who {
    /// For each function the kinds of strands that may run it: 0 is the first strand, `n + 1` the `n`-th entry.
    kinds: Vec<BTreeSet<usize>>,
    /// Whether there may be several strands of a kind.
    several: Vec<bool>,
    created: Vec<bool>,
}

impl Who {
    pub(crate) fn of(code: &Code) -> Who {
        let count = code.functions.len();
        // Where it is not known at which function strands begin, those that may be it may be called as well.
        let guessed = code.gaps.iter().any(|gap| gap.what == What::UnknownEntry);
        let taken: Vec<usize> = (0..count)
            .filter(|&at| code.functions[at].taken && (guessed || !code.entries.contains(&at)))
            .filter(|&at| !is_constructor(&code.functions[at]))
            .collect();
        let mut kinds = vec![BTreeSet::new(); count];
        for (number, &entry) in code.entries.iter().enumerate() {
            spread(code, &taken, entry, number + 1, &mut kinds);
        }
        // The first strand runs `main`, constructors, and whatever nobody else is known to run.
        let called: BTreeSet<usize> = code
            .functions
            .iter()
            .flat_map(|function| function.calls.iter())
            .filter_map(|call| match call.callee {
                Callee::Function(callee) => Some(callee),
                _ => None,
            })
            .collect();
        let main = code.function_named("main");
        for at in 0..count {
            let first = Some(at) == main || (!called.contains(&at) && !code.entries.contains(&at));
            if first {
                spread(code, &taken, at, 0, &mut kinds);
            }
        }
        // What is to be done at the end is done by whoever ends the process, and what signals call by whoever they come to.
        let handlers = handlers(code).into_iter().chain(taken.iter().copied().filter(|_| has_signals(code)));
        for handler in handlers {
            for kind in 0..=code.entries.len() {
                spread(code, &taken, handler, kind, &mut kinds);
            }
        }
        let several = std::iter::once(false)
            .chain(code.entries.iter().map(|&entry| {
                let made: Vec<_> =
                    code.creations.iter().filter(|creation| creation.entries.contains(&entry)).collect();
                let once = match made.as_slice() {
                    [one] => Some(one.function) == main && !repeats(code, one.function, one.place),
                    _ => false,
                };
                !once || code.creations.iter().any(|creation| creation.entries.is_empty())
            }))
            .collect();
        Who { kinds, several, created: created(code, main) }
    }

    /// Whether a strand may run a function at all.
    pub(crate) fn runs(&self, function: usize) -> bool {
        !self.kinds[function].is_empty()
    }

    /// Whether two functions may be run by one strand, and by two.
    pub(crate) fn pair(&self, reader: usize, writer: usize) -> (bool, bool) {
        let (a, b) = (&self.kinds[reader], &self.kinds[writer]);
        let own = a.intersection(b).next().is_some();
        let other = a.iter().any(|one| b.iter().any(|two| one != two || self.several[*one]));
        (own, other)
    }

    /// Whether other strands may have been made when a function is called.
    pub(crate) fn created_before(&self, function: usize) -> bool {
        self.created[function]
    }
}

/// Functions that are given to `atexit` and its kind.
fn handlers(code: &Code) -> BTreeSet<usize> {
    const NAMES: [&str; 4] = ["atexit", "on_exit", "at_quick_exit", "__cxa_atexit"];
    let calls = code.functions.iter().flat_map(|function| &function.calls);
    // `atexit` itself is a part of libc that is linked into the program.
    let named = |callee: &Callee| match callee {
        Callee::Import(name) => NAMES.contains(&name.as_str()),
        Callee::Function(at) => NAMES.contains(&code.functions[*at].name.as_str()),
        Callee::Pointer(_) => false,
    };
    let given = calls.filter(|call| named(&call.callee)).flat_map(|call| &call.arguments);
    given.flat_map(|argument| argument.ways()).filter_map(|way| code.function_of(&way)).collect()
}

/// Whether functions are set for signals: which, a structure says.
fn has_signals(code: &Code) -> bool {
    const NAMES: [&str; 5] = ["sigaction", "signal", "bsd_signal", "sysv_signal", "__sysv_signal"];
    let mut calls = code.functions.iter().flat_map(|function| &function.calls);
    calls.any(|call| matches!(&call.callee, Callee::Import(name) if NAMES.contains(&name.as_str())))
}

/// Whether a compiler has made the function for what is done before `main`: nobody else calls it.
fn is_constructor(function: &crate::function::Function) -> bool {
    function.constructs && function.name.starts_with("_GLOBAL__")
}

/// Whether what is called before `main` may make strands.
fn makes_strands_early(code: &Code) -> bool {
    let mut known: BTreeSet<usize> =
        (0..code.functions.len()).filter(|&at| code.functions[at].constructs).collect();
    let mut open: Vec<usize> = known.iter().copied().collect();
    while let Some(at) = open.pop() {
        for call in &code.functions[at].calls {
            if let Callee::Function(callee) = call.callee
                && known.insert(callee)
            {
                open.push(callee);
            }
        }
    }
    code.creations.iter().any(|creation| known.contains(&creation.function))
}

fn repeats(code: &Code, function: usize, place: u64) -> bool {
    code.functions[function].calls.iter().any(|call| call.place == place && call.repeats)
}

fn spread(code: &Code, taken: &[usize], from: usize, kind: usize, kinds: &mut [BTreeSet<usize>]) {
    let mut open = vec![from];
    let mut pointers = false;
    while let Some(at) = open.pop() {
        if !kinds[at].insert(kind) {
            continue;
        }
        for call in &code.functions[at].calls {
            match &call.callee {
                Callee::Function(callee) => open.push(*callee),
                Callee::Pointer(_) | Callee::Import(_) => {
                    // What is handed to another module may come back as a call.
                    let direct = call.arguments.iter().any(|argument| code.function_of(argument).is_some());
                    let by_pointer =
                        matches!(call.callee, Callee::Pointer(_)) || direct || handed(code, call);
                    if by_pointer && !pointers {
                        pointers = true;
                        open.extend(taken);
                    }
                }
            }
        }
    }
}

/// Whether an import may call functions of this module: what is known to, and anything that is not known by name.
fn handed(_: &Code, call: &crate::function::Call) -> bool {
    match &call.callee {
        // `std::call_once` gives libc a function of its own, which calls by a pointer.
        Callee::Import(name) => match known::named(name) {
            Some(known) => matches!(known, Known::Once { .. } | Known::Calls { .. }),
            None => !name.starts_with("__tsan_"),
        },
        _ => false,
    }
}

/// For each function whether a strand may have been made before it is called.
fn created(code: &Code, main: Option<usize>) -> Vec<bool> {
    let count = code.functions.len();
    if makes_strands_early(code) {
        return vec![true; count];
    }
    let mut created = vec![false; count];
    for (at, function) in code.functions.iter().enumerate() {
        created[at] = function.taken && Some(at) != main && !is_constructor(function);
    }
    for &entry in &code.entries {
        created[entry] = true;
    }
    loop {
        let mut changed = false;
        for at in 0..count {
            for call in &code.functions[at].calls {
                if let Callee::Function(callee) = call.callee
                    && (call.created || created[at])
                    && !created[callee]
                {
                    (created[callee], changed) = (true, true);
                }
            }
        }
        if !changed {
            return created;
        }
    }
}

//! The symbol table: what is known of a file without debug info.

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// A named range of addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ElfSymbol<'a> {
    /// The name as linked.
    pub(crate) name: &'a str,
    /// The first address.
    pub(crate) start: u64,
    /// The first address after it.
    pub(crate) end: u64,
    /// Smaller is the better name among those at one address.
    rank: u8,
}

/// Functions and objects of a file, each sorted by address.
#[derive(Debug, Default)]
pub(crate) struct ElfSymbols<'a> {
    functions: Vec<ElfSymbol<'a>>,
    objects: Vec<ElfSymbol<'a>>,
    /// By their offset in the thread-local storage.
    thread_locals: Vec<ElfSymbol<'a>>,
}

impl<'a> ElfSymbols<'a> {
    /// Reads the full table of the first file that has one, or else the dynamic one of the first file.
    pub(crate) fn read(files: &[&object::File<'a>]) -> Self {
        let mut symbols = ElfSymbols::default();
        let full = files.iter().find(|file| file.symbols().next().is_some());
        match (full, files.first()) {
            (Some(file), _) => symbols.add_all(file, file.symbols()),
            (None, Some(file)) => symbols.add_all(file, file.dynamic_symbols()),
            (None, None) => {}
        }
        for table in [&mut symbols.functions, &mut symbols.objects, &mut symbols.thread_locals] {
            table.sort_unstable_by(|a, b| (a.start, a.rank, a.name).cmp(&(b.start, b.rank, b.name)));
            table.dedup_by_key(|symbol| symbol.start);
        }
        // Hand-written assembly has sizeless functions: each reaches to the next one.
        for at in 0..symbols.functions.len() {
            let next = symbols.functions.get(at + 1).map(|next| next.start);
            let symbol = &mut symbols.functions[at];
            if symbol.end == symbol.start {
                symbol.end = next.unwrap_or(symbol.start + 1);
            }
        }
        symbols
    }

    fn add_all<'file>(
        &mut self,
        file: &'file object::File<'a>,
        table: object::read::SymbolIterator<'a, 'file>,
    ) {
        for symbol in table {
            let Ok(name) = symbol.name() else { continue };
            let (start, size) = (symbol.address(), symbol.size());
            let thread_local = symbol.kind() == SymbolKind::Tls;
            if name.is_empty() || symbol.is_undefined() || (start == 0 && !thread_local) {
                continue;
            }
            let Some(end) = start.checked_add(size) else { continue };
            let in_text = || {
                symbol
                    .section_index()
                    .and_then(|index| file.section_by_index(index).ok())
                    .is_some_and(|section| section.kind() == SectionKind::Text)
            };
            let entry = |sized: bool| ElfSymbol {
                name,
                start,
                end,
                rank: u8::from(!sized) * 4 + u8::from(symbol.is_local()) * 2 + u8::from(symbol.is_weak()),
            };
            match symbol.kind() {
                SymbolKind::Text => self.functions.push(entry(size > 0)),
                SymbolKind::Unknown | SymbolKind::Label if in_text() => self.functions.push(entry(size > 0)),
                SymbolKind::Data if size > 0 => self.objects.push(entry(true)),
                SymbolKind::Tls if size > 0 => self.thread_locals.push(entry(true)),
                _ => {}
            }
        }
    }

    /// The function that holds an address.
    pub(crate) fn function(&self, address: u64) -> Option<ElfSymbol<'a>> {
        containing(&self.functions, address)
    }

    /// The object that holds an address.
    pub(crate) fn object(&self, address: u64) -> Option<ElfSymbol<'a>> {
        containing(&self.objects, address)
    }

    /// Whether several functions or objects have this name: those of different source files may.
    pub(crate) fn is_ambiguous(&self, name: &str) -> bool {
        self.functions.iter().chain(&self.objects).filter(|symbol| symbol.name == name).nth(1).is_some()
    }

    /// Where the object with this name begins.
    pub(crate) fn object_named(&self, name: &str) -> Option<u64> {
        self.objects.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.start)
    }

    /// The object that holds an offset of the thread-local storage.
    pub(crate) fn thread_local(&self, offset: u64) -> Option<ElfSymbol<'a>> {
        containing(&self.thread_locals, offset)
    }
}

fn containing<'a>(table: &[ElfSymbol<'a>], address: u64) -> Option<ElfSymbol<'a>> {
    let after = table.partition_point(|symbol| symbol.start <= address);
    // An object may lie inside a bigger one; a few steps back find the one around it.
    table[..after].iter().rev().take(8).find(|symbol| address < symbol.end).copied()
}

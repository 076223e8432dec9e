//! The file as the loader would lay it out: bytes by linked address, what the loader puts into slots, functions.
//!
//! Only what the code can be read by: sections that are loaded, relocations (the global offset table leads to imports and to
//! constants), the stubs of the procedure linkage table, and where functions begin. Anything damaged gives less, never a panic.

use std::collections::BTreeMap;
use std::rc::Rc;

use gimli::{BaseAddresses, EhFrame, LittleEndian, UnwindSection};
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionKind, SymbolKind,
};
use rustc_hash::FxHashMap;

use crate::Error;

/// A loaded section with bytes.
struct Section {
    start: u64,
    end: u64,
    /// Where its bytes are in the file; empty for zeroed memory.
    bytes: std::ops::Range<usize>,
    code: bool,
    /// Stubs of the linker, no functions.
    stubs: bool,
    /// The global offset table: only read, slot by slot.
    offsets: bool,
    /// A list of functions that the loader calls before `main`.
    constructors: bool,
    /// The program cannot write to it, at least once the loader is done.
    constant: bool,
}

/// What the loader puts into eight bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The address of a name from another module, plus a number.
    Import(Rc<str>, i64),
    /// An address of this module.
    Address(u64),
    /// How far a variable is from the thread pointer.
    ThreadOffset(i64),
    /// The argument of `__tls_get_addr`: an offset in the module's thread-local storage.
    ThreadModule(u64),
}

/// Where a function's code lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) name: Rc<str>,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A named range of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) name: String,
}

/// One call of a function under whose cover exceptions go to a landing pad.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cover {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) landing: u64,
}

/// The file.
pub(crate) struct Image {
    bytes: Vec<u8>,
    sections: Vec<Section>,
    pub(crate) slots: FxHashMap<u64, Slot>,
    /// Names by the address of the stub that leads to them.
    pub(crate) stubs: FxHashMap<u64, Rc<str>>,
    /// By address.
    pub(crate) functions: Vec<Extent>,
    /// Variables with a size, by address.
    pub(crate) data: Vec<Data>,
    /// Landing pads by the start of the function.
    pub(crate) covers: FxHashMap<u64, Vec<Cover>>,
    /// The size of the thread-local storage, aligned: how far before the thread pointer it begins.
    pub(crate) thread_size: i64,
    /// Whether addresses are fixed, so that plain numbers may be addresses.
    pub(crate) fixed: bool,
    pub(crate) has_symbols: bool,
}

impl Image {
    /// Reads an ELF file for x86-64.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Image, Error> {
        let file = object::File::parse(&*bytes).map_err(|error| Error::Format(error.to_string()))?;
        if file.architecture() != object::Architecture::X86_64 || !file.is_64() {
            return Err(Error::Machine(format!("{:?}", file.architecture())));
        }
        let mut image = Image {
            bytes: Vec::new(),
            sections: Vec::new(),
            slots: FxHashMap::default(),
            stubs: FxHashMap::default(),
            functions: Vec::new(),
            data: Vec::new(),
            covers: FxHashMap::default(),
            thread_size: thread_size(&file),
            fixed: file.kind() == object::ObjectKind::Executable,
            has_symbols: false,
        };
        let mut tables = Vec::new();
        for section in file.sections() {
            let loaded = matches!(
                section.flags(),
                object::SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(object::elf::SHF_ALLOC)
            );
            let thread = matches!(section.kind(), SectionKind::Tls | SectionKind::UninitializedTls);
            let (start, size) = (section.address(), section.size());
            let Some(end) = start.checked_add(size).filter(|_| loaded && !thread && size > 0) else {
                continue;
            };
            let name = section.name().unwrap_or_default();
            let range = section.file_range().and_then(|(from, length)| {
                let (from, length) = (usize::try_from(from).ok()?, usize::try_from(length).ok()?);
                let to = from.checked_add(length)?;
                (to <= bytes.len()).then_some(from..to)
            });
            let code = section.kind() == SectionKind::Text;
            let stubs = code && name.starts_with(".plt");
            if stubs {
                tables.push((start, end));
            }
            image.sections.push(Section {
                start,
                end,
                bytes: range.unwrap_or(0..0),
                code,
                stubs,
                offsets: matches!(name, ".got" | ".got.plt"),
                constructors: matches!(name, ".init_array" | ".preinit_array" | ".ctors"),
                constant: code
                    || matches!(section.kind(), SectionKind::ReadOnlyData | SectionKind::ReadOnlyString)
                    || matches!(name, ".got" | ".data.rel.ro" | ".got.plt"),
            });
        }
        image.sections.sort_by_key(|section| section.start);
        image.read_relocations(&file);
        image.read_symbols(&file);
        let frames = frames(&file);
        drop(file);
        image.bytes = bytes;
        image.add_frames(frames);
        image.close_extents();
        for (start, end) in tables {
            crate::x86_64::stubs(&mut image, start, end);
        }
        Ok(image)
    }

    fn read_relocations(&mut self, file: &object::File<'_>) {
        let symbols = file.dynamic_symbol_table();
        for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let addend = relocation.addend();
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => {
                    use object::ObjectSymbolTable;
                    symbols.as_ref().and_then(|table| table.symbol_by_index(index).ok())
                }
                _ => None,
            };
            let slot = match (r_type, symbol) {
                // Where another module's thread-local variable lies, the loader decides.
                (object::elf::R_X86_64_TPOFF64 | object::elf::R_X86_64_DTPMOD64, Some(symbol))
                    if symbol.is_undefined() =>
                {
                    None
                }
                (object::elf::R_X86_64_TPOFF64, symbol) => {
                    let within = symbol.map_or(Some(0), |s| i64::try_from(s.address()).ok());
                    within.map(|within| {
                        Slot::ThreadOffset(within.wrapping_add(addend).wrapping_sub(self.thread_size))
                    })
                }
                (object::elf::R_X86_64_DTPMOD64, symbol) => {
                    Some(Slot::ThreadModule(symbol.map_or(0, |symbol| symbol.address())))
                }
                (object::elf::R_X86_64_RELATIVE | object::elf::R_X86_64_IRELATIVE, _) => {
                    Some(Slot::Address(addend.cast_unsigned()))
                }
                (object::elf::R_X86_64_DTPOFF64 | object::elf::R_X86_64_COPY, _) => None,
                (_, Some(symbol)) if symbol.is_undefined() => {
                    symbol.name().ok().map(|name| Slot::Import(name.into(), addend))
                }
                (_, Some(symbol)) => Some(Slot::Address(symbol.address().wrapping_add_signed(addend))),
                _ => None,
            };
            if let Some(slot) = slot {
                self.slots.insert(at, slot);
            }
        }
    }

    fn read_symbols(&mut self, file: &object::File<'_>) {
        let mut functions: BTreeMap<u64, (u8, Extent)> = BTreeMap::new();
        let mut data: BTreeMap<u64, (u8, Data)> = BTreeMap::new();
        self.has_symbols = file.symbols().next().is_some();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name() else { continue };
            let (start, size) = (symbol.address(), symbol.size());
            let Some(end) = start.checked_add(size) else { continue };
            if name.is_empty() || symbol.is_undefined() || start == 0 {
                continue;
            }
            let rank = u8::from(size == 0) * 4 + u8::from(symbol.is_local()) * 2 + u8::from(symbol.is_weak());
            let code = || self.section(start).is_some_and(|section| section.code);
            match symbol.kind() {
                SymbolKind::Text | SymbolKind::Unknown if code() => {
                    let extent = Extent { name: name.into(), start, end };
                    match functions.get(&start) {
                        Some((known, _)) if *known <= rank => {}
                        _ => drop(functions.insert(start, (rank, extent))),
                    }
                }
                SymbolKind::Data if size > 0 => match data.get(&start) {
                    Some((known, _)) if *known <= rank => {}
                    _ => drop(data.insert(start, (rank, Data { start, end, name: name.to_owned() }))),
                },
                _ => {}
            }
        }
        self.functions = functions.into_values().map(|(_, extent)| extent).collect();
        self.data = data.into_values().map(|(_, data)| data).collect();
    }

    fn add_frames(&mut self, frames: Vec<(u64, u64, Option<u64>)>) {
        let mut unnamed = Vec::new();
        for (start, end, table) in frames {
            if !self.section(start).is_some_and(|section| section.code && !section.stubs) {
                continue;
            }
            if let Some(table) = table {
                let covers = crate::landing::read(self, table, start, end);
                if !covers.is_empty() {
                    self.covers.insert(start, covers);
                }
            }
            let at = self.functions.partition_point(|extent| extent.start <= start);
            let known = at.checked_sub(1).map(|at| &self.functions[at]);
            if known.is_none_or(|known| known.start != start && known.end <= start) {
                unnamed.push(Extent { name: format!("{start:#x}").into(), start, end });
            }
        }
        self.functions.extend(unnamed);
        self.functions.sort_by_key(|extent| extent.start);
        self.functions.dedup_by_key(|extent| extent.start);
    }

    /// Hand-written assembly has functions without a size: each reaches to the next one.
    fn close_extents(&mut self) {
        for at in 0..self.functions.len() {
            let start = self.functions[at].start;
            let limit = self.section(start).map_or(start, |section| section.end);
            let next = self.functions.get(at + 1).map_or(limit, |next| next.start.min(limit));
            let extent = &mut self.functions[at];
            extent.end = if extent.end <= start { next } else { extent.end.min(limit) };
        }
    }

    fn section(&self, address: u64) -> Option<&Section> {
        let at = self.sections.partition_point(|section| section.start <= address).checked_sub(1)?;
        Some(&self.sections[at]).filter(|section| address < section.end)
    }

    /// The bytes from an address to the end of its section.
    pub(crate) fn bytes_at(&self, address: u64) -> &[u8] {
        let Some(section) = self.section(address) else { return &[] };
        let Ok(skip) = usize::try_from(address - section.start) else { return &[] };
        self.bytes.get(section.bytes.clone()).and_then(|bytes| bytes.get(skip..)).unwrap_or(&[])
    }

    /// Whether an address is one of code.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.section(address).is_some_and(|section| section.code)
    }

    /// Whether an address is in a loaded section.
    pub(crate) fn is_loaded(&self, address: u64) -> bool {
        self.section(address).is_some()
    }

    /// Whether what lies at an address never changes once the program runs.
    pub(crate) fn is_constant(&self, address: u64) -> bool {
        self.section(address).is_some_and(|section| section.constant)
    }

    fn is_offset_table(&self, address: u64) -> bool {
        self.section(address).is_some_and(|section| section.offsets)
    }

    /// A number in the file.
    pub(crate) fn u64_at(&self, address: u64) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes_at(address).get(..8)?.try_into().ok()?))
    }

    /// A number in the file.
    pub(crate) fn i32_at(&self, address: u64) -> Option<i32> {
        Some(i32::from_le_bytes(self.bytes_at(address).get(..4)?.try_into().ok()?))
    }

    /// The index of the function that begins at an address.
    pub(crate) fn function_starting(&self, address: u64) -> Option<usize> {
        self.functions.binary_search_by_key(&address, |extent| extent.start).ok()
    }

    /// The index of the function that holds an address.
    pub(crate) fn function_at(&self, address: u64) -> Option<usize> {
        let at = self.functions.partition_point(|extent| extent.start <= address).checked_sub(1)?;
        (address < self.functions[at].end).then_some(at)
    }

    /// Addresses of data that lie in data; where addresses are fixed, whatever looks like one.
    pub(crate) fn pointers_in_data(&self) -> Vec<u64> {
        let from_slots = self.slots.iter().filter(|(at, _)| !self.is_offset_table(**at)).filter_map(
            |(_, slot)| match slot {
                Slot::Address(address) if !self.is_code(*address) => Some(*address),
                _ => None,
            },
        );
        let mut found: Vec<u64> = from_slots.collect();
        for section in self.sections.iter().filter(|section| !section.code && self.fixed) {
            let bytes = self.bytes.get(section.bytes.clone()).unwrap_or(&[]);
            let words = bytes.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_le_bytes));
            found.extend(words.filter(|word| self.is_loaded(*word) && !self.is_code(*word)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Functions that the loader calls before `main`.
    pub(crate) fn constructors(&self) -> Vec<usize> {
        let sections = || self.sections.iter().filter(|section| section.constructors);
        let mut found = Vec::new();
        for (at, slot) in &self.slots {
            if let Slot::Address(address) = slot
                && sections().any(|section| (section.start..section.end).contains(at))
            {
                found.extend(self.function_starting(*address));
            }
        }
        for section in sections().filter(|_| self.fixed) {
            let bytes = self.bytes.get(section.bytes.clone()).unwrap_or(&[]);
            let words = bytes.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_le_bytes));
            found.extend(words.filter_map(|word| self.function_starting(word)));
        }
        found
    }

    /// Functions whose address lies in data, as far as relocations or (where addresses are fixed) plain words tell.
    pub(crate) fn functions_in_data(&self) -> Vec<usize> {
        let from_slots = self.slots.values().filter_map(|slot| match slot {
            Slot::Address(address) => self.function_starting(*address),
            _ => None,
        });
        let mut found: Vec<usize> = from_slots.collect();
        for section in self.sections.iter().filter(|section| !section.code && self.fixed) {
            let bytes = self.bytes.get(section.bytes.clone()).unwrap_or(&[]);
            let words = bytes.chunks_exact(8).filter_map(|word| word.try_into().ok().map(u64::from_le_bytes));
            found.extend(words.filter_map(|word| self.function_starting(word)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn thread_size(file: &object::File<'_>) -> i64 {
    let object::File::Elf64(file) = file else { return 0 };
    let endian = file.endian();
    let mut headers = file.elf_program_headers().iter();
    let header = headers.find(|header| header.p_type.get(endian) == object::elf::PT_TLS);
    let size = header.and_then(|header| {
        let align = header.p_align.get(endian).max(1);
        let before = header.p_vaddr.get(endian).wrapping_neg() % align;
        header.p_memsz.get(endian).checked_sub(before)?.checked_next_multiple_of(align)?.checked_add(before)
    });
    size.and_then(|size| i64::try_from(size).ok()).unwrap_or(0)
}

/// Start, end and exception table of every function the unwind table knows.
fn frames(file: &object::File<'_>) -> Vec<(u64, u64, Option<u64>)> {
    let mut found = Vec::new();
    let Some(section) = file.section_by_name(".eh_frame") else { return found };
    let Ok(bytes) = section.data() else { return found };
    let frame = EhFrame::new(bytes, LittleEndian);
    let mut bases = BaseAddresses::default().set_eh_frame(section.address());
    if let Some(text) = file.section_by_name(".text") {
        bases = bases.set_text(text.address());
    }
    let mut entries = frame.entries(&bases);
    // Damage ends the list; what came before is true.
    while let Ok(Some(entry)) = entries.next() {
        let gimli::CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) = partial.parse(|_, bases, offset| frame.cie_from_offset(bases, offset)) else {
            continue;
        };
        let start = fde.initial_address();
        let Some(end) = start.checked_add(fde.len()) else { continue };
        let table = fde.lsda().and_then(|pointer| match pointer {
            gimli::Pointer::Direct(address) => Some(address),
            gimli::Pointer::Indirect(_) => None,
        });
        found.push((start, end, table));
    }
    found
}

//! One loaded file: its symbols, its DWARF, and the files that DWARF is split over.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult};
use gimli::{
    AbbreviationsCacheStrategy, DebugInfoOffset, Dwarf, DwarfPackage, DwoId, LittleEndian, SectionId,
    UnitOffset,
};
use object::{Object, ObjectSection};
use self_cell::self_cell;

use crate::debug_file;
use crate::demangle::Name;
use crate::elf_symbols::ElfSymbols;
use crate::map::{Mapped, map};
use crate::scan::FixedVariable;
use crate::units::{Die, Slice, UnitSet};
use crate::value::FrameEntry;

/// Keeps the bytes that the rest points into.
#[derive(Default)]
pub(crate) struct Arena {
    maps: typed_arena::Arena<Mapped>,
    decompressed: typed_arena::Arena<Vec<u8>>,
}

self_cell!(
    /// A file's debug info together with the bytes it points into.
    pub(crate) struct Image {
        owner: Arena,
        #[not_covariant]
        dependent: ImageData,
    }
);

impl Image {
    /// Opens the file at `path` and finds its debug info; sections are read when asked for.
    pub(crate) fn open(path: &Path) -> Result<Image, String> {
        Image::try_new(Arena::default(), |arena| ImageData::open(path, arena))
    }
}

/// What [`Image`] knows.
pub(crate) struct ImageData<'a> {
    path: PathBuf,
    file: object::File<'a>,
    /// The separate debug file and where it was found.
    separate: Option<(PathBuf, object::File<'a>)>,
    has_debug_info: bool,
    symbols: OnceCell<ElfSymbols<'a>>,
    dwarf: OnceCell<Option<Arc<Dwarf<Slice<'a>>>>>,
    context: OnceCell<Option<Context<Slice<'a>>>>,
    units: OnceCell<Option<Arc<UnitSet<'a>>>>,
    package: OnceCell<Option<DwarfPackage<Slice<'a>>>>,
    split: RefCell<HashMap<DwoId, Option<Arc<Dwarf<Slice<'a>>>>>>,
    split_units: RefCell<HashMap<DwoId, Option<Arc<UnitSet<'a>>>>>,
    /// All variables with a fixed address, once a full search was needed.
    pub(crate) every_variable: OnceCell<Vec<(FixedVariable, Die<'a>)>>,
    /// The unwind table's entries, once needed.
    pub(crate) frame_index: OnceCell<Vec<FrameEntry>>,
}

impl<'a> ImageData<'a> {
    fn open(path: &Path, arena: &'a Arena) -> Result<Self, String> {
        let mapped = map(path).map_err(|error| error.to_string())?;
        let file = parse(arena.maps.alloc(mapped))?;
        let mut separate = None;
        let mut has_debug_info = file.section_by_name(".debug_info").is_some();
        if !has_debug_info && let Some((found, mapped)) = debug_file::find(path, &file) {
            let file = parse(arena.maps.alloc(mapped))?;
            has_debug_info = file.section_by_name(".debug_info").is_some();
            separate = Some((found, file));
        }
        Ok(ImageData {
            path: path.to_owned(),
            file,
            separate,
            has_debug_info,
            symbols: OnceCell::new(),
            dwarf: OnceCell::new(),
            context: OnceCell::new(),
            units: OnceCell::new(),
            package: OnceCell::new(),
            split: RefCell::default(),
            split_units: RefCell::default(),
            every_variable: OnceCell::new(),
            frame_index: OnceCell::new(),
        })
    }

    /// Whether there is DWARF, in the file itself or in a separate one.
    pub(crate) fn has_debug_info(&self) -> bool {
        self.has_debug_info
    }

    /// Whether the loader chooses where the file goes.
    pub(crate) fn is_relocated(&self) -> bool {
        self.file.kind() == object::ObjectKind::Dynamic
    }

    /// How far before the thread pointer a program's thread-local storage begins: its size, aligned.
    pub(crate) fn thread_local_size(&self) -> Option<u64> {
        let tls = self.thread_local_segment()?;
        let before = tls.address.wrapping_neg() % tls.align;
        tls.size.checked_sub(before)?.checked_next_multiple_of(tls.align)?.checked_add(before)
    }

    /// Where the initial bytes of the thread-local storage are, as linked.
    ///
    /// In split debug info gcc writes where the initial bytes of a thread-local variable are, not its offset.
    pub(crate) fn thread_local_origin(&self) -> Option<u64> {
        Some(self.thread_local_segment()?.address)
    }

    /// The offset in the thread-local storage that debug info means by a number.
    pub(crate) fn thread_local_offset(&self, written: u64) -> u64 {
        match self.thread_local_segment() {
            Some(tls) if written >= tls.size => written.wrapping_sub(tls.address),
            _ => written,
        }
    }

    fn thread_local_segment(&self) -> Option<ThreadLocalSegment> {
        let object::File::Elf64(file) = &self.file else { return None };
        let endian = file.endian();
        let mut headers = file.elf_program_headers().iter();
        let header = headers.find(|header| header.p_type.get(endian) == object::elf::PT_TLS)?;
        Some(ThreadLocalSegment {
            address: header.p_vaddr.get(endian),
            size: header.p_memsz.get(endian),
            align: header.p_align.get(endian).max(1),
        })
    }

    /// A section of the file itself, or of its separate debug file, and where it is loaded.
    pub(crate) fn section_at(&self, name: &str, arena: &'a Arena) -> Option<(Slice<'a>, u64)> {
        let separate = self.separate.as_ref().map(|(_, file)| file);
        std::iter::once(&self.file).chain(separate).find_map(|file| {
            let address = file.section_by_name(name)?.address();
            let bytes = section(file, name, arena).ok().filter(|bytes| !bytes.is_empty())?;
            Some((bytes, address))
        })
    }

    /// The symbol table.
    pub(crate) fn symbols(&self) -> &ElfSymbols<'a> {
        self.symbols.get_or_init(|| {
            let separate = self.separate.as_ref().map(|(_, file)| file);
            let files: Vec<_> = std::iter::once(&self.file).chain(separate).collect();
            ElfSymbols::read(&files)
        })
    }

    fn dwarf(&self, arena: &'a Arena) -> Option<&Arc<Dwarf<Slice<'a>>>> {
        let load = || {
            if !self.has_debug_info {
                return None;
            }
            let (path, file) = match &self.separate {
                Some((path, file)) => (path, file),
                None => (&self.path, &self.file),
            };
            let mut dwarf = Dwarf::load(|id| section(file, id.name(), arena)).ok()?;
            if let Some(mapped) = debug_file::find_supplementary(path, file) {
                let shared = parse(arena.maps.alloc(mapped)).ok()?;
                dwarf.load_sup(|id| section(&shared, id.name(), arena)).ok()?;
            }
            dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
            Some(Arc::new(dwarf))
        };
        self.dwarf.get_or_init(load).as_ref()
    }

    fn context(&self, arena: &'a Arena) -> Option<&Context<Slice<'a>>> {
        self.context.get_or_init(|| Context::from_arc_dwarf(self.dwarf(arena)?.clone()).ok()).as_ref()
    }

    /// The units of the main debug file.
    pub(crate) fn units(&self, arena: &'a Arena) -> Option<&Arc<UnitSet<'a>>> {
        self.units.get_or_init(|| Some(Arc::new(UnitSet::new(self.dwarf(arena)?.clone(), None)))).as_ref()
    }

    /// The root DIE of the `index`-th unit, of its split part if it has one.
    pub(crate) fn unit_root(&self, arena: &'a Arena, index: usize) -> Option<Die<'a>> {
        let set = self.units(arena)?;
        let skeleton = set.root(index)?;
        let Some(id) = skeleton.unit.unit.dwo_id else { return Some(skeleton) };
        let known = self.split_units.borrow().get(&id).cloned();
        let split = known.unwrap_or_else(|| {
            let unit = skeleton.unit_ref();
            let name = unit.dwo_name().ok().flatten().and_then(|name| unit.attr_string(name).ok());
            let found = self
                .load_split(arena, id, unit.comp_dir, name, &set.dwarf)
                .map(|dwarf| Arc::new(UnitSet::new(dwarf, Some(skeleton.clone()))));
            self.split_units.borrow_mut().insert(id, found.clone());
            found
        });
        let Some(set) = split else { return Some(skeleton) };
        let unit = set.split_unit(id)?;
        let offset = unit.unit.header.root_offset();
        Some(Die { set, unit, offset })
    }

    fn load_split(
        &self,
        arena: &'a Arena,
        id: DwoId,
        folder: Option<Slice<'a>>,
        name: Option<Slice<'a>>,
        parent: &Dwarf<Slice<'a>>,
    ) -> Option<Arc<Dwarf<Slice<'a>>>> {
        if let Some(known) = self.split.borrow().get(&id) {
            return known.clone();
        }
        let found = self
            .package(arena)
            .and_then(|package| package.find_cu(id, parent).ok().flatten())
            .or_else(|| self.read_dwo(arena, id, folder, name?, parent))
            .map(Arc::new);
        self.split.borrow_mut().insert(id, found.clone());
        found
    }

    fn package(&self, arena: &'a Arena) -> Option<&DwarfPackage<Slice<'a>>> {
        let load = || {
            let separate = self.separate.as_ref().map(|(path, _)| path);
            let mapped = std::iter::once(&self.path)
                .chain(separate)
                .find_map(|path| map(&debug_file::package_path(path)).ok())?;
            let file = parse(arena.maps.alloc(mapped)).ok()?;
            let empty = Slice::new(&[], LittleEndian);
            DwarfPackage::load(|id| split_section(&file, id, arena), empty).ok()
        };
        self.package.get_or_init(load).as_ref()
    }

    /// The `.dwo` file a skeleton unit names: where it was written, or beside the binary when both were moved.
    fn read_dwo(
        &self,
        arena: &'a Arena,
        id: DwoId,
        folder: Option<Slice<'a>>,
        name: Slice<'a>,
        parent: &Dwarf<Slice<'a>>,
    ) -> Option<Dwarf<Slice<'a>>> {
        let name = PathBuf::from(&*name.to_string_lossy());
        let folder = folder.map(|folder| PathBuf::from(&*folder.to_string_lossy())).unwrap_or_default();
        let beside = self.path.parent().map(|parent| parent.join(name.file_name().unwrap_or_default()));
        std::iter::once(folder.join(&name)).chain(beside).find_map(|path| {
            let file = parse(arena.maps.alloc(map(&path).ok()?)).ok()?;
            let mut dwarf = Dwarf::load(|id| split_section(&file, id, arena)).ok()?;
            // The id is in the compile unit's header (DWARF 5) or root (DWARF 4); type units may stand before it.
            let mut units = dwarf.units();
            let mut fits = false;
            while let Ok(Some(header)) = units.next()
                && !fits
            {
                fits = dwarf.unit(header).is_ok_and(|unit| unit.dwo_id == Some(id));
            }
            if !fits {
                return None;
            }
            dwarf.make_dwo(parent);
            Some(dwarf)
        })
    }

    /// Drives a lookup of `addr2line`, loading the split files it asks for.
    fn finish<L>(&self, arena: &'a Arena, mut lookup: LookupResult<L>) -> L::Output
    where
        L: LookupContinuation<Buf = Slice<'a>>,
    {
        loop {
            lookup = match lookup {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => {
                    let dwarf = self.load_split(arena, load.dwo_id, load.comp_dir, load.path, &load.parent);
                    continuation.resume(dwarf)
                }
            }
        }
    }

    /// Calls `each` for every frame at a linked address, innermost first, until one cannot be read.
    pub(crate) fn for_each_frame(
        &self,
        arena: &'a Arena,
        address: u64,
        mut each: impl FnMut(addr2line::Frame<'_, Slice<'a>>),
    ) {
        let Some(context) = self.context(arena) else { return };
        let Ok(mut frames) = self.finish(arena, context.find_frames(address)) else { return };
        while let Ok(Some(frame)) = frames.next() {
            each(frame);
        }
    }

    /// Calls `each` with the linked address and the file of every row of the line table between two addresses.
    pub(crate) fn for_each_row(
        &self,
        arena: &'a Arena,
        from: u64,
        to: u64,
        mut each: impl FnMut(u64, Option<&str>),
    ) {
        let Some(context) = self.context(arena) else { return };
        let Ok(rows) = context.find_location_range(from, to) else { return };
        // Code that stands for no line has the unit's file, whoever wrote it.
        rows.for_each(|(address, _, at)| {
            each(address.max(from), at.file.filter(|_| at.line.is_some_and(|line| line > 0)));
        });
    }

    /// The name of the lambda that a function's DIE tells of, made of what is around it.
    pub(crate) fn lambda_name(&self, arena: &'a Arena, address: u64, die: UnitOffset) -> Option<Name> {
        let die = self.unit_of_code(arena, address)?.at(die);
        Some(Name::of_lambda(&die.home(&die.entry()?).scope_names()))
    }

    /// The root DIE of the unit whose code holds a linked address.
    pub(crate) fn unit_of_code(&self, arena: &'a Arena, address: u64) -> Option<Die<'a>> {
        let unit = self.finish(arena, self.context(arena)?.find_dwarf_and_unit(address))?;
        let id = unit.dwo_id;
        let main = self.units(arena)?;
        let index = match (id, unit.header.debug_info_offset()) {
            (None, Some(DebugInfoOffset(offset))) => main.index_at(offset)?,
            (Some(id), _) => {
                (0..main.len()).find(|&index| main.unit(index).is_some_and(|u| u.unit.dwo_id == Some(id)))?
            }
            (None, None) => return None,
        };
        self.unit_root(arena, index)
    }
}

struct ThreadLocalSegment {
    address: u64,
    size: u64,
    align: u64,
}

fn parse(bytes: &[u8]) -> Result<object::File<'_>, String> {
    let file = object::File::parse(bytes).map_err(|error| error.to_string())?;
    if file.format() != object::BinaryFormat::Elf || !file.is_little_endian() {
        return Err("not a little-endian ELF file".to_owned());
    }
    Ok(file)
}

fn section<'a>(file: &object::File<'a>, name: &str, arena: &'a Arena) -> Result<Slice<'a>, gimli::Error> {
    let data =
        file.section_by_name(name).and_then(|section| section.uncompressed_data().ok()).unwrap_or_default();
    Ok(Slice::new(
        match data {
            std::borrow::Cow::Borrowed(bytes) => bytes,
            std::borrow::Cow::Owned(bytes) => arena.decompressed.alloc(bytes),
        },
        LittleEndian,
    ))
}

fn split_section<'a>(
    file: &object::File<'a>,
    id: SectionId,
    arena: &'a Arena,
) -> Result<Slice<'a>, gimli::Error> {
    match id.dwo_name() {
        Some(name) => section(file, name, arena),
        None => Ok(Slice::new(&[], LittleEndian)),
    }
}

//! The modules of a program, asked by address.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::demangle::Name;
use crate::elf_symbols::ElfSymbol;
use crate::frame::{Frame, Pc};
use crate::heap::{self, BlockAccess, HeapField};
use crate::image::{Arena, Image, ImageData};
use crate::lines;
use crate::locals::{self, Local};
use crate::source::{Sources, normalized};
use crate::variable::{self, Space, Variable};

/// A file in the program's memory, as the runtime's module records tell it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The file.
    pub path: PathBuf,
    /// What the loader added to the addresses it was linked at (`dlpi_addr`); 0 for a program that is not relocated.
    pub base: u64,
    /// Bytes from the base to its end.
    pub size: u64,
}

impl Module {
    /// The file at `path`, loaded at `base`.
    pub fn new(path: impl Into<PathBuf>, base: u64, size: u64) -> Self {
        Module { path: path.into(), base, size }
    }
}

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Symbols>();
};

/// Answers what is at the addresses of one program.
///
/// Files are opened when an address in them is first asked for, and every answer is kept. Nothing fails: what cannot
/// be read is left out of the answer, and [`Symbols::problem`] says why.
pub struct Symbols {
    modules: Vec<LoadedModule>,
    /// Indices of modules, by base.
    order: Vec<usize>,
    sources: Sources,
    frames: Mutex<HashMap<Pc, Arc<[Frame]>>>,
    /// By address and size of the access.
    variables: Mutex<HashMap<(u64, u64), FoundVariable>>,
    names: Mutex<HashMap<String, Name>>,
}

type FoundVariable = Option<Arc<Variable>>;

struct LoadedModule {
    module: Module,
    path: Arc<Path>,
    image: OnceLock<Result<Mutex<Image>, String>>,
}

impl Symbols {
    /// The symbols of a program with these modules; paths are shown relative to the current folder.
    pub fn new(modules: impl IntoIterator<Item = Module>) -> Self {
        Symbols::with_folder(modules, std::env::current_dir().unwrap_or_default())
    }

    /// The same, with paths shown relative to `folder`.
    pub fn with_folder(modules: impl IntoIterator<Item = Module>, folder: impl Into<PathBuf>) -> Self {
        let mut symbols = Symbols {
            modules: Vec::new(),
            order: Vec::new(),
            sources: Sources::new(folder),
            frames: Mutex::default(),
            variables: Mutex::default(),
            names: Mutex::default(),
        };
        modules.into_iter().for_each(|module| symbols.add(module));
        symbols
    }

    /// Adds a module that was loaded later; it gets the next index.
    pub fn add(&mut self, module: Module) {
        let path = module.path.as_path().into();
        self.modules.push(LoadedModule { module, path, image: OnceLock::new() });
        self.order = (0..self.modules.len()).collect();
        self.order.sort_by_key(|index| self.modules[*index].module.base);
        lock(&self.frames).clear();
        lock(&self.variables).clear();
    }

    /// The modules, by index.
    pub fn modules(&self) -> impl ExactSizeIterator<Item = &Module> {
        self.modules.iter().map(|loaded| &loaded.module)
    }

    /// The module that holds an address, with the offset from its base.
    pub fn locate(&self, address: u64) -> Option<(usize, u64)> {
        let after = self.order.partition_point(|index| self.modules[*index].module.base <= address);
        // A program loaded where it was linked may have base 0 and a size that spans others, hence not only the last.
        self.order[..after].iter().rev().find_map(|index| {
            let module = &self.modules[*index].module;
            let offset = address - module.base;
            (offset < module.size).then_some((*index, offset))
        })
    }

    /// Why a module could not be read, if it was tried.
    pub fn problem(&self, module: usize) -> Option<&str> {
        self.modules.get(module)?.image.get()?.as_ref().err().map(String::as_str)
    }

    /// Whether a module has debug info, in itself or in a file of its own.
    pub fn has_debug_info(&self, module: usize) -> bool {
        self.with_image(module, |image, _| image.has_debug_info()).unwrap_or(false)
    }

    /// The functions at an address of code, innermost first, inlined ones before the one they are in.
    ///
    /// There is always at least one frame; for an address that is in no module it holds only the address.
    pub fn frames(&self, pc: Pc) -> Arc<[Frame]> {
        if let Some(known) = lock(&self.frames).get(&pc) {
            return known.clone();
        }
        let frames: Arc<[Frame]> = self.find_frames(pc).into();
        lock(&self.frames).insert(pc, frames.clone());
        frames
    }

    pub(crate) fn find_frames(&self, pc: Pc) -> Vec<Frame> {
        let bare = Frame {
            address: pc.value(),
            name: None,
            offset: None,
            file: None,
            line: None,
            column: None,
            inlined: false,
            module: None,
            module_path: None,
        };
        let inside = pc.inside();
        let Some((index, _)) = self.locate(inside) else { return vec![bare] };
        let bare = Frame { module: Some(index), module_path: Some(self.modules[index].path.clone()), ..bare };
        let found = self.with_linked(index, inside, |image, arena, address| {
            let mut frames = Vec::new();
            image.for_each_frame(arena, address, |found| {
                let location = found.location.as_ref();
                let name = found.function.and_then(|function| {
                    let name = self.name(&function.raw_name().ok()?);
                    // gcc gives lambdas no linkage name.
                    let lambda = if &*name.full == "operator()" { found.dw_die_offset } else { None };
                    Some(lambda.and_then(|die| image.lambda_name(arena, address, die)).unwrap_or(name))
                });
                frames.push(Frame {
                    name,
                    file: location
                        .and_then(|location| location.file)
                        .map(|file| normalized(Path::new(file)).as_path().into()),
                    line: location.and_then(|location| location.line).filter(|line| *line > 0),
                    column: location.and_then(|location| location.column).filter(|column| *column > 0),
                    inlined: true,
                    ..bare.clone()
                });
            });
            (frames, image.symbols().function(address).map(|symbol| self.function_of(symbol, address)))
        });
        let Some((mut frames, symbol)) = found else { return vec![bare] };
        match (frames.last_mut(), symbol) {
            (Some(outermost), symbol) => {
                outermost.inlined = false;
                // The symbol is mangled and so has the namespaces; debug info with line tables only has not.
                if let Some((name, _)) = symbol
                    && outermost
                        .name
                        .as_ref()
                        .is_none_or(|known| name.short.ends_with(&format!("::{}", known.short)))
                {
                    outermost.name = Some(name);
                }
                frames
            }
            (None, Some((name, offset))) => vec![Frame { name: Some(name), offset: Some(offset), ..bare }],
            (None, None) => vec![bare],
        }
    }

    fn function_of(&self, symbol: ElfSymbol<'_>, address: u64) -> (Name, u64) {
        (self.name(symbol.name), address - symbol.start)
    }

    fn name(&self, symbol: &str) -> Name {
        let mut names = lock(&self.names);
        if let Some(name) = names.get(symbol) {
            return name.clone();
        }
        let name = Name::of_symbol(symbol);
        names.insert(symbol.to_owned(), name.clone());
        name
    }

    /// The global or static variable at an address, down to the smallest named part there.
    pub fn variable(&self, address: u64) -> Option<Arc<Variable>> {
        self.variable_access(address, 1)
    }

    /// The variable that an access of `size` bytes touches, down to the smallest named part that holds all of them.
    pub fn variable_access(&self, address: u64, size: u64) -> Option<Arc<Variable>> {
        let key = (address, size);
        if let Some(known) = lock(&self.variables).get(&key) {
            return known.clone();
        }
        let found = self.locate(address).and_then(|(index, _)| {
            self.with_linked(index, address, |image, arena, linked| {
                variable::find(image, arena, Space::Linked, linked, size, index)
            })?
        });
        let found = found.map(|variable| {
            Arc::new(Variable { file: variable.file.as_deref().map(normalized), ..variable })
        });
        lock(&self.variables).insert(key, found.clone());
        found
    }

    /// The variable that an access of `size` bytes at an offset of a module's thread-local storage touches.
    pub fn thread_local(&self, module: usize, offset: u64, size: u64) -> Option<Variable> {
        let variable = self.with_image(module, |image, arena| {
            variable::find(image, arena, Space::ThreadLocal, offset, size, module)
        })??;
        Some(Variable { file: variable.file.as_deref().map(normalized), ..variable })
    }

    /// Where the thread-local storage of the first module, the program itself, begins for the strand whose thread
    /// pointer (on x86-64 the FS base) is given.
    pub fn thread_local_base(&self, thread_pointer: u64) -> Option<u64> {
        self.with_image(0, |image, _| thread_pointer.checked_sub(image.thread_local_size()?))?
    }

    /// The parameters and local variables that live at an address of code, those of inner blocks and inlined
    /// functions first.
    pub fn locals(&self, pc: Pc) -> Vec<Local> {
        let inside = pc.inside();
        let Some((index, _)) = self.locate(inside) else { return Vec::new() };
        let find = self.with_linked(index, inside, |image, arena, linked| {
            locals::find(image, arena, linked, inside.wrapping_sub(linked), index)
        });
        find.unwrap_or_default()
    }

    /// The field at `offset` of a heap block of `block_size` bytes, as code at `stack` touches it: `account.balance`.
    ///
    /// `stack` is the access with its callers, innermost first; it is read down to the first frame that is the
    /// program's own. There is an answer only if debug info and the source line leave no doubt.
    pub fn field_of(&self, stack: &[Pc], block_size: u64, offset: u64) -> Option<String> {
        self.field_access(stack, block_size, offset, 1).map(|field| field.to_string())
    }

    /// The same for an access of `size` bytes, with the types.
    pub fn field_access(&self, stack: &[Pc], block_size: u64, offset: u64, size: u64) -> Option<HeapField> {
        let size = size.max(1);
        if offset.checked_add(size)? > block_size {
            return None;
        }
        let own = |pc: &Pc| self.frames(*pc).iter().any(|frame| !frame.is_library());
        let stack = &stack[..=stack.iter().position(own)?];
        let mut by_module: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for pc in stack {
            let (index, _) = self.locate(pc.inside())?;
            by_module.entry(index).or_default().push(pc.inside());
        }
        let access = BlockAccess { block: block_size, offset, size };
        let candidates = by_module.into_iter().flat_map(|(index, loaded)| {
            let base = self.modules[index].module.base;
            let found = self.with_image(index, |image, arena| {
                let base = if image.is_relocated() { base } else { 0 };
                let linked: Vec<u64> = loaded.iter().map(|address| address - base).collect();
                heap::candidates(image, arena, &linked, access)
            });
            found.unwrap_or_default()
        });
        let text = stack.last().and_then(|pc| {
            let frames = self.frames(*pc);
            let frame = frames.iter().find(|frame| !frame.is_library())?;
            self.sources.statement(frame.file.as_deref()?, frame.line?)
        });
        heap::decide(candidates.collect(), text.as_deref())
    }

    /// The function that a line of a source file is in, as the frame that stands there; the innermost where code was
    /// inlined. `file` may be relative to any folder.
    pub fn function_at(&self, file: &Path, line: u32) -> Option<Frame> {
        (0..self.modules.len()).find_map(|index| {
            let base = self.modules[index].module.base;
            let addresses = self.with_image(index, |image, arena| {
                let base = if image.is_relocated() { base } else { 0 };
                let linked = lines::addresses(image, arena, file, line);
                linked.into_iter().map(|address| base.wrapping_add(address)).collect::<Vec<_>>()
            })?;
            addresses.into_iter().find_map(|address| {
                let frames = self.frames(Pc::At(address));
                let stands = |frame: &&Frame| {
                    frame.line == Some(line)
                        && frame.name.is_some()
                        && frame.file.as_deref().is_some_and(|known| lines::same(known, file))
                };
                frames.iter().find(stands).cloned()
            })
        })
    }

    /// A line of a source file (from 1).
    pub fn source_line(&self, file: &Path, line: u32) -> Option<String> {
        self.sources.line(file, line)
    }

    /// Source files and how their paths are shown.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// A frame's or variable's file as a report shows it.
    pub fn shown_path(&self, file: &Path) -> String {
        self.sources.shown(file)
    }

    /// Calls `f` with the module's file and the address as linked.
    pub(crate) fn with_linked<T>(
        &self,
        index: usize,
        address: u64,
        f: impl for<'a> FnOnce(&ImageData<'a>, &'a Arena, u64) -> T,
    ) -> Option<T> {
        let base = self.modules[index].module.base;
        self.with_image(index, |image, arena| {
            // A program at a fixed address may be told with base 0 or with its first byte.
            f(image, arena, if image.is_relocated() { address - base } else { address })
        })
    }

    fn with_image<T>(
        &self,
        index: usize,
        f: impl for<'a> FnOnce(&ImageData<'a>, &'a Arena) -> T,
    ) -> Option<T> {
        let loaded = self.modules.get(index)?;
        let image = loaded.image.get_or_init(|| Image::open(&loaded.module.path).map(Mutex::new));
        let image = lock(image.as_ref().ok()?);
        Some(image.with_dependent(|arena, data| f(data, arena)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Places by the program's own symbols and debug information.

use crate::places::{Place, Places};
use std::path::Path;
use threadbare_symbols::{Frame, Module, Origin, Pc, StackFrame, Symbols};
use threadbare_trace::report::{Holder, Module as LoadedModule};

/// The symbols of the modules a run had loaded.
pub struct SymbolPlaces {
    symbols: Symbols,
}

impl SymbolPlaces {
    /// The symbols of the modules a run told of; the runtime leaves the program's own name empty.
    pub fn new(modules: &[LoadedModule], program: &Path) -> SymbolPlaces {
        let modules = modules.iter().enumerate().map(|(index, module)| {
            let path = if index == 0 && module.path.is_empty() { program } else { Path::new(&module.path) };
            Module::new(path, module.base, module.size)
        });
        SymbolPlaces { symbols: Symbols::new(modules) }
    }

    fn place(&self, frame: &Frame) -> Place {
        let module = frame.module_path.as_deref().and_then(Path::file_name);
        let offset = self.symbols.locate(frame.address).map_or(frame.address, |(_, offset)| offset);
        let address = match module {
            Some(name) => format!("{}+{offset:#x}", name.to_string_lossy()),
            None => format!("{offset:#x}"),
        };
        Place {
            function: frame.name.as_ref().map(|_| frame.short_name().to_owned()),
            file: frame.file.as_deref().map(|file| self.symbols.shown_path(file)),
            line: frame.line,
            column: frame.column,
            inlined: frame.inlined,
            library: frame.is_library(),
            dependency: frame.origin() == Origin::Dependency,
            address,
        }
    }
}

impl Places for SymbolPlaces {
    fn at(&self, pc: u64) -> Vec<Place> {
        self.symbols.frames(Pc::Return(pc)).iter().map(|frame| self.place(frame)).collect()
    }

    fn own_code(&self, pc: u64) -> Option<Place> {
        self.symbols.own_code_in(Pc::Return(pc)).map(|frame| self.place(&frame))
    }

    fn has_debug_info(&self, pc: u64) -> bool {
        self.symbols.locate(pc).is_some_and(|(module, _)| self.symbols.has_debug_info(module))
    }

    fn field(&self, stack: &[u64], block: u64, offset: u64, size: u64) -> Option<String> {
        let stack: Vec<Pc> = stack.iter().map(|&pc| Pc::Return(pc)).collect();
        self.symbols.field_access(&stack, block, offset, size).map(|field| field.to_string())
    }

    fn function_at(&self, file: &str, line: u32) -> Option<Place> {
        self.symbols.function_at(Path::new(file), line).map(|frame| self.place(&frame))
    }

    fn source(&self, file: &str, line: u32) -> Option<String> {
        self.symbols.source_line(Path::new(file), line)
    }

    fn local(&self, frame: &Holder, addr: u64, size: u64) -> Option<(String, String)> {
        let frame = StackFrame { pc: frame.pc, address: frame.address, pointer: frame.pointer };
        self.symbols.local_access(frame, addr, size.max(1))
    }

    fn variable(&self, addr: u64, size: u64) -> Option<String> {
        self.symbols.variable_access(addr, size.max(1)).map(|variable| variable.to_string())
    }
}

impl std::fmt::Debug for SymbolPlaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SymbolPlaces").finish_non_exhaustive()
    }
}

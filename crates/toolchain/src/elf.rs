//! What the dynamic loader would see in an ELF file.

use std::fs;
use std::path::{Path, PathBuf};

use object::elf;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol};

/// The facts about one program or shared library that decide whether the runtime can steer it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Image {
    /// Has an interpreter: it is loaded dynamically.
    pub(crate) has_interpreter: bool,
    /// The libraries it asks for, in order.
    pub(crate) needed: Vec<String>,
    /// Where it says they are, with `$ORIGIN` resolved.
    pub(crate) search: Vec<PathBuf>,
    /// Calls the hooks of the compilers' pass.
    pub(crate) calls_hooks: bool,
    /// Brings the sanitizer's own runtime inside.
    pub(crate) defines_hooks: bool,
}

/// Why a file could not be read as an image.
#[derive(Debug)]
pub(crate) enum Unreadable {
    Io(std::io::Error),
    /// Not an ELF file, or a damaged one.
    NotElf,
    /// An object file or a core dump.
    NotLoadable,
    /// For another kind of machine; its name.
    OtherMachine(String),
}

impl Image {
    pub(crate) fn read(path: &Path) -> Result<Self, Unreadable> {
        let bytes = fs::read(path).map_err(Unreadable::Io)?;
        if !bytes.starts_with(&elf::ELFMAG) {
            return Err(Unreadable::NotElf);
        }
        let machine = machine(&bytes).ok_or(Unreadable::NotElf)?;
        if machine != OWN_MACHINE {
            return Err(Unreadable::OtherMachine(machine_name(machine)));
        }
        let file = ElfFile64::<Endianness>::parse(bytes.as_slice()).map_err(|_| Unreadable::NotElf)?;
        let kind = file.elf_header().e_type(file.endian());
        if kind != elf::ET_EXEC && kind != elf::ET_DYN {
            return Err(Unreadable::NotLoadable);
        }
        Self::of(&file, path).map_err(|_| Unreadable::NotElf)
    }

    fn of(file: &ElfFile64<'_, Endianness>, path: &Path) -> object::Result<Self> {
        let (endian, data) = (file.endian(), file.data());
        let mut image = Self::default();
        for header in file.elf_program_headers() {
            image.has_interpreter |= header.interpreter(endian, data)?.is_some();
        }
        image.read_dynamic(file, path)?;
        for symbol in file.dynamic_symbols().chain(file.symbols()) {
            let Ok(name) = symbol.name_bytes() else { continue };
            if name.starts_with(b"__tsan_") {
                image.calls_hooks |= symbol.is_undefined();
                image.defines_hooks |= name == b"__tsan_init" && symbol.is_definition();
            }
        }
        Ok(image)
    }

    fn read_dynamic(&mut self, file: &ElfFile64<'_, Endianness>, path: &Path) -> object::Result<()> {
        let table = file.elf_dynamic_table()?;
        for entry in table.iter() {
            match entry.tag {
                elf::DT_NEEDED => {
                    self.needed.push(String::from_utf8_lossy(table.string(entry)?).into_owned());
                }
                elf::DT_RPATH | elf::DT_RUNPATH => {
                    let text = String::from_utf8_lossy(table.string(entry)?).into_owned();
                    let origin = path.parent().unwrap_or(Path::new(".")).display().to_string();
                    let resolved = text.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
                    self.search
                        .extend(resolved.split(':').filter(|part| !part.is_empty()).map(PathBuf::from));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
const OWN_MACHINE: elf::Machine = elf::EM_X86_64;
#[cfg(target_arch = "aarch64")]
const OWN_MACHINE: elf::Machine = elf::EM_AARCH64;

/// The machine of an ELF file, whatever its word size; a 32-bit variant of our own machine is another machine.
fn machine(bytes: &[u8]) -> Option<elf::Machine> {
    let field = [*bytes.get(18)?, *bytes.get(19)?];
    let big_endian = elf::DataEncoding(*bytes.get(5)?) == elf::ELFDATA2MSB;
    let machine =
        elf::Machine(if big_endian { u16::from_be_bytes(field) } else { u16::from_le_bytes(field) });
    match elf::FileClass(*bytes.get(4)?) {
        elf::ELFCLASS32 if machine == elf::EM_X86_64 => Some(elf::EM_386),
        elf::ELFCLASS64 | elf::ELFCLASS32 => Some(machine),
        _ => None,
    }
}

fn machine_name(machine: elf::Machine) -> String {
    match machine {
        elf::EM_386 => "32-bit x86".into(),
        elf::EM_X86_64 => "x86-64".into(),
        elf::EM_AARCH64 => "64-bit ARM".into(),
        elf::EM_ARM => "32-bit ARM".into(),
        elf::EM_RISCV => "RISC-V".into(),
        elf::EM_PPC64 => "64-bit PowerPC".into(),
        elf::EM_S390 => "S/390".into(),
        other => format!("machine number {}", other.0),
    }
}

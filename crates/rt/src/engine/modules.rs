//! The loaded modules, and places that do not depend on where they were loaded.

use crate::sys::{c_char, c_int, c_void};
use alloc::vec::Vec;

/// A loaded program or library.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// Load address.
    pub base: u64,
    /// First address behind its last segment.
    pub end: u64,
    /// Path, a C string that the loader keeps.
    pub name: *const c_char,
}

#[repr(C)]
struct PhdrInfo {
    addr: u64,
    name: *const c_char,
    phdr: *const Phdr,
    phnum: u16,
    adds: u64,
    subs: u64,
    tls_modid: usize,
    tls_data: usize,
}

#[repr(C)]
struct Phdr {
    kind: u32,
    flags: u32,
    offset: u64,
    vaddr: u64,
    paddr: u64,
    filesz: u64,
    memsz: u64,
    align: u64,
}

unsafe extern "C" {
    fn dl_iterate_phdr(
        callback: unsafe extern "C" fn(*mut PhdrInfo, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

const PT_LOAD: u32 = 1;
const PF_X: u32 = 1;
const PF_W: u32 = 2;

static mut MODULES: Vec<Module> = Vec::new();
static mut MAIN: (u64, u64) = (0, 0);
static mut RUNTIME: (u64, u64) = (0, 0);
static mut LIBC: (u64, u64) = (0, 0);
static mut TOLD: usize = 0;
static mut STATIC_TLS: usize = 0;
/// No program has more thread-local storage below its thread pointer.
const STATIC_TLS_MOST: usize = 1 << 20;
static mut TEXTS: Vec<(usize, usize)> = Vec::new();
static mut VARIABLES: Vec<(u64, u64)> = Vec::new();

unsafe extern "C" fn collect(info: *mut PhdrInfo, _size: usize, list: *mut c_void) -> c_int {
    // SAFETY: the loader passes valid records; `list` is ours.
    unsafe {
        let info = &*info;
        let list = &mut *(list as *mut Vec<Module>);
        let mut module = Module { base: info.addr, end: info.addr, name: info.name };
        for index in 0..info.phnum as usize {
            let header = &*info.phdr.add(index);
            if header.kind == PT_LOAD && header.flags & PF_X != 0 {
                let start = (info.addr + header.vaddr) as usize & !4095;
                let end = (info.addr + header.vaddr + header.memsz) as usize;
                (*(&raw mut TEXTS)).push((start, end - start));
            }
            if header.kind == PT_LOAD && header.flags & PF_W != 0 {
                (*(&raw mut VARIABLES)).push((info.addr + header.vaddr, header.memsz));
            }
            if header.kind == PT_LOAD {
                module.end = module.end.max(info.addr + header.vaddr + header.memsz);
            }
        }
        let below = crate::arch::thread_pointer().wrapping_sub(info.tls_data);
        if info.tls_data != 0 && below <= STATIC_TLS_MOST {
            STATIC_TLS = STATIC_TLS.max(below);
        }
        list.push(module);
    }
    0
}

/// Reads the list of modules anew.
pub fn refresh() {
    // SAFETY: single kernel thread; the callback fills the list we pass.
    unsafe {
        let list = &mut *(&raw mut MODULES);
        list.clear();
        (*(&raw mut TEXTS)).clear();
        (*(&raw mut VARIABLES)).clear();
        dl_iterate_phdr(collect, (list as *mut Vec<Module>).cast());
        if let Some(first) = list.first() {
            MAIN = (first.base, first.end - first.base);
        }
        let here = refresh as *const () as u64;
        if let Some(own) = list.iter().find(|module| (module.base..module.end).contains(&here)) {
            RUNTIME = (own.base, own.end - own.base);
        }
        let there = dl_iterate_phdr as *const () as u64;
        if let Some(libc) = list.iter().find(|module| (module.base..module.end).contains(&there)) {
            LIBC = (libc.base, libc.end - libc.base);
        }
    }
}

/// Whether an instruction is libc's.
pub fn is_libc(pc: u64) -> bool {
    // SAFETY: single kernel thread.
    let (base, size) = unsafe { LIBC };
    pc.wrapping_sub(base) < size
}

/// Whether an instruction is the loader's.
pub fn is_loader(pc: u64) -> bool {
    let holds = |module: &&Module| (module.base..module.end).contains(&pc) && !module.name.is_null();
    all().iter().find(holds).is_some_and(|module| {
        // SAFETY: the loader's name, a C string.
        let name = unsafe { core::ffi::CStr::from_ptr(module.name) }.to_bytes();
        name.windows(4).any(|part| part == b"/ld-")
    })
}

/// Whether an address is the runtime's.
pub fn is_runtime(addr: u64) -> bool {
    // SAFETY: single kernel thread.
    let (base, size) = unsafe { RUNTIME };
    addr.wrapping_sub(base) < size
}

/// The modules.
pub fn all() -> &'static [Module] {
    // SAFETY: single kernel thread; callers do not keep it across `refresh`.
    unsafe { &*(&raw const MODULES) }
}

/// Bytes of thread-local storage right below the thread pointer.
pub fn static_tls_size() -> usize {
    // SAFETY: single kernel thread.
    unsafe { STATIC_TLS }
}

/// Address and size of the modules' code.
pub fn texts() -> &'static [(usize, usize)] {
    // SAFETY: single kernel thread; callers do not keep it across `refresh`.
    unsafe { &*(&raw const TEXTS) }
}

/// Address and size of the modules' variables.
pub fn variables() -> &'static [(u64, u64)] {
    // SAFETY: single kernel thread; callers do not keep it across `refresh`.
    unsafe { &*(&raw const VARIABLES) }
}

/// The pc whose low half this is.
pub fn whole_pc(low: u32) -> u64 {
    let whole = |module: &Module| {
        let pc = module.base & !0xFFFF_FFFF | low as u64;
        // A module may lie across a border of 4 GiB.
        let pc = if pc < module.base { pc + (1 << 32) } else { pc };
        (pc < module.end).then_some(pc)
    };
    all().iter().find_map(whole).unwrap_or(low as u64)
}

/// The modules that have not been told to the driver; from now on they have.
pub fn untold() -> &'static [Module] {
    // SAFETY: single kernel thread.
    let told = unsafe { core::mem::replace(&mut *(&raw mut TOLD), all().len()) };
    all().get(told..).unwrap_or(&[])
}

/// The driver has forgotten all of them.
pub fn tell_again() {
    // SAFETY: single kernel thread.
    unsafe { TOLD = 0 }
}

/// A pc as module index (high 16 bits) and offset in it (low 48 bits): the same in every run of the program.
#[inline]
pub fn place(pc: u64) -> u64 {
    // SAFETY: single kernel thread.
    let (base, size) = unsafe { MAIN };
    if pc.wrapping_sub(base) < size { pc - base } else { place_elsewhere(pc) }
}

/// The same for a place that draws depend on: one inside the runtime, which calls the first function of a strand, is no
/// matter of the program's.
#[inline]
pub fn program_place(pc: u64) -> u64 {
    // SAFETY: single kernel thread.
    let (base, size) = unsafe { RUNTIME };
    if pc.wrapping_sub(base) < size { 0 } else { place(pc) }
}

#[cold]
fn place_elsewhere(pc: u64) -> u64 {
    for (index, module) in all().iter().enumerate().skip(1) {
        if pc >= module.base && pc < module.end {
            return (index as u64) << 48 | (pc - module.base);
        }
    }
    0xFFFF << 48
}

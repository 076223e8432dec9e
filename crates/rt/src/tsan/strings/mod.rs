//! libc's memory and string functions: ranged accesses, then libc's own function.
//!
//! Only a call made by instrumented code itself is an access. Precompiled libraries call these functions too, and
//! synchronise out of our sight: what they touch would give false races. Their calls are looked at for memory errors
//! alone. A call is direct when its return address lies where the innermost instrumented function's call of
//! `__tsan_func_entry` had its own: functions keep their stack pointer between calls. (One that moves it, with `alloca`
//! or pushed arguments, is taken for a library.)
//!
//! The compiler makes calls of these functions in the runtime's own code as well. A stub goes straight to libc's
//! function for those, and while no run is under way: that costs two or three compares, and nothing has to be
//! initialised. Safe before init, in a signal, after fork.

mod format;
mod memory;
mod output;
mod text;
mod wide;

use crate::engine::{addressable, frames, modules};
use crate::sys::real::Entry;
use crate::tsan::plain::gated;
use threadbare_abi::op::OpKind;

/// Who calls a function.
#[derive(Clone, Copy)]
pub struct Caller {
    pc: u64,
    direct: bool,
}

impl Caller {
    /// The caller whose return address lies at `slot`.
    #[inline]
    pub fn at(slot: *const u64) -> Caller {
        // SAFETY: the stub passes its stack pointer.
        Caller { pc: unsafe { *slot }, direct: frames::is_innermost(slot as usize) }
    }

    /// Where it calls from.
    pub fn pc(self) -> u64 {
        self.pc
    }

    /// The bytes are read.
    #[inline]
    pub fn reads<T>(self, from: *const T, bytes: usize) {
        self.touches(OpKind::ReadRange, from as u64, bytes);
    }

    /// The bytes are written.
    #[inline]
    pub fn writes<T>(self, to: *const T, bytes: usize) {
        self.touches(OpKind::WriteRange, to as u64, bytes);
    }

    /// There must be memory for the bytes, which will be written later.
    pub fn needs<T>(self, to: *const T, bytes: usize) {
        if bytes > 0 {
            addressable::check(OpKind::WriteRange, to as u64, bytes.min(u32::MAX as usize) as u32, self.pc);
        }
    }

    #[inline]
    fn touches(self, kind: OpKind, addr: u64, bytes: usize) {
        if self.direct {
            gated(kind, addr, bytes as u64, self.pc);
        } else if bytes > 0 {
            addressable::check(kind, addr, bytes.min(u32::MAX as usize) as u32, self.pc);
        }
    }
}

/// Where the runtime's own code lies, and its bytes.
static mut OWN: [usize; 2] = [0; 2];

/// Finds the runtime's own code. Once, before the first run.
pub fn init() {
    let own = look_up as *const () as usize;
    if let Some(&(start, size)) = modules::texts().iter().find(|text| own.wrapping_sub(text.0) < text.1) {
        // SAFETY: single kernel thread.
        unsafe { OWN = [start, size] }
    }
}

unsafe extern "C" {
    static __start_threadbare_strings: u8;
    static __stop_threadbare_strings: u8;
}

/// Looks libc's functions up when the library is loaded: later the program may be anywhere, in a signal handler too.
extern "C" fn look_up_all() {
    // SAFETY: the linker puts these two symbols around the entries of the section.
    unsafe {
        let mut entry = (&raw const __start_threadbare_strings).cast::<Entry>();
        while entry < (&raw const __stop_threadbare_strings).cast() {
            (*entry).get_if_any();
            entry = entry.add(1);
        }
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = look_up_all;

/// `r11` is an entry that has not been looked up: does that, and goes on to the function with all arguments as they are.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn look_up_first() {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push rax",
        "sub rsp, 128",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, r11",
        "call {look_up}",
        "mov r11, rax",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 128",
        "pop rax",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp r11",
        look_up = sym look_up,
    )
}

unsafe extern "C" fn look_up(entry: &Entry) -> usize {
    entry.get()
}

/// `stub!(name, code, hook, entry)` exports `name`: libc's function of the entry, or, in a run, what `code` (which may
/// name `{hook}`) does.
macro_rules! stub {
    ($name:ident, [$($code:expr),*], $hook:path, $entry:path) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "cmp byte ptr [rip + {checking}], 0",
                "jne 3f",
                "2: mov r11, [rip + {entry} + {found}]",
                "cmp r11, 1",
                "jbe 4f",
                "jmp r11",
                "3: mov r11, [rsp]",
                "sub r11, [rip + {own}]",
                "cmp r11, [rip + {own} + 8]",
                "jb 2b",
                $($code,)*
                "4: lea r11, [rip + {entry}]",
                "jmp {look_up}",
                checking = sym $crate::engine::addressable::CHECKING,
                own = sym $crate::tsan::strings::OWN,
                entry = sym $entry,
                found = const core::mem::offset_of!($crate::sys::real::Entry, found),
                look_up = sym $crate::tsan::strings::look_up_first,
                hook = sym $hook,
            )
        }
    };
}
pub(crate) use stub;

/// The register of the argument after the `N`th.
macro_rules! pass_slot {
    (1) => {
        "mov rsi, rsp"
    };
    (2) => {
        "mov rdx, rsp"
    };
    (3) => {
        "mov rcx, rsp"
    };
    (4) => {
        "mov r8, rsp"
    };
    (5) => {
        "mov r9, rsp"
    };
}
pub(crate) use pass_slot;

/// `entry!(NAME, function)`: libc's function, looked up with the others.
macro_rules! entry {
    ($entry:ident, $name:ident) => {
        #[used]
        #[unsafe(link_section = "threadbare_strings")]
        static $entry: $crate::sys::real::Entry =
            $crate::sys::real::Entry::new(concat!(stringify!($name), "\0"), "\0");
    };
}
pub(crate) use entry;

/// `ranged! { name / N (arg: type, …; by) -> ret { accesses } … }` exports functions of N arguments that make the
/// accesses and then are libc's own.
macro_rules! ranged {
    ($($name:ident / $n:tt ($($arg:ident: $ty:ty),*; $by:ident) -> $ret:ty $body:block)*) => {$(
        const _: () = {
            $crate::tsan::strings::entry!(REAL, $name);

            unsafe extern "C" fn hook($($arg: $ty,)* slot: *const u64) -> $ret {
                let $by = $crate::tsan::strings::Caller::at(slot);
                $body
                // SAFETY: libc's own function with the caller's arguments.
                unsafe {
                    core::mem::transmute::<usize, unsafe extern "C" fn($($ty),*) -> $ret>(REAL.get())($($arg),*)
                }
            }

            $crate::tsan::strings::stub!(
                $name, [$crate::tsan::strings::pass_slot!($n), "jmp {hook}"], hook, REAL
            );
        };
    )*};
}
pub(crate) use ranged;

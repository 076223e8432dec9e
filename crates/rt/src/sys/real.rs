//! libc's own version of a function we interpose.

use super::types::{c_char, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;

/// One place in the code that calls libc's own version of a function; all of them lie in one section, one behind the
/// other (each is marked as used, or the compiler would take it apart).
#[repr(C, align(64))]
pub struct Entry {
    name: *const c_char,
    version: *const c_char,
    /// The address, once it has been looked up.
    pub found: AtomicUsize,
}

/// Looked for, and not there.
const MISSING: usize = 1;

// SAFETY: the texts are constants, the address is atomic.
unsafe impl Sync for Entry {}

impl Entry {
    /// A function, not looked up yet; both texts end in a zero byte, the version may be empty.
    pub const fn new(name: &'static str, version: &'static str) -> Self {
        Entry { name: name.as_ptr().cast(), version: version.as_ptr().cast(), found: AtomicUsize::new(0) }
    }

    /// Its address.
    #[inline]
    pub fn get(&self) -> usize {
        match self.found.load(Ordering::Relaxed) {
            ..=MISSING => self.look_up(),
            found => found,
        }
    }

    /// Its address, if libc has such a function.
    pub fn get_if_any(&self) -> Option<usize> {
        let found = match self.found.load(Ordering::Relaxed) {
            0 => self.find(),
            found => found,
        };
        (found > MISSING).then_some(found)
    }

    #[cold]
    fn look_up(&self) -> usize {
        let found = self.find();
        if found <= MISSING {
            // SAFETY: a C string.
            let name = unsafe { core::ffi::CStr::from_ptr(self.name) }.to_str().unwrap_or("");
            crate::engine::fatal_about("libc lacks a function that the program calls: ", name);
        }
        found
    }

    /// The next definition after ours (of a version, where there are two), or [`MISSING`].
    fn find(&self) -> usize {
        // SAFETY: both are C strings.
        let found = unsafe {
            if *self.version == 0 {
                dlsym(RTLD_NEXT, self.name)
            } else {
                dlvsym(RTLD_NEXT, self.name, self.version)
            }
        } as usize;
        let found = found.max(MISSING);
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

unsafe extern "C" {
    static __start_threadbare_real: u8;
    static __stop_threadbare_real: u8;
}

/// Looks all of them up (in the fork server, so that no run has to).
pub fn look_up_all() {
    // SAFETY: the linker puts these two symbols around the entries of the section.
    unsafe {
        let mut entry = (&raw const __start_threadbare_real).cast::<Entry>();
        while entry < (&raw const __stop_threadbare_real).cast() {
            (*entry).find();
            entry = entry.add(1);
        }
    }
}

/// `real!(name: fn(A, B) -> R)` is libc's function of that name, looked up once.
/// `real!(name @ "GLIBC_2.3.2": fn(...) -> R)` asks for a version.
#[macro_export]
macro_rules! real {
    ($name:ident : fn($($arg:ty),* $(,)?) $(-> $ret:ty)?) => {
        $crate::real!(@ $name, "\0", ($($arg),*), ($($ret)?))
    };
    ($name:ident @ $version:literal : fn($($arg:ty),* $(,)?) $(-> $ret:ty)?) => {
        $crate::real!(@ $name, concat!($version, "\0"), ($($arg),*), ($($ret)?))
    };
    (@ $name:ident, $version:expr, ($($arg:ty),*), ($($ret:ty)?)) => {{
        #[used]
        #[unsafe(link_section = "threadbare_real")]
        static ENTRY: $crate::sys::real::Entry =
            $crate::sys::real::Entry::new(concat!(stringify!($name), "\0"), $version);
        // SAFETY: the symbol's C prototype is the one written at the call, by the reader of libc's manual.
        #[allow(unused_unsafe)]
        unsafe {
            core::mem::transmute::<usize, unsafe extern "C" fn($($arg),*) $(-> $ret)?>(ENTRY.get())
        }
    }};
}

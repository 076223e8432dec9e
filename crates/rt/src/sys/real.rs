//! libc's own version of a function we interpose.

use super::types::{c_char, c_void};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;

/// The next definition of a symbol after ours; 0 if there is none. `name` ends in a zero byte.
pub fn next(name: &'static str) -> usize {
    debug_assert!(name.ends_with('\0'));
    // SAFETY: `name` is a C string.
    unsafe { dlsym(RTLD_NEXT, name.as_ptr().cast()) as usize }
}

/// The next definition with a symbol version (`pthread_cond_*` has two).
pub fn next_versioned(name: &'static str, version: &'static str) -> usize {
    debug_assert!(name.ends_with('\0') && version.ends_with('\0'));
    // SAFETY: both are C strings.
    unsafe { dlvsym(RTLD_NEXT, name.as_ptr().cast(), version.as_ptr().cast()) as usize }
}

/// `real!(name: fn(A, B) -> R)` is libc's function of that name, looked up once.
/// `real!(name @ "GLIBC_2.3.2": fn(...) -> R)` asks for a version.
#[macro_export]
macro_rules! real {
    ($name:ident : fn($($arg:ty),* $(,)?) $(-> $ret:ty)?) => {
        $crate::real!(@ ($crate::sys::real::next(concat!(stringify!($name), "\0"))), $name, ($($arg),*), ($($ret)?))
    };
    ($name:ident @ $version:literal : fn($($arg:ty),* $(,)?) $(-> $ret:ty)?) => {
        $crate::real!(@ ($crate::sys::real::next_versioned(concat!(stringify!($name), "\0"), concat!($version, "\0"))),
                      $name, ($($arg),*), ($($ret)?))
    };
    (@ $find:expr, $name:ident, ($($arg:ty),*), ($($ret:ty)?)) => {{
        static CACHE: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
        let mut found = CACHE.load(core::sync::atomic::Ordering::Relaxed);
        if found == 0 {
            found = $find;
            if found == 0 {
                $crate::engine::fatal(concat!("libc has no function ", stringify!($name)));
            }
            CACHE.store(found, core::sync::atomic::Ordering::Relaxed);
        }
        // SAFETY: the symbol's C prototype is the one written at the call, by the reader of libc's manual.
        #[allow(unused_unsafe)]
        unsafe {
            core::mem::transmute::<usize, unsafe extern "C" fn($($arg),*) $(-> $ret)?>(found)
        }
    }};
}

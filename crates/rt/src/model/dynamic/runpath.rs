//! Where the caller of `dlopen` wants its libraries to be looked for.
//!
//! The loader searches the run path of the object that calls it, which is this runtime when `dlopen` is interposed. So
//! the caller's own run path is searched here, before the loader is asked.

use alloc::vec::Vec;
use core::ffi::CStr;

use crate::model::kernel::{nr, raw};
use crate::sys::{c_char, c_int, c_void};

const RTLD_DL_LINKMAP: c_int = 2;
const DT_STRTAB: i64 = 5;
const DT_RPATH: i64 = 15;
const DT_RUNPATH: i64 = 29;
const R_OK: usize = 4;

/// The part of the loader's record of an object that is public.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *const [i64; 2],
}

#[link(name = "c")]
unsafe extern "C" {
    fn dladdr1(addr: *const c_void, info: *mut [usize; 4], extra: *mut *const LinkMap, flags: c_int)
    -> c_int;
}

/// The file, as a C string, that the run path of the object at `pc` finds for a name without a slash.
///
/// # Safety
/// `name` is null or a C string.
pub unsafe fn find(name: *const c_char, pc: u64) -> Option<Vec<u8>> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.is_empty() || name.contains(&b'/') {
        return None;
    }
    let mut info = [0; 4];
    let mut map = core::ptr::null();
    // SAFETY: writes our own variables; a record stays while its object is loaded, and the caller runs in it.
    let (map, path) = unsafe {
        if dladdr1(pc as *const c_void, &mut info, &mut map, RTLD_DL_LINKMAP) == 0 || map.is_null() {
            return None;
        }
        (&*map, run_path(&*map)?)
    };
    path.split(|&byte| byte == b':').filter(|dir| !dir.is_empty()).find_map(|dir| {
        let mut file = expand(dir, map);
        file.push(b'/');
        file.extend_from_slice(name);
        file.push(0);
        // SAFETY: a C string of our own.
        (unsafe { raw(nr::ACCESS, [file.as_ptr() as usize, R_OK]) } == 0).then_some(file)
    })
}

/// # Safety
/// `map` is the loader's record of a loaded object.
unsafe fn run_path(map: &LinkMap) -> Option<&'static [u8]> {
    let (mut strings, mut path, mut old_path) = (0, None, None);
    // SAFETY: the dynamic section ends with a zero tag; the loader has read it before us.
    unsafe {
        let mut entry = map.dynamic;
        while (*entry)[0] != 0 {
            match *entry {
                [DT_STRTAB, at] => strings = at as usize,
                [DT_RUNPATH, at] => path = Some(at as usize),
                [DT_RPATH, at] => old_path = Some(at as usize),
                _ => {}
            }
            entry = entry.add(1);
        }
        // The loader makes addresses of offsets in place, where the section can be written.
        if strings < map.base {
            strings += map.base;
        }
        path.or(old_path).map(|at| CStr::from_ptr((strings + at) as *const c_char).to_bytes())
    }
}

/// A directory with `$ORIGIN` replaced by that of the object.
fn expand(dir: &[u8], map: &LinkMap) -> Vec<u8> {
    for token in [b"$ORIGIN".as_slice(), b"${ORIGIN}"] {
        if let Some(at) = dir.windows(token.len()).position(|window| window == token) {
            let mut whole = dir[..at].to_vec();
            whole.extend_from_slice(&origin(map));
            whole.extend_from_slice(&dir[at + token.len()..]);
            return whole;
        }
    }
    dir.to_vec()
}

fn origin(map: &LinkMap) -> Vec<u8> {
    // SAFETY: the loader's C string; the program itself has an empty one.
    let mut file = unsafe { CStr::from_ptr(map.name) }.to_bytes().to_vec();
    if file.is_empty() {
        file = alloc::vec![0; 4096];
        let link = c"/proc/self/exe";
        // SAFETY: writes at most our own buffer.
        let length =
            unsafe { raw(nr::READLINK, [link.as_ptr() as usize, file.as_mut_ptr() as usize, file.len()]) };
        file.truncate(length.max(0) as usize);
    }
    let dir = file.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    file.truncate(dir);
    file
}

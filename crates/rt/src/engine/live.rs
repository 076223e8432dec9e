//! The counters the driver sees: one page that the fork server maps over [`LIVE`].

use crate::raw::Raw;
use threadbare_abi::layout::Live;

/// A page of its own, so that shared memory can be mapped over it.
#[repr(C, align(4096))]
pub struct LivePage {
    /// The counters.
    pub live: Live,
    pad: [u8; 4096 - size_of::<Live>()],
}

/// The page. Ordinary memory until the server maps the shared one over it.
pub static mut LIVE: LivePage = LivePage {
    // SAFETY: all fields are integers; zero is valid.
    live: unsafe { core::mem::zeroed() },
    pad: [0; 4096 - size_of::<Live>()],
};

/// The counters.
#[inline(always)]
pub fn live() -> Raw<Live> {
    // SAFETY: one kernel thread under control; the driver only reads.
    unsafe { Raw::new(&raw mut LIVE.live) }
}

/// From now on the counters are this process's own: the driver does not see them.
pub fn detach() {
    const FLAGS: usize = 0x02 | 0x10 | 0x20;
    // SAFETY: copies the page out, replaces the shared mapping by a private one at the same place, copies it back.
    unsafe {
        let at = &raw mut LIVE;
        let copy = core::ptr::read(&raw const (*at).live);
        crate::sys::syscall6(crate::sys::nr::MMAP, at as usize, 4096, 3, FLAGS, usize::MAX, 0);
        core::ptr::write(&raw mut (*at).live, copy);
    }
}

//! Which pages a run has written, and what was in them.
//!
//! Pages that an earlier run wrote are put back without asking. All others that were there at the beginning are write-protected by
//! userfaultfd in asynchronous mode, whose faults the kernel answers by itself, and the rest was not there: one scan of the page
//! tables tells those that are written by now, which join the known ones. So a page costs a fault once, not in every run.
//!
//! Putting a page back costs less than a fault, and yet a page that one run in a hundred writes is better not put back after the ninety-nine: a
//! run that panics writes hundreds that no other does. So a page is known for eight runs at first, and protected again then. If it
//! is soon written again, it is known for twice as long.

use super::{Room, Why};
use crate::sys::{nr, syscall3};
use core::ptr;

pub(super) const PAGE: usize = 4096;
/// Pages that are saved or known, at the most: a larger program is better forked.
pub(super) const SAVED: usize = 1 << 16;
const KNOWN: usize = 1 << 14;
/// Regions that one scan tells.
const REGIONS: usize = 1 << 12;

const UFFD_USER_MODE_ONLY: usize = 1;
const O_CLOEXEC: usize = 0o2_000_000;
const UFFDIO_API: usize = 0xc018_aa3f;
const UFFDIO_REGISTER: usize = 0xc020_aa00;
const UFFDIO_WRITEPROTECT: usize = 0xc018_aa06;
const FEATURE_WP_ASYNC: u64 = 1 << 15;
const REGISTER_MODE_WP: u64 = 2;
const WRITEPROTECT_MODE_WP: u64 = 1;
const PAGEMAP_SCAN: usize = 0xc060_6610;
const IS_WP_ALLOWED: u64 = 1;
const IS_WRITTEN: u64 = 2;
const IS_PRESENT: u64 = 8;
const IS_SWAPPED: u64 = 16;
const IS_ZERO: u64 = 32;
/// The end of a process's addresses.
const TOP: u64 = 0x7fff_ffff_f000;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// A page, and where its first content is; 0: it was all zero.
#[derive(Clone, Copy)]
struct Saved {
    page: usize,
    copy: usize,
}

/// The same of a page that is put back after every run, up to the run of this number.
#[derive(Clone, Copy)]
struct Known {
    page: usize,
    copy: usize,
    until: u32,
}

/// For how many runs a page was known last, as a power of two, and until which run.
#[derive(Clone, Copy)]
struct Term {
    until: u32,
    power: u8,
}

/// Terms that are remembered; pages share them, which costs time and nothing else.
const TERMS: usize = 1 << 14;
/// The shortest and the longest term.
const SHORTEST: u8 = 3;
const LONGEST: u8 = 16;

/// A list of fixed room in memory that is not restored.
struct List<T> {
    at: *mut T,
    len: usize,
    most: usize,
}

impl<T: Copy> List<T> {
    fn new(room: &mut Room, most: usize) -> List<T> {
        List { at: room.take(most), len: 0, most }
    }

    fn insert(&mut self, index: usize, value: T) -> bool {
        if self.len == self.most {
            return false;
        }
        // SAFETY: there is room for one more behind the last.
        unsafe {
            let at = self.at.add(index);
            ptr::copy(at, at.add(1), self.len - index);
            at.write(value);
        }
        self.len += 1;
        true
    }

    fn retain(&mut self, stays: impl Fn(&T) -> bool) {
        let mut kept = 0;
        for index in 0..self.len {
            // SAFETY: both are below the length.
            unsafe {
                let value = *self.at.add(index);
                if stays(&value) {
                    self.at.add(kept).write(value);
                    kept += 1;
                }
            }
        }
        self.len = kept;
    }

    fn as_slice(&self) -> &[T] {
        // SAFETY: the first `len` are written.
        unsafe { core::slice::from_raw_parts(self.at, self.len) }
    }
}

/// A writable private mapping at the beginning.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Its pages have what a file has until they are written.
    pub(super) of_file: bool,
}

/// All that is restored.
pub(super) struct Pages {
    uffd: usize,
    pagemap: usize,
    /// Both in the order of addresses.
    saved: List<Saved>,
    known: List<Known>,
    terms: *mut Term,
    /// Runs so far, and the first one after which a page is not known any more.
    runs: u32,
    ends: u32,
    regions: *mut Region,
    copies: usize,
    /// Page faults up to when memory was put back.
    faults: u64,
    /// The run has given pages back to the kernel.
    gave_back: bool,
}

impl Pages {
    /// Asks the kernel for what it takes; `None` if it has it not.
    pub(super) fn new(room: &mut Room) -> Option<Pages> {
        let path = c"/proc/self/pagemap".as_ptr() as usize;
        let mut api = [0xAA, FEATURE_WP_ASYNC, 0u64];
        // SAFETY: new descriptors; the kernel writes 24 bytes.
        let (uffd, pagemap) = unsafe {
            let uffd = super::kernel::high(syscall3(nr::USERFAULTFD, O_CLOEXEC | UFFD_USER_MODE_ONLY, 0, 0))?;
            if syscall3(nr::IOCTL, uffd, UFFDIO_API, &raw mut api as usize) != 0 {
                return None;
            }
            (uffd, super::kernel::high(syscall3(nr::OPEN, path, O_CLOEXEC, 0))?)
        };
        let (saved, known) = (List::new(room, SAVED), List::new(room, KNOWN));
        let terms = room.take(TERMS);
        let (regions, copies) = (room.take(REGIONS), room.take::<[u8; PAGE]>(SAVED) as usize);
        let (runs, ends, faults, gave_back) = (0, u32::MAX, 0, false);
        Some(Pages { uffd, pagemap, saved, known, terms, runs, ends, regions, copies, faults, gave_back })
    }

    /// Copies what is there, and has the kernel look out for writes from now on.
    pub(super) fn take<R: Iterator<Item = Range>>(&mut self, ranges: impl Fn() -> R) -> bool {
        for range in ranges() {
            let done =
                if range.of_file { self.save(range.start, range.end) } else { self.save_present(&range) };
            if !done {
                return false;
            }
        }
        for range in ranges() {
            let (start, length) = (range.start as u64, (range.end - range.start) as u64);
            let mut register = [start, length, REGISTER_MODE_WP, 0];
            // SAFETY: the kernel reads and writes 32 bytes.
            if unsafe { syscall3(nr::IOCTL, self.uffd, UFFDIO_REGISTER, &raw mut register as usize) } != 0 {
                return false;
            }
        }
        self.protect(self.saved.as_slice().iter().map(|saved| saved.page))
    }

    /// Has the kernel look out for writes to these pages, which come in the order of addresses.
    fn protect(&self, pages: impl Iterator<Item = usize>) -> bool {
        let stretch = |start: usize, end: usize| {
            let mut protect = [start as u64, (end - start) as u64, WRITEPROTECT_MODE_WP];
            // SAFETY: the kernel reads 24 bytes.
            start == end
                || unsafe { syscall3(nr::IOCTL, self.uffd, UFFDIO_WRITEPROTECT, &raw mut protect as usize) }
                    == 0
        };
        let (mut start, mut end) = (0, 0);
        for page in pages {
            if page != end {
                if !stretch(start, end) {
                    return false;
                }
                start = page;
            }
            end = page + PAGE;
        }
        stretch(start, end)
    }

    fn save(&mut self, start: usize, end: usize) -> bool {
        for page in (start..end).step_by(PAGE) {
            let copy = self.copies + self.saved.len * PAGE;
            let at = self.saved.as_slice().partition_point(|saved| saved.page < page);
            if !self.saved.insert(at, Saved { page, copy }) {
                return false;
            }
            // SAFETY: the page can be read; the copy is in our own room, which has one for each entry.
            unsafe { ptr::copy_nonoverlapping(page as *const u8, copy as *mut u8, PAGE) };
        }
        true
    }

    fn save_present(&mut self, range: &Range) -> bool {
        let mut from = range.start as u64;
        while from < range.end as u64 {
            let mut scan = Scan {
                start: from,
                end: range.end as u64,
                category_anyof_mask: IS_PRESENT | IS_SWAPPED,
                return_mask: IS_PRESENT | IS_SWAPPED | IS_ZERO,
                ..Scan::default()
            };
            let Some(count) = self.scan(&mut scan) else { return false };
            for index in 0..count {
                // SAFETY: the scan wrote so many.
                let region = unsafe { *self.regions.add(index) };
                if region.categories & IS_ZERO == 0 && !self.save(region.start as usize, region.end as usize)
                {
                    return false;
                }
            }
            from = scan.walk_end.max(from + PAGE as u64);
        }
        true
    }

    fn scan(&self, scan: &mut Scan) -> Option<usize> {
        scan.size = size_of::<Scan>() as u64;
        scan.vec = self.regions as u64;
        scan.vec_len = REGIONS as u64;
        // SAFETY: the kernel writes the argument and up to so many regions.
        usize::try_from(unsafe {
            syscall3(nr::IOCTL, self.pagemap, PAGEMAP_SCAN, ptr::from_mut(scan) as usize)
        })
        .ok()
    }

    /// All pages as they were.
    pub(super) fn put_back(&mut self) -> Result<(), Why> {
        // A page that is written for the first time makes a fault.
        let faults = super::kernel::faults();
        let news = faults != self.faults;
        if news {
            self.look_for_new()?;
        }
        let may_fault = news || core::mem::take(&mut self.gave_back);
        for known in self.known.as_slice() {
            // SAFETY: a page of the program's or the runtime's, which stand still; it is writable as it was.
            unsafe {
                match known.copy {
                    0 => ptr::write_bytes(known.page as *mut u8, 0, PAGE),
                    copy => ptr::copy_nonoverlapping(copy as *const u8, known.page as *mut u8, PAGE),
                }
            }
        }
        self.runs = self.runs.saturating_add(1);
        if self.runs >= self.ends {
            self.forget()?;
        }
        self.faults = if may_fault { super::kernel::faults() } else { faults };
        Ok(())
    }

    /// Pages whose term has ended are protected again. They have been put back.
    fn forget(&mut self) -> Result<(), Why> {
        let runs = self.runs;
        let is_over = move |known: &&Known| known.until <= runs;
        if !self.protect(self.known.as_slice().iter().filter(is_over).map(|known| known.page)) {
            return Err(Why::Mappings);
        }
        self.known.retain(|known| known.until > runs);
        self.ends = self.known.as_slice().iter().map(|known| known.until).min().unwrap_or(u32::MAX);
        Ok(())
    }

    /// The run up to which a page is known that was just found to be written.
    fn term(&mut self, page: usize) -> u32 {
        // SAFETY: the index is below the number of terms, and all of them are zero at first.
        let term = unsafe { &mut *self.terms.add(page / PAGE % TERMS) };
        let length = 1u32 << term.power;
        let soon = self.runs < term.until.saturating_add(length);
        term.power = if soon { (term.power + 1).clamp(SHORTEST, LONGEST) } else { SHORTEST };
        term.until = self.runs.saturating_add(1 << term.power);
        self.ends = self.ends.min(term.until);
        term.until
    }

    fn look_for_new(&mut self) -> Result<(), Why> {
        let mut from = 0;
        while from < TOP {
            // What is not there at all counts as written, and so does what was only read and is zero.
            let mut scan = Scan {
                start: from,
                end: TOP,
                category_inverted: IS_ZERO,
                category_mask: IS_WRITTEN | IS_WP_ALLOWED | IS_ZERO,
                category_anyof_mask: IS_PRESENT | IS_SWAPPED,
                return_mask: IS_WRITTEN,
                ..Scan::default()
            };
            let count = self.scan(&mut scan).ok_or(Why::Kernel)?;
            let mut at = 0;
            for index in 0..count {
                // SAFETY: the scan wrote so many.
                let region = unsafe { *self.regions.add(index) };
                for page in (region.start as usize..region.end as usize).step_by(PAGE) {
                    // Both lists are in order.
                    while at < self.known.len && self.known.as_slice()[at].page < page {
                        at += 1;
                    }
                    if self.known.as_slice().get(at).is_none_or(|known| known.page != page) {
                        self.learn(at, page)?;
                    }
                }
            }
            from = scan.walk_end.max(from + PAGE as u64);
        }
        Ok(())
    }

    fn learn(&mut self, at: usize, page: usize) -> Result<(), Why> {
        let found = self.saved.as_slice().binary_search_by_key(&page, |saved| saved.page);
        let copy = found.map_or(0, |index| self.saved.as_slice()[index].copy);
        let until = self.term(page);
        if self.known.insert(at, Known { page, copy, until }) { Ok(()) } else { Err(Why::Size) }
    }

    /// Pages are about to be given back to the kernel.
    pub(super) fn dropped(&mut self, start: usize, length: usize) {
        self.gave_back = true;
        let from = self.saved.as_slice().partition_point(|saved| saved.page < start);
        for index in from..self.saved.len {
            let page = self.saved.as_slice()[index].page;
            if page >= start + length {
                break;
            }
            let at = self.known.as_slice().partition_point(|known| known.page < page);
            if self.known.as_slice().get(at).is_none_or(|known| known.page != page) {
                // Where there is no room, there is none at the end of the run either.
                let _ = self.learn(at, page);
            }
        }
    }
}

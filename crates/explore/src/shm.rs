//! The shared memory of one job, mapped by the driver.
//!
//! The memory is also mapped by a process that may do anything with it, so nothing read from it is trusted: lengths
//! are cut to the tables' sizes, and everything is copied out before it is looked at. Except for the ring's indices,
//! which are atomics, the driver reads and writes only while no run is on.

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;
use threadbare_abi::batch::{self, Batch, Head};
use threadbare_abi::event::{Event, Segment};
use threadbare_abi::layout::{
    self, Area, EVENTS_CAPACITY, FILE_SIZE, Header, Live, MAGIC, Plan, REPORT_SIZE, Recorded, Ring, VERSION,
    Watch,
};
use threadbare_abi::step::STEP_WORDS;
use threadbare_abi::tasks::{FUNCTIONS, ROW, Tasks};
use threadbare_trace::run::Counters;

/// The memory file and its mapping.
#[derive(Debug)]
pub struct SharedMemory {
    fd: OwnedFd,
    base: NonNull<u8>,
}

// SAFETY: the mapping belongs to this value alone, and no method hands out a reference into it.
unsafe impl Send for SharedMemory {}

/// The live page of a run, copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveCopy {
    /// The run's number as the runtime wrote it.
    pub run: u64,
    /// The counters.
    pub counters: Counters,
    /// Pcs in the learnt table.
    pub learnt: u64,
    /// Bytes in the report area.
    pub report_len: u64,
    /// Verdict: kind code, strand, signal or exit code, pc, address.
    pub verdict: u32,
    /// The strand of the verdict.
    pub verdict_strand: u32,
    /// The signal or exit code of the verdict.
    pub verdict_code: i32,
    /// The instruction of the verdict.
    pub verdict_pc: u64,
    /// The address of the verdict.
    pub verdict_addr: u64,
    /// Whether the run ended by its own will.
    pub ended: bool,
    /// The run's process, 0 before it is made.
    pub pid: i32,
    /// Processor time that the process had used when the run began.
    pub used_before: Duration,
    /// Different data races the run showed.
    pub races: u32,
    /// Names the run's class.
    pub class: u64,
    /// Records of coverage in the list.
    pub told: u64,
    /// Records of steps, and how many did not fit.
    pub steps: (u64, u64),
}

impl LiveCopy {
    fn of(live: &Live) -> LiveCopy {
        LiveCopy {
            run: live.run,
            counters: Counters {
                events: live.events,
                points: live.points,
                switches: live.switches,
                choices: live.choices,
                strands: live.strands,
                time_ns: live.time_ns,
                segments: live.segments,
                segments_lost: live.segments_lost,
                followed: live.followed,
                trace_hash: live.trace_hash,
                entered: live.entered != 0,
                current: live.current as u16,
            },
            learnt: live.learnt,
            report_len: live.report_len,
            verdict: live.verdict,
            verdict_strand: live.verdict_strand,
            verdict_code: live.verdict_code,
            verdict_pc: live.verdict_pc,
            verdict_addr: live.verdict_addr,
            pid: live.pid,
            used_before: Duration::from_nanos(live.used_before_ns),
            races: live.races,
            class: live.class,
            told: live.told,
            steps: (live.steps, live.steps_lost),
            ended: live.ended != 0,
        }
    }
}

/// What the table of tasks has of one function.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskRow {
    pub(crate) pc: u64,
    pub(crate) strand: u64,
    pub(crate) marks: u32,
    pub(crate) pairs: Vec<u64>,
}

/// Where a function's pc, strand, marks and pairs are.
fn task_columns(function: usize) -> [usize; 4] {
    assert!(function < FUNCTIONS);
    [
        std::mem::offset_of!(Tasks, functions) + function * 8,
        std::mem::offset_of!(Tasks, strands) + function * 8,
        std::mem::offset_of!(Tasks, marks) + function * 4,
        std::mem::offset_of!(Tasks, pairs) + function * ROW * 8,
    ]
    .map(|offset| layout::TASKS.offset() + offset)
}

/// Where something of the batch is.
fn in_batch(field: usize) -> usize {
    layout::BATCH.offset() + field
}

impl SharedMemory {
    /// A new memory file with its header written.
    pub fn create() -> io::Result<SharedMemory> {
        let fd = memfd_create("threadbare", MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, FILE_SIZE as u64)?;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new shared mapping at an address the kernel chooses touches no memory of ours.
        let base = unsafe { mmap(ptr::null_mut(), FILE_SIZE, prot, MapFlags::SHARED, &fd, 0) }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = SharedMemory { fd, base };
        memory.put(layout::HEADER, &[Header { magic: MAGIC, version: VERSION, reserved: 0 }]);
        Ok(memory)
    }

    /// The file, for the process that shares it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Empties the ring. The live page is the server's: it reads there what the last run needed.
    pub fn clear_ring(&self) {
        self.write(layout::RING.offset(), &[[0u8; size_of::<Ring>()]]);
    }

    /// Sets the plan of the next run.
    pub fn set_plan(&self, plan: &Plan) {
        self.write(in_batch(std::mem::offset_of!(Batch, count)), &[0u64]);
        self.put(layout::PLAN, std::slice::from_ref(plan));
    }

    /// Sets the plans of a batch of runs, no more than [`batch::RUNS`], each with what its strategy is told; the number of those that fit.
    pub(crate) fn set_batch(&self, plans: &[(Plan, Arc<[u64]>)]) -> usize {
        let at = |field: usize, index: usize, size: usize| in_batch(field) + index * size;
        let mut used = 0;
        let mut last: Option<(&Arc<[u64]>, [u64; 2])> = None;
        let mut count = 0;
        for (index, (plan, guide)) in plans.iter().take(batch::RUNS).enumerate() {
            let words = &guide[..guide.len().min(layout::WORDS_CAPACITY - 1)];
            let place = match last.filter(|(other, _)| Arc::ptr_eq(other, guide)) {
                Some((_, place)) => place,
                None if used + words.len() > batch::GUIDE_WORDS => break,
                None => {
                    self.write(layout::BATCH_GUIDES.offset() + used * 8, words);
                    used += words.len();
                    [(used - words.len()) as u64, words.len() as u64]
                }
            };
            last = Some((guide, place));
            self.write(at(std::mem::offset_of!(Batch, plans), index, size_of::<Plan>()), &[*plan]);
            self.write(at(std::mem::offset_of!(Batch, guides), index, 16), &[place]);
            count += 1;
        }
        let told = plans.first().map_or(0, |(plan, _)| plan.told);
        self.write(at(std::mem::offset_of!(Batch, told), 0, 8), &[told]);
        self.write(at(std::mem::offset_of!(Batch, results), 0, 8), &[0u64]);
        self.write(at(std::mem::offset_of!(Batch, index), 0, 8), &[0u64]);
        self.write(at(std::mem::offset_of!(Batch, done), 0, 8), &[0u64]);
        self.write(at(std::mem::offset_of!(Batch, stop), 0, 4), &[0u32]);
        self.write(at(std::mem::offset_of!(Batch, count), 0, 8), &[count as u64]);
        count
    }

    /// No other run of the batch is to begin; tells which one is under way.
    pub(crate) fn stop_batch(&self) -> u64 {
        let batch = self.at(layout::BATCH);
        // SAFETY: the batch lies in the mapping and is aligned; the flag is an atomic, which both sides use as such.
        unsafe { &(*batch).stop }.store(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.live().run
    }

    /// What the runs of a batch told that are made for good.
    pub(crate) fn results(&self) -> Vec<Told> {
        let batch = self.at(layout::BATCH);
        // SAFETY: as above.
        let done = unsafe { &(*batch).done }.load(Ordering::Acquire).min(batch::RUNS as u64) as usize;
        let end: u64 = self.read(in_batch(std::mem::offset_of!(Batch, results)) + done * 8, 1, 1)[0];
        let words = self.get(layout::RESULTS, 0, end / 8);
        let mut rest = &words[..];
        std::iter::from_fn(|| Told::read(&mut rest)).take(done).collect()
    }

    /// Forgets the process of the last run.
    pub fn clear_pid(&self) {
        let offset = layout::LIVE.offset() + std::mem::offset_of!(Live, pid);
        self.write(offset, &[0i32]);
    }

    /// Sets the segments to follow; returns how many fit.
    pub fn set_follow(&self, segments: &[Segment]) -> u64 {
        self.put(layout::FOLLOW, segments) as u64
    }

    /// Sets what is known of the program, facts as words; returns how many fit.
    pub fn set_known(&self, facts: &[u64]) -> u64 {
        self.put(layout::KNOWN, facts) as u64
    }

    /// Sets where parameters and locals are at instructions: the words of [`threadbare_abi::local`].
    pub fn set_places(&self, words: &[u64]) {
        self.put(layout::PLACES, words);
    }

    /// Sets what the runtime is to look out for; returns how many fit.
    pub fn set_watches(&self, watches: &[Watch]) -> u32 {
        self.put(layout::WATCHES, watches) as u32
    }

    /// Sets what the strategy is told; what does not fit is cut.
    pub fn set_guide(&self, words: &[u64]) {
        self.set_words(layout::GUIDE, words);
    }

    /// What the strategy of the run noted.
    pub fn notes(&self) -> Vec<u64> {
        self.words(layout::NOTES)
    }

    /// The records of who read from whom in the run.
    pub fn reads(&self) -> Vec<u64> {
        self.words(layout::READS)
    }

    /// Sets an area whose first word is the number of the others.
    fn set_words(&self, area: Area<u64>, words: &[u64]) {
        let fit = &words[..words.len().min(area.capacity() - 1)];
        self.put(area, &[fit.len() as u64]);
        self.write(area.offset() + 8, fit);
    }

    /// The words of such an area.
    fn words(&self, area: Area<u64>) -> Vec<u64> {
        let count = self.get(area, 0, 1)[0];
        self.get(area, 1, count)
    }

    /// The order of events that a free run recorded: the strands' paths, the events, and how many there were in all.
    pub fn recorded(&self) -> (Vec<u64>, Vec<u64>, u64) {
        let recorded = layout::RECORDED.offset();
        let word = |at: usize| self.read(recorded + at, 1, 1).first().copied().unwrap_or(0);
        let count: u64 = word(std::mem::offset_of!(Recorded, count));
        let strands: u64 = word(std::mem::offset_of!(Recorded, strands));
        let paths = recorded + std::mem::offset_of!(Recorded, paths);
        let events = recorded + std::mem::offset_of!(Recorded, events);
        (
            self.read(paths, strands, layout::RECORDED_STRANDS),
            self.read(events, count, layout::RECORDED_CAPACITY),
            count,
        )
    }

    /// Functions in the table of tasks, and how many there would be with more room.
    pub(crate) fn functions(&self) -> (usize, u64) {
        let count = self.read(layout::TASKS.offset() + std::mem::offset_of!(Tasks, count), 1, 1)[0];
        ((count as usize).min(FUNCTIONS), count)
    }

    /// A row of the table of tasks: a function's pc, its strand, its marks and the first `words` words of its pairs.
    pub(crate) fn task_row(&self, function: usize, words: usize) -> TaskRow {
        let [pcs, strands, marks, pairs] = task_columns(function);
        TaskRow {
            pc: self.read(pcs, 1, 1)[0],
            strand: self.read(strands, 1, 1)[0],
            marks: self.read(marks, 1, 1)[0],
            pairs: self.read(pairs, words as u64, ROW),
        }
    }

    /// Sets the number of functions in the table of tasks.
    pub(crate) fn set_functions(&self, count: usize) {
        self.write(layout::TASKS.offset() + std::mem::offset_of!(Tasks, count), &[count as u64]);
    }

    /// Sets a row of the table of tasks.
    pub(crate) fn set_task_row(&self, function: usize, row: &TaskRow) {
        let [pcs, strands, marks, pairs] = task_columns(function);
        self.write(pcs, &[row.pc]);
        self.write(strands, &[row.strand]);
        self.write(marks, &[row.marks]);
        self.write(pairs, &row.pairs[..row.pairs.len().min(ROW)]);
    }

    /// The live page.
    pub fn live(&self) -> LiveCopy {
        // SAFETY: the page lies in the mapping, is aligned, and any bytes are a valid `Live`: integers only. The copy
        // is volatile because a run may still write to it.
        LiveCopy::of(&unsafe { ptr::read_volatile(self.at(layout::LIVE)) })
    }

    /// The first `len` bytes of the report area.
    pub fn report(&self, len: u64) -> Vec<u8> {
        self.get(layout::REPORT, 0, len)
    }

    /// Writes the texts of an input to where reports will be.
    pub(crate) fn set_texts(&self, texts: &[u8]) {
        assert!(texts.len() <= REPORT_SIZE);
        self.put(layout::REPORT, texts);
    }

    /// The first `count` facts the run learnt, as words.
    pub fn learnt(&self, count: u64) -> Vec<u64> {
        self.get(layout::LEARNT, 0, count)
    }

    /// The records of coverage from the `from`-th on, of `count` in all.
    pub fn told(&self, from: u64, count: u64) -> Vec<[u64; 2]> {
        self.get(layout::TOLD, from, count.min(layout::TOLD_CAPACITY as u64).saturating_sub(from))
    }

    /// The first `count` records of the run's steps, as words.
    pub fn steps(&self, count: u64) -> Vec<u64> {
        let (at, most) = (layout::STEPS.offset(), layout::STEPS_CAPACITY * STEP_WORDS);
        self.read(at, count.saturating_mul(STEP_WORDS as u64), most)
    }

    /// The first `count` segments the run took.
    pub fn taken(&self, count: u64) -> Vec<Segment> {
        self.get(layout::TAKEN, 0, count)
    }

    /// Makes the segments the run took the ones to follow; returns how many.
    pub fn follow_taken(&self, count: u64) -> u64 {
        let count = count.min(layout::SEGMENTS_CAPACITY as u64);
        // SAFETY: both tables lie in the mapping, have this capacity, and do not overlap.
        unsafe {
            ptr::copy_nonoverlapping(self.at(layout::TAKEN), self.at(layout::FOLLOW), count as usize);
        }
        count
    }

    /// Takes all events out of the ring and makes room for more; returns how many there were.
    pub fn drain(&self, buffer: &mut Vec<Event>) -> usize {
        let ring = self.at(layout::RING);
        // SAFETY: the ring's page lies in the mapping and is aligned; its fields are atomics, which both sides use as
        // such.
        let (head, tail, space) = unsafe { (&(*ring).head, &(*ring).tail, &(*ring).space) };
        let from = tail.load(Ordering::Relaxed);
        let to = head.load(Ordering::Acquire);
        // A broken writer must not make us read out of the table.
        let count = (to.wrapping_sub(from) as usize).min(EVENTS_CAPACITY);
        if count == 0 {
            return 0;
        }
        let start = from as usize % EVENTS_CAPACITY;
        let first = count.min(EVENTS_CAPACITY - start);
        buffer.extend(self.get(layout::EVENTS, start as u64, first as u64));
        buffer.extend(self.get(layout::EVENTS, 0, (count - first) as u64));
        tail.store(to, Ordering::Release);
        wake(space);
        count
    }

    /// Where an area begins.
    fn at<T>(&self, area: Area<T>) -> *mut T {
        self.base.as_ptr().wrapping_add(area.offset()).cast()
    }

    /// Puts values at the beginning of an area; what does not fit is cut. Returns how many fit.
    fn put<T: Copy>(&self, area: Area<T>, values: &[T]) -> usize {
        let fit = &values[..values.len().min(area.capacity())];
        self.write(area.offset(), fit);
        fit.len()
    }

    /// So many entries of an area, from one on, as far as it goes.
    fn get<T: Plain>(&self, area: Area<T>, from: u64, count: u64) -> Vec<T> {
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(area.capacity());
        self.read(area.offset() + from * size_of::<T>(), count, area.capacity() - from)
    }

    fn write<T: Copy>(&self, offset: usize, values: &[T]) {
        assert!(offset + size_of_val(values) <= FILE_SIZE);
        // SAFETY: the range lies in the mapping (checked), which is writable and not borrowed anywhere.
        unsafe {
            let to = self.base.add(offset).cast::<T>().as_ptr();
            ptr::copy_nonoverlapping(values.as_ptr(), to, values.len());
        }
    }

    fn read<T: Plain>(&self, offset: usize, count: u64, most: usize) -> Vec<T> {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(most);
        assert!(offset + count * size_of::<T>() <= FILE_SIZE);
        let mut values: Vec<T> = Vec::with_capacity(count);
        // SAFETY: the range lies in the mapping (checked), `T` allows any bytes, and the vector has room for them.
        unsafe {
            let from = self.base.add(offset).cast::<T>().as_ptr();
            ptr::copy_nonoverlapping(from, values.as_mut_ptr(), count);
            values.set_len(count);
        }
        values
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this size, and nothing refers to it any more. A failure leaves it mapped,
        // which is harmless.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), FILE_SIZE) };
    }
}

fn wake(word: &AtomicU32) {
    word.fetch_add(1, Ordering::Release);
    // The wake can only fail for a bad address, and the word lies in our mapping.
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}

/// What a run of a batch told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) live: LiveCopy,
    /// Bytes it wrote to its standard output and error.
    pub(crate) written: [u64; 2],
    pub(crate) learnt: Vec<u64>,
    pub(crate) notes: Vec<u64>,
    pub(crate) reads: Vec<u64>,
    pub(crate) steps: Vec<u64>,
    pub(crate) coverage: Vec<[u64; 2]>,
    /// The report, without what is told of the modules before the first run.
    pub(crate) report: Vec<u8>,
}

impl Told {
    /// Takes one off the words; `None` if there is no whole one.
    fn read(words: &mut &[u64]) -> Option<Told> {
        const HEAD: usize = size_of::<Head>() / 8;
        let (head, rest) = words.split_at_checked(HEAD)?;
        // SAFETY: so many words are there, and any are a valid head: integers only.
        let head = unsafe { head.as_ptr().cast::<Head>().read() };
        let mut rest = rest;
        let mut list = |count: u64| {
            let (list, others) = rest.split_at_checked(usize::try_from(count).ok()?)?;
            rest = others;
            Some(list.to_vec())
        };
        let told = Told {
            live: LiveCopy::of(&head.live),
            written: head.written,
            learnt: list(head.learnt)?,
            notes: list(head.notes)?,
            reads: list(head.reads)?,
            steps: list(head.steps.checked_mul(STEP_WORDS as u64)?)?,
            coverage: list(head.told.checked_mul(2)?)?
                .chunks_exact(2)
                .map(|pair| [pair[0], pair[1]])
                .collect(),
            report: {
                let words = list(head.report.div_ceil(8))?;
                words.iter().flat_map(|word| word.to_ne_bytes()).take(head.report as usize).collect()
            },
        };
        *words = rest;
        Some(told)
    }
}

/// A type for which any bytes are a value.
///
/// # Safety
/// No bytes may be invalid for the type.
unsafe trait Plain: Copy {}
// SAFETY: integers allow any bytes.
unsafe impl Plain for u8 {}
// SAFETY: integers allow any bytes.
unsafe impl Plain for u32 {}
// SAFETY: integers allow any bytes.
unsafe impl Plain for u64 {}
// SAFETY: integers allow any bytes.
unsafe impl Plain for [u64; 2] {}
// SAFETY: integer fields only.
unsafe impl Plain for Segment {}
// SAFETY: integer fields only.
unsafe impl Plain for Event {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_from_the_other_side_are_cut() {
        let memory = SharedMemory::create().unwrap();
        assert_eq!(memory.report(u64::MAX).len(), REPORT_SIZE);
        assert_eq!(memory.learnt(u64::MAX).len(), layout::FACTS_CAPACITY);
        assert_eq!(memory.set_known(&vec![1; layout::FACTS_CAPACITY + 5]), layout::FACTS_CAPACITY as u64);
        assert_eq!(memory.live().verdict, 0);
        memory.put(layout::NOTES, &[u64::MAX]);
        assert_eq!((memory.notes().len(), memory.reads().len()), (layout::WORDS_CAPACITY - 1, 0));
        memory.set_guide(&vec![7; layout::WORDS_CAPACITY]);
        assert_eq!(memory.words(layout::GUIDE), vec![7; layout::WORDS_CAPACITY - 1]);
    }

    #[test]
    fn results_that_are_damaged_are_left_out() {
        let memory = SharedMemory::create().unwrap();
        let field = |offset: usize| layout::BATCH.offset() + offset;
        let words = size_of::<Head>() / 8;
        // Two runs, of which the second says that it has learnt more than there is room for.
        memory.write(layout::RESULTS.offset() + std::mem::offset_of!(Head, learnt), &[1u64]);
        memory.write(layout::RESULTS.offset() + words * 8, &[77u64]);
        memory.write(
            layout::RESULTS.offset() + (words + 1) * 8 + std::mem::offset_of!(Head, learnt),
            &[u64::MAX],
        );
        memory.write(field(std::mem::offset_of!(Batch, done)), &[2u64]);
        let ends = field(std::mem::offset_of!(Batch, results));
        memory.write(ends + 16, &[(2 * words as u64 + 1) * 8]);
        let told = memory.results();
        assert_eq!(told.iter().map(|told| &told.learnt[..]).collect::<Vec<_>>(), [[77]]);
        memory.write(field(std::mem::offset_of!(Batch, done)), &[u64::MAX]);
        memory.write(ends + batch::RUNS * 8, &[u64::MAX]);
        assert!(memory.results().len() <= batch::RUNS);
    }

    #[test]
    fn guides_of_a_batch_are_written_once_and_must_fit() {
        let memory = SharedMemory::create().unwrap();
        // SAFETY: a plan is integers.
        let plan: Plan = unsafe { std::mem::zeroed() };
        let guide = |words: usize| Arc::<[u64]>::from(vec![5; words]);
        let (shared, long) = (guide(layout::WORDS_CAPACITY - 1), guide(layout::WORDS_CAPACITY - 1));
        let same: Vec<_> = (0..100).map(|_| (plan, Arc::clone(&shared))).collect();
        assert_eq!(memory.set_batch(&same), batch::RUNS);
        let others: Vec<_> = (0..100).map(|_| (plan, Arc::from(&long[..]))).collect();
        assert_eq!(memory.set_batch(&others), batch::GUIDE_WORDS / (layout::WORDS_CAPACITY - 1));
    }

    #[test]
    fn areas_are_read_as_they_were_written() {
        let memory = SharedMemory::create().unwrap();
        let whole = |area: Area<u64>| -> Vec<u64> {
            (0..area.capacity() as u64).map(|n| n + area.offset() as u64).collect()
        };
        let words = [
            layout::KNOWN,
            layout::LEARNT,
            layout::GUIDE,
            layout::NOTES,
            layout::READS,
            layout::BATCH_GUIDES,
            layout::RESULTS,
            layout::PLACES,
        ];
        // Full to the brim, all of them, before the first is read.
        for area in words {
            assert_eq!(memory.put(area, &whole(area)), area.capacity());
        }
        let segment = |n: u64| Segment { events: n, ..Segment::default() };
        let segments: Vec<Segment> = (0..layout::SEGMENTS_CAPACITY as u64 + 1).map(segment).collect();
        assert_eq!(memory.put(layout::TAKEN, &segments), layout::SEGMENTS_CAPACITY);
        assert_eq!(memory.set_follow(&segments[1..3]), 2);
        let told: Vec<[u64; 2]> = (0..layout::TOLD_CAPACITY as u64).map(|n| [n, !n]).collect();
        memory.put(layout::TOLD, &told);
        memory.put(layout::REPORT, &[7; REPORT_SIZE]);
        for area in words {
            assert_eq!(memory.get(area, 0, u64::MAX), whole(area));
        }
        assert_eq!(memory.taken(u64::MAX), segments[..layout::SEGMENTS_CAPACITY]);
        assert_eq!(memory.get(layout::FOLLOW, 0, 3), [segment(1), segment(2), segment(0)]);
        assert_eq!(memory.told(5, u64::MAX), told[5..]);
        assert_eq!(memory.told(u64::MAX, u64::MAX), [[0; 2]; 0]);
        assert_eq!(memory.report(u64::MAX), [7; REPORT_SIZE]);
        memory.set_guide(&[3, 1, 2]);
        assert_eq!(memory.words(layout::GUIDE), [3, 1, 2]);
        assert_eq!(memory.get(layout::KNOWN, 0, u64::MAX), whole(layout::KNOWN));
    }

    #[test]
    fn the_ring_wraps() {
        let memory = SharedMemory::create().unwrap();
        let mut events = Vec::new();
        let mut expected = 0;
        for round in 0..3u64 {
            let count = EVENTS_CAPACITY as u64 - 10;
            for i in 0..count {
                let at = (round * count + i) as usize % EVENTS_CAPACITY;
                let event = Event { value: round * count + i, ..Event::default() };
                memory.write(layout::EVENTS.offset() + at * size_of::<Event>(), &[event]);
            }
            memory.write(layout::RING.offset(), &[(round + 1) * count]);
            assert_eq!(memory.drain(&mut events), count as usize);
            for event in events.drain(..) {
                assert_eq!(event.value, expected);
                expected += 1;
            }
            assert_eq!(memory.drain(&mut events), 0);
        }
    }
}

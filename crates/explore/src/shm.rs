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
    BATCH_GUIDES_OFFSET, BATCH_OFFSET, EVENTS_CAPACITY, EVENTS_OFFSET, FACTS_CAPACITY, FILE_SIZE,
    FOLLOW_OFFSET, GUIDE_OFFSET, HEADER_OFFSET, Header, KNOWN_OFFSET, LEARNT_OFFSET, LIVE_OFFSET, Live,
    MAGIC, NOTES_OFFSET, PLACES_OFFSET, PLAN_OFFSET, Plan, READS_OFFSET, RECORDED_CAPACITY, RECORDED_OFFSET,
    RECORDED_STRANDS, REPORT_OFFSET, REPORT_SIZE, RESULTS_OFFSET, RING_OFFSET, Recorded, Ring,
    SEGMENTS_CAPACITY, STEPS_CAPACITY, STEPS_OFFSET, TAKEN_OFFSET, TASKS_OFFSET, TOLD_CAPACITY, TOLD_OFFSET,
    VERSION, WATCH_OFFSET, WATCHES_CAPACITY, WORDS_CAPACITY, Watch,
};
use threadbare_abi::local;
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
    .map(|offset| TASKS_OFFSET + offset)
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
        memory.write(HEADER_OFFSET, &[Header { magic: MAGIC, version: VERSION, reserved: 0 }]);
        Ok(memory)
    }

    /// The file, for the process that shares it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Empties the ring. The live page is the server's: it reads there what the last run needed.
    pub fn clear_ring(&self) {
        self.write(RING_OFFSET, &[[0u8; size_of::<Ring>()]]);
    }

    /// Sets the plan of the next run.
    pub fn set_plan(&self, plan: &Plan) {
        self.write(BATCH_OFFSET + std::mem::offset_of!(Batch, count), &[0u64]);
        self.write(PLAN_OFFSET, std::slice::from_ref(plan));
    }

    /// Sets the plans of a batch of runs, no more than [`batch::RUNS`], each with what its strategy is told; the number of those that fit.
    pub(crate) fn set_batch(&self, plans: &[(Plan, Arc<[u64]>)]) -> usize {
        let at = |field: usize, index: usize, size: usize| BATCH_OFFSET + field + index * size;
        let mut used = 0;
        let mut last: Option<(&Arc<[u64]>, [u64; 2])> = None;
        let mut count = 0;
        for (index, (plan, guide)) in plans.iter().take(batch::RUNS).enumerate() {
            let words = &guide[..guide.len().min(WORDS_CAPACITY - 1)];
            let place = match last.filter(|(other, _)| Arc::ptr_eq(other, guide)) {
                Some((_, place)) => place,
                None if used + words.len() > batch::GUIDE_WORDS => break,
                None => {
                    self.write(BATCH_GUIDES_OFFSET + used * 8, words);
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
        let batch = self.base.as_ptr().wrapping_add(BATCH_OFFSET).cast::<Batch>();
        // SAFETY: the batch lies in the mapping and is aligned; the flag is an atomic, which both sides use as such.
        unsafe { &(*batch).stop }.store(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.live().run
    }

    /// What the runs of a batch told that are made for good.
    pub(crate) fn results(&self) -> Vec<Told> {
        let batch = self.base.as_ptr().wrapping_add(BATCH_OFFSET).cast::<Batch>();
        // SAFETY: as above.
        let done = unsafe { &(*batch).done }.load(Ordering::Acquire).min(batch::RUNS as u64) as usize;
        let end: u64 = self.read(BATCH_OFFSET + std::mem::offset_of!(Batch, results) + done * 8, 1, 1)[0];
        let words: Vec<u64> = self.read(RESULTS_OFFSET, end / 8, batch::RESULTS / 8);
        let mut rest = &words[..];
        std::iter::from_fn(|| Told::read(&mut rest)).take(done).collect()
    }

    /// Forgets the process of the last run.
    pub fn clear_pid(&self) {
        let offset = LIVE_OFFSET + std::mem::offset_of!(Live, pid);
        self.write(offset, &[0i32]);
    }

    /// Sets the segments to follow; returns how many fit.
    pub fn set_follow(&self, segments: &[Segment]) -> u64 {
        let fit = &segments[..segments.len().min(SEGMENTS_CAPACITY)];
        self.write(FOLLOW_OFFSET, fit);
        fit.len() as u64
    }

    /// Sets the known pcs; returns how many fit.
    pub fn set_known(&self, pcs: &[u64]) -> u64 {
        let fit = &pcs[..pcs.len().min(FACTS_CAPACITY)];
        self.write(KNOWN_OFFSET, fit);
        fit.len() as u64
    }

    /// Sets where parameters and locals are at instructions: the words of [`threadbare_abi::local`].
    pub fn set_places(&self, words: &[u64]) {
        self.write(PLACES_OFFSET, &words[..words.len().min(local::WORDS)]);
    }

    /// Sets what the runtime is to look out for; returns how many fit.
    pub fn set_watches(&self, watches: &[Watch]) -> u32 {
        let fit = &watches[..watches.len().min(WATCHES_CAPACITY)];
        self.write(WATCH_OFFSET, fit);
        fit.len() as u32
    }

    /// Sets what the strategy is told; what does not fit is cut.
    pub fn set_guide(&self, words: &[u64]) {
        let fit = &words[..words.len().min(WORDS_CAPACITY - 1)];
        self.write(GUIDE_OFFSET, &[fit.len() as u64]);
        self.write(GUIDE_OFFSET + 8, fit);
    }

    /// What the strategy of the run noted.
    pub fn notes(&self) -> Vec<u64> {
        self.words(NOTES_OFFSET)
    }

    /// The records of who read from whom in the run.
    pub fn reads(&self) -> Vec<u64> {
        self.words(READS_OFFSET)
    }

    fn words(&self, offset: usize) -> Vec<u64> {
        let count = self.read(offset, 1, 1)[0];
        self.read(offset + 8, count, WORDS_CAPACITY - 1)
    }

    /// The order of events that a free run recorded: the strands' paths, the events, and how many there were in all.
    pub fn recorded(&self) -> (Vec<u64>, Vec<u64>, u64) {
        let word = |at: usize| self.read(RECORDED_OFFSET + at, 1, 1).first().copied().unwrap_or(0);
        let count: u64 = word(std::mem::offset_of!(Recorded, count));
        let strands: u64 = word(std::mem::offset_of!(Recorded, strands));
        let paths = RECORDED_OFFSET + std::mem::offset_of!(Recorded, paths);
        let events = RECORDED_OFFSET + std::mem::offset_of!(Recorded, events);
        (self.read(paths, strands, RECORDED_STRANDS), self.read(events, count, RECORDED_CAPACITY), count)
    }

    /// Functions in the table of tasks, and how many there would be with more room.
    pub(crate) fn functions(&self) -> (usize, u64) {
        let count = self.read(TASKS_OFFSET + std::mem::offset_of!(Tasks, count), 1, 1)[0];
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
        self.write(TASKS_OFFSET + std::mem::offset_of!(Tasks, count), &[count as u64]);
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
        LiveCopy::of(&unsafe { ptr::read_volatile(self.base.add(LIVE_OFFSET).cast::<Live>().as_ptr()) })
    }

    /// The first `len` bytes of the report area.
    pub fn report(&self, len: u64) -> Vec<u8> {
        self.read(REPORT_OFFSET, len, REPORT_SIZE)
    }

    /// Writes the texts of an input to where reports will be.
    pub(crate) fn set_texts(&self, texts: &[u8]) {
        assert!(texts.len() <= REPORT_SIZE);
        self.write(REPORT_OFFSET, texts);
    }

    /// The first `count` pcs the run learnt.
    pub fn learnt(&self, count: u64) -> Vec<u64> {
        self.read(LEARNT_OFFSET, count, FACTS_CAPACITY)
    }

    /// The records of coverage from the `from`-th on, of `count` in all.
    pub fn told(&self, from: u64, count: u64) -> Vec<[u64; 2]> {
        let (from, count) = (from.min(TOLD_CAPACITY as u64), count.min(TOLD_CAPACITY as u64));
        self.read(TOLD_OFFSET + from as usize * 16, count.saturating_sub(from), TOLD_CAPACITY)
    }

    /// The first `count` records of the run's steps, as words.
    pub fn steps(&self, count: u64) -> Vec<u64> {
        self.read(STEPS_OFFSET, count.saturating_mul(STEP_WORDS as u64), STEPS_CAPACITY * STEP_WORDS)
    }

    /// The first `count` segments the run took.
    pub fn taken(&self, count: u64) -> Vec<Segment> {
        self.read(TAKEN_OFFSET, count, SEGMENTS_CAPACITY)
    }

    /// Makes the segments the run took the ones to follow; returns how many.
    pub fn follow_taken(&self, count: u64) -> u64 {
        let count = count.min(SEGMENTS_CAPACITY as u64);
        // SAFETY: both tables lie in the mapping, have this capacity, and do not overlap.
        unsafe {
            let from = self.base.add(TAKEN_OFFSET).cast::<Segment>().as_ptr();
            let to = self.base.add(FOLLOW_OFFSET).cast::<Segment>().as_ptr();
            ptr::copy_nonoverlapping(from, to, count as usize);
        }
        count
    }

    /// Takes all events out of the ring and makes room for more; returns how many there were.
    pub fn drain(&self, buffer: &mut Vec<Event>) -> usize {
        let ring = self.base.as_ptr().wrapping_add(RING_OFFSET).cast::<Ring>();
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
        buffer.extend(self.read::<Event>(EVENTS_OFFSET + start * size_of::<Event>(), first as u64, first));
        buffer.extend(self.read::<Event>(EVENTS_OFFSET, (count - first) as u64, EVENTS_CAPACITY));
        tail.store(to, Ordering::Release);
        wake(space);
        count
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
        assert_eq!(memory.learnt(u64::MAX).len(), FACTS_CAPACITY);
        assert_eq!(memory.set_known(&vec![1; FACTS_CAPACITY + 5]), FACTS_CAPACITY as u64);
        assert_eq!(memory.live().verdict, 0);
        memory.write(NOTES_OFFSET, &[u64::MAX]);
        assert_eq!((memory.notes().len(), memory.reads().len()), (WORDS_CAPACITY - 1, 0));
        memory.set_guide(&vec![7; WORDS_CAPACITY]);
        assert_eq!(memory.words(GUIDE_OFFSET), vec![7; WORDS_CAPACITY - 1]);
    }

    #[test]
    fn results_that_are_damaged_are_left_out() {
        let memory = SharedMemory::create().unwrap();
        let field = |offset: usize| BATCH_OFFSET + offset;
        let words = size_of::<Head>() / 8;
        // Two runs, of which the second says that it has learnt more than there is room for.
        memory.write(RESULTS_OFFSET + std::mem::offset_of!(Head, learnt), &[1u64]);
        memory.write(RESULTS_OFFSET + words * 8, &[77u64]);
        memory.write(RESULTS_OFFSET + (words + 1) * 8 + std::mem::offset_of!(Head, learnt), &[u64::MAX]);
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
        let (shared, long) = (guide(WORDS_CAPACITY - 1), guide(WORDS_CAPACITY - 1));
        let same: Vec<_> = (0..100).map(|_| (plan, Arc::clone(&shared))).collect();
        assert_eq!(memory.set_batch(&same), batch::RUNS);
        let others: Vec<_> = (0..100).map(|_| (plan, Arc::from(&long[..]))).collect();
        assert_eq!(memory.set_batch(&others), batch::GUIDE_WORDS / (WORDS_CAPACITY - 1));
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
                memory.write(EVENTS_OFFSET + at * size_of::<Event>(), &[event]);
            }
            memory.write(RING_OFFSET, &[(round + 1) * count]);
            assert_eq!(memory.drain(&mut events), count as usize);
            for event in events.drain(..) {
                assert_eq!(event.value, expected);
                expected += 1;
            }
            assert_eq!(memory.drain(&mut events), 0);
        }
    }
}

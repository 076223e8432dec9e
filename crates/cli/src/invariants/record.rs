//! Runs made again with the values of their accesses told, and the files that samples go to.

use super::Wanted;
use super::campaigns::Runs;
use super::results::Results;
use crate::conduct::cannot;
use crate::exit::Trouble;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use threadbare_abi::event::Event;
use threadbare_abi::layout::{PointMode, Record};
use threadbare_explore::again::{Taken, observe};
use threadbare_explore::files;
use threadbare_explore::run::{EventSink, Job};
use threadbare_explore::{Error, interrupt};
use threadbare_invariants::daikon::{Reader, TraceWriter, write_decls};
use threadbare_invariants::{Inference, Points, Sample, Side};
use threadbare_report::progress::{ProgressLine, State};
use threadbare_symbols::{Module, Symbols};
use threadbare_trace::report::Module as Loaded;
use threadbare_trace::run::RunFacts;
use threadbare_values::{Program, Recording};

/// A run with its values.
pub(crate) struct Recorded {
    pub(crate) recording: Recording,
    pub(crate) facts: RunFacts,
}

/// Makes runs again.
pub(crate) struct Recorder<'a> {
    pub(crate) runs: &'a Runs,
    jobs: Vec<Job>,
    line: ProgressLine,
    began: Instant,
    done: u64,
    /// No run is begun after it.
    pub(crate) deadline: Option<Instant>,
}

struct Sink(Recording);

impl EventSink for Sink {
    fn events(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.0.event(event));
    }

    fn restart(&mut self) {
        self.0 = Recording::new();
    }
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(runs: &'a Runs) -> Self {
        let cancel = Arc::new(AtomicBool::new(false));
        let job = || {
            let mut job = Job::new(Arc::clone(&runs.target), Arc::clone(&cancel));
            job.set_known(&runs.known);
            job
        };
        let jobs = (0..runs.config.jobs.max(1)).map(|_| job()).collect();
        Self {
            runs,
            jobs,
            line: ProgressLine::on_stderr(),
            began: Instant::now(),
            done: 0,
            deadline: runs.deadline,
        }
    }

    /// Whether its time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Tells accesses at these instructions, too, from now on.
    pub(crate) fn add_known(&mut self, pcs: impl IntoIterator<Item = u64>) {
        // A run loads what comes behind what its process knows.
        let known: Arc<[u64]> = self.runs.known.iter().copied().chain(pcs).collect();
        self.jobs.iter_mut().for_each(|job| job.set_known(&known));
    }

    /// Makes a run again with all of its accesses told; none if it turned out to be another.
    pub(crate) fn record_all(&mut self, number: usize) -> Result<Option<Recorded>, Trouble> {
        let mut taken = self.runs.taken[number].clone();
        taken.request.points = PointMode::All;
        Ok(one(&mut self.jobs[0], &taken)?)
    }

    /// Where parameters and locals are, from now on.
    pub(crate) fn set_locals(&mut self, words: &[u64]) {
        let words: Arc<[u64]> = Arc::from(words);
        self.jobs.iter_mut().for_each(|job| job.set_locals(&words));
    }

    /// Makes these runs again; none for one that turned out to be another.
    pub(crate) fn record(&mut self, numbers: &[usize]) -> Result<Vec<Option<Recorded>>, Trouble> {
        self.record_while(numbers, || ())
    }

    /// The same while something else is done.
    pub(crate) fn record_while(
        &mut self,
        numbers: &[usize],
        meanwhile: impl FnOnce(),
    ) -> Result<Vec<Option<Recorded>>, Trouble> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Recorded>>> = numbers.iter().map(|_| Mutex::new(None)).collect();
        let trouble: Mutex<Option<Error>> = Mutex::new(None);
        let (runs, deadline) = (self.runs, self.deadline);
        // A server goes with the thread that started it.
        for job in &mut self.jobs {
            job.server()?;
        }
        std::thread::scope(|scope| {
            for job in &mut self.jobs {
                let (next, results, trouble) = (&next, &results, &trouble);
                scope.spawn(move || {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                        let Some(&number) = numbers.get(at).filter(|_| !late && !interrupt::requested())
                        else {
                            return;
                        };
                        match one(job, &runs.taken[number]) {
                            Ok(made) => *results[at].lock().unwrap_or_else(PoisonError::into_inner) = made,
                            Err(error) => {
                                *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                                return;
                            }
                        }
                    }
                });
            }
            meanwhile();
        });
        if let Some(error) = trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error.into());
        }
        self.done += numbers.len() as u64;
        self.line.show(&State {
            runs: self.done,
            of: None,
            time: None,
            points: 0,
            findings: self.runs.findings.len(),
            elapsed: self.began.elapsed(),
            estimate: None,
            goal: None,
        });
        let results = results.into_iter().map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(results.collect())
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        self.line.clear();
    }
}

fn one(job: &mut Job, taken: &Taken) -> Result<Option<Recorded>, Error> {
    let mut sink = Sink(Recording::new());
    let facts = observe(job.server()?, taken, Record::Values, &mut sink)?;
    Ok(facts.map(|facts| {
        let mut recording = sink.0;
        if !taken.verdict.is_failure() {
            recording.passed();
        }
        Recorded { recording, facts }
    }))
}

/// The program's names and types.
pub(crate) fn program(runs: &Runs, modules: &[Loaded]) -> Program {
    let modules = modules.iter().enumerate().map(|(index, module)| {
        let own = index == 0 && module.path.is_empty();
        let path = if own { runs.target.program.as_path() } else { Path::new(&module.path) };
        Module::new(path, module.base, module.size)
    });
    Program::new(Symbols::new(modules))
}

/// A file of samples for Daikon, with the declarations before them.
pub(crate) struct DtraceFile<'a> {
    path: &'a Path,
    writer: TraceWriter<'a, BufWriter<File>>,
    points: &'a Points,
    activation: u64,
}

impl<'a> DtraceFile<'a> {
    pub(crate) fn create(path: &'a Path, points: &'a Points) -> Result<Self, Trouble> {
        let begin = || {
            let mut out = BufWriter::new(File::create(path)?);
            out.write_all(write_decls(points).as_bytes())?;
            Ok(out)
        };
        let out = begin().map_err(|error: std::io::Error| refused(path, &error))?;
        Ok(Self { path, writer: TraceWriter::new(out, points), points, activation: 0 })
    }

    /// Writes the samples of a run; an exit comes right after its entry.
    pub(crate) fn write(&mut self, samples: &[Sample]) -> Result<(), Trouble> {
        for sample in samples {
            self.activation += u64::from(self.points[sample.point].side == Side::Enter);
            self.writer.sample(sample, self.activation).map_err(|error| refused(self.path, &error))?;
        }
        if let Some(sample) = samples.first() {
            self.writer.end_run(sample.run);
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<(), Trouble> {
        self.writer.into_inner().flush().map_err(|error| refused(self.path, &error))
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Trouble {
    cannot(&format!("write `{}`", path.display()), error)
}

/// What follows from a file of Daikon's.
pub(crate) fn read_dtrace(file: &Path, wanted: &Wanted) -> Result<Results, Trouble> {
    let refused = |error: std::io::Error| cannot(&format!("read `{}`", file.display()), &error);
    let input = BufReader::new(files::open(file).map_err(refused)?);
    let mut inference = Inference::new();
    let mut reader = Reader::new();
    reader.read(input, |points, sample| inference.take(points, sample)).map_err(|error| {
        Trouble::usage(
            format!("`{}`: {error}", file.display()),
            "it must have declarations of version 2.0 before its values",
        )
    })?;
    Ok(Results::from_stream(&inference, wanted))
}

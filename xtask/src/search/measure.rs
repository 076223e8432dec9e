//! Campaigns of a strategy on a program, and what they come to.

use super::cases::Case;
use crate::bench::json;
use crate::steps::{Outcome, command, root};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Where programs are built and campaigns are made.
pub(crate) struct Workshop {
    pub(crate) tool: PathBuf,
    pub(crate) folder: PathBuf,
}

/// The mean number of runs to the failure over some seeds.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) mean: f64,
    pub(crate) found: u64,
    pub(crate) seeds: u64,
}

impl Cell {
    pub(crate) fn shown(&self) -> String {
        let Cell { mean, found, seeds } = *self;
        match found {
            0 => "–".to_owned(),
            _ if found == seeds => format!("{mean:.1}"),
            _ => format!("{mean:.0} ({found}/{seeds})"),
        }
    }
}

/// Seeds that are tried before a strategy that found nothing is given up on a program.
const FIRST: u64 = 4;

impl Workshop {
    pub(crate) fn executable(case: &Case) -> String {
        case.file.replace(['/', '.'], "_")
    }

    pub(crate) fn build(&self, case: &Case) -> Outcome {
        let source = root().join("tests/programs").join(case.file);
        let source = source.to_string_lossy();
        let compiler: &[&str] = match case.file.rsplit_once('.') {
            Some((_, "rs")) => &["rustc", "-g", "--edition", "2024", "-Copt-level=1"],
            Some((_, "cc")) => &["c++", "-g", "-O1", "-pthread", "-std=c++20"],
            _ => &["cc", "-g", "-O1", "-pthread"],
        };
        let executable = Self::executable(case);
        let status = command(&self.tool, compiler)
            .args([&source, "-o", &executable])
            .current_dir(&self.folder)
            .status()
            .map_err(|error| format!("cannot build {}: {error}", case.file))?;
        if status.success() { Ok(()) } else { Err(format!("{} did not build", case.file)) }
    }

    /// One campaign.
    pub(crate) fn campaign(
        &self,
        case: &Case,
        strategy: &str,
        seed: u64,
        options: &[&str],
    ) -> Outcome<serde_json::Value> {
        let program = format!("./{}", Self::executable(case));
        let out = format!("out/{}-{seed}", Self::executable(case));
        let (seed, most) = (seed.to_string(), case.most.to_string());
        let mut arguments = vec!["run", "--format", "json", "--strategy", strategy, "--out", &out];
        // The strategies are compared, so nothing else may find the bug.
        arguments.extend(["--races", "off", "--no-predict", "--shrink", "off", "--timeout", "60s"]);
        arguments.extend(["--seed", &seed, "--runs", &most]);
        arguments.extend(options);
        arguments.extend(["--", &program]);
        arguments.extend(case.args);
        let result = json(command(&self.tool, &arguments).current_dir(&self.folder));
        // Nothing of it is needed any more; there may be none.
        let _ = std::fs::remove_dir_all(self.folder.join(&out));
        result
    }

    /// Campaigns with these seeds, one for each processor at a time. A strategy that finds nothing with the first few seeds gets
    /// no more.
    pub(crate) fn measure(
        &self,
        case: &Case,
        strategy: &str,
        seeds: Range<u64>,
        options: &[&str],
    ) -> Outcome<Cell> {
        let first = seeds.start..seeds.end.min(seeds.start + FIRST);
        let mut runs = self.runs(case, strategy, first.clone(), options)?;
        if runs.iter().any(Option::is_some) {
            runs.extend(self.runs(case, strategy, first.end..seeds.end, options)?);
        }
        let sum: u64 = runs.iter().map(|run| run.unwrap_or(case.most)).sum();
        let found = runs.iter().flatten().count() as u64;
        Ok(Cell { mean: sum as f64 / runs.len() as f64, found, seeds: runs.len() as u64 })
    }

    /// The runs to the failure for each seed, `None` where it was not found.
    fn runs(
        &self,
        case: &Case,
        strategy: &str,
        seeds: Range<u64>,
        options: &[&str],
    ) -> Outcome<Vec<Option<u64>>> {
        let options = [&["--jobs", "1"], options].concat();
        let left = Mutex::new(seeds);
        let work = || {
            let mut made = Vec::new();
            loop {
                let Some(seed) = left.lock().map_err(|_| "a worker failed")?.next() else { return Ok(made) };
                let result = self.campaign(case, strategy, seed, &options)?;
                if result["findings"][0]["kind"] == "timeout" {
                    return Err(format!("{} with {strategy}, seed {seed}: a run took too long", case.file));
                }
                made.push(result["first_failure_run"].as_u64().map(|run| run + 1));
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let mut all = Vec::new();
            for worker in started {
                let made: Outcome<Vec<_>> = worker.join().map_err(|_| "a worker failed".to_owned())?;
                all.extend(made?);
            }
            Ok(all)
        })
    }

    /// A program of `bench/`, built.
    pub(crate) fn build_bench(&self, name: &str) -> Outcome<PathBuf> {
        let source = root().join("bench").join(name).with_extension("c");
        let source = source.to_string_lossy();
        crate::steps::run(
            command(&self.tool, &["cc", "-g", "-O1", "-pthread", &source, "-o", name])
                .current_dir(&self.folder),
        )?;
        Ok(Path::new(".").join(name))
    }
}

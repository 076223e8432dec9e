//! What is told, in the order in which it is told.

use super::campaigns::Runs;
use super::grown;
use super::infer::Inferred;
use super::regions::Tried;
use super::{Kind, Wanted};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use threadbare_findings::Finding;
use threadbare_invariants::{Break, Fate, Inference, ProgramPoint, Region, Side, Told};
use threadbare_values::SourceLine;

/// The version of the form.
const FORMAT_VERSION: u32 = 1;

/// All of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Results {
    format_version: u32,
    pub(crate) verdict: &'static str,
    pub(crate) runs: u64,
    pub(crate) runs_passing: u64,
    pub(crate) runs_failing: u64,
    /// Runs whose values were taken.
    pub(crate) runs_sampled: u64,
    pub(crate) elapsed_s: f64,
    pub(crate) seed: u64,
    pub(crate) strategy: String,
    /// Nothing is left that the first strategy would run.
    pub(crate) complete: bool,
    pub(crate) variables: usize,
    /// What earlier campaigns put into the file that is grown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) grown: Option<grown::Told>,
    /// Of the globals that strands share in the run that shared most: how many, and how many are read.
    pub(crate) globals: (u64, u64),
    /// The same of places in heap blocks and frames.
    pub(crate) fields: (u64, u64),
    pub(crate) left_out: LeftOut,
    pub(crate) invariants: Vec<Invariant>,
    /// Lines that were made atomic, and what came of it.
    pub(crate) regions: Vec<Tried>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) checked: Vec<Checked>,
    pub(crate) warnings: Vec<String>,
    pub(crate) findings: Vec<Finding>,
}

/// What has no value, counted.
#[derive(Debug, Default, Serialize)]
pub(crate) struct LeftOut {
    /// Shared places without a name: heap and stacks.
    pub(crate) unnamed: u64,
    /// Unions, bit fields, parts of numbers.
    pub(crate) doubtful: u64,
    /// Parameters that the compiler has left no place of.
    pub(crate) parameters: u64,
    /// Functions whose return value is in several parts, or cannot be worked out.
    pub(crate) returns: u64,
    /// Variables beyond the bound of a point.
    pub(crate) beyond: u64,
    /// Runs that could not be made again.
    pub(crate) runs: u64,
    /// Accesses of long runs.
    pub(crate) accesses: u64,
    /// Activations of places that had told enough.
    pub(crate) activations: u64,
}

/// A statement.
#[derive(Debug, Serialize)]
pub(crate) struct Invariant {
    pub(crate) text: String,
    /// Where the region begins, `file:line`.
    pub(crate) place: String,
    /// `enter` or `exit` of a function, or `block`.
    pub(crate) point: &'static str,
    /// `enter` or `exit`, of a block too.
    pub(crate) side: &'static str,
    /// The point's name as Daikon has it.
    pub(crate) name: String,
    pub(crate) function: String,
    /// First and last line of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines: Option<(u32, u32)>,
    pub(crate) kind: &'static str,
    pub(crate) samples: u64,
    pub(crate) broken: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) instead: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) broken_in: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_broken: Option<FirstBroken>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rank: Option<usize>,
}

/// Where it was first broken.
#[derive(Debug, Serialize)]
pub(crate) struct FirstBroken {
    pub(crate) place: String,
    pub(crate) strand: String,
    /// The run, counted over all campaigns from 0.
    pub(crate) run: usize,
    pub(crate) event: u64,
    pub(crate) values: BTreeMap<String, String>,
    /// Another strand had changed what the region's first write replaced: `orig` is that.
    pub(crate) came_between: bool,
    pub(crate) schedule: String,
}

/// A kept line.
#[derive(Debug, Serialize)]
pub(crate) struct Checked {
    pub(crate) line: usize,
    pub(crate) point: String,
    pub(crate) text: String,
    /// `holds`, `broken`, `not-reached` or `unknown`.
    pub(crate) fate: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) why: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) values: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<usize>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) schedule: String,
}

impl Results {
    pub(crate) fn new(runs: &Runs, inferred: &Inferred, wanted: &Wanted) -> Self {
        let (failing, passing) = runs.counts();
        let left = inferred.sampler.left_out();
        let place = |region: &Region| inferred.sampler.place(region).cloned();
        let mut results = Self {
            format_version: FORMAT_VERSION,
            verdict: if failing > 0 { "failure" } else { "clean" },
            runs: failing + passing,
            runs_passing: passing,
            runs_failing: failing,
            runs_sampled: inferred.parts.passing_runs + inferred.parts.failing_runs,
            seed: runs.config.seed,
            strategy: runs.strategies.join(", "),
            complete: runs.complete,
            variables: inferred.sampler.variables(),
            globals: inferred.sampler.read().globals,
            fields: inferred.sampler.read().fields,
            left_out: LeftOut {
                unnamed: left.unnamed,
                doubtful: left.doubtful,
                parameters: left.parameters,
                returns: left.returns,
                beyond: left.beyond,
                runs: inferred.not_followed,
                accesses: inferred.dropped,
                activations: inferred.sampler.unsampled(),
            },
            warnings: runs.warnings.clone(),
            findings: runs.findings.clone(),
            invariants: broken(inferred, wanted),
            ..Self::default()
        };
        results
            .add_told(&inferred.parts.passing, wanted, &place, &|region| inferred.sampler.is_single(region));
        results.add_checked(inferred);
        results
    }

    /// What follows from a stream that nobody knows the runs of.
    pub(crate) fn from_stream(inference: &Inference, wanted: &Wanted) -> Self {
        let mut results = Self { format_version: FORMAT_VERSION, verdict: "clean", ..Self::default() };
        results.add_told(inference, wanted, &|_| None, &|_| false);
        results
    }

    /// Adds what holds; of accesses by themselves only what is broken is told.
    fn add_told(
        &mut self,
        inference: &Inference,
        wanted: &Wanted,
        place: &dyn Fn(&Region) -> Option<SourceLine>,
        is_single: &dyn Fn(&Region) -> bool,
    ) {
        let known: BTreeSet<(String, String)> =
            self.invariants.iter().map(|it| (it.name.clone(), it.text.clone())).collect();
        for point in inference.tell().iter().filter(|point| !is_single(&point.point.region)) {
            let place = place(&point.point.region);
            let told = point.told.iter().filter(|told| {
                wants(wanted, &point.point, told, place.as_ref()) && !is_unchanged_local(&point.point, told)
            });
            let new = told.map(|told| Invariant::new(&point.point, told, place.as_ref()));
            self.invariants.extend(new.filter(|it| !known.contains(&(it.name.clone(), it.text.clone()))));
        }
    }

    /// Puts statements first that stand in lines of which runs have shown that they take the failures away. A line by itself proves less: it may
    /// only call what is wrong.
    pub(crate) fn prefer_proven(&mut self) {
        let proven = |tried: &&Tried| tried.outcome == "removes" && !tried.is_one_line();
        let Some(proof) = self.regions.iter().find(proven) else { return };
        let proven = |it: &Invariant| {
            let (file, line) = it.place.rsplit_once(':').unwrap_or_default();
            let line = line.parse().unwrap_or(0);
            proof.has(file, it.lines.unwrap_or((line, line)))
        };
        self.invariants.sort_by_key(|it| (!it.broken, it.broken && !proven(it)));
        for (number, it) in self.invariants.iter_mut().filter(|it| it.broken).enumerate() {
            it.rank = Some(number + 1);
        }
    }

    fn add_checked(&mut self, inferred: &Inferred) {
        let Some(check) = &inferred.check else { return };
        for (line, fate) in check.fates() {
            let mut checked = Checked {
                line: line.line,
                point: line.point.clone(),
                text: line.statement.to_string(),
                fate: "holds",
                why: String::new(),
                values: BTreeMap::new(),
                run: None,
                schedule: String::new(),
            };
            match fate {
                Fate::Holds { .. } => {}
                Fate::Broken { first, runs } => {
                    checked.fate = "broken";
                    checked.why = format!("in {runs} {}", if runs == 1 { "run" } else { "runs" });
                    checked.values = values(&first);
                    checked.run = usize::try_from(first.run).ok();
                }
                Fate::NotReached => checked.fate = "not-reached",
                Fate::Unknown(error) => {
                    checked.fate = "unknown";
                    checked.why = error.to_string();
                }
            }
            self.checked.push(checked);
        }
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }
}

/// What failing runs break, the likeliest cause first.
pub(crate) fn broken(inferred: &Inferred, wanted: &Wanted) -> Vec<Invariant> {
    let mut all = Vec::new();
    for broken in inferred.broken() {
        let place = inferred.sampler.place(&broken.point.region);
        if !wants(wanted, &broken.point, &broken.told, place) {
            continue;
        }
        let mut invariant = Invariant::new(&broken.point, &broken.told, place);
        invariant.broken = true;
        invariant.rank = Some(all.len() + 1);
        invariant.instead = broken.instead.iter().map(|told| told.statement.to_string()).collect();
        invariant.broken_in = Some((broken.broken_in, broken.looked_at));
        let first = broken.first.as_ref().zip(inferred.first_break(&broken));
        invariant.first_broken = first.map(|(first, more)| FirstBroken {
            place: last_line(&broken.point.region, place),
            strand: more.strand,
            run: more.run,
            event: first.event,
            values: values(first),
            came_between: more.came_between,
            schedule: String::new(),
        });
        all.push(invariant);
    }
    all
}

fn values(at: &Break) -> BTreeMap<String, String> {
    at.values.iter().map(|(operand, value)| (operand.to_string(), value.clone())).collect()
}

/// The place of a region's end, as far as it is known.
fn last_line(region: &Region, place: Option<&SourceLine>) -> String {
    match (region, place) {
        (Region::Block { file, last, .. }, _) => format!("{file}:{last}"),
        (_, Some(place)) => format!("{}:{}", place.file, place.line),
        _ => String::new(),
    }
}

fn wants(wanted: &Wanted, point: &ProgramPoint, told: &Told, place: Option<&SourceLine>) -> bool {
    let kind = match wanted.kind {
        Kind::All => true,
        Kind::Transition => told.transition,
        Kind::State => !told.transition,
    };
    kind && wanted.regions(&point.region, place) && any(&wanted.variable, &told.statement.to_string())
}

/// Whether it says of one variable of the strand's own that it is what it was: a parameter that nobody changes, in a file of samples.
fn is_unchanged_local(point: &ProgramPoint, told: &Told) -> bool {
    let operands = told.statement.operands();
    let Some(first) = operands.first() else { return false };
    let own = |name: &str| point.variables.iter().any(|it| !it.shared && it.name == name);
    let unchanged = told.statement.to_string() == format!("{0} == orig({0})", first.name);
    operands.len() == 2 && unchanged && own(&first.name)
}

fn any(parts: &[String], text: &str) -> bool {
    parts.is_empty() || parts.iter().any(|part| text.contains(part.as_str()))
}

impl Wanted {
    /// Whether anything that holds in a region is wanted.
    pub(crate) fn regions(&self, region: &Region, place: Option<&SourceLine>) -> bool {
        let function = match (region, place) {
            (Region::Function(name), _) => name.as_str(),
            (_, Some(place)) => place.function.as_str(),
            _ => "",
        };
        let file = place.map_or("", |place| place.file.as_str());
        let around = self.around.as_ref().is_none_or(|around| around.has(region, place));
        around && any(&self.function, function) && any(&self.file, file)
    }
}

impl Invariant {
    fn new(point: &ProgramPoint, told: &Told, place: Option<&SourceLine>) -> Self {
        let side = match point.side {
            Side::Enter => "enter",
            Side::Exit => "exit",
            Side::Here => "point",
        };
        let lines = match point.region {
            Region::Block { first, last, .. } => Some((first, last)),
            _ => None,
        };
        Self {
            text: told.statement.to_string(),
            place: place.map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default(),
            point: if lines.is_some() { "block" } else { side },
            side,
            name: point.to_string(),
            function: place.map(|place| place.function.clone()).unwrap_or_default(),
            lines,
            kind: if told.transition { "transition" } else { "state" },
            samples: told.evidence.samples,
            broken: false,
            instead: Vec::new(),
            broken_in: None,
            first_broken: None,
            rank: None,
        }
    }
}

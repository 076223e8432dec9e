//! Streams for tests: a program with a few points, and runs that are written down.

use threadbare_invariants::{
    Parts, PointId, Points, ProgramPoint, Region, Sample, Side, Type, Value, Variable,
};

/// A program's points and the runs so far.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) points: Points,
    pub(crate) parts: Parts,
    run: u64,
}

/// A run that is being written down.
#[derive(Clone, Default)]
pub(crate) struct Run {
    pub(crate) number: u64,
    pub(crate) samples: Vec<Sample>,
    pub(crate) event: u64,
}

impl Program {
    /// Declares a region with the same variables on both sides; the exit has some more.
    pub(crate) fn region(
        &mut self,
        region: &Region,
        variables: &[Variable],
        more: &[Variable],
    ) -> (PointId, PointId) {
        let mut add = |side, variables: Vec<Variable>| {
            self.points.add(ProgramPoint { region: region.clone(), side, variables }).expect("declared once")
        };
        let enter = add(Side::Enter, variables.to_vec());
        (enter, add(Side::Exit, variables.iter().chain(more).cloned().collect()))
    }

    pub(crate) fn begin(&mut self) -> Run {
        self.run += 1;
        Run { number: self.run, ..Run::default() }
    }

    pub(crate) fn end(&mut self, run: &Run, failed: bool) {
        self.parts.take_run(&self.points, failed, &run.samples);
    }
}

impl Run {
    /// A strand goes through a region: entry and exit values.
    pub(crate) fn through(
        &mut self,
        strand: u32,
        (enter, exit): (PointId, PointId),
        entry: &[Value],
        now: &[Value],
    ) {
        self.event += 10;
        self.sample(enter, strand, entry.to_vec(), Vec::new());
        self.event += 10;
        self.sample(exit, strand, now.to_vec(), entry.to_vec());
    }

    fn sample(&mut self, point: PointId, strand: u32, values: Vec<Value>, entry: Vec<Value>) {
        let (run, event) = (self.number, self.event);
        self.samples.push(Sample { point, run, strand, event, values, entry });
    }
}

pub(crate) fn ints(values: &[i128]) -> Vec<Value> {
    values.iter().map(|&value| Value::Int(value)).collect()
}

pub(crate) fn function(name: &str) -> Region {
    Region::Function(name.to_owned())
}

pub(crate) fn int(name: &str) -> Variable {
    Variable::shared(name, Type::I32)
}

pub(crate) fn pointer(name: &str) -> Variable {
    Variable::shared(name, Type::Pointer)
}

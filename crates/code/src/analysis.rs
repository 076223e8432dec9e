//! All functions of a file, callees first.

use std::collections::BTreeSet;
use std::rc::Rc;

use iced_x86::{FlowControl, Mnemonic, OpKind};

use crate::Error;
use crate::code::Code;
use crate::flow::{self, Program};
use crate::function::{Callee, Function};
use crate::gap::{Gap, What};
use crate::graph::{Graph, Leave};
use crate::image::{Image, Slot};
use crate::known::{self, Known};
use crate::order;
use crate::summary::Summary;
use crate::x86_64;

/// Reads the code of an ELF file.
pub(crate) fn analyse(bytes: Vec<u8>) -> Result<Code, Error> {
    let image = Image::parse(bytes)?;
    let mut gaps = Vec::new();
    if !image.has_symbols {
        gaps.push(Gap { function: 0, at: 0, what: What::Stripped });
    }
    let graphs: Vec<Graph> =
        image.functions.iter().map(|extent| x86_64::flow(&image, extent, &mut gaps)).collect();
    let sketch = Sketch::of(&image, &graphs);
    let constructors: BTreeSet<usize> = image.constructors().into_iter().collect();
    let mut summaries: Vec<Option<Rc<Summary>>> = vec![None; graphs.len()];
    let mut functions: Vec<Option<Function>> = vec![None; graphs.len()];
    for members in order::components(&sketch.calls) {
        for &at in &members {
            let program = Program {
                image: &image,
                summaries: &summaries,
                may_give: &sketch.may_give,
                pointers_give: sketch.pointers_give,
            };
            let extent = &image.functions[at];
            let found = flow::follow(&program, &graphs[at], extent.start, &mut gaps);
            functions[at] = Some(Function {
                name: extent.name.to_string(),
                start: extent.start,
                end: extent.end,
                blocks: graphs[at].blocks.len(),
                instrumented: found.instrumented,
                accesses: found.accesses,
                calls: found.calls,
                exposes: found.exposes,
                exposes_frame: found.exposes_frame,
                leaks: found.leaks,
                taken: sketch.taken[at],
                constructs: constructors.contains(&at),
            });
            summaries[at] = Some(Rc::new(found.summary));
        }
    }
    let functions: Vec<Function> = functions.into_iter().flatten().collect();
    gaps.extend(uninstrumented(&functions, &graphs));
    Ok(Code::assemble(&image, functions, gaps))
}

/// Functions that instrumented code calls, that write beyond their frame, and have no hooks.
fn uninstrumented(functions: &[Function], graphs: &[Graph]) -> Vec<Gap> {
    let calls =
        functions.iter().filter(|function| function.instrumented).flat_map(|function| &function.calls);
    let called: BTreeSet<usize> = calls
        .filter_map(|call| match call.callee {
            Callee::Function(callee) => Some(callee),
            _ => None,
        })
        .collect();
    let dark = |&at: &usize| {
        let code = || graphs[at].blocks.iter().flat_map(|block| &block.instructions);
        !functions[at].instrumented && code().any(x86_64::writes_beyond_frame)
    };
    let gap = |at: usize| Gap {
        function: functions[at].start,
        at: functions[at].start,
        what: What::Uninstrumented,
    };
    called.into_iter().filter(dark).map(gap).collect()
}

/// What is known of calls before anything is followed.
struct Sketch {
    /// Direct calls, and jumps at the end.
    calls: Vec<Vec<usize>>,
    /// Whether the address is in data or taken by code.
    taken: Vec<bool>,
    may_give: Vec<bool>,
    pointers_give: bool,
}

impl Sketch {
    fn of(image: &Image, graphs: &[Graph]) -> Sketch {
        let count = graphs.len();
        let mut sketch = Sketch {
            calls: vec![Vec::new(); count],
            taken: vec![false; count],
            may_give: vec![false; count],
            pointers_give: false,
        };
        for function in image.functions_in_data() {
            sketch.taken[function] = true;
        }
        let mut by_pointer = vec![false; count];
        for (at, graph) in graphs.iter().enumerate() {
            for block in &graph.blocks {
                for instruction in &block.instructions {
                    match instruction.flow_control() {
                        FlowControl::Call | FlowControl::IndirectCall => {
                            let slot = x86_64::slot_of(instruction).and_then(|slot| image.slots.get(&slot));
                            match slot {
                                Some(Slot::Import(name, _)) => sketch.import(at, name),
                                Some(Slot::Address(target)) => sketch.call(image, at, *target),
                                _ if instruction.flow_control() == FlowControl::Call => {
                                    sketch.call(image, at, instruction.near_branch_target());
                                }
                                _ => by_pointer[at] = true,
                            }
                        }
                        FlowControl::Next => {
                            let lea = instruction.mnemonic() == Mnemonic::Lea
                                && instruction.is_ip_rel_memory_operand();
                            let address = if lea {
                                Some(instruction.memory_displacement64())
                            } else if image.fixed
                                && instruction.op_count() == 2
                                && instruction.op1_kind() == OpKind::Immediate32
                            {
                                Some(instruction.immediate(1))
                            } else {
                                None
                            };
                            if let Some(function) =
                                address.and_then(|address| image.function_starting(address))
                            {
                                sketch.taken[function] = true;
                            }
                        }
                        _ => {}
                    }
                }
                match &block.leave {
                    Leave::Tail(target) => sketch.call(image, at, *target),
                    Leave::Import(name) => sketch.import(at, name),
                    Leave::Unknown => by_pointer[at] = true,
                    _ => {}
                }
                if let Some(target) = block.side {
                    sketch.call(image, at, target);
                }
            }
            sketch.calls[at].sort_unstable();
            sketch.calls[at].dedup();
        }
        sketch.spread(&by_pointer);
        sketch
    }

    fn call(&mut self, image: &Image, from: usize, target: u64) {
        if let Some(name) = image.stubs.get(&target) {
            self.import(from, name);
        } else if let Some(function) = image.function_starting(target) {
            match known::rust(&image.functions[function].name) {
                Some(Known::Unlock { .. }) => self.may_give[from] = true,
                // What panics would tie everything into one knot, and what is known by name needs no order.
                Some(_) => {}
                None => self.calls[from].push(function),
            }
        }
    }

    fn import(&mut self, from: usize, name: &str) {
        let gives =
            matches!(known::named(name), Some(Known::Unlock { .. } | Known::Wait { .. } | Known::WaitBehind));
        if gives || name == "__tsan_atomic32_exchange" || name == "__tsan_atomic32_store" {
            self.may_give[from] = true;
        }
    }

    /// Carries "may give back a lock" from callees to callers, by pointer, too.
    fn spread(&mut self, by_pointer: &[bool]) {
        loop {
            let mut changed = false;
            let pointers = self.taken.iter().zip(&self.may_give).any(|(taken, gives)| *taken && *gives);
            if pointers && !self.pointers_give {
                (self.pointers_give, changed) = (true, true);
            }
            for (at, &by_pointer) in by_pointer.iter().enumerate() {
                let gives = self.calls[at].iter().any(|&callee| self.may_give[callee])
                    || (by_pointer && self.pointers_give);
                if gives && !self.may_give[at] {
                    (self.may_give[at], changed) = (true, true);
                }
            }
            if !changed {
                return;
            }
        }
    }
}

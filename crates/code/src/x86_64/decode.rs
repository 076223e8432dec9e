//! From bytes to a control flow graph.
//!
//! Code is followed from the entry along jumps, so data between functions and code that overlaps itself are no trouble: an
//! instruction is what control reaches, by its address. Landing pads are entered from the calls that they cover.
//! What nothing leads to (an exception table that could not be read) is begun anew without knowledge, so that no access is lost.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};

use super::{slot_of, tables};
use crate::gap::{Gap, What};
use crate::graph::{Block, Edge, Edges, Graph, Leave};
use crate::image::{Cover, Extent, Image, Slot};

/// Instructions of one function beyond which it is not followed: no compiler writes such a one.
const MOST: usize = 400_000;

/// The graph of the function at an extent.
pub(crate) fn flow(image: &Image, extent: &Extent, gaps: &mut Vec<Gap>) -> Graph {
    let mut reader = Reader {
        image,
        extent,
        instructions: BTreeMap::new(),
        leaders: BTreeSet::from([extent.start]),
        tables: BTreeMap::new(),
        open: vec![extent.start],
        gaps,
    };
    reader.follow();
    // Landing pads may lead to further parts, which have pads of their own.
    let mut known = 0;
    loop {
        let covers = reader.covers();
        if covers.len() == known {
            break;
        }
        known = covers.len();
        for cover in covers {
            reader.lead_to(cover.landing);
        }
        reader.follow();
    }
    let orphans = reader.orphans();
    reader.follow();
    reader.cut(orphans)
}

struct Reader<'a> {
    image: &'a Image,
    extent: &'a Extent,
    instructions: BTreeMap<u64, Instruction>,
    leaders: BTreeSet<u64>,
    /// Targets of computed jumps, by the jump's address.
    tables: BTreeMap<u64, Vec<u64>>,
    open: Vec<u64>,
    gaps: &'a mut Vec<Gap>,
}

impl<'a> Reader<'a> {
    fn lead_to(&mut self, address: u64) {
        if self.leaders.insert(address) || !self.instructions.contains_key(&address) {
            self.open.push(address);
        }
    }

    /// What covers the calls of the function, and of the parts of it that the compiler moved away: those have tables of their own.
    fn covers(&self) -> Vec<&'a Cover> {
        let (image, extent) = (self.image, self.extent);
        let away = self.instructions.keys().filter(|at| !(extent.start..extent.end).contains(*at));
        let parts = away.filter_map(|&at| Some(image.functions[image.function_at(at)?].start));
        let parts: BTreeSet<u64> = parts.chain([extent.start]).collect();
        parts.iter().filter_map(|start| image.covers.get(start)).flatten().collect()
    }

    fn follow(&mut self) {
        while let Some(start) = self.open.pop() {
            self.run(start);
        }
    }

    /// Decodes from an address to the next instruction that does not go on to its neighbour.
    fn run(&mut self, start: u64) {
        let mut decoder = Decoder::with_ip(64, self.image.bytes_at(start), start, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        loop {
            let at = decoder.ip();
            if self.instructions.contains_key(&at) {
                if at != start {
                    self.leaders.insert(at);
                }
                return;
            }
            // Control that would run into the next function comes from a call that does not come back.
            if at != start && self.image.function_starting(at).is_some() {
                return;
            }
            if !self.image.is_code(at) || !decoder.can_decode() {
                let call = self
                    .instructions
                    .range(..at)
                    .next_back()
                    .is_some_and(|(_, last)| last.next_ip() == at && is_call(last));
                if !call {
                    self.gap(at, What::Undecodable);
                }
                return;
            }
            if self.instructions.len() >= MOST {
                self.gap(at, What::TooLarge);
                return;
            }
            decoder.decode_out(&mut instruction);
            if instruction.is_invalid() {
                self.gap(at, What::Undecodable);
                return;
            }
            self.instructions.insert(at, instruction);
            match instruction.flow_control() {
                FlowControl::Next | FlowControl::Interrupt => {
                    if stops(&instruction) {
                        return;
                    }
                }
                FlowControl::Call | FlowControl::IndirectCall => {}
                FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
                    if instruction.is_jcc_short_or_near() || instruction.near_branch_target() != 0 {
                        self.branch(instruction.near_branch_target());
                    }
                    self.leaders.insert(instruction.next_ip());
                }
                FlowControl::UnconditionalBranch => {
                    self.branch(instruction.near_branch_target());
                    return;
                }
                FlowControl::IndirectBranch => {
                    self.indirect(&instruction);
                    return;
                }
                FlowControl::Return | FlowControl::Exception => return,
            }
        }
    }

    /// Whether a jump to an address leaves the function for another one.
    fn leaves(&self, target: u64) -> bool {
        leaves(self.image, self.extent, target)
    }

    fn branch(&mut self, target: u64) {
        if !self.leaves(target) {
            self.lead_to(target);
        }
    }

    fn indirect(&mut self, jump: &Instruction) {
        if slot_of(jump).is_some_and(|slot| self.image.slots.contains_key(&slot)) {
            return;
        }
        let before: Vec<&Instruction> = self.instructions.range(..jump.ip()).rev().map(|(_, i)| i).collect();
        match tables::targets(self.image, self.extent, jump, &before) {
            Some(targets) => {
                for &target in &targets {
                    self.lead_to(target);
                }
                self.tables.insert(jump.ip(), targets);
            }
            // Where nothing looks like a table it is a call at a function's end.
            None if tables::looks_like_table(jump, &before) => self.gap(jump.ip(), What::ComputedJump),
            None => {}
        }
    }

    /// Code of the function that nothing leads to.
    fn orphans(&mut self) -> Vec<u64> {
        let mut found = Vec::new();
        let mut at = self.extent.start;
        while at < self.extent.end {
            let covered = self.instructions.range(..=at).next_back().filter(|(_, i)| i.next_ip() > at);
            if let Some((_, instruction)) = covered {
                at = instruction.next_ip();
                continue;
            }
            let bytes = self.image.bytes_at(at);
            let mut decoder = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE);
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                break;
            }
            let filler = matches!(
                instruction.mnemonic(),
                Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2 | Mnemonic::Endbr64
            );
            if filler {
                at = instruction.next_ip();
                continue;
            }
            self.gap(at, What::Unreached);
            found.push(at);
            self.lead_to(at);
            self.follow();
            if !self.instructions.contains_key(&at) {
                break;
            }
        }
        found
    }

    fn gap(&mut self, at: u64, what: What) {
        self.gaps.push(Gap { function: self.extent.start, at, what });
    }

    /// Cuts what was read into blocks.
    fn cut(self, orphans: Vec<u64>) -> Graph {
        let covers = self.covers();
        let (image, extent) = (self.image, self.extent);
        let mut blocks: Vec<Block> = Vec::new();
        let mut index: BTreeMap<u64, usize> = BTreeMap::new();
        for &leader in &self.leaders {
            let mut instructions = Vec::new();
            let mut at = leader;
            let mut leave = Leave::Unknown;
            let mut edges: Vec<(u64, Edge)> = Vec::new();
            let mut pads = BTreeSet::new();
            while let Some(&instruction) = self.instructions.get(&at) {
                instructions.push(instruction);
                at = instruction.next_ip();
                let end = match instruction.flow_control() {
                    FlowControl::Next | FlowControl::Interrupt => {
                        if stops(&instruction) {
                            leave = Leave::Never;
                            break;
                        }
                        false
                    }
                    FlowControl::Call | FlowControl::IndirectCall => {
                        let call = instruction.ip();
                        let cover = covers.iter().find(|cover| (cover.start..cover.end).contains(&call));
                        if let Some(cover) = cover {
                            pads.insert((cover.landing, instructions.len() - 1));
                        }
                        false
                    }
                    FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
                        let target = instruction.near_branch_target();
                        if leaves(image, extent, target) {
                            edges.push((target, Edge::Tail));
                        } else {
                            edges.push((target, Edge::Taken));
                        }
                        true
                    }
                    FlowControl::UnconditionalBranch => {
                        let target = instruction.near_branch_target();
                        if leaves(image, extent, target) {
                            leave = Leave::Tail(target);
                        } else {
                            leave = Leave::Inside;
                            edges.push((target, Edge::Next));
                        }
                        break;
                    }
                    FlowControl::IndirectBranch => {
                        leave = match (self.tables.get(&instruction.ip()), slot_of(&instruction)) {
                            (Some(targets), _) => {
                                edges.extend(targets.iter().map(|&target| (target, Edge::Next)));
                                Leave::Inside
                            }
                            (None, Some(slot)) => match image.slots.get(&slot) {
                                Some(Slot::Import(name, _)) => Leave::Import(name.clone()),
                                Some(Slot::Address(target)) => Leave::Tail(*target),
                                _ => Leave::Unknown,
                            },
                            (None, None) => Leave::Unknown,
                        };
                        break;
                    }
                    FlowControl::Return => {
                        leave = Leave::Return;
                        break;
                    }
                    FlowControl::Exception => {
                        leave = Leave::Never;
                        break;
                    }
                };
                if end || self.leaders.contains(&at) {
                    leave = Leave::Inside;
                    edges.push((at, Edge::Next));
                    break;
                }
                if !self.instructions.contains_key(&at) {
                    // Assembly may run into the next function on purpose; behind a call it is one that does not come back.
                    leave = match is_call(&instruction) {
                        true => Leave::Never,
                        false if image.function_starting(at).is_some() => Leave::Tail(at),
                        false => Leave::Unknown,
                    };
                    break;
                }
            }
            if instructions.is_empty() {
                continue;
            }
            index.insert(leader, blocks.len());
            let edges = Edges { edges, pads: pads.into_iter().collect() };
            blocks.push(Block {
                start: leader,
                instructions,
                leave,
                edges,
                next: Vec::new(),
                landing: Vec::new(),
                side: None,
            });
        }
        for block in &mut blocks {
            let edges = std::mem::take(&mut block.edges);
            for (target, edge) in edges.edges {
                match (edge, index.get(&target)) {
                    (Edge::Tail, _) => block.side = Some(target),
                    (edge, Some(&to)) => block.next.push((to, edge)),
                    (_, None) => block.leave = Leave::Unknown,
                }
            }
            let landing = edges.pads.into_iter().filter_map(|(pad, call)| Some((*index.get(&pad)?, call)));
            block.landing = landing.collect();
        }
        let entry = index.get(&extent.start).copied();
        let orphans = orphans.into_iter().filter_map(|at| index.get(&at).copied()).collect();
        Graph { blocks, entry, orphans }
    }
}

/// Instructions that control does not get past: they also fill the room between functions.
fn stops(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Hlt | Mnemonic::Int3)
}

fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// Whether a jump from a function to an address is a call at its end.
///
/// What the compiler moved out of a function's way (`.cold`) is a part of it.
fn leaves(image: &Image, extent: &Extent, target: u64) -> bool {
    if (extent.start + 1..extent.end).contains(&target) || target == extent.start {
        return false;
    }
    if image.stubs.contains_key(&target) {
        return true;
    }
    match image.function_at(target) {
        Some(other) => {
            let other = &image.functions[other];
            other.start == target && !other.name.contains(".cold")
        }
        None => true,
    }
}

//! The machine code of the hooks of plain accesses: what a strand does again in its epoch costs no call, and an access of 8 bytes keeps no register on the
//! stack. Smaller ones keep two at the most: which bytes of a cell they touch is a number more to work with.
//!
//! The stub of an access jumps to its hook while a controlled run has several strands. All of the hook's own code is read: whatever is more than a look at
//! the shadow lies behind a jump out of it.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use threadbare_tests::tool;

fn runtime() -> PathBuf {
    if let Some(path) = std::env::var_os("THREADBARE_RT_SO") {
        return PathBuf::from(path);
    }
    let outcome = tool::run(["runtime-path"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
    PathBuf::from(outcome.stdout.trim())
}

/// The runtime's functions: where each begins, and its bytes.
struct Code {
    text: Vec<u8>,
    begins: u64,
    /// Sizes by address.
    functions: BTreeMap<u64, u64>,
    exported: BTreeMap<String, u64>,
}

impl Code {
    fn read() -> Code {
        let path = runtime();
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = object::File::parse(&*bytes).expect("an ELF file");
        let text = file.section_by_name(".text").expect("code");
        Code {
            begins: text.address(),
            text: text.data().expect("bytes of the code").to_vec(),
            functions: file.symbols().map(|symbol| (symbol.address(), symbol.size())).collect(),
            exported: file
                .dynamic_symbols()
                .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address())))
                .collect(),
        }
    }

    /// The instructions from an address on, up to another.
    fn instructions(&self, from: u64, to: u64) -> Vec<Instruction> {
        let range = (from - self.begins) as usize..(to - self.begins) as usize;
        Decoder::with_ip(64, &self.text[range], from, DecoderOptions::NONE).into_iter().collect()
    }

    /// The hook that the stub of an access jumps to: if the gate is 1, with the caller's pc.
    fn hook(&self, name: &str) -> u64 {
        let stub = self.exported[name];
        let first = self.instructions(stub, stub + 32);
        assert_eq!((first[0].mnemonic(), first[1].mnemonic()), (Mnemonic::Cmp, Mnemonic::Je), "{name}");
        let open = first[1].near_branch_target();
        let then = self.instructions(open, open + 16);
        assert_eq!((then[0].mnemonic(), then[1].mnemonic()), (Mnemonic::Mov, Mnemonic::Jmp), "{name}");
        then[1].near_branch_target()
    }
}

/// Registers that smaller accesses than of 8 bytes may keep.
const KEPT: usize = 2;

/// Whether an instruction uses the stack, other than to keep a register there or to get it back.
fn uses_stack(instruction: &Instruction) -> bool {
    let stack = [Register::RSP, Register::ESP];
    let memory = (0..instruction.op_count()).any(|at| instruction.op_kind(at) == OpKind::Memory);
    let named = (0..instruction.op_count()).any(|at| stack.contains(&instruction.op_register(at)));
    named || memory && stack.contains(&instruction.memory_base())
}

#[test]
fn an_access_that_is_made_again_costs_no_call_and_one_of_8_bytes_no_spill() {
    let code = Code::read();
    for kind in ["read", "write"] {
        for size in [1, 2, 4, 8] {
            let name = format!("__tsan_{kind}{size}");
            let hook = code.hook(&name);
            let end = hook + code.functions[&hook];
            let mut ends = BTreeSet::new();
            let (mut returns, mut kept) = (0, 0);
            for instruction in code.instructions(hook, end) {
                let at = format!("{name}, {:#x}: {:?}", instruction.ip(), instruction.mnemonic());
                assert!(!uses_stack(&instruction), "{at} uses the stack");
                kept += usize::from(instruction.mnemonic() == Mnemonic::Push);
                match instruction.flow_control() {
                    FlowControl::Next => {}
                    FlowControl::Return => returns += 1,
                    FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                        let target = instruction.near_branch_target();
                        if !(hook..end).contains(&target) {
                            ends.insert(target);
                        }
                    }
                    other => panic!("{at} is {other:?}"),
                }
            }
            assert!(kept <= if size == 8 { 0 } else { KEPT }, "{name} keeps {kept} registers");
            assert!(returns > 0, "{name} never comes back by itself");
            // Where the instruction is a point, and where the access may be new.
            assert!(ends.len() <= 2, "{name} goes on in two places: {ends:x?}");
        }
    }
}

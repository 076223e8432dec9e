//! Variables that a compiler has taken apart are the variables of the source.

use crate::program::{Program, has, run};
use threadbare_symbols::Element;

#[test]
fn pieces_of_statics_are_named_by_the_whole() {
    if !has("clang-19") {
        return;
    }
    for flags in [&["-O2", "-g"][..], &["-O2", "-gdwarf-4"], &["-O2", "-g", "-gsplit-dwarf"]] {
        let flags: Vec<&str> = flags.iter().copied().chain(["-no-pie", "-fno-pie"]).collect();
        let program = Program::build("clang-19", "pieces.c", &flags, |_| ());
        let table = run(program.path().parent().unwrap(), "nm", &["bank"]);
        let symbols: Vec<(u64, &str)> = table
            .lines()
            .filter_map(|line| {
                let [address, _, name] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
                Some((u64::from_str_radix(address, 16).unwrap(), name))
            })
            .collect();
        let named = |prefix: &str| {
            let mut all: Vec<_> = symbols.iter().filter(|(_, name)| name.starts_with(prefix)).collect();
            all.sort_by_key(|(_, name)| *name);
            all.into_iter().map(|(address, _)| *address).collect::<Vec<u64>>()
        };
        let places = named("places.");
        assert_eq!(places.len(), 6, "{flags:?}: {table}");
        for (index, address) in places.into_iter().enumerate() {
            let scalar = program.symbols.scalar(address, 4).unwrap();
            assert_eq!(scalar.name, format!("places[{index}]"), "{flags:?}");
            assert_eq!(scalar.element, Some(Element { index: index as u64, count: 6, text: false }));
            // A piece has no more than its own bytes.
            assert!(program.symbols.scalar(address, 8).is_err(), "{flags:?}");
        }
        let pair = named("pair.");
        let names: Vec<String> = [1, 8]
            .iter()
            .zip(pair)
            .map(|(size, address)| program.symbols.scalar(address, *size).unwrap().name)
            .collect();
        assert_eq!(names, ["pair.kind", "pair.count"], "{flags:?}");
    }
}

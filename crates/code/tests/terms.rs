//! The table of terms against what runs see: a pair of a read and a write that happened must be in it, and not struck out.

mod build;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use build::Compiler;
use threadbare_code::Code;
use threadbare_code::terms::{Row, Source, Strike, table};

/// Long enough for anything that ends; a program that does not has told nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a program; the pairs that it told, by place of the read.
fn pairs(program: &Path, seed: u32, out: &Path) -> Option<Vec<(u64, Source)>> {
    let _ = std::fs::remove_file(out);
    let mut command = Command::new(program);
    command.env("REFEREE_OUT", out).env("REFEREE_SEED", seed.to_string());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a program");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let text = std::fs::read_to_string(out).unwrap_or_default();
    let pairs = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let mut next = || u64::from_str_radix(words.next()?, 16).ok();
            let (read, write, own) = (next()?, next()?, next()?);
            let source = match (write, own) {
                (0, _) => Source::Initial,
                (write, 1) => Source::Own(write),
                (write, _) => Source::Other(write),
            };
            Some((read, source))
        })
        .collect();
    Some(pairs)
}

/// What is wrong about a pair that was seen.
fn complaint(rows: &BTreeMap<u64, &Row>, read: u64, source: Source) -> Option<String> {
    let Some(row) = rows.get(&read) else {
        return matches!(source, Source::Other(_))
            .then(|| "the read is not taken for one of shared data".to_owned());
    };
    let open = |wanted: Source| row.terms.iter().any(|term| term.source == wanted && term.struck.is_none());
    // What code without hooks has written looks like what was there from the beginning.
    let fine = open(source) || (source == Source::Initial && open(Source::Unseen));
    let known = || row.terms.iter().find(|term| term.source == source);
    (!fine).then(|| {
        known().map_or("not in the table".to_owned(), |term| format!("struck out: {:?}", term.struck))
    })
}

fn check(sources: &[PathBuf], builds: &[(Compiler, u8)], seeds: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut wrong, mut seen_pairs, mut programs) = (Vec::new(), 0, 0);
    for source in sources {
        let rust = source.extension().is_some_and(|extension| extension == "rs");
        for &(compiler, level) in builds.iter().filter(|(compiler, _)| rust == (*compiler == Compiler::Rustc))
        {
            let Some(program) = build::build(source, compiler, level, folder.path(), &[]) else { continue };
            let code = Code::read(&program).expect("a program");
            let rows = table(&code);
            let by_place: BTreeMap<u64, &Row> = rows.iter().map(|row| (row.place, row)).collect();
            let mut seen = BTreeSet::new();
            for seed in 1..=seeds {
                let Some(found) = pairs(&program, seed, &folder.path().join("pairs")) else { break };
                seen.extend(found);
            }
            let (terms, struck) = rows.iter().fold((0, 0), |(terms, struck), row| {
                (terms + row.terms.len(), struck + row.terms.len() - row.possible().count())
            });
            let name = source.file_name().unwrap_or_default().to_string_lossy();
            println!(
                "{name} {compiler:?} -O{level}: {} reads, {terms} terms, {struck} struck out, {} pairs seen",
                rows.len(),
                seen.len()
            );
            programs += usize::from(!seen.is_empty());
            seen_pairs += seen.len();
            // The runtime asks who calls `memcpy`: code without hooks is not heard.
            let heard = |place: u64| {
                code.function_at(place.saturating_sub(1)).is_some_and(|at| code.functions[at].instrumented)
            };
            for (read, what) in seen.iter().filter(|(read, _)| heard(*read)).copied() {
                let what = match what {
                    Source::Own(place) | Source::Other(place) if !heard(place) => Source::Initial,
                    heard => heard,
                };
                if let Some(complaint) = complaint(&by_place, read, what) {
                    wrong
                        .push(format!("{name} {compiler:?} -O{level}: {read:#x} saw {what:x?}: {complaint}"));
                }
            }
        }
    }
    println!("{programs} programs told {seen_pairs} pairs, {} of them wrong", wrong.len());
    assert!(programs > 0 && seen_pairs > 0, "nothing was seen");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn programs(names: &[&str]) -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    names.iter().map(|name| own.join(name)).collect()
}

#[test]
fn what_runs_see_is_in_the_table() {
    let builds = [
        (Compiler::Gcc, 0),
        (Compiler::Gcc, 2),
        (Compiler::Clang, 1),
        (Compiler::Rustc, 0),
        (Compiler::Rustc, 3),
    ];
    check(&programs(&["bank.c", "queue.cc", "shared.rs", "sections.c"]), &builds, 12);
}

/// The whole corpus, on request: it takes minutes.
#[test]
fn what_runs_of_the_corpus_see_is_in_the_table() {
    if std::env::var_os("THREADBARE_FULL").is_none() {
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let mut sources = Vec::new();
    let kinds = std::env::var("CODE_KINDS").unwrap_or_else(|_| {
        "mutex lost-update condvar barrier once rwlock semaphore spin check-then-act classes atomics torn c11 tls".to_owned()
    });
    for kind in kinds.split(' ') {
        let Ok(entries) = std::fs::read_dir(corpus.join(kind)) else { continue };
        sources.extend(
            entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cc" || e == "rs")),
        );
    }
    sources.sort();
    check(&sources, &[(Compiler::Gcc, 0), (Compiler::Gcc, 2), (Compiler::Rustc, 2)], 8);
}

/// The terms of the read on a labelled line, by labels of the writes.
#[test]
fn sections_strike_out_what_nobody_can_see() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = programs(&["sections.c"]).remove(0);
    let text = std::fs::read_to_string(&source).expect("the program");
    let label = |name: &str| {
        let line = text.lines().position(|line| line.ends_with(&format!("//~ {name}"))).expect("a label");
        u32::try_from(line + 1).expect("a line")
    };
    for (compiler, level) in
        [(Compiler::Gcc, 0), (Compiler::Gcc, 2), (Compiler::Clang, 0), (Compiler::Clang, 2)]
    {
        let Some(program) = build::build(&source, compiler, level, folder.path(), &[]) else { continue };
        let code = Code::read(&program).expect("a program");
        let symbols =
            threadbare_symbols::Symbols::new([threadbare_symbols::Module::new(&program, 0, u64::MAX)]);
        let line = |place| symbols.frames(threadbare_symbols::Pc::Return(place))[0].line.unwrap_or(0);
        let rows = table(&code);
        let struck = |read: &str, write: Option<&str>| -> Option<Option<Strike>> {
            let row = rows
                .iter()
                .rfind(|row| line(row.place) == label(read))
                .unwrap_or_else(|| panic!("{read} has no row"));
            let term = row.terms.iter().find(|term| match (term.source, write) {
                (Source::Other(place), Some(write)) => line(place) == label(write),
                (Source::Initial, None) => true,
                _ => false,
            });
            term.map(|term| term.struck.clone())
        };
        let context = format!("{compiler:?} -O{level}");
        // Figure 2 of the paper: of the two writes in one section only the second is seen.
        assert!(
            matches!(struck("read", Some("one")), Some(Some(Strike::Hidden { .. }))),
            "{context}: {:?}",
            struck("read", Some("one"))
        );
        assert_eq!(struck("read", Some("two")), Some(None), "{context}");
        assert_eq!(struck("read", Some("three")), Some(None), "{context}");
        assert_eq!(struck("read", None), Some(None), "{context}");
        // Without the lock everything is seen.
        assert_eq!(struck("bare", Some("one")), Some(None), "{context}");
        // After a write of its own in the section nobody else's is, except for who takes no lock.
        assert!(matches!(struck("own", Some("two")), Some(Some(Strike::AfterOwn { .. }))), "{context}");
        assert!(matches!(struck("own", None), Some(Some(Strike::AfterOwn { .. }))), "{context}");
        assert_eq!(struck("own", Some("wild")), Some(None), "{context}");
        // A wait gives the lock back.
        assert_eq!(struck("waited", Some("two")), Some(None), "{context}");
        // Before there are strands, nobody else wrote.
        assert_eq!(struck("early", Some("two")), Some(Some(Strike::Alone)), "{context}");
    }
}

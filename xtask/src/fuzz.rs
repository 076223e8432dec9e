//! `cargo xtask fuzz explorer`: random programs, what the model says of each, and what the tool says. `cargo xtask fuzz readers`: damaged
//! files for every reader of files.

use crate::packages;
use crate::steps::{Outcome, build_tool, root};
use threadbare_tests::readers::{READERS, Reader, hunt, named, samples};
use threadbare_tests::referee::fuzz::{self, Order};
use threadbare_tests::referee::generate::Feature;
use threadbare_tests::referee::judge::Build;

const USAGE: &str = "usage: cargo xtask fuzz explorer [COUNT] [--seed N] [--only FEATURE..] \
    [--build gcc|clang|rust] [--jobs N] [--shrink N]";

fn order(words: &[&str]) -> Outcome<Order> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut order = Order { count: 20_000, seed: 1, only: Vec::new(), build: None, jobs, shrinks: 20 };
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        let mut number = || {
            let number = words.next().and_then(|word| word.parse::<u64>().ok());
            number.ok_or_else(|| format!("`{word}` wants a number\n{USAGE}"))
        };
        match word {
            "--seed" => order.seed = number()?,
            "--jobs" => order.jobs = number()?.max(1) as usize,
            "--shrink" => order.shrinks = number()? as usize,
            "--build" => {
                order.build = words.next().and_then(Build::named);
                if order.build.is_none() {
                    return Err(format!("`--build` wants gcc, clang or rust\n{USAGE}"));
                }
            }
            "--only" => {
                while let Some(feature) = words.peek().copied().and_then(Feature::named) {
                    order.only.push(feature);
                    words.next();
                }
                if order.only.is_empty() {
                    let names: Vec<&str> = Feature::ALL.iter().map(|(_, name)| *name).collect();
                    return Err(format!("`--only` wants features: {}", names.join(" ")));
                }
            }
            word => {
                order.count = word.parse().map_err(|_| format!("`{word}` is no number\n{USAGE}"))?;
            }
        }
    }
    Ok(order)
}

/// The chore.
pub(crate) fn explorer(words: &[&str]) -> Outcome {
    let order = order(words)?;
    packages::ensure(&[packages::COMPILERS])?;
    // The referee finds it beside itself, unless it is told of another.
    if std::env::var_os(threadbare_tests::tool::VARIABLE).is_none() {
        build_tool()?;
    }
    let folder = root().join("target/fuzz");
    // A folder of its own: two hunts at once must not build over each other's programs.
    let work = folder.join(std::process::id().to_string());
    let tally = fuzz::run(&order, &work, &|line| println!("{line}"))?;
    let _ = std::fs::remove_dir_all(&work);
    println!("\n{}", tally.table());
    let kept = folder.join("surprises");
    let _ = std::fs::remove_dir_all(&kept);
    std::fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    for (at, surprise) in tally.surprises.iter().enumerate() {
        let text = format!(
            "# {} of {} with {}: {}\n# seed {}\n{}",
            surprise.fault.name(),
            fuzz::name(surprise.strategy),
            surprise.build.name(),
            surprise.why.replace('\n', "\n# "),
            surprise.case.seed,
            surprise.case.program
        );
        let file = kept.join(format!("{at}.txt"));
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    for (reason, (_, programs)) in &tally.reasons {
        let name = reason.replace(", ", "+");
        for (at, (strategy, program)) in programs.iter().enumerate() {
            let file = kept.join(format!("withdrawn-{name}-{at}.txt"));
            std::fs::write(&file, format!("# withdrawn by {strategy}: {reason}\n{program}"))
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    match tally.faults() {
        0 => Ok(()),
        faults => Err(format!("{faults} surprises in {} programs: see {}", tally.programs, kept.display())),
    }
}

const READERS_USAGE: &str = "usage: cargo xtask fuzz readers [COUNT] [--seed N] [--only NAME..]";

/// The chore: damaged files for readers, `COUNT` for each.
pub(crate) fn readers(words: &[&str]) -> Outcome {
    let (mut count, mut seed, mut only) = (100_000u64, 1u64, Vec::<&Reader>::new());
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        match word {
            "--seed" => {
                let number = words.next().and_then(|word| word.parse().ok());
                seed = number.ok_or_else(|| format!("`--seed` wants a number\n{READERS_USAGE}"))?;
            }
            "--only" => {
                while let Some(reader) = words.peek().and_then(|name| named(name)) {
                    only.push(reader);
                    words.next();
                }
                if only.is_empty() {
                    let names: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
                    return Err(format!("`--only` wants readers: {}", names.join(" ")));
                }
            }
            word => count = word.parse().map_err(|_| format!("`{word}` is no number\n{READERS_USAGE}"))?,
        }
    }
    if std::env::var_os(threadbare_tests::tool::VARIABLE).is_none() {
        build_tool()?;
    }
    let folder = root().join("target/fuzz/samples");
    // Samples are of the tool as it is now.
    let _ = std::fs::remove_dir_all(&folder);
    samples::make(&folder)?;
    let mut cases = 0;
    for reader in
        READERS.iter().filter(|reader| only.is_empty() || only.iter().any(|it| it.name == reader.name))
    {
        let began = std::time::Instant::now();
        let count = count / reader.slowness;
        let hunt::Hunted { taken, cases: found } = hunt::hunt(reader, &folder, seed, count)?;
        let time = began.elapsed().as_secs_f64();
        println!(
            "{:<14} {count} inputs in {time:.1} s, {taken} taken for whole, {} cases",
            reader.name,
            found.len()
        );
        for case in &found {
            let path = hunt::keep(case, seed)?;
            println!("  {}: {}", path.display(), case.why.lines().take(3).collect::<Vec<_>>().join(" "));
        }
        cases += found.len();
    }
    match cases {
        0 => Ok(()),
        cases => Err(format!("{cases} inputs that a reader does not stand: see {}", hunt::kept().display())),
    }
}

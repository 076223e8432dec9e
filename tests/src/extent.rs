//! How much the tests do: little in a change's own tests, everything when asked for.

use crate::compile::Compiler;
use threadbare_strategy::StrategyId;

/// The variable that asks for everything; `cargo xtask test --full` sets it.
pub const VARIABLE: &str = "THREADBARE_FULL";

/// Whether everything was asked for.
pub fn is_full() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// The number for a change's own tests, or the one for everything.
pub fn either(small: u64, full: u64) -> u64 {
    if is_full() { full } else { small }
}

/// All strategies a user can ask for, by name, but for planners: they choose another number of runs.
pub fn strategies() -> impl Iterator<Item = &'static str> {
    let alone = StrategyId::offered().filter(|strategy| !strategy.is_planner());
    std::iter::once("portfolio").chain(alone.map(StrategyId::name))
}

/// Of the strategies but `usual`, those that what is called `name` is tested with: all when everything was asked for,
/// otherwise two, others for each name, so that over the corpus each strategy has its share.
pub fn other_strategies(name: &str, usual: &str) -> impl Iterator<Item = &'static str> + use<> {
    const SHARE: usize = 8;
    let shift: usize = name.bytes().map(usize::from).sum();
    let others: Vec<&str> = strategies().filter(|name| *name != usual).collect();
    let shared = move |at: usize| is_full() || (at + shift).is_multiple_of(SHARE);
    others.into_iter().enumerate().filter(move |(at, _)| shared(*at)).map(|(_, name)| name)
}

/// Whether what is called `name` is tested with other compilers, too, than the first one of its language: when everything was
/// asked for, otherwise a third of the names.
pub fn has_others(name: &str) -> bool {
    is_full() || name.bytes().map(usize::from).sum::<usize>().is_multiple_of(3)
}

/// Whether what is called `name` is tested with this compiler: with both when everything was asked for, otherwise half of
/// the names with each.
pub fn has_turn(name: &str, compiler: Compiler) -> bool {
    let even = name.bytes().map(usize::from).sum::<usize>().is_multiple_of(2);
    is_full() || compiler == Compiler::Rustc || even == (compiler == Compiler::Gcc)
}

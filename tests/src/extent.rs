//! How much the tests do: little in a change's own tests, everything when asked for.

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

/// All strategies there are, by name.
pub fn strategies() -> impl Iterator<Item = &'static str> {
    StrategyId::ALL.iter().map(|strategy| strategy.name())
}

//! How wide a line may be.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// For a trace in a pipe or a file: lines that a pager can still show.
const IN_A_PIPE: usize = 160;
/// For a terminal that does not tell.
const USUAL: usize = 80;
/// Less than this is no width to write for.
const LEAST: usize = 20;

/// The columns of a stream: the terminal's (or `COLUMNS`), else a bound for pipes.
pub fn of_stream(stream: &(impl AsFd + IsTerminal)) -> usize {
    if !stream.is_terminal() {
        return IN_A_PIPE;
    }
    let asked = || rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    asked_for().or_else(asked).filter(|&columns| columns > 0).unwrap_or(USUAL).max(LEAST)
}

/// The columns the user asks for with `COLUMNS`.
pub fn asked_for() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok()?.parse::<usize>().ok()?;
    (told > 0).then(|| told.max(LEAST))
}

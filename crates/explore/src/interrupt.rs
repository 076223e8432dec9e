//! Being asked to end: the first Ctrl-C ends the campaign with its summary, the second ends the driver at once, and
//! so does SIGTERM.
//!
//! "At once" is in the signal's handler, so no job that hangs is waited for. The servers die with the driver.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on Ctrl-C and SIGHUP ask for the end instead of ending the driver.
pub fn watch() -> io::Result<()> {
    let flag = FLAG.get_or_init(|| Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGHUP] {
        // In this order: the second signal finds the flag set by the first.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(flag))?;
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    // Whoever started the driver may have had it ignored.
    let always = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_shutdown(SIGTERM, 128 + SIGTERM, always)?;
    Ok(())
}

/// Whether the end was asked for.
pub fn requested() -> bool {
    FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

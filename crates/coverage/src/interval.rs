//! Intervals of 95%.

/// The normal distribution's quantile for 97.5%.
pub const Z: f64 = 1.959_963_985;

/// Fewer classes seen once may all be the last of their kind: nothing may be left then.
pub const FEW: u64 = 4;

/// The chance that the next run is of a class that no run was of, after `runs` independent ones, of whose classes
/// `once` were seen once and `twice` twice: the interval.
///
/// Good and Turing's estimate is `once / runs`. The variance of its error is at the most (once + 2 twice) / runs² (Esty 1983).
/// Part of it, the number of classes seen once, depends on what is to be known: the upper end is the largest chance that is
/// within [`Z`] of its own standard errors of the estimate, as in Wilson's interval, so it says something even if no class
/// was seen once. The lower end is Esty's, and 0 if less than [`FEW`] classes were seen once: Good and Turing's estimate is
/// right on average, but what is left comes in lumps, and the last lump may be gone.
pub fn good_turing(runs: u64, once: u64, twice: u64) -> (f64, f64) {
    if runs == 0 {
        return (0.0, 1.0);
    }
    let (n, f1, f2) = (runs as f64, once as f64, twice as f64);
    let high = f1 + Z * Z / 2.0 + Z * (f1 + 2.0 * f2 + Z * Z / 4.0).sqrt();
    let low = if once < FEW { 0.0 } else { f1 - Z * (f1 + 2.0 * f2).sqrt() };
    ((low / n).clamp(0.0, 1.0), (high / n).clamp(0.0, 1.0))
}

/// A share of `of`, by Wilson.
pub fn wilson(count: u64, of: u64) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (of as f64, count as f64 / of as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    (((middle - half) / scale).clamp(0.0, 1.0), ((middle + half) / scale).clamp(0.0, 1.0))
}

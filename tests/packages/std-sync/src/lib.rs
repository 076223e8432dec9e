//! The sync module of std, its channels and its strands, in tests that pass under every schedule.

#[cfg(test)]
mod channels;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod once;
#[cfg(test)]
mod strands;

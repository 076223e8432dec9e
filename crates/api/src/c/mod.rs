//! A C header's API, and tests over it.


/// How many values there are.
static ALIVE: std::sync::atomic::AtomicIsize = std::sync::atomic::AtomicIsize::new(0);

/// A value that counts how often it is made and dropped.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Counted(Box<u32>);

impl Counted {
    fn new(id: u32) -> Counted {
        ALIVE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Counted(Box::new(id))
    }

    #[allow(dead_code, reason = "not every test looks into a value")]
    fn read(&self) -> u32 {
        // The compiler must not see that nothing comes of it.
        std::hint::black_box(*self.0)
    }

    #[allow(dead_code, reason = "not every test writes a value")]
    fn write(&mut self) {
        *self.0 = self.read();
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(*self.0)
    }
}

impl Default for Counted {
    fn default() -> Counted {
        Counted::new(0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}

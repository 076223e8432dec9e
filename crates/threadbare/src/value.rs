//! Types that have a value to choose.

use super::runtime;

/// A type that [`crate::any`] can make a value of.
pub trait Any {
    /// Any value of it.
    fn any() -> Self;
}

macro_rules! integers {
    ($($name:ty)*) => {
        $(impl Any for $name {
            fn any() -> Self {
                runtime::any(<$name>::BITS) as $name
            }
        })*
    };
}

integers! { u8 i8 u16 i16 u32 i32 u64 i64 usize isize }

impl Any for bool {
    fn any() -> Self {
        runtime::any(1) == 1
    }
}

impl<T: Any> Any for Option<T> {
    fn any() -> Self {
        bool::any().then(T::any)
    }
}

impl<T: Any, const N: usize> Any for [T; N] {
    fn any() -> Self {
        std::array::from_fn(|_| T::any())
    }
}

impl<A: Any, B: Any> Any for (A, B) {
    fn any() -> Self {
        (A::any(), B::any())
    }
}

//! Size classes: multiples of 16 up to 128 bytes, then four steps to a power of two.

/// The smallest size that has a class of its own.
pub const SMALLEST: usize = 16;
/// The number of classes; the last ones hold terabytes and are never used.
pub const COUNT: usize = 144;

/// The class of a size (at least 1) and the size of the class's blocks.
pub const fn of(size: usize) -> (usize, usize) {
    if size <= 128 {
        let steps = size.div_ceil(16);
        return (steps, steps * 16);
    }
    // 2^log < size <= 2^(log + 1), cut into four.
    let log = (size - 1).ilog2() as usize;
    let step = log - 2;
    let quarter = (size - 1) >> step;
    let index = 8 + (log - 7) * 4 + (quarter - 3);
    if index >= COUNT {
        return (COUNT - 1, size);
    }
    (index, (quarter + 1) << step)
}

/// The size of a class's blocks.
pub const fn bytes(index: usize) -> usize {
    if index <= 8 {
        return index * 16;
    }
    let (log, quarter) = (7 + (index - 9) / 4, 4 + (index - 9) % 4);
    (quarter + 1) << (log - 2)
}

const _: () = {
    let mut size = 1;
    while size < 1 << 18 {
        let (index, room) = of(size);
        assert!(bytes(index) == room);
        size += 1 + size / 7;
    }
};

const _: () = {
    assert!(of(1).1 == 16 && of(16).1 == 16 && of(17).1 == 32 && of(128).0 == 8);
    assert!(of(129).0 == 9 && of(129).1 == 160 && of(160).0 == 9 && of(161).0 == 10);
    assert!(of(256).0 == 12 && of(256).1 == 256 && of(257).0 == 13 && of(257).1 == 320);
    assert!(of(1 << 20).1 == 1 << 20 && of((1 << 20) + 1).1 == (1 << 20) + (1 << 18));
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_sizes_go_up_by_16() {
        for size in 1..=128 {
            assert_eq!(of(size), (size.div_ceil(16), size.div_ceil(16) * 16));
        }
    }

    #[test]
    fn there_are_four_classes_to_a_power_of_two() {
        for log in 7..40 {
            let classes: std::collections::BTreeSet<usize> =
                (1..=4).map(|quarter| of((1 << log) + quarter * (1 << (log - 2))).0).collect();
            assert_eq!(classes.len(), 4, "2^{log}");
        }
    }

    #[test]
    fn a_class_begins_where_the_one_before_ends() {
        for index in 1..COUNT - 1 {
            assert_eq!(of(bytes(index)), (index, bytes(index)));
            assert_eq!(of(bytes(index) + 1).0, index + 1);
        }
    }

    #[test]
    fn what_is_larger_than_all_classes_is_the_last_ones() {
        assert_eq!(of(usize::MAX / 2), (COUNT - 1, usize::MAX / 2));
    }

    proptest! {
        #[test]
        fn a_block_holds_what_was_asked_for_and_wastes_little(size in 1usize..1 << 40) {
            let (index, room) = of(size);
            prop_assert!(room >= size);
            prop_assert_eq!(bytes(index), room);
            // A quarter beyond 128 bytes, 15 bytes below.
            prop_assert!(room - size < (size / 4).max(16));
        }
    }
}

//! dashmap, unmodified, in tests that pass under every schedule.

#[cfg(test)]
mod tests {
    use dashmap::mapref::entry::Entry;
    use dashmap::{DashMap, DashSet};
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn counters_lose_nothing() {
        let map: DashMap<&str, u32> = DashMap::with_shard_amount(4);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for word in ["red", "blue", "red"] {
                        *map.entry(word).or_insert(0) += 1;
                    }
                });
            }
        });
        assert_eq!((*map.get("red").unwrap(), *map.get("blue").unwrap(), map.len()), (6, 3, 2));
    }

    #[test]
    fn one_strand_wins_each_entry() {
        let map = Arc::new(DashMap::new());
        let wins: Vec<_> = (0..3)
            .map(|id| {
                let map = Arc::clone(&map);
                thread::spawn(move || {
                    (0..4)
                        .filter(|key| match map.entry(*key) {
                            Entry::Vacant(slot) => {
                                slot.insert(id);
                                true
                            }
                            Entry::Occupied(_) => false,
                        })
                        .count()
                })
            })
            .collect();
        let total: usize = wins.into_iter().map(|strand| strand.join().unwrap()).sum();
        assert_eq!((total, map.len()), (4, 4));
    }

    #[test]
    fn iteration_beside_removal() {
        let map: DashMap<u32, String> = (0..8).map(|n| (n, n.to_string())).collect();
        thread::scope(|scope| {
            scope.spawn(|| map.retain(|key, _| key % 2 == 0));
            scope.spawn(|| {
                for entry in &map {
                    assert_eq!(entry.value(), &entry.key().to_string());
                }
            });
            scope.spawn(|| map.alter_all(|_, text| text));
        });
        assert_eq!(map.len(), 4);
        assert_eq!(map.remove(&2), Some((2, "2".to_string())));
    }

    #[test]
    fn set_accepts_each_value_once() {
        let set = DashSet::new();
        let fresh: usize = thread::scope(|scope| {
            let strands: Vec<_> =
                (0..3).map(|_| scope.spawn(|| (0..3).filter(|n| set.insert(*n)).count())).collect();
            strands.into_iter().map(|strand| strand.join().unwrap()).sum()
        });
        assert_eq!((fresh, set.len()), (3, 3));
    }
}

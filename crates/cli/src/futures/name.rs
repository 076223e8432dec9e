//! Names of strands: `0.2` for a path.

use threadbare_abi::strand::StrandPath;

/// Children of one strand, and generations, that are looked through.
const CHILDREN: u32 = 128;
const DEPTH: usize = 3;

/// The name of a strand by its path.
pub(crate) fn strand(path: u64) -> String {
    find(StrandPath::MAIN, "0", path, DEPTH).unwrap_or_else(|| format!("{path:016x}"))
}

fn find(from: StrandPath, name: &str, path: u64, depth: usize) -> Option<String> {
    if from.0 == path {
        return Some(name.to_owned());
    }
    if depth == 0 {
        return None;
    }
    // Near ones first: most programs have no grandchildren.
    let direct = (1..=CHILDREN).find(|&child| from.child(child).0 == path);
    if let Some(child) = direct {
        return Some(format!("{name}.{child}"));
    }
    (1..=CHILDREN / 4).find_map(|child| find(from.child(child), &format!("{name}.{child}"), path, depth - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        for name in ["0", "0.1", "0.7", "0.2.3", "0.1.1.2"] {
            assert_eq!(strand(StrandPath::parse(name).unwrap().0), name);
        }
        assert_eq!(strand(7), "0000000000000007");
    }
}

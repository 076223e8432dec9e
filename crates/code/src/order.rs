//! Functions in an order in which callees come before their callers: Tarjan's strongly connected components.

/// The components of a graph, callees first; each with its members.
pub(crate) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let count = edges.len();
    let mut tarjan = Tarjan {
        edges,
        index: vec![usize::MAX; count],
        low: vec![0; count],
        on_stack: vec![false; count],
        stack: Vec::new(),
        next: 0,
        found: Vec::new(),
    };
    for node in 0..count {
        if tarjan.index[node] == usize::MAX {
            tarjan.visit(node);
        }
    }
    tarjan.found
}

struct Tarjan<'a> {
    edges: &'a [Vec<usize>],
    index: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    found: Vec<Vec<usize>>,
}

impl Tarjan<'_> {
    fn open(&mut self, node: usize) {
        (self.index[node], self.low[node]) = (self.next, self.next);
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    /// Without recursion: call chains of a program may be deep.
    fn visit(&mut self, root: usize) {
        let mut work = vec![(root, 0)];
        self.open(root);
        while let Some((node, edge)) = work.last_mut() {
            let node = *node;
            if let Some(&to) = self.edges[node].get(*edge) {
                *edge += 1;
                if self.index[to] == usize::MAX {
                    self.open(to);
                    work.push((to, 0));
                } else if self.on_stack[to] {
                    self.low[node] = self.low[node].min(self.index[to]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, _)) = work.last() {
                self.low[*parent] = self.low[*parent].min(self.low[node]);
            }
            if self.low[node] == self.index[node] {
                let at = self.stack.iter().rposition(|&member| member == node).unwrap_or(0);
                let members = self.stack.split_off(at);
                for &member in &members {
                    self.on_stack[member] = false;
                }
                self.found.push(members);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_come_first_and_cycles_are_one() {
        let edges = vec![vec![1, 2], vec![3], vec![3], vec![1], vec![0]];
        let mut found = components(&edges);
        for members in &mut found {
            members.sort_unstable();
        }
        assert_eq!(found, [vec![1, 3], vec![2], vec![0], vec![4]]);
    }
}

//! Which programs mean the same to the model and to a language.

use super::program::{Home, Program, STRANDS, Statement, walk};

impl Program {
    /// Whether the program means the same in the model and in a language: it shares what it accesses plainly, holds no lock twice, creates
    /// each strand once and joins what can be joined, and does not use main's stack when that is gone.
    pub fn is_sound(&self) -> bool {
        self.strands.len() <= STRANDS
            && self.shares()
            && self.changes()
            && self.creates()
            && self.ends_last()
            && self.fails_after_a_step()
            && self.destroys_only()
    }

    /// Every plain access is one that another strand's conflicts with: else it is no point, and whether it was made before the
    /// process ended makes no difference.
    fn shares(&self) -> bool {
        let mut users = vec![(0u32, 0u32); self.variables.len()];
        self.statements(|strand, statement| {
            let (variable, writes) = match *statement {
                Statement::Read(variable, _) | Statement::Await(_, _, variable) => (variable, false),
                Statement::Write(variable, _) | Statement::Add(variable, _) => (variable, true),
                _ => return,
            };
            let user = &mut users[variable as usize];
            user.0 |= 1 << strand;
            user.1 |= u32::from(writes) << strand;
        });
        let ends_early = self.ends_early();
        users.iter().all(|(strands, writers)| {
            let shared = strands.count_ones() > 1 && *writers != 0;
            // Main's accesses may come before there is another strand.
            *strands == 0 || shared && (!ends_early || (writers & !1).count_ones() > 1)
        })
    }

    /// Every atomic variable that is looked at is written, too: a compiler may know the value of one that is not.
    fn changes(&self) -> bool {
        let (mut looked, mut written) = (0u32, 0u32);
        self.statements(|_, statement| match *statement {
            Statement::Load(at, _)
            | Statement::Spin(at, _)
            | Statement::Stairs(at, ..)
            | Statement::Poll(at, ..) => looked |= 1 << at,
            Statement::Store(at, _)
            | Statement::FetchAdd(at, ..)
            | Statement::Exchange(at, ..)
            | Statement::Compare(at, ..) => written |= 1 << at,
            _ => {}
        });
        looked & !written == 0
    }

    /// Whether the process may end while strands are at work.
    pub fn ends_early(&self) -> bool {
        let mut exits = false;
        self.statements(|_, statement| {
            exits |= matches!(statement, Statement::Exit(_) | Statement::Leave | Statement::Fail)
        });
        exits
            || (1..self.strands.len() as u8)
                .any(|at| !self.strands.iter().any(|strand| strand.body.contains(&Statement::Join(at))))
    }

    fn creates(&self) -> bool {
        let mut creators = vec![Vec::new(); self.strands.len()];
        let mut joiners = vec![Vec::new(); self.strands.len()];
        let mut tried = vec![0; self.strands.len()];
        self.statements(|strand, statement| match *statement {
            Statement::Create(made) => creators[made as usize].push(strand),
            Statement::Join(made) => joiners[made as usize].push(strand),
            Statement::TryJoin(made, _) => tried[made as usize] += 1,
            _ => {}
        });
        (1..self.strands.len()).all(|at| {
            let joins = &joiners[at];
            creators[at].len() == 1
                && joins.iter().all(|joiner| creators[at].contains(joiner))
                && joins.len() <= 1
                && tried[at] <= 1
                && !(self.strands[at].detached && (joins.len() + tried[at] > 0))
                && self.in_order(at as u8)
        })
    }

    /// Created at the top of its creator, and joined after that; after a try only where that failed.
    fn in_order(&self, strand: u8) -> bool {
        let creates = |statement: &Statement| *statement == Statement::Create(strand);
        self.strands.iter().all(|creator| {
            let Some(at) = creator.body.iter().position(creates) else {
                let mut inside = false;
                walk(&creator.body, &mut |statement| inside |= creates(statement));
                return !inside;
            };
            let tries =
                |statement: &Statement| matches!(*statement, Statement::TryJoin(made, _) if made == strand);
            let tried = creator.body.iter().position(tries);
            creator.body.iter().enumerate().all(|(place, statement)| match statement {
                Statement::Join(made) if *made == strand => place > at && tried.is_none(),
                Statement::TryJoin(made, _) if *made == strand => place > at,
                Statement::If(slot, 0, body) if *body == [Statement::Join(strand)] => {
                    tried.is_some_and(|tried| {
                        tried < place && creator.body[tried] == Statement::TryJoin(strand, *slot)
                    })
                }
                other => {
                    let mut joins = false;
                    walk(other.body(), &mut |statement| {
                        joins |= *statement == Statement::Join(strand) || tries(statement);
                    });
                    !joins
                }
            })
        })
    }

    /// A strand that fails has made a step before: the failure belongs to it.
    fn fails_after_a_step(&self) -> bool {
        let is_step =
            |statement: &Statement| !matches!(statement, Statement::If(..) | Statement::Allocate(_));
        self.strands.iter().all(|strand| {
            let before: Vec<Statement> = strand.body.iter().take_while(|it| !is_step(it)).cloned().collect();
            let mut fails = false;
            walk(&before, &mut |statement| fails |= *statement == Statement::Fail);
            !fails
        })
    }

    /// What lies on main's stack is used only while main is there; nothing comes after an end.
    fn ends_last(&self) -> bool {
        let ends = |statement: &Statement| {
            matches!(statement, Statement::Exit(_) | Statement::Leave | Statement::Fail)
        };
        let mut last = true;
        for strand in &self.strands {
            last &= check_last(&strand.body, &ends);
        }
        let joined = (1..self.strands.len() as u8)
            .all(|at| self.strands.iter().any(|strand| strand.body.contains(&Statement::Join(at))));
        let main = self.strands[0].body.last();
        let leaves = main == Some(&Statement::Leave);
        let exits = matches!(main, Some(Statement::Exit(_)));
        last && (self.home != Home::Stack || (joined && !leaves) || exits)
    }

    /// A mutex that is destroyed is never waited for.
    fn destroys_only(&self) -> bool {
        let mut destroyed = 0u32;
        let mut locked = 0u32;
        self.statements(|_, statement| match *statement {
            Statement::Destroy(mutex, _) => destroyed |= 1 << mutex,
            Statement::Locked(mutex, _) => locked |= 1 << mutex,
            _ => {}
        });
        destroyed & locked == 0
    }
}

fn check_last(body: &[Statement], ends: &dyn Fn(&Statement) -> bool) -> bool {
    body.iter().enumerate().all(|(at, statement)| {
        (!ends(statement) || at + 1 == body.len()) && check_last(statement.body(), ends)
    })
}

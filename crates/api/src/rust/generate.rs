//! Draws tests over an API.
//!
//! The types say who may do what: an object that several strands have is in an `Arc`, and only `&self` methods are called
//! on it; a type that is `Clone` gives each strand a handle of its own; what is moved into one strand may be called by
//! `&mut self` and `self`, too.

use super::objects::{Maker, Method, Object, derived, makers, methods, snake, without_values};
use super::types::Ty;
use super::values::Values;
use super::{Api, Receiver};
use crate::choose::{self, choose};
use crate::draw::{form, two};
use crate::test::{Kept, Need};
use crate::{ApiCall, Draw, Drawn, LeftOut, Recipes, Test, Told};
use std::collections::BTreeSet;

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Tests at the most.
    pub max: usize,
    /// The seed.
    pub seed: u64,
    /// How often tests were drawn before: further ones do more.
    pub round: u64,
    /// Types that a test is to be about; all if there is none.
    pub types: Vec<String>,
    /// Parts of names of functions of which a test has to call one; any if there is none.
    pub functions: Vec<String>,
}

/// A variable of a strand.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    ty: String,
    /// Only `&self` methods.
    shared: bool,
    /// It is in an `Arc`.
    arc: bool,
    /// It may hold nothing.
    optional: bool,
    /// The variable it borrows from, and whether that cannot be used meanwhile.
    borrows: Option<(String, bool)>,
}

/// Tests over an API that were not drawn before, and what has none.
pub fn generate(
    api: &Api,
    recipes: &Recipes,
    limits: &Limits,
    drawn: &mut Drawn,
) -> (Vec<Test>, Vec<LeftOut>) {
    let mut draw = Draw::of_round(limits.seed, limits.round);
    let wanted = |maker: &Maker| {
        limits.types.is_empty()
            || maker.all().any(|object| {
                let of = &api.types[&object.ty];
                limits.types.iter().any(|ty| {
                    of.is_called(ty) || maker.title.starts_with(&format!("{ty}::")) || ty == &maker.title
                })
            })
    };
    let mut makers = makers(api, recipes);
    let more: Vec<Maker> = makers.iter().flat_map(|maker| derived(api, recipes, maker)).collect();
    makers.extend(more);
    makers.retain(wanted);
    let values = Values { api, recipes, next: 0 };
    let mut generator = Generator { api, recipes, values, deep: limits.round > 0, again: None };
    let tests = choose(limits.max, &limits.functions, &Tells, drawn, &mut || {
        let maker = draw.pick(&makers)?;
        generator.test(maker, &mut draw)
    });
    let mut left_out = without_values(api, recipes);
    let made: BTreeSet<&str> = makers.iter().flat_map(Maker::all).map(|object| &*object.ty).collect();
    for name in &limits.types {
        let known = api.types.iter().find(|(_, ty)| ty.is_called(name));
        let why = match known {
            None => "the source has no such public type",
            Some((id, _))
                if !made.contains(id.as_str()) && !makers.iter().any(|maker| maker.title == *name) =>
            {
                "no function makes one from values that are known; give a recipe"
            }
            Some(_) => continue,
        };
        if !makers.iter().any(|maker| maker.title == *name) {
            left_out.push(LeftOut { what: name.clone(), why: why.to_owned() });
        }
    }
    (tests, left_out)
}

struct Tells;

impl choose::Tells for Tells {
    fn text(&self, test: &Test) -> String {
        let calls =
            |steps: &[ApiCall]| steps.iter().map(|step| step.call.clone()).collect::<Vec<_>>().join(";");
        let mut strands: Vec<String> = (0..test.strands.len())
            .map(|at| format!("{:?}{:?}{}", test.handles[at], test.owned[at], calls(&test.strands[at])))
            .collect();
        strands.sort();
        let text = format!("{:?}{}{strands:?}{}", test.make, calls(&test.setup), calls(&test.end));
        text.chars().filter(|c| !c.is_ascii_digit()).collect()
    }

    fn call(&self, step: &ApiCall) -> String {
        step.call_kind()
    }

    fn cost(&self, test: &Test) -> usize {
        let tries = |step: &&ApiCall| step.tries || step.told == Told::Nothing && is_snapshot(step.short());
        test.size() + 2 * test.strands.iter().flatten().filter(tries).count()
    }
}

struct Generator<'a> {
    api: &'a Api,
    recipes: &'a Recipes,
    values: Values<'a>,
    /// Tests do more than the first ones.
    deep: bool,
    /// What makes another object of the test's, if that can have to do with the first one: its name, the call, and the object.
    again: Option<(String, String, Object)>,
}

impl Generator<'_> {
    fn test(&mut self, maker: &Maker, draw: &mut Draw) -> Option<Test> {
        self.values.next = 0;
        let args: Vec<String> = match &maker.args {
            Some(args) => args.iter().map(|arg| self.size(arg, draw)).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        let call = if maker.args.is_some() {
            format!("{}({}){}", maker.call, args.join(", "), maker.after)
        } else {
            maker.call.clone()
        };
        self.again = match &maker.objects[..] {
            [object] if self.api.statics => Some((maker.title.clone(), call.clone(), object.clone())),
            _ => None,
        };
        let names: Vec<String> = maker.objects.iter().map(|object| format!("⟨{}⟩", object.name)).collect();
        let pattern = if maker.tuple { format!("({})", names.join(", ")) } else { names.join(", ") };
        let mut test = Test { maker: maker.title.clone(), ..Test::default() };
        let form = form(draw);
        let strands = form.map_or(if draw.chance(2, 3) { 2 } else { 3 }, <[_]>::len);
        test.handles = vec![Vec::new(); strands];
        test.owned = vec![Vec::new(); strands];
        let mut vars: Vec<Vec<Var>> = vec![Vec::new(); strands];
        let mut ours: Vec<Var> = Vec::new();
        let mut shared = Vec::new();
        test.make.push(format!("let {pattern} = {call};"));
        let mut objects = maker.objects.clone();
        for more in &maker.more {
            // Two of a kind may be against each other, too.
            for number in 0..if draw.chance(1, 3) { 2 } else { 1 } {
                let mut object = more.object.clone();
                if number > 0 {
                    object.name = format!("other_{}", object.name);
                }
                let args: Vec<String> =
                    more.args.iter().map(|arg| self.values.of(arg, draw).ok()).collect::<Option<_>>()?;
                test.make.push(format!("let ⟨{}⟩ = {}({});", object.name, more.call, args.join(", ")));
                objects.push(object);
            }
        }
        let several = objects.len() > 1;
        for (at, object) in objects.iter().enumerate() {
            self.give(object, (at, several), draw, &mut test, &mut vars, &mut ours, &mut shared)?;
        }
        // Calls before the strands are made on the objects themselves.
        let mut before: Vec<Var> = maker.objects.iter().map(|object| var_of(object, false)).collect();
        let (mut two, tide) = (self.two(&vars, draw), self.deep && draw.chance(1, 4));
        let tide = if tide { self.tide(&mut before, &mut vars, draw, &mut test) } else { None };
        let often = if self.deep { 3 } else { 8 };
        let before_calls = match (form.is_some() || tide.is_some(), self.deep) {
            (true, _) => 0,
            (false, false) => [0, 0, 0, 1, 1, 2, 3][draw.below(7)],
            (false, true) => [0, 1, 1, 2, 2, 3, 4][draw.below(7)],
        };
        // Who takes needs somebody who has given.
        let givers = self.givers(&before);
        let gives = |two: &[String; 2]| two.iter().any(|name| givers.contains(name));
        let given = form.is_some() && two.as_ref().is_some_and(gives);
        if tide.is_none()
            && !given
            && draw.chance(1, 2)
            && let Some(giver) = draw.pick(&givers)
        {
            for _ in 0..1 + draw.below(2) {
                test.setup.extend(self.step(&mut before, draw, false, Some(giver)));
            }
        }
        for _ in 0..before_calls {
            if let Some(step) = self.step(&mut before, draw, false, None) {
                let step = if draw.chance(1, often) { many(step, draw) } else { step };
                test.setup.push(step);
            }
        }
        test.shared = shared.into_iter().filter(|(_, arc)| !arc).map(|(name, _)| name).collect();
        let sizes: &[usize] = match (strands, self.deep) {
            (2, false) => &[1, 1, 1, 2, 2, 3],
            (2, true) => &[1, 2, 2, 3, 3, 4],
            _ => &[1, 1, 1, 2],
        };
        let tidal = tide.as_ref().map(|(strand, _)| *strand);
        let mut turning = tide.map(|(_, steps)| steps);
        if turning.is_some() {
            // Whoever comes beside it does anything.
            two = None;
        }
        for (strand, vars) in vars.iter_mut().enumerate() {
            let mut steps = Vec::new();
            match (form.map(|form| form[strand]), &two) {
                _ if tidal == Some(strand) => steps.extend(turning.take().unwrap_or_default()),
                (Some(form), Some(two)) => {
                    for &which in form {
                        steps.extend(self.step(vars, draw, true, Some(&two[which])));
                    }
                }
                _ => {
                    for _ in 0..sizes[draw.below(sizes.len())] {
                        steps.extend(self.step(vars, draw, true, None));
                    }
                }
            }
            test.strands.push(steps);
        }
        // A strand that does nothing, and has nothing to drop, is none.
        for strand in (0..test.strands.len()).rev() {
            if test.strands[strand].is_empty() && test.owned[strand].is_empty() {
                test.strands.remove(strand);
                test.handles.remove(strand);
                test.owned.remove(strand);
            }
        }
        if test.strands.len() < 2 || test.strands.iter().all(Vec::is_empty) {
            return None;
        }
        for _ in 0..if form.is_some() { 0 } else { draw.below(2) } {
            if let Some(step) = self.step(&mut ours, draw, false, None) {
                test.end.push(step);
            }
        }
        Some(test)
    }

    /// Much is given before the strands, and one of them takes most of it and gives again: what grows and shrinks does so while others are under way. The strand, and its steps.
    fn tide(
        &mut self,
        before: &mut Vec<Var>,
        vars: &mut [Vec<Var>],
        draw: &mut Draw,
        test: &mut Test,
    ) -> Option<(usize, Vec<ApiCall>)> {
        let giver = draw.pick(&self.givers(before)).cloned()?;
        let strand = draw.below(vars.len());
        let taker = draw.pick(&self.takers(&vars[strand])).cloned()?;
        let (filled, taken) = draw.pick(&TIDES).copied()?;
        let give = self.step(before, draw, false, Some(&giver))?;
        let take = self.step(&mut vars[strand], draw, true, Some(&taker))?;
        // Who cannot give again leaves it at that.
        let again = self.step(&mut vars[strand], draw, true, Some(&giver));
        test.setup.push(times(give, filled));
        Some((strand, std::iter::once(times(take, taken)).chain(again).collect()))
    }

    /// Functions that take a value, without waiting for one.
    fn takers(&self, vars: &[Var]) -> Vec<String> {
        let all = vars.iter().flat_map(|var| {
            let fits = move |method: &Method<'_>| match method.receiver {
                Receiver::Ref => true,
                Receiver::Mut => !var.shared,
                _ => false,
            };
            methods(self.api, self.recipes, &var.ty).into_iter().filter(fits)
        });
        let takes = |method: &Method<'_>| {
            matches!(&method.function.gives, Ty::Option(inner) if **inner == Ty::Param)
                && method.args.is_empty()
                && !method.function.is_async
        };
        let names = all.filter(takes).map(|method| method.function.name.clone());
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// An argument of what makes an object: a size may be none at all.
    fn size(&mut self, arg: &Ty, draw: &mut Draw) -> Option<String> {
        if *arg == Ty::Number && draw.chance(1, 5) {
            return Some("0".to_owned());
        }
        self.values.of(arg, draw).ok()
    }

    /// Functions that give a value away.
    fn givers(&self, vars: &[Var]) -> Vec<String> {
        let all = vars.iter().flat_map(|var| methods(self.api, self.recipes, &var.ty));
        let gives = |method: &Method<'_>| {
            matches!(method.receiver, Receiver::Ref | Receiver::Mut) && method.args.contains(&Ty::Param)
        };
        let names = all.filter(gives).map(|method| method.function.name.clone());
        names.filter(|name| !may_fail(name)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Two functions of what the strands have.
    fn two(&self, vars: &[Vec<Var>], draw: &mut Draw) -> Option<[String; 2]> {
        let mut names = BTreeSet::new();
        for var in vars.iter().flatten() {
            let all = methods(self.api, self.recipes, &var.ty).into_iter();
            let fits =
                all.filter(|method| !var.shared || matches!(method.receiver, Receiver::Ref | Receiver::Arc));
            names.extend(fits.map(|method| method.function.name.clone()).filter(|name| !is_snapshot(name)));
        }
        if self.again.is_some() {
            names.insert(AGAIN.to_owned());
        }
        let names: Vec<String> = names.into_iter().collect();
        two(draw, &names).map(|names| names.map(String::clone))
    }

    /// Gives an object to strands.
    #[expect(clippy::too_many_arguments, reason = "they are the parts of one test")]
    fn give(
        &self,
        object: &Object,
        (at, several): (usize, bool),
        draw: &mut Draw,
        test: &mut Test,
        vars: &mut [Vec<Var>],
        ours: &mut Vec<Var>,
        shared: &mut Vec<(String, bool)>,
    ) -> Option<()> {
        let strands = vars.len();
        let has = |promise: &str| !self.api.refused.contains(&format!("{promise}:{}", object.ty));
        let is_clone = self.api.types[&object.ty].traits.contains("Clone") && has("clone") && has("send");
        let can_share = object.arc || (has("sync") && has("send"));
        let mut ways: Vec<u8> = Vec::new();
        if can_share {
            ways.push(0);
        }
        if is_clone && !object.arc {
            ways.extend([1, 1]);
        }
        // One that comes alone has to be in several strands for anything to happen.
        if has("send") && !object.arc && several {
            ways.extend([2, 2]);
        }
        match draw.pick(&ways)? {
            0 => {
                for (strand, vars) in vars.iter_mut().enumerate() {
                    let name = &object.name;
                    test.handles[strand].push(format!("let ⟨{name}⟩ = std::sync::Arc::clone(&{name});"));
                    vars.push(Var { arc: true, ..var_of(object, true) });
                }
                shared.push((object.name.clone(), object.arc));
                ours.push(Var { arc: true, ..var_of(object, true) });
            }
            1 => {
                let stays = draw.chance(1, 2);
                let last = strands - 1;
                for (strand, vars) in vars.iter_mut().enumerate() {
                    if stays || strand != last {
                        let name = &object.name;
                        test.handles[strand].push(format!("let ⟨{name}⟩ = {name}.clone();"));
                    }
                    test.owned[strand].push(object.name.clone());
                    vars.push(var_of(object, false));
                }
                if stays {
                    ours.push(var_of(object, false));
                }
            }
            _ => {
                // Spread over the strands, so that two objects meet.
                let strand = (at + draw.below(2) * draw.below(strands)) % strands;
                test.owned[strand].push(object.name.clone());
                vars[strand].push(var_of(object, false));
            }
        }
        Some(())
    }

    /// A call on one of the variables, of a certain function if it has a name.
    fn step(
        &mut self,
        vars: &mut Vec<Var>,
        draw: &mut Draw,
        in_strand: bool,
        only: Option<&str>,
    ) -> Option<ApiCall> {
        if in_strand
            && vars.len() < 4
            && let Some(again) = &self.again
            && (only == Some(AGAIN) || (only.is_none() && draw.chance(1, 5)))
        {
            return Some(another(again, vars));
        }
        let free = |var: &&Var| {
            !vars.iter().any(|other| matches!(&other.borrows, Some((of, true)) if *of == var.name))
        };
        let usable: Vec<Var> = vars.iter().filter(free).cloned().collect();
        let has = |var: &&Var| {
            let mut all = methods(self.api, self.recipes, &var.ty).into_iter();
            only.is_none_or(|only| all.any(|method| method.function.name == only))
        };
        let usable: Vec<Var> = usable.iter().filter(has).cloned().collect();
        let var = draw.pick(&usable)?.clone();
        let lent = vars.iter().any(|other| matches!(&other.borrows, Some((of, _)) if *of == var.name));
        let ty = &self.api.types[&var.ty];
        let mut kinds: Vec<Option<Method<'_>>> = methods(self.api, self.recipes, &var.ty)
            .into_iter()
            .filter(|method| {
                let fits = match method.receiver {
                    Receiver::Ref => true,
                    Receiver::Mut => !var.shared && !lent,
                    Receiver::Own => !var.shared && !lent && in_strand,
                    Receiver::Arc => var.arc,
                    Receiver::Pin => !var.shared && !lent && !var.optional,
                    Receiver::None => false,
                };
                let named = only.is_none_or(|only| method.function.name == only);
                let told = in_strand || !is_snapshot(&method.function.name);
                fits && told
                    && named
                    && (method.by_path.is_none() || !var.arc || method.receiver == Receiver::Ref)
            })
            .map(Some)
            .collect();
        let can_drop = in_strand && !var.shared && !lent && only.is_none();
        let often = if self.is_guard(&var.ty) { 3 } else { 6 };
        if can_drop && (kinds.is_empty() || draw.chance(1, often)) {
            vars.retain(|other| other.name != var.name);
            return Some(ApiCall::drop(&var.name, false));
        }
        if can_drop && ty.traits.contains("Future") && draw.chance(1, 2) {
            return Some(self.future(&var, vars, draw));
        }
        if ty.traits.contains("Clone")
            && !var.optional
            && in_strand
            && only.is_none()
            && draw.chance(1, 8)
            && vars.len() < 4
        {
            return Some(self.clone_of(&var, vars));
        }
        while !kinds.is_empty() {
            let mut at = draw.below(kinds.len());
            // A look changes nothing: it is called less often.
            let looks = kinds[at].as_ref().is_some_and(|method| {
                is_snapshot(&method.function.name) || self.is_another(&method.function.gives, vars)
            });
            if looks && draw.chance(3, 4) {
                at = draw.below(kinds.len());
            }
            let Some(method) = kinds.swap_remove(at) else { continue };
            // Who has one lock, or permit, and waits for another may wait for ever: that is a mistake of the caller's.
            let held = vars.iter().position(|held| held.name != var.name && self.is_guard(&held.ty));
            if let Some(held) = held.filter(|_| self.waits_for_guard(&method)) {
                let lent = |name: &str| matches!(&var.borrows, Some((of, _)) if of == name);
                if !in_strand || lent(&vars[held].name) {
                    continue;
                }
                return Some(ApiCall::drop(&vars.remove(held).name, false));
            }
            if let Some(step) = self.call(&var, &method, vars, draw, in_strand) {
                return Some(step);
            }
        }
        None
    }

    /// Whether a strand, or another one, has such an object already.
    fn is_another(&self, gives: &Ty, vars: &[Var]) -> bool {
        matches!(gives, Ty::Own(id, false) if !self.is_guard(id) && vars.iter().any(|var| var.ty == *id))
    }

    /// Whether a type is what a lock or a semaphore gives.
    fn is_guard(&self, id: &str) -> bool {
        let Some(ty) = self.api.types.get(id) else { return false };
        let named = ["Guard", "Permit", "Lease"].iter().any(|word| ty.name.contains(word));
        named || (ty.target.is_some() && ty.borrows)
    }

    /// Whether a function may have to wait for a guard.
    fn waits_for_guard(&self, method: &Method<'_>) -> bool {
        let gives = match &method.function.gives {
            Ty::Own(id, _) => match self.api.types.get(id).and_then(|ty| ty.item.as_ref()) {
                Some(item) if !self.is_guard(id) => item,
                _ => &method.function.gives,
            },
            other => other,
        };
        !may_fail(&method.function.name) && gives.object().is_some_and(|id| self.is_guard(id))
    }

    fn clone_of(&self, var: &Var, vars: &mut Vec<Var>) -> ApiCall {
        let name = fresh(&format!("{}_clone", var.name), vars);
        let (arc, shared) = (var.arc, var.arc);
        vars.push(Var { name: name.clone(), arc, shared, borrows: None, ..var.clone() });
        let call = format!("{}.clone()", var.name);
        let keeps = Some(Kept { name, unwrap: None, touch: None });
        let title = format!("{}::clone", self.api.types[&var.ty].name);
        ApiCall { keeps, ..plain(title, call, var, Told::Nothing) }
    }

    /// Something is done with a future of the crate's own.
    fn future(&self, var: &Var, vars: &mut Vec<Var>, draw: &mut Draw) -> ApiCall {
        let ty = &self.api.types[&var.ty];
        let told = ty.item.as_ref().map_or(Told::Nothing, told_of);
        let how = *draw.pick(&["block_on", "block_on_again", "poll_once"]).unwrap_or(&"block_on");
        if how == "poll_once" {
            let call = format!("poll_once(std::pin::Pin::new(&mut {}))", var.name);
            let step = plain(format!("{}::poll", ty.name), call, var, told_of_poll(told));
            return ApiCall { tries: true, writes: true, ..step };
        }
        vars.retain(|other| other.name != var.name);
        let step = plain(format!("{}::await", ty.name), format!("{how}({})", var.name), var, told);
        ApiCall { ends: Some(var.name.clone()), needs: need(var, ".take()"), ..step }
    }

    fn call(
        &mut self,
        var: &Var,
        method: &Method<'_>,
        vars: &mut Vec<Var>,
        draw: &mut Draw,
        in_strand: bool,
    ) -> Option<ApiCall> {
        let args: Vec<String> =
            method.args.iter().map(|arg| self.values.of(arg, draw).ok()).collect::<Option<_>>()?;
        let (name, function) = (&var.name, method.function);
        let call = match (&method.by_path, method.receiver) {
            (Some(path), receiver) => {
                let taken = match receiver {
                    Receiver::Mut if !var.optional => format!("&mut {name}"),
                    Receiver::Ref if !var.optional => format!("&{name}"),
                    _ => name.clone(),
                };
                let args: Vec<String> = std::iter::once(taken).chain(args).collect();
                format!("{path}({})", args.join(", "))
            }
            (None, Receiver::Arc) => {
                format!("std::sync::Arc::clone(&{name}).{}({})", function.name, args.join(", "))
            }
            (None, Receiver::Pin) => {
                format!("std::pin::Pin::new(&mut {name}).{}({})", function.name, args.join(", "))
            }
            (None, _) => format!("{name}.{}({})", function.name, args.join(", ")),
        };
        let consumes = method.receiver == Receiver::Own;
        let mut gives = function.gives.clone();
        let mut tries = may_fail(&function.name);
        let awaited = match &gives {
            Ty::Own(id, _) if !function.is_async => {
                self.api.types.get(id).filter(|ty| ty.traits.contains("Future")).map(|ty| ty.item.clone())
            }
            _ => None,
        };
        let mut call = call;
        let mut title = method.title.clone();
        if function.is_async || awaited.is_some() {
            if let Some(item) = awaited {
                gives = item.unwrap_or(Ty::Other("?".to_owned()));
            }
            match draw.below(4) {
                0 => {
                    (call, tries) = (format!("poll_once({call})"), true);
                    gives = Ty::Poll(Box::new(gives));
                    title.push_str(" (polled once)");
                }
                1 => call = format!("block_on_again({call})"),
                _ => call = format!("block_on({call})"),
            }
        }
        let mut told = told_of(&gives);
        if is_snapshot(&function.name) {
            told = Told::Nothing;
        }
        let how = match method.receiver {
            Receiver::Own => ".take()",
            Receiver::Mut => ".as_mut()",
            _ => ".as_ref()",
        };
        let needs = need(var, how);
        let mut step = ApiCall { needs, tries, ..plain(title, call, var, told) };
        step.writes = matches!(method.receiver, Receiver::Mut | Receiver::Pin)
            || (var.optional && method.receiver != Receiver::Ref);
        if consumes {
            step.ends = Some(name.clone());
            vars.retain(|other| other.name != *name);
        }
        // What is guarded is looked at.
        let guard = gives.object().is_some_and(|id| self.is_guard(id));
        if in_strand && step.needs.is_none() && (guard || draw.chance(4, 5)) {
            step.keeps = self.keep(&gives, var, method, consumes, vars);
        }
        Some(step)
    }

    /// Keeps a result that is an object.
    fn keep(
        &self,
        gives: &Ty,
        var: &Var,
        method: &Method<'_>,
        consumes: bool,
        vars: &mut Vec<Var>,
    ) -> Option<Kept> {
        let id = gives.object()?.to_owned();
        let ty = self.api.types.get(&id)?;
        if vars.len() > 3 || ty.name.ends_with("Error") || ty.path.is_none() {
            return None;
        }
        let unwrap = match gives {
            Ty::Option(_) => Some(""),
            Ty::Result(_) => Some(".ok()"),
            _ => None,
        };
        let borrows =
            (gives.borrows() && !consumes).then(|| (var.name.clone(), method.receiver == Receiver::Mut));
        let touch = match &ty.target {
            Some(Ty::Param) if ty.traits.contains("DerefMut") => Some("write"),
            Some(Ty::Param) => Some("read"),
            _ if ty.traits.contains("Iterator") && ty.item.as_ref().is_some_and(Ty::is_plain) => Some("next"),
            _ => None,
        };
        let name = fresh(&snake(&ty.name), vars);
        let arc = matches!(gives, Ty::Arc(_));
        let optional = unwrap.is_some();
        vars.push(Var { name: name.clone(), ty: id, shared: arc, arc, optional, borrows });
        Some(Kept { name, unwrap, touch })
    }
}

/// Stands for what makes an object among the names of functions.
const AGAIN: &str = "⟨a constructor⟩";

/// Another object of the same kind, made of the same values: an interner, a pool or a registry that is a static has the one it gave before.
fn another((title, call, object): &(String, String, Object), vars: &mut Vec<Var>) -> ApiCall {
    let name = fresh(&format!("other_{}", object.name), vars);
    let var = Var { name: name.clone(), ..var_of(object, false) };
    let keeps = Some(Kept { name, unwrap: None, touch: None });
    let step = ApiCall { keeps, uses: Vec::new(), ..plain(title.clone(), call.clone(), &var, Told::Nothing) };
    vars.push(var);
    step
}

/// How many values are given, and how many of them taken: a little more than a block has, and most of it.
const TIDES: [(&str, &str); 6] =
    [("33", "31"), ("33", "32"), ("65", "32"), ("65", "48"), ("65", "63"), ("65", "64")];

/// The same call so often.
fn times(step: ApiCall, times: &str) -> ApiCall {
    let call = format!("for _ in 0..{times} {{ let _ = {}; }}", step.call);
    let name = format!("{} ({times} times)", step.name);
    ApiCall { call, name, told: Told::Nothing, tries: false, keeps: None, ..step }
}

/// Sizes of blocks that queues are made of.
const BLOCKS: [&str; 4] = ["31", "32", "63", "64"];

/// The same call many times, if it gives something away: what is in blocks comes to the end of one.
fn many(step: ApiCall, draw: &mut Draw) -> ApiCall {
    let gives = step.call.contains("Counted::new(") && step.ends.is_none() && !step.tries;
    match draw.pick(&BLOCKS).filter(|_| gives) {
        Some(number) => times(step, number),
        None => step,
    }
}

fn var_of(object: &Object, shared: bool) -> Var {
    let shared = shared || object.arc;
    let (name, ty) = (object.name.clone(), object.ty.clone());
    Var { name, ty, shared, arc: object.arc, optional: false, borrows: None }
}

fn plain(name: String, call: String, var: &Var, told: Told) -> ApiCall {
    ApiCall {
        name,
        call,
        says: None,
        told,
        tries: false,
        keeps: None,
        needs: None,
        uses: vec![var.name.clone()],
        writes: false,
        ends: None,
        silent: false,
    }
}

fn need(var: &Var, how: &'static str) -> Option<Need> {
    var.optional.then(|| Need { name: var.name.clone(), how })
}

/// A name that no variable has.
fn fresh(name: &str, vars: &[Var]) -> String {
    let taken = |name: &str| vars.iter().any(|var| var.name == name);
    if !taken(name) {
        return name.to_owned();
    }
    (2..).map(|number| format!("{name}_{number}")).find(|name| !taken(name)).unwrap_or_default()
}

/// How a result is told.
fn told_of(ty: &Ty) -> Told {
    match ty {
        Ty::Unit => Told::Nothing,
        ty if ty.is_plain() => Told::Value,
        Ty::Option(_) => Told::IfSome,
        Ty::Result(_) => Told::IfOk,
        _ => Told::Nothing,
    }
}

fn told_of_poll(told: Told) -> Told {
    if told == Told::Nothing { Told::Nothing } else { Told::Value }
}

/// Functions that may fail because of what others do at the time, or for no reason.
fn may_fail(name: &str) -> bool {
    name.starts_with("try_")
        || name.starts_with("poll")
        || ["timeout", "deadline", "weak", "_try_"].iter().any(|part| name.contains(part))
}

/// Functions whose result is true of some moment only, and which nobody may build on.
fn is_snapshot(name: &str) -> bool {
    ["len", "capacity", "remaining", "available_permits"].contains(&name)
        || name.starts_with("is_")
        || name.ends_with("_count")
        || name.ends_with("_len")
}

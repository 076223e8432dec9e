//! Draws tests over a header.
//!
//! A header does not say which calls may come at the same time. All that take the object may, but those that make or unmake
//! it; a function that the user calls *single* is called by one strand only.

use super::{Api, CTy, Function};
use crate::choose::{self, choose};
use crate::draw::{form, two};
use crate::{ApiCall, Draw, Drawn, LeftOut, Recipes, Test, Told};

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Tests at the most.
    pub max: usize,
    /// The seed.
    pub seed: u64,
    /// How often tests were drawn before: further ones do more.
    pub round: u64,
    /// Structs, or their typedefs, that a test is to be about; all if there is none.
    pub types: Vec<String>,
    /// Parts of names of functions of which a test has to call one.
    pub functions: Vec<String>,
    /// Parts of names of functions that only one strand calls.
    pub single: Vec<String>,
}

const MAKES: [&str; 7] = ["new", "create", "alloc", "make", "init", "open", "setup"];
const UNMAKES: [&str; 9] =
    ["destroy", "free", "delete", "fini", "deinit", "cleanup", "dispose", "term", "uninit"];

/// An object's functions.
struct Group<'a> {
    /// The struct's name, and how it is written.
    name: String,
    written: String,
    make: Make<'a>,
    unmake: Option<&'a Function>,
    calls: Vec<&'a Function>,
}

enum Make<'a> {
    /// A function gives a pointer.
    Gives(&'a Function),
    /// A function writes to memory of ours; by a pointer to the pointer if `twice`.
    Writes(&'a Function, bool),
    /// An expression of a recipe.
    Recipe(String),
}

/// Tests over a header that were not drawn before, and what has none.
pub fn generate(
    api: &Api,
    recipes: &Recipes,
    limits: &Limits,
    drawn: &mut Drawn,
) -> (Vec<Test>, Vec<LeftOut>) {
    let mut left_out = Vec::new();
    let groups = groups(api, recipes, limits, &mut left_out);
    let mut draw = Draw::of_round(limits.seed, limits.round);
    let tests = choose(limits.max, &limits.functions, &Tells, drawn, &mut || {
        let group = draw.pick(&groups)?;
        one(api, recipes, limits, group, &mut draw)
    });
    left_out.sort();
    left_out.dedup();
    (tests, left_out)
}

struct Tells;

impl choose::Tells for Tells {
    fn text(&self, test: &Test) -> String {
        let calls = |steps: &[ApiCall]| steps.iter().map(ApiCall::call_kind).collect::<Vec<_>>().join(";");
        let mut strands: Vec<String> = test.strands.iter().map(|steps| calls(steps)).collect();
        strands.sort();
        format!("{:?}{}|{strands:?}|{}", test.make, calls(&test.setup), calls(&test.end))
    }

    fn call(&self, step: &ApiCall) -> String {
        step.name.clone()
    }

    fn cost(&self, test: &Test) -> usize {
        test.size()
    }
}

/// Whether a number is how much something holds, by its name.
fn is_size(name: &str) -> bool {
    let name = name.to_lowercase();
    ["cap", "size", "len", "count", "slots", "nmemb", "max", "limit", "objects", "items"]
        .iter()
        .any(|part| name.contains(part))
        || name.split('_').any(|part| part == "n")
}

/// Whether a name has one of the words, as a part of its own or at its end.
fn has(name: &str, words: &[&str]) -> bool {
    let parts: Vec<String> = name.split('_').map(str::to_lowercase).collect();
    let lower = name.to_lowercase();
    words.iter().any(|word| parts.iter().any(|part| part == word) || lower.ends_with(word))
}

fn groups<'a>(
    api: &'a Api,
    recipes: &Recipes,
    limits: &Limits,
    left_out: &mut Vec<LeftOut>,
) -> Vec<Group<'a>> {
    let mut objects: Vec<(String, String)> = Vec::new();
    for function in &api.functions {
        for (_, ty) in &function.params {
            if let Some((name, written)) = ty.object()
                && !objects.iter().any(|(other, _)| other == name)
            {
                objects.push((name.to_owned(), written.to_owned()));
            }
        }
    }
    let mut groups = Vec::new();
    for (name, written) in objects {
        let short = written.trim_start_matches("struct ").trim_start_matches("union ");
        if !limits.types.is_empty() && !limits.types.iter().any(|ty| *ty == name || *ty == short) {
            continue;
        }
        let is_this = |ty: &CTy| ty.object().is_some_and(|(other, _)| other == name);
        let takes = |function: &&Function| function.params.iter().any(|(_, ty)| is_this(ty));
        let takes_twice = |function: &Function| {
            function.params.first().is_some_and(|(_, ty)| match ty.bare() {
                CTy::Pointer(inner) => is_this(inner),
                _ => false,
            })
        };
        let first = |function: &Function| function.params.first().is_some_and(|(_, ty)| is_this(ty));
        let recipe = recipes.of(&name, "make").first().or_else(|| recipes.of(short, "make").first());
        let named = recipes.of(&name, "destroy").first().or_else(|| recipes.of(short, "destroy").first());
        let unmake = api.functions.iter().filter(takes).find(|function| {
            first(function)
                && named.map_or_else(|| has(&function.name, &UNMAKES), |named| *named == function.name)
        });
        let gives = api.functions.iter().find(|function| {
            is_this(&function.gives)
                && !takes(function)
                && (has(&function.name, &MAKES) || function.params.is_empty())
        });
        let writes = api.functions.iter().find(|function| {
            first(function)
                && has(&function.name, &MAKES)
                && api.complete.contains(&name)
                && unmake.is_none_or(|unmake| unmake.name != function.name)
        });
        let twice =
            api.functions.iter().find(|function| takes_twice(function) && has(&function.name, &MAKES));
        let make = match (recipe, gives, writes, twice) {
            (Some(recipe), ..) => Make::Recipe(recipe.clone()),
            (None, Some(gives), ..) => Make::Gives(gives),
            (None, None, Some(writes), _) => Make::Writes(writes, false),
            (None, None, None, Some(twice)) => Make::Writes(twice, true),
            _ => {
                // A struct that others only point to is a value, not an object.
                if !api.complete.contains(&name) {
                    let why = "no function makes one; give a recipe".to_owned();
                    left_out.push(LeftOut { what: written.clone(), why });
                }
                continue;
            }
        };
        let maker = match &make {
            Make::Gives(function) | Make::Writes(function, _) => Some(function.name.clone()),
            Make::Recipe(_) => None,
        };
        let skips = |function: &Function| {
            Some(&function.name) == maker.as_ref()
                || unmake.is_some_and(|unmake| unmake.name == function.name)
                || has(&function.name, &UNMAKES)
                || has(&function.name, &["init"])
                || recipes.names("skip", &function.name)
        };
        let mut calls = Vec::new();
        for function in api.functions.iter().filter(takes).filter(|function| !skips(function)) {
            let mut draw = Draw::new(0);
            match call(api, recipes, function, &name, &mut draw, &mut 0) {
                Ok(_) => calls.push(function),
                Err(missing) => {
                    let why = format!("no value of `{missing}` is known");
                    left_out.push(LeftOut { what: function.name.clone(), why });
                }
            }
        }
        if let (false, Some(function)) = (
            calls.is_empty(),
            maker.as_ref().and_then(|maker| api.functions.iter().find(|f| f.name == *maker)),
        ) && let Err(missing) = values(api, recipes, function, &name, &mut Draw::new(0), &mut 0)
        {
            let why = format!("`{}` needs a value of `{missing}`", function.name);
            left_out.push(LeftOut { what: written.clone(), why });
            continue;
        }
        if !calls.is_empty() {
            groups.push(Group { name, written, make, unmake, calls });
        }
    }
    groups
}

fn variable(name: &str) -> String {
    let name = name.trim_end_matches("_t").trim_end_matches("_s").to_lowercase();
    if name.is_empty() { "object".to_owned() } else { name }
}

fn one(api: &Api, recipes: &Recipes, limits: &Limits, group: &Group<'_>, draw: &mut Draw) -> Option<Test> {
    let mut next = 0;
    let object = variable(&group.name);
    let mut test = Test::default();
    let args = |function: &Function, draw: &mut Draw, next: &mut u32| {
        values(api, recipes, function, &group.name, draw, next).ok().map(|args| args.join(", "))
    };
    let making = |function: &Function, draw: &mut Draw, next: &mut u32| {
        let args = values(api, recipes, function, &group.name, draw, next).ok()?;
        let numbered = |((name, ty), arg): (&(String, CTy), String)| {
            let is_number = matches!(ty.bare(), CTy::Int(_)) && arg.parse::<u32>().is_ok();
            // How much there is at first decides who has to wait.
            let begins = is_number && !is_size(name);
            if begins { draw.pick(&["0", "0", "1", "2"]).unwrap_or(&"1").to_string() } else { arg }
        };
        Some(function.params.iter().zip(args).map(numbered).collect::<Vec<_>>().join(", "))
    };
    let written = &group.written;
    match &group.make {
        Make::Gives(function) => {
            test.maker.clone_from(&function.name);
            let args = making(function, draw, &mut next)?;
            test.make.push(format!("{written} *{object} = {}({args});", function.name));
        }
        Make::Writes(function, twice) => {
            test.maker.clone_from(&function.name);
            let args = making(function, draw, &mut next)?;
            if *twice {
                test.make.push(format!("{written} *{object} = NULL;"));
                let args = args.replacen("OBJECT", &format!("&{object}"), 1);
                test.make.push(format!("{}({args});", function.name));
            } else {
                test.make.push(format!("{written} *{object} = calloc(1, sizeof *{object});"));
                test.make.push(format!("{}({});", function.name, args.replacen("OBJECT", &object, 1)));
            }
        }
        Make::Recipe(expression) => {
            test.maker = format!("{} by its recipe", group.name);
            test.make.push(format!("{written} *{object} = {expression};"));
        }
    }
    if let Some(unmake) = group.unmake {
        let args = args(unmake, draw, &mut next)?;
        test.unmake.push(format!("{}({});", unmake.name, args.replacen("OBJECT", &object, 1)));
    }
    if matches!(&group.make, Make::Writes(_, false)) {
        test.unmake.push(format!("free({object});"));
    }
    let form = form(draw);
    let strands = form.map_or(if draw.chance(2, 3) { 2 } else { 3 }, <[_]>::len);
    let two = two(draw, &group.calls)?;
    test.handles = vec![Vec::new(); strands];
    let mut taken: Vec<(String, usize)> = Vec::new();
    let mut step = |draw: &mut Draw, strand: Option<usize>, only: Option<&Function>| -> Option<ApiCall> {
        for _ in 0..8 {
            let function = only.map_or_else(|| draw.pick(&group.calls).copied(), Some)?;
            let single = limits.single.iter().find(|part| function.name.contains(part.as_str())).cloned();
            let single =
                single.or_else(|| recipes.names("single", &function.name).then(|| function.name.clone()));
            if let (Some(single), Some(strand)) = (single, strand) {
                if taken.iter().any(|(other, at)| *other == single && *at != strand) {
                    continue;
                }
                taken.push((single, strand));
            }
            let mut step = call(api, recipes, function, &group.name, draw, &mut next).ok()?;
            step.call = step.call.replacen("OBJECT", &object, 1);
            step.says = step.says.map(|says| says.replacen("OBJECT", &object, 1));
            step.uses = vec![object.clone()];
            return Some(step);
        }
        None
    };
    // What is drawn first begins with the object as it is made.
    let plain = form.is_some() && limits.round == 0;
    for _ in 0..if plain { 0 } else { [0, 0, 0, 1, 1, 2][draw.below(6)] } {
        test.setup.extend(step(draw, None, None));
    }
    let sizes: &[usize] = if strands == 2 { &[1, 1, 1, 2, 2, 3] } else { &[1, 1, 1, 2] };
    for strand in 0..strands {
        let mut steps = Vec::new();
        if let Some(form) = form {
            for &which in form[strand] {
                steps.extend(step(draw, Some(strand), Some(*two[which])));
            }
        } else {
            for _ in 0..sizes[draw.below(sizes.len())] {
                steps.extend(step(draw, Some(strand), None));
            }
        }
        test.strands.push(steps);
    }
    if test.strands.iter().any(Vec::is_empty) {
        return None;
    }
    for _ in 0..if form.is_some() { draw.below(2) } else { draw.below(3) } {
        test.end.extend(step(draw, None, None));
    }
    Some(test)
}

/// The arguments of a call; the object is `OBJECT`, what is written to is `&out`.
fn values(
    api: &Api,
    recipes: &Recipes,
    function: &Function,
    object: &str,
    draw: &mut Draw,
    next: &mut u32,
) -> Result<Vec<String>, String> {
    let mut given = false;
    let mut outs = 0;
    let mut args = Vec::new();
    for (name, ty) in &function.params {
        let takes = ty.object().is_some_and(|(other, _)| other == object)
            || matches!(ty.bare(), CTy::Pointer(inner) if inner.object().is_some_and(|(other, _)| other == object));
        if takes && !given {
            given = true;
            args.push("OBJECT".to_owned());
            continue;
        }
        args.push(value(api, recipes, name, ty, draw, next, &mut outs)?);
    }
    Ok(args)
}

fn value(
    api: &Api,
    recipes: &Recipes,
    name: &str,
    ty: &CTy,
    draw: &mut Draw,
    next: &mut u32,
    outs: &mut u32,
) -> Result<String, String> {
    let shown = written(ty);
    let short = shown.trim_start_matches("const ").trim_start_matches("struct ").trim_end_matches(['*', ' ']);
    if let Some(made) = draw.pick(recipes.of(short, "make")) {
        return Ok(made.clone());
    }
    Ok(match ty.bare() {
        CTy::Int(_) if is_size(name) => "2".to_owned(),
        CTy::Int(_) | CTy::Char => {
            *next += 1;
            next.to_string()
        }
        CTy::Bool => draw.pick(&["1", "0"]).unwrap_or(&"1").to_string(),
        CTy::Float => "1.0".to_owned(),
        CTy::Enum(constants) if !constants.is_empty() => draw.pick(constants).cloned().unwrap_or_default(),
        CTy::Pointer(to) => match (&**to, to.bare()) {
            (CTy::Const(_), CTy::Char) => "\"a\"".to_owned(),
            (_, CTy::Void) => {
                *next += 1;
                format!("payload({next})")
            }
            (_, CTy::Struct(tag, _)) if tag == "timespec" => "&(struct timespec){0, 1000000}".to_owned(),
            (CTy::Const(_), CTy::Int(_)) => "&(int){1}".to_owned(),
            // Something is written there.
            (to, bare)
                if !matches!(to, CTy::Const(_))
                    && matches!(bare, CTy::Int(_) | CTy::Bool | CTy::Pointer(_))
                    && *outs == 0 =>
            {
                *outs += 1;
                "&out".to_owned()
            }
            (_, CTy::Struct(tag, written)) if api.complete.contains(tag) => {
                format!("calloc(1, sizeof({written}))")
            }
            _ => return Err(shown),
        },
        _ => return Err(shown),
    })
}

/// A type as C has it.
pub(super) fn written(ty: &CTy) -> String {
    match ty {
        CTy::Void => "void".to_owned(),
        CTy::Bool => "_Bool".to_owned(),
        CTy::Char => "char".to_owned(),
        CTy::Int(written) => written.clone(),
        CTy::Float => "double".to_owned(),
        CTy::Enum(_) => "int".to_owned(),
        CTy::Struct(_, written) => written.clone(),
        CTy::Pointer(to) => format!("{} *", written(to)),
        CTy::Const(inner) => format!("const {}", written(inner)),
        CTy::Function => "a function pointer".to_owned(),
        CTy::Other(text) => text.clone(),
    }
}

/// A call, with what tells its result.
fn call(
    api: &Api,
    recipes: &Recipes,
    function: &Function,
    object: &str,
    draw: &mut Draw,
    next: &mut u32,
) -> Result<ApiCall, String> {
    let args = values(api, recipes, function, object, draw, next)?;
    let call = format!("{}({})", function.name, args.join(", "));
    let tries = ["try", "timed", "timeout"].iter().any(|part| function.name.to_lowercase().contains(part));
    let looks = ["size", "len", "length", "count", "empty", "full", "capacity", "depth"];
    let is_look = has(&function.name, &looks);
    let out = function.params.iter().zip(&args).find(|(_, arg)| *arg == "&out").map(|((_, ty), _)| ty);
    let mut says = String::new();
    if let Some(CTy::Pointer(to)) = out.map(CTy::bare) {
        says.push_str(&format!("{} out = 0; ", written(to.bare())));
    }
    // Of an `int` that a try gives nobody knows which value is the failure.
    let unclear = tries && matches!(function.gives.bare(), CTy::Int(_) | CTy::Enum(_) | CTy::Char);
    let fails = match function.gives.bare() {
        CTy::Bool | CTy::Pointer(_) if tries => "if (!r) say(said, \"~\"); else ",
        _ => "",
    };
    let mut told = Told::Value;
    match function.gives.bare() {
        CTy::Void => says.push_str(&format!("{call}; say(said, \"_\");")),
        // The compiler would leave out a look at the object whose result nobody uses.
        _ if is_look || unclear => {
            let ty = written(function.gives.bare());
            says.push_str(&format!("volatile {ty} r = {call}; (void)r; say(said, \"_\");"));
        }
        CTy::Bool | CTy::Int(_) | CTy::Char | CTy::Enum(_) => {
            says.push_str(&format!("long long r = (long long){call}; {fails}say_number(said, r);"));
        }
        CTy::Pointer(to) if matches!(to.bare(), CTy::Void) => {
            says.push_str(&format!("const void *r = {call}; {fails}say_payload(said, r);"));
        }
        CTy::Pointer(_) => {
            says.push_str(&format!("const void *r = {call}; {fails}say(said, r ? \"some\" : \"NULL\");"))
        }
        _ => {
            says.push_str(&format!("(void){call}; say(said, \"_\");"));
            told = Told::Nothing;
        }
    }
    if let Some(CTy::Pointer(to)) = out.map(CTy::bare)
        && !unclear
        && !is_look
    {
        match to.bare() {
            CTy::Pointer(inner) if matches!(inner.bare(), CTy::Void) => {
                says.push_str(" say_payload(said, out);")
            }
            CTy::Pointer(_) => says.push_str(" say(said, out ? \"some\" : \"NULL\");"),
            _ => says.push_str(" say_number(said, (long long)out);"),
        }
    }
    Ok(ApiCall {
        name: function.name.clone(),
        call,
        says: Some(says),
        told,
        tries,
        keeps: None,
        needs: None,
        uses: Vec::new(),
        writes: false,
        ends: None,
        silent: false,
    })
}

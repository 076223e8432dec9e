//! What makes objects, and what can be done with one.

use super::types::Ty;
use super::values::Values;
use super::{Api, Function, Receiver};
use crate::{Draw, LeftOut, Recipes};
use std::collections::BTreeSet;

/// An object that a maker gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) ty: String,
    /// It comes in an `Arc`.
    pub(super) arc: bool,
}

/// A function, or a recipe, that makes objects.
#[derive(Clone, Debug)]
pub(super) struct Maker {
    /// Its name in tables.
    pub(super) title: String,
    /// What is called, and with which arguments; a recipe's expression has none.
    pub(super) call: String,
    pub(super) args: Option<Vec<Ty>>,
    /// After the call: `.unwrap()`.
    pub(super) after: &'static str,
    pub(super) tuple: bool,
    pub(super) objects: Vec<Object>,
    /// What its objects give before the strands begin: `worker.stealer()`.
    pub(super) more: Vec<Derived>,
}

/// An object that a method of another one gives.
#[derive(Clone, Debug)]
pub(super) struct Derived {
    pub(super) object: Object,
    /// What is called, and with which arguments.
    pub(super) call: String,
    pub(super) args: Vec<Ty>,
}

impl Maker {
    /// All objects that it gives.
    pub(super) fn all(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().chain(self.more.iter().map(|more| &more.object))
    }
}

/// A function by which an object is used.
#[derive(Clone, Debug)]
pub(super) struct Method<'a> {
    pub(super) function: &'a Function,
    pub(super) title: String,
    pub(super) receiver: Receiver,
    /// It is called by its path, with the object as the first argument.
    pub(super) by_path: Option<String>,
    pub(super) args: &'a [Ty],
}

/// Names of methods that give up what is counted, or say so.
const UNCOUNTED: [&str; 5] = ["into_raw", "leak", "forget", "into_ptr", "unchecked"];

/// All that makes objects.
pub(super) fn makers(api: &Api, recipes: &Recipes) -> Vec<Maker> {
    let mut makers = Vec::new();
    for (at, function) in api.functions.iter().enumerate() {
        if function.receiver != Receiver::None
            || function.is_async
            || recipes.names("skip", &function.name)
            || api.refused.contains(&format!("fn:{at}"))
        {
            continue;
        }
        let Some((call, objects, after, tuple)) = of_function(api, function) else { continue };
        let title = api.title(function);
        let (args, more) = (Some(function.args.clone()), Vec::new());
        makers.push(Maker { title, call, args, after, tuple, objects, more });
    }
    for (id, ty) in api.types.iter().filter(|(_, ty)| ty.path.is_some()) {
        let objects = vec![Object { name: snake(&ty.name), ty: id.clone(), arc: false }];
        let mut add = |title: String, call: String| {
            let objects = objects.clone();
            let more = Vec::new();
            makers.push(Maker { title, call, args: None, after: "", tuple: false, objects, more });
        };
        for recipe in recipes.of(&ty.name, "make") {
            add(format!("{} by its recipe", ty.name), recipe.clone());
        }
        if ty.traits.contains("Default") && ty.variants.is_empty() {
            add(format!("{}::default", ty.name), format!("{}::default()", api.written(ty, true)));
        }
    }
    makers
}

/// The same with one object more, that a method gives: a `Stealer` of a `Worker`, the listener of an event.
pub(super) fn derived(api: &Api, recipes: &Recipes, maker: &Maker) -> Vec<Maker> {
    let mut all = Vec::new();
    for object in &maker.objects {
        for method in methods(api, recipes, &object.ty) {
            let fits = match method.receiver {
                Receiver::Ref => true,
                Receiver::Mut => !object.arc,
                _ => false,
            };
            let Ty::Own(id, false) = &method.function.gives else { continue };
            let is_new = !maker.objects.iter().any(|other| other.ty == *id);
            let public = api.types.get(id).filter(|ty| {
                ty.path.is_some() && !ty.borrows && !ty.traits.contains("Iterator") && ty.variants.is_empty()
            });
            let sent = !api.refused.contains(&format!("send:{id}"));
            let Some(ty) = public.filter(|_| fits && is_new && sent) else { continue };
            if method.by_path.is_some() || method.function.is_async || is_error(&snake(&ty.name)) {
                continue;
            }
            let name = snake(&ty.name);
            let title = format!("{}, {}", maker.title, method.title);
            let call = format!("{}.{}", object.name, method.function.name);
            let object = Object { name, ty: id.clone(), arc: false };
            let more = vec![Derived { object, call, args: method.args.to_vec() }];
            all.push(Maker { title, more, ..maker.clone() });
        }
    }
    all
}

/// The objects that a function gives.
fn of_function(api: &Api, function: &Function) -> Option<(String, Vec<Object>, &'static str, bool)> {
    let (gives, after) = match &function.gives {
        Ty::Result(inner) | Ty::Option(inner) => (&**inner, ".unwrap()"),
        other => (other, ""),
    };
    let parts = match gives {
        Ty::Tuple(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut objects: Vec<Object> = Vec::new();
    for part in parts {
        let (id, arc) = match part {
            Ty::Own(id, false) => (id, false),
            Ty::Arc(inner) => match &**inner {
                Ty::Own(id, false) => (id, true),
                _ => return None,
            },
            _ => return None,
        };
        let ty = api.types.get(id).filter(|ty| ty.path.is_some())?;
        let mut name = snake(&ty.name);
        if objects.iter().any(|other| other.name == name) {
            name = format!("other_{name}");
        }
        objects.push(Object { name, ty: id.clone(), arc });
    }
    // What takes an object of the same type only changes it.
    let same = |arg: &Ty| matches!(arg, Ty::Own(id, _) if objects.iter().any(|object| object.ty == *id));
    if function.args.iter().any(same) || objects.iter().any(|object| is_error(&object.name)) {
        return None;
    }
    let call = match (&function.path, &function.owner) {
        (Some(_), _) => api.called(function),
        (None, Some(owner)) => format!("{}::{}", api.written(api.types.get(owner)?, true), function.name),
        (None, None) => return None,
    };
    let generic = function.path.is_some()
        && objects.iter().any(|object| api.types[&object.ty].arguments.iter().any(|arg| arg == "Counted"));
    let call = if generic && !function.args.iter().any(mentions_param) {
        format!("{call}::<Counted>")
    } else {
        call
    };
    Some((call, objects, after, matches!(gives, Ty::Tuple(_))))
}

fn mentions_param(ty: &Ty) -> bool {
    match ty {
        Ty::Param => true,
        Ty::Closure(_, inner)
        | Ty::Fallible(inner)
        | Ty::Option(inner)
        | Ty::Box(inner)
        | Ty::List(inner, _) => mentions_param(inner),
        _ => false,
    }
}

fn is_error(name: &str) -> bool {
    name.ends_with("_error")
}

/// The methods of a type that can be called.
pub(super) fn methods<'a>(api: &'a Api, recipes: &Recipes, id: &str) -> Vec<Method<'a>> {
    let mut methods = Vec::new();
    for (at, function) in api.functions.iter().enumerate() {
        if api.refused.contains(&format!("fn:{at}"))
            || UNCOUNTED.iter().any(|name| function.name.contains(name))
            || recipes.names("skip", &function.name)
        {
            continue;
        }
        let title = api.title(function);
        if function.receiver != Receiver::None {
            if function.owner.as_deref() == Some(id) {
                let receiver = function.receiver;
                methods.push(Method { function, title, receiver, by_path: None, args: &function.args });
            }
            continue;
        }
        let is_own = |ty: &Ty| matches!(ty, Ty::Own(own, _) if own == id);
        let receiver = match function.args.first() {
            Some(Ty::Ref(to, writable)) if is_own(to) => {
                if *writable {
                    Receiver::Mut
                } else {
                    Receiver::Ref
                }
            }
            Some(ty) if is_own(ty) => Receiver::Own,
            _ => continue,
        };
        let path = match (&function.path, function.owner.as_ref().and_then(|owner| api.types.get(owner))) {
            (Some(_), _) => api.called(function),
            (None, Some(owner)) => format!("{}::{}", api.written(owner, true), function.name),
            _ => continue,
        };
        methods.push(Method { function, title, receiver, by_path: Some(path), args: &function.args[1..] });
    }
    methods
}

/// Notes what has no value, once for each function.
pub(super) fn without_values(api: &Api, recipes: &Recipes) -> Vec<LeftOut> {
    let mut found = BTreeSet::new();
    let mut draw = Draw::new(0);
    for function in &api.functions {
        let mut values = Values { api, recipes, next: 0 };
        let object_first = function.receiver == Receiver::None && function.args.len() == 1;
        for arg in function.args.iter().filter(|_| !object_first) {
            if let Err(missing) = values.of(arg, &mut draw) {
                let why = format!("no value of `{missing}` is known");
                found.insert(LeftOut { what: api.title(function), why });
                break;
            }
        }
    }
    found.into_iter().collect()
}

/// `OneShot` as a variable's name.
pub(super) fn snake(name: &str) -> String {
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 && !text.ends_with('_') {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    // Words of the language are no names.
    if ["box", "move", "ref", "type", "static", "loop", "match", "self", "async"].contains(&text.as_str()) {
        text.push('_');
    }
    text
}

//! Reads a crate's API from its source.

use super::modules::{Modules, is_hidden, join};
use super::types::{self, Scope, Ty};
use super::{Api, Function, Receiver, Type};
use crate::LeftOut;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::{FnArg, GenericParam, Generics, ImplItem, Item, Visibility, WherePredicate};

/// Traits of std that tests make use of.
const TRAITS: [&str; 6] = ["Clone", "Default", "Deref", "DerefMut", "Future", "Iterator"];

/// Reads the crate `krate` whose root is the file `root`.
pub fn read(krate: &str, files: &BTreeMap<PathBuf, String>, root: &Path) -> Api {
    let modules = Modules::read(files, root);
    let public = modules.public(krate);
    let statics = files.values().any(|text| has_static(text));
    let mut api = Api { krate: krate.to_owned(), statics, ..Api::default() };
    for file in &modules.unread {
        api.left_out.push(LeftOut { what: file.clone(), why: "it cannot be read as Rust".to_owned() });
    }
    for (path, module) in &modules.all {
        for item in &module.items {
            if let Some(ty) = definition(item) {
                let id = join(path, &ty.name);
                let public = public.get(&(path.clone(), ty.name.clone())).cloned();
                let ty = Type { path: public, ..ty };
                api.types.entry(id).or_insert(ty);
            }
        }
    }
    let reader = Reader { modules: &modules };
    for (path, module) in &modules.all {
        for item in &module.items {
            match item {
                Item::Fn(item) if !is_hidden(&item.attrs) => {
                    let name = item.sig.ident.to_string();
                    let Some(shown) = public.get(&(path.clone(), name)) else { continue };
                    if let Some(mut function) = reader.function(&api, path, &item.sig, None) {
                        function.path = Some(shown.clone());
                        api.functions.push(function);
                    }
                }
                Item::Impl(item) if !is_hidden(&item.attrs) => reader.implementation(&mut api, path, item),
                _ => {}
            }
        }
    }
    api
}

/// What defines a type.
fn definition(item: &Item) -> Option<Type> {
    let (name, generics, attrs) = match item {
        Item::Struct(item) => (&item.ident, &item.generics, &item.attrs),
        Item::Enum(item) => (&item.ident, &item.generics, &item.attrs),
        _ => return None,
    };
    let mut ty = Type { name: name.to_string(), ..Type::default() };
    for param in &generics.params {
        match param {
            GenericParam::Lifetime(_) => ty.borrows = true,
            GenericParam::Const(_) => ty.arguments.push("2".to_owned()),
            GenericParam::Type(param) => {
                let scope = Scope::default();
                let bounds = param.bounds.iter().find_map(|bound| types::of_bound(bound, &scope));
                // A payload may have `()` for a default; other defaults are what nearly everybody has.
                if param.default.as_ref().is_some_and(|(_, default)| types::text(default) != "()") {
                    ty.defaults = true;
                    break;
                }
                ty.arguments.push(match bounds {
                    Some(Ty::Number) => "u32".to_owned(),
                    Some(_) => "_".to_owned(),
                    None => "Counted".to_owned(),
                });
            }
        }
    }
    for attr in attrs {
        let text = types::text(&attr.meta);
        if text.starts_with("derive") {
            let has = |name: &&&str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == **name);
            ty.traits.extend(TRAITS.iter().filter(has).map(|&name| name.to_owned()));
        }
    }
    if let Item::Enum(item) = item {
        let unit = item.variants.iter().filter(|variant| variant.fields.is_empty());
        ty.variants = unit.map(|variant| variant.ident.to_string()).collect();
    }
    Some(ty)
}

struct Reader<'a> {
    modules: &'a Modules,
}

impl Reader<'_> {
    fn implementation(&self, api: &mut Api, module: &str, item: &syn::ItemImpl) {
        let scope = scope_of(&item.generics, &Scope::default());
        let Ty::Own(name, borrows) = types::read(&item.self_ty, &scope) else { return };
        let Some(id) = self.id(api, module, &name) else { return };
        let scope = Scope { own: Some(Ty::Own(name, borrows)), ..scope };
        if let Some((path, _)) = &item.trait_ {
            let Some(name) = path.segments.last().map(|part| part.ident.to_string()) else { return };
            if !TRAITS.contains(&name.as_str()) {
                return;
            }
            for inner in &item.items {
                if let ImplItem::Type(inner) = inner {
                    let read = self.resolved(api, module, types::read(&inner.ty, &scope));
                    if let Some(ty) = api.types.get_mut(&id) {
                        match inner.ident.to_string().as_str() {
                            "Target" => ty.target = Some(read),
                            "Output" | "Item" => ty.item = Some(read),
                            _ => {}
                        }
                    }
                }
            }
            if let Some(ty) = api.types.get_mut(&id) {
                ty.traits.insert(name);
            }
            return;
        }
        for inner in &item.items {
            let ImplItem::Fn(inner) = inner else { continue };
            let public = matches!(inner.vis, Visibility::Public(_)) && !is_hidden(&inner.attrs);
            if !public || api.types.get(&id).is_none_or(|ty| ty.path.is_none()) {
                continue;
            }
            if let Some(function) = self.function(api, module, &inner.sig, Some((&id, &scope))) {
                let known = api.functions.iter().any(|other| {
                    other.owner == function.owner
                        && other.name == function.name
                        && other.args.len() == function.args.len()
                });
                if !known {
                    api.functions.push(function);
                }
            }
        }
    }

    /// The id of a type that a module calls by this name.
    fn id(&self, api: &Api, module: &str, name: &str) -> Option<String> {
        let (target, item) = self.modules.definition(module, name, 0);
        let id = join(&target, &item);
        if api.types.contains_key(&id) {
            return Some(id);
        }
        let mut same = api.types.iter().filter(|(_, ty)| ty.name == name);
        match (same.next(), same.next()) {
            (Some((id, _)), None) => Some(id.clone()),
            _ => None,
        }
    }

    /// Names of types become ids; what is no type of the crate's is another's.
    fn resolved(&self, api: &Api, module: &str, ty: Ty) -> Ty {
        let inner = |ty: Box<Ty>| Box::new(self.resolved(api, module, *ty));
        match ty {
            Ty::Own(name, borrows) => match self.id(api, module, &name) {
                Some(id) => {
                    let borrows = borrows || api.types[&id].borrows;
                    Ty::Own(id, borrows)
                }
                None => Ty::Other(name),
            },
            Ty::Ref(ty, writable) => Ty::Ref(inner(ty), writable),
            Ty::Option(ty) => Ty::Option(inner(ty)),
            Ty::Result(ty) => Ty::Result(inner(ty)),
            Ty::Fallible(ty) => Ty::Fallible(inner(ty)),
            Ty::Poll(ty) => Ty::Poll(inner(ty)),
            Ty::Box(ty) => Ty::Box(inner(ty)),
            Ty::Arc(ty) => Ty::Arc(inner(ty)),
            Ty::Pin(ty) => Ty::Pin(inner(ty)),
            Ty::List(ty, slice) => Ty::List(inner(ty), slice),
            Ty::Items(ty) => Ty::Items(inner(ty)),
            Ty::Future(ty) => Ty::Future(inner(ty)),
            Ty::Closure(count, ty) => Ty::Closure(count, inner(ty)),
            Ty::Tuple(parts) => {
                Ty::Tuple(parts.into_iter().map(|part| self.resolved(api, module, part)).collect())
            }
            other => other,
        }
    }

    fn function(
        &self,
        api: &Api,
        module: &str,
        signature: &syn::Signature,
        owner: Option<(&str, &Scope)>,
    ) -> Option<Function> {
        if types::text(signature).starts_with("unsafe") || types::text(signature).starts_with("const unsafe")
        {
            return None;
        }
        let scope = scope_of(&signature.generics, owner.map_or(&Scope::default(), |(_, scope)| scope));
        let mut receiver = Receiver::None;
        let mut args = Vec::new();
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(this) => receiver = receiver_of(this),
                FnArg::Typed(arg) => args.push(self.resolved(api, module, types::read(&arg.ty, &scope))),
            }
        }
        let gives = self.resolved(api, module, types::of_return(&signature.output, &scope));
        let is_async = signature.asyncness.is_some();
        let (gives, is_async) = match gives {
            Ty::Future(inner) => (*inner, true),
            other => (other, is_async),
        };
        let owner = owner.map(|(id, _)| id.to_owned());
        let name = signature.ident.to_string();
        Some(Function { owner, name, path: None, receiver, args, gives, is_async })
    }
}

fn receiver_of(this: &syn::Receiver) -> Receiver {
    let text: String = types::text(this).chars().filter(|c| !c.is_whitespace()).collect();
    if text.contains("Pin<") {
        Receiver::Pin
    } else if text.contains("Arc<") {
        Receiver::Arc
    } else if !text.starts_with('&') {
        Receiver::Own
    } else if text.contains("mut") {
        Receiver::Mut
    } else {
        Receiver::Ref
    }
}

/// The parameters of generics, after those that are known.
fn scope_of(generics: &Generics, outer: &Scope) -> Scope {
    let mut scope = outer.clone();
    for param in generics.type_params() {
        scope.params.insert(param.ident.to_string(), Ty::Param);
    }
    let mut bounds: Vec<(String, Ty)> = Vec::new();
    for param in generics.type_params() {
        let found = param.bounds.iter().find_map(|bound| types::of_bound(bound, &scope));
        bounds.extend(found.map(|ty| (param.ident.to_string(), ty)));
    }
    for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let WherePredicate::Type(predicate) = predicate {
            let name = types::text(&predicate.bounded_ty);
            let found = predicate.bounds.iter().find_map(|bound| types::of_bound(bound, &scope));
            bounds.extend(found.filter(|_| scope.params.contains_key(&name)).map(|ty| (name, ty)));
        }
    }
    scope.params.extend(bounds);
    scope
}

/// Whether a file has a variable of the program's own, in a macro or not. What only its tests have does not count.
fn has_static(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let tests = lines.windows(2).position(|two| two[0] == "#[cfg(test)]" && two[1].starts_with("mod "));
    let mut code = lines[..tests.unwrap_or(lines.len())].iter();
    code.any(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.starts_with("static ") && line.contains(':')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_program_are_seen_but_for_those_of_its_tests() {
        assert!(has_static(
            "#[cfg(test)]\nuse a::b;\nlazy_static! {\n    static ref ALL: Mutex<u8> = f();\n}\n"
        ));
        assert!(has_static("pub static COUNT: AtomicU8 = AtomicU8::new(0);\n"));
        assert!(!has_static("fn f(a: &'static str) {}\n// static words: none\n"));
        assert!(!has_static("fn f() {}\n#[cfg(test)]\nmod tests {\n    static ONE: u8 = 1;\n}\n"));
    }
}

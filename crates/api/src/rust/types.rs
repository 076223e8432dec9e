//! Types as the generator knows them.

use quote::ToTokens;
use std::collections::BTreeMap;
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypeParamBound};

/// A type of a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ty {
    /// `()`.
    Unit,
    /// An integer or a float.
    Number,
    /// `bool`.
    Bool,
    /// `char`.
    Char,
    /// `str`.
    Str,
    /// `String`.
    String,
    /// `std::time::Duration`.
    Duration,
    /// `std::time::Instant`.
    Instant,
    /// `std::sync::atomic::Ordering`.
    Ordering,
    /// `std::task::Context`.
    Context,
    /// A type parameter that takes any value.
    Param,
    /// A type of the crate; whether it borrows.
    Own(String, bool),
    /// A reference.
    Ref(Box<Ty>, bool),
    /// `Option`.
    Option(Box<Ty>),
    /// `Result`; its error is only told.
    Result(Box<Ty>),
    /// What a closure gives that may fail with any error.
    Fallible(Box<Ty>),
    /// `std::task::Poll`.
    Poll(Box<Ty>),
    /// `Box`.
    Box(Box<Ty>),
    /// `Arc`.
    Arc(Box<Ty>),
    /// `Pin`.
    Pin(Box<Ty>),
    /// `Vec`, or a slice.
    List(Box<Ty>, bool),
    /// A tuple.
    Tuple(Vec<Ty>),
    /// Something that can be called: how many arguments, and what it gives.
    Closure(usize, Box<Ty>),
    /// Something that gives others: `impl IntoIterator<Item = T>`.
    Items(Box<Ty>),
    /// `impl Future`.
    Future(Box<Ty>),
    /// Another one.
    Other(String),
}

/// What names mean in a signature.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Type parameters, with what their bounds make of them.
    pub(super) params: BTreeMap<String, Ty>,
    /// The type that `Self` is.
    pub(super) own: Option<Ty>,
}

impl Ty {
    /// Whether a value of it borrows from what it was made of.
    pub fn borrows(&self) -> bool {
        match self {
            Ty::Own(_, borrows) => *borrows,
            Ty::Ref(..) => true,
            Ty::Option(inner)
            | Ty::Result(inner)
            | Ty::Poll(inner)
            | Ty::Box(inner)
            | Ty::Arc(inner)
            | Ty::Pin(inner)
            | Ty::List(inner, _)
            | Ty::Items(inner) => inner.borrows(),
            Ty::Future(_) => true,
            Ty::Tuple(parts) => parts.iter().any(Ty::borrows),
            Ty::Other(text) => text.contains('\''),
            _ => false,
        }
    }

    /// The crate's type in it, behind at most one `Option` or `Result`, `Arc` or `Box`.
    pub fn object(&self) -> Option<&str> {
        match self {
            Ty::Own(name, _) => Some(name),
            Ty::Option(inner) | Ty::Result(inner) | Ty::Arc(inner) | Ty::Box(inner) => match &**inner {
                Ty::Own(name, _) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether all of it can be told.
    pub fn is_plain(&self) -> bool {
        match self {
            Ty::Unit | Ty::Number | Ty::Bool | Ty::Char | Ty::Str | Ty::String | Ty::Param => true,
            Ty::Ref(inner, _)
            | Ty::Option(inner)
            | Ty::Result(inner)
            | Ty::Poll(inner)
            | Ty::Box(inner)
            | Ty::Arc(inner)
            | Ty::List(inner, _) => inner.is_plain(),
            Ty::Tuple(parts) => parts.iter().all(Ty::is_plain),
            _ => false,
        }
    }
}

/// Reads a type.
pub(super) fn read(ty: &Type, scope: &Scope) -> Ty {
    match ty {
        Type::Group(group) => read(&group.elem, scope),
        Type::Paren(paren) => read(&paren.elem, scope),
        Type::Reference(reference) => {
            Ty::Ref(Box::new(read(&reference.elem, scope)), reference.mutability.is_some())
        }
        Type::Slice(slice) => Ty::List(Box::new(read(&slice.elem, scope)), true),
        Type::Tuple(tuple) if tuple.elems.is_empty() => Ty::Unit,
        Type::Tuple(tuple) => Ty::Tuple(tuple.elems.iter().map(|part| read(part, scope)).collect()),
        Type::ImplTrait(bounds) => bounds
            .bounds
            .iter()
            .find_map(|bound| of_bound(bound, scope))
            .unwrap_or_else(|| Ty::Other(text(ty))),
        Type::TraitObject(bounds) => bounds
            .bounds
            .iter()
            .find_map(|bound| of_bound(bound, scope))
            .unwrap_or_else(|| Ty::Other(text(ty))),
        Type::Path(path) if path.qself.is_none() => of_path(&path.path, scope, ty),
        _ => Ty::Other(text(ty)),
    }
}

/// What a function gives.
pub(super) fn of_return(output: &ReturnType, scope: &Scope) -> Ty {
    match output {
        ReturnType::Default => Ty::Unit,
        ReturnType::Type(_, ty) => read(ty, scope),
    }
}

/// What a closure gives; where its error is a parameter, it can be any.
fn of_closure(output: &ReturnType, scope: &Scope) -> Ty {
    let gives = of_return(output, scope);
    let Ty::Result(inner) = &gives else { return gives };
    let ReturnType::Type(_, ty) = output else { return gives };
    let Type::Path(path) = &**ty else { return gives };
    let arguments = path.path.segments.last().map(|last| types_of(&last.arguments)).unwrap_or_default();
    match arguments.get(1).map(|error| read(error, scope)) {
        Some(Ty::Param) => Ty::Fallible(inner.clone()),
        _ => gives,
    }
}

fn of_path(path: &syn::Path, scope: &Scope, whole: &Type) -> Ty {
    let Some(last) = path.segments.last() else { return Ty::Other(text(whole)) };
    let name = last.ident.to_string();
    let inner = || types_of(&last.arguments).first().map(|ty| read(ty, scope)).unwrap_or(Ty::Unit);
    let boxed = || Box::new(inner());
    if path.segments.len() == 1 {
        if let Some(ty) = scope.params.get(&name) {
            return ty.clone();
        }
        if name == "Self"
            && let Some(own) = &scope.own
        {
            return own.clone();
        }
    }
    match name.as_str() {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize"
        | "f32" | "f64" => Ty::Number,
        "bool" => Ty::Bool,
        "char" => Ty::Char,
        "str" => Ty::Str,
        "String" => Ty::String,
        "Duration" => Ty::Duration,
        "Instant" => Ty::Instant,
        "Ordering" => Ty::Ordering,
        "Context" => Ty::Context,
        "Option" => Ty::Option(boxed()),
        "Result" | "LockResult" | "TryLockResult" => Ty::Result(boxed()),
        "Poll" => Ty::Poll(boxed()),
        "Box" => Ty::Box(boxed()),
        "Arc" => Ty::Arc(boxed()),
        "Pin" => Ty::Pin(boxed()),
        "Vec" => Ty::List(boxed(), false),
        _ => {
            let borrows = match &last.arguments {
                PathArguments::AngleBracketed(arguments) => {
                    arguments.args.iter().any(|arg| matches!(arg, GenericArgument::Lifetime(_)))
                }
                _ => false,
            };
            Ty::Own(name, borrows)
        }
    }
}

/// The type arguments of a path's segment.
fn types_of(arguments: &PathArguments) -> Vec<&Type> {
    match arguments {
        PathArguments::AngleBracketed(arguments) => arguments
            .args
            .iter()
            .filter_map(|arg| if let GenericArgument::Type(ty) = arg { Some(ty) } else { None })
            .collect(),
        _ => Vec::new(),
    }
}

/// What a bound makes of a parameter: a closure, an iterator, something that becomes another type.
pub(super) fn of_bound(bound: &TypeParamBound, scope: &Scope) -> Option<Ty> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = bound.path.segments.last()?;
    match (last.ident.to_string().as_str(), &last.arguments) {
        ("FnOnce" | "FnMut" | "Fn" | "AsyncFn" | "AsyncFnOnce", PathArguments::Parenthesized(sides)) => {
            Some(Ty::Closure(sides.inputs.len(), Box::new(of_closure(&sides.output, scope))))
        }
        ("Into" | "AsRef" | "Borrow", arguments) => {
            let ty = types_of(arguments).first().map(|ty| read(ty, scope))?;
            Some(if last.ident == "Into" { ty } else { Ty::Ref(Box::new(ty), false) })
        }
        ("Future" | "IntoIterator" | "Iterator", PathArguments::AngleBracketed(arguments)) => {
            let item = arguments.args.iter().find_map(|arg| match arg {
                GenericArgument::AssocType(item) => Some(read(&item.ty, scope)),
                _ => None,
            });
            let item = Box::new(item.unwrap_or(Ty::Unit));
            Some(if last.ident == "Future" { Ty::Future(item) } else { Ty::Items(item) })
        }
        ("Copy", _) => Some(Ty::Number),
        _ => None,
    }
}

/// Source as it stands.
pub(super) fn text(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    text.replace(" :: ", "::").replace(" < ", "<").replace(" >", ">").replace("& ", "&").replace(" ,", ",")
}

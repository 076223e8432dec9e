//! Types of a program, declared again in C.

use std::collections::BTreeSet;
use std::fmt::Write;
use threadbare_symbols::{Part, Shape, Type, TypeId, Types};

/// Types of the system that the test has from its headers.
const KNOWN: [&str; 27] = [
    "size_t",
    "ptrdiff_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
    "pthread_mutex_t",
    "pthread_cond_t",
    "pthread_rwlock_t",
    "pthread_barrier_t",
    "pthread_spinlock_t",
    "pthread_once_t",
    "pthread_t",
    "pthread_key_t",
    "pthread_mutexattr_t",
    "pthread_condattr_t",
    "pthread_attr_t",
    "sem_t",
    "time_t",
    "clockid_t",
    "pid_t",
];

/// The name that the test has from its headers, if it has one.
pub(super) fn known(ty: &Type) -> Option<&str> {
    let name = ty.name.as_deref()?;
    (ty.system && matches!(ty.shape, Shape::Named(_)) && KNOWN.contains(&name)).then_some(name)
}

/// Whether two types are the same for a reader.
pub(super) fn same(types: &Types, one: TypeId, two: TypeId) -> bool {
    let (one, two) = (types.behind(one), types.behind(two));
    let (a, b) = (types.get(one), types.get(two));
    one == two
        || match (&a.shape, &b.shape) {
            (Shape::Pointer(a), Shape::Pointer(b)) => {
                types.get(types.behind(*a)).name == types.get(types.behind(*b)).name
            }
            _ => a.name.is_some() && a.name == b.name && a.size == b.size,
        }
}

/// Declarations, as they are needed.
pub(super) struct Declarations<'a> {
    types: &'a Types,
    done: BTreeSet<String>,
    pub(super) text: String,
}

impl<'a> Declarations<'a> {
    pub(super) fn new(types: &'a Types) -> Declarations<'a> {
        Declarations { types, done: BTreeSet::new(), text: String::new() }
    }

    fn tag(&self, ty: &Type) -> String {
        let word = match ty.shape {
            Shape::Union(_) | Shape::Declared { union: true } => "union",
            Shape::Enumeration(_) => "enum",
            _ => "struct",
        };
        let name = ty.name.as_deref().unwrap_or_default();
        // Not to be taken for what a header declares.
        format!("{word} {}{name}", if ty.system { "program_" } else { "" })
    }

    /// A declaration of `inner` with this type.
    pub(super) fn declare(&self, ty: TypeId, inner: &str) -> String {
        let this = self.types.get(ty);
        let put = |name: &str| match (inner.is_empty(), inner.starts_with('[')) {
            (true, _) => name.to_owned(),
            (false, true) => format!("{name}{inner}"),
            (false, false) => format!("{name} {inner}"),
        };
        match &this.shape {
            Shape::Named(_) if known(this).is_some() => put(this.name.as_deref().unwrap_or_default()),
            Shape::Named(target) if this.system => self.declare(*target, inner),
            Shape::Named(_) => put(this.name.as_deref().unwrap_or_default()),
            Shape::Pointer(target) => {
                let behind = self.types.get(self.types.behind(*target));
                let is_record =
                    matches!(behind.shape, Shape::Structure(_) | Shape::Union(_) | Shape::Declared { .. });
                // Nobody looks into what is the system's own.
                if is_record && behind.system && known(self.types.get(*target)).is_none() {
                    return format!("void *{inner}");
                }
                match behind.shape {
                    Shape::Array(..) | Shape::Function { .. } if self.is_bare(*target) => {
                        self.declare(*target, &format!("(*{inner})"))
                    }
                    _ => self.declare(*target, &format!("*{inner}")),
                }
            }
            Shape::Array(element, length) => {
                let length = length.map(|length| length.to_string()).unwrap_or_default();
                self.declare(*element, &format!("{inner}[{length}]"))
            }
            Shape::Function { returns, parameters } => {
                let list: Vec<String> = parameters.iter().map(|ty| self.declare(*ty, "")).collect();
                let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
                self.declare(*returns, &format!("{inner}({list})"))
            }
            Shape::Void => put("void"),
            Shape::Integer { .. } | Shape::Float => put(this.name.as_deref().unwrap_or("int")),
            Shape::Enumeration(_) if this.name.is_none() => put("int"),
            Shape::Structure(_) | Shape::Union(_) if this.name.is_none() => {
                put(&format!("{} {}", self.tag(this).trim_end(), self.body(this, "    ")))
            }
            _ => put(&self.tag(this)),
        }
    }

    /// Whether no name of the program's own stands before the type.
    fn is_bare(&self, ty: TypeId) -> bool {
        let this = self.types.get(ty);
        match this.shape {
            Shape::Named(target) => this.system && known(this).is_none() && self.is_bare(target),
            _ => true,
        }
    }

    fn body(&self, ty: &Type, indent: &str) -> String {
        let (Shape::Structure(parts) | Shape::Union(parts)) = &ty.shape else { return String::new() };
        let mut text = "{\n".to_owned();
        for part in parts {
            let field = self.declare(part.ty, part.name.as_deref().unwrap_or_default());
            let field = field.replace('\n', "\n    ");
            let bits = part.bits.map(|(_, bits)| format!(" : {bits}")).unwrap_or_default();
            let _ = writeln!(text, "{indent}{field}{bits};");
        }
        text.push_str(&indent[4..]);
        text.push('}');
        text
    }

    /// The type can be named, and pointers to it can be declared.
    pub(super) fn mention(&mut self, ty: TypeId) {
        let this = self.types.get(ty);
        match &this.shape {
            Shape::Pointer(target) => {
                let behind = self.types.get(self.types.behind(*target));
                if !behind.system {
                    self.mention(*target);
                }
            }
            Shape::Array(element, _) => self.define(*element),
            Shape::Function { returns, parameters } => {
                self.mention(*returns);
                parameters.iter().for_each(|ty| self.mention(*ty));
            }
            Shape::Named(target) if known(this).is_none() => {
                if this.system {
                    return self.mention(*target);
                }
                let name = this.name.clone().unwrap_or_default();
                if self.done.insert(format!("typedef {name}")) {
                    let behind = self.types.get(*target);
                    let is_tagged = behind.name.is_some()
                        && matches!(
                            behind.shape,
                            Shape::Structure(_) | Shape::Union(_) | Shape::Declared { .. }
                        );
                    match &behind.shape {
                        Shape::Enumeration(constants) if behind.name.is_none() => {
                            let list: Vec<String> =
                                constants.iter().map(|(name, number)| format!("{name} = {number}")).collect();
                            let _ = writeln!(self.text, "typedef enum {{ {} }} {name};\n", list.join(", "));
                            return;
                        }
                        Shape::Structure(parts) | Shape::Union(parts) if !is_tagged => {
                            self.parts(&parts.clone());
                        }
                        _ => self.mention(*target),
                    }
                    let declared = self.declare(*target, &name);
                    let _ = writeln!(self.text, "typedef {declared};\n");
                }
            }
            Shape::Enumeration(constants) if this.name.is_some() => {
                let tag = self.tag(this);
                if self.done.insert(tag.clone()) {
                    let list: Vec<String> =
                        constants.iter().map(|(name, number)| format!("{name} = {number}")).collect();
                    let _ = writeln!(self.text, "{tag} {{ {} }};\n", list.join(", "));
                }
            }
            Shape::Structure(parts) | Shape::Union(parts) if this.name.is_none() => {
                self.parts(&parts.clone());
            }
            Shape::Structure(_) | Shape::Union(_) | Shape::Declared { .. } => {
                let tag = self.tag(this);
                if !self.done.contains(&tag) && self.done.insert(format!("mention {tag}")) {
                    let _ = writeln!(self.text, "{tag};");
                }
            }
            _ => {}
        }
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            self.define(part.ty);
        }
    }

    /// Values of the type can be declared.
    pub(super) fn define(&mut self, ty: TypeId) {
        let this = self.types.get(ty);
        match &this.shape {
            Shape::Named(target) if known(this).is_none() => {
                let target = *target;
                self.mention(ty);
                self.define(target);
            }
            Shape::Array(element, _) => self.define(*element),
            Shape::Structure(parts) | Shape::Union(parts) => {
                let tag = self.tag(this);
                if this.name.is_none() {
                    self.parts(&parts.clone());
                } else if self.done.insert(tag.clone()) {
                    self.parts(&parts.clone());
                    let body = self.body(self.types.get(ty), "    ");
                    let _ = writeln!(self.text, "{tag} {body};\n");
                }
            }
            Shape::Declared { .. } => {
                let behind = self.types.behind(ty);
                if behind != ty {
                    self.define(behind);
                }
            }
            _ => self.mention(ty),
        }
    }
}

//! Types of a program, declared again in C.

use super::layout::{Layout, layout};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
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
    /// What types of other languages are called here.
    tags: RefCell<BTreeMap<String, String>>,
    pub(super) text: String,
}

/// Words of C that a field of another language may be called.
const WORDS: [&str; 18] = [
    "auto", "char", "default", "double", "enum", "extern", "float", "goto", "inline", "int", "long",
    "register", "restrict", "short", "signed", "typedef", "unsigned", "volatile",
];

/// A name of another language as C takes it.
pub(super) fn plain(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if WORDS.contains(&text.as_str()) {
        text.push('_');
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("_{text}") } else { text }
}

/// What a type of another language is called: its own name, and that of what it is made with.
fn short(name: &str) -> String {
    let last = |name: &str| {
        let name = name.split('<').next().unwrap_or_default();
        plain(name.rsplit("::").next().unwrap_or_default().trim().trim_matches(['{', '}', '&', '*', ' ']))
    };
    let inner = name.split_once('<').map(|(_, inner)| inner.split([',', '>']).next().unwrap_or_default());
    let text = match inner.map(last).filter(|inner| !inner.is_empty()) {
        Some(inner) => format!("{}_{inner}", last(name)),
        None => last(name),
    };
    text.trim_matches('_').chars().take(48).collect()
}

/// A number of another language in C's words.
fn number(ty: &Type) -> String {
    const PLAIN: [&str; 13] = [
        "char",
        "signed char",
        "unsigned char",
        "int",
        "unsigned int",
        "long int",
        "long unsigned int",
        "long",
        "unsigned long",
        "short int",
        "short unsigned int",
        "long long int",
        "long long unsigned int",
    ];
    let name = ty.name.as_deref().unwrap_or_default();
    match (&ty.shape, ty.size) {
        _ if !ty.foreign => return ty.name.clone().unwrap_or_else(|| "int".to_owned()),
        (Shape::Float, 4) => "float",
        (Shape::Float, 8) => "double",
        (Shape::Float, _) => "long double",
        (_, 1) if name == "bool" => "_Bool",
        (_, 4) if name == "char" => "uint32_t",
        (_, 16) => "__int128",
        _ if PLAIN.contains(&name) => name,
        (Shape::Integer { signed: true }, size) => return format!("int{}_t", size * 8),
        (_, size) => return format!("uint{}_t", size * 8),
    }
    .to_owned()
}

impl<'a> Declarations<'a> {
    pub(super) fn new(types: &'a Types) -> Declarations<'a> {
        Declarations { types, done: BTreeSet::new(), tags: RefCell::default(), text: String::new() }
    }

    fn tag(&self, ty: &Type) -> String {
        let word = match ty.shape {
            Shape::Union(_) | Shape::Variants { .. } | Shape::Declared { union: true } => "union",
            Shape::Enumeration(_) => "enum",
            _ => "struct",
        };
        let name = ty.name.as_deref().unwrap_or_default();
        if ty.foreign {
            return format!("{word} {}", self.short_tag(ty, ty.name.as_deref().unwrap_or("closure")));
        }
        // Not to be taken for what a header declares.
        format!("{word} {}{name}", if ty.system { "program_" } else { "" })
    }

    /// Where the parts of a type lie, and theirs: two closures of one function have one name, and so has what is made with them.
    fn places(&self, shape: &Shape) -> String {
        let inner = |ty: TypeId| self.places(&self.types.get(self.types.behind(ty)).shape);
        match shape {
            Shape::Structure(parts) | Shape::Union(parts) => {
                let place = |part: &Part| format!("{:?}{}({})", part.name, part.offset, inner(part.ty));
                parts.iter().map(place).collect()
            }
            Shape::Variants { all, .. } => all.iter().map(|(part, _)| format!("{:?}", part.name)).collect(),
            _ => String::new(),
        }
    }

    /// Types of other languages may differ in what C has no words for: here each has a name of its own.
    fn short_tag(&self, ty: &Type, name: &str) -> String {
        let key = format!("{name} {} {}", ty.size, self.places(&ty.shape));
        let mut tags = self.tags.borrow_mut();
        if let Some(known) = tags.get(&key) {
            return known.clone();
        }
        // Not to be taken for what a header of C declares.
        let is_c =
            ty.system && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let base = format!("{}{}", if is_c { "program_" } else { "" }, short(name));
        let base = if base.is_empty() { "unnamed".to_owned() } else { base };
        let numbers = std::iter::once(base.clone()).chain((2..).map(|number| format!("{base}_{number}")));
        let free = numbers.into_iter().find(|name| !tags.values().any(|other| other == name));
        let tag = free.unwrap_or(base);
        tags.insert(key, tag.clone());
        tag
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
            Shape::Named(target) if this.system || this.foreign => self.declare(*target, inner),
            Shape::Named(_) => put(this.name.as_deref().unwrap_or_default()),
            Shape::Pointer(target) => {
                let behind = self.types.get(self.types.behind(*target));
                let is_record = matches!(
                    behind.shape,
                    Shape::Structure(_) | Shape::Union(_) | Shape::Declared { .. } | Shape::Variants { .. }
                );
                // Nobody looks into what is the system's own.
                let is_system = is_record && behind.system && known(self.types.get(*target)).is_none();
                let is_function = matches!(behind.shape, Shape::Function { .. });
                if is_system || is_function && this.foreign || self.is_endless(ty) {
                    return format!("void *{inner}");
                }
                match behind.shape {
                    // What it is made of need not be known.
                    Shape::Array(element, _) if this.foreign => self.declare(element, &format!("*{inner}")),
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
            Shape::Integer { .. } | Shape::Float => put(&number(this)),
            // Its names may be others' names as well, and it may be shorter than C's.
            Shape::Enumeration(_) if this.foreign => put(&format!("uint{}_t", this.size * 8)),
            Shape::Enumeration(_) if this.name.is_none() => put("int"),
            Shape::Structure(_) | Shape::Union(_) if this.name.is_none() && !this.foreign => {
                put(&format!("{} {}", self.tag(this).trim_end(), self.body(this, "    ")))
            }
            _ => put(&self.tag(this)),
        }
    }

    /// Whether a pointer leads to pointers alone: a node that is nothing but a pointer to the next one.
    fn is_endless(&self, mut ty: TypeId) -> bool {
        for _ in 0..16 {
            match self.types.get(self.types.behind(ty)).shape {
                Shape::Pointer(target) => ty = target,
                _ => return false,
            }
        }
        true
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
        let mut text = match &ty.shape {
            Shape::Structure(parts) => {
                let (text, packed) = self.fields(parts, ty.size, indent);
                return format!("{text}{}}}{packed}", &indent[4..]);
            }
            Shape::Union(parts) => {
                let mut text = "{\n".to_owned();
                parts.iter().for_each(|part| text.push_str(&self.field(part, indent)));
                text
            }
            Shape::Variants { tag, all } => {
                let mut text = "{\n".to_owned();
                for (variant, _) in all {
                    let fields = self.types.variant_fields(tag.as_ref(), variant);
                    let name = plain(variant.name.as_deref().unwrap_or_default());
                    let (body, packed) = self.fields(&fields, 0, &format!("{indent}    "));
                    let _ = writeln!(text, "{indent}struct {body}{indent}}}{packed} {name};");
                }
                let _ = writeln!(text, "{indent}uint8_t all[{}];", ty.size);
                text
            }
            _ => return String::new(),
        };
        text.push_str(&indent[4..]);
        text.push('}');
        text
    }

    fn field(&self, part: &Part, indent: &str) -> String {
        let name = part.name.as_deref().map(plain).unwrap_or_default();
        let this = self.types.get(self.types.behind(part.ty));
        let field = match &this.shape {
            Shape::Structure(_) if name.is_empty() && this.foreign => {
                format!("struct {}", self.body(this, "    "))
            }
            Shape::Union(_) if name.is_empty() && this.foreign => {
                format!("union {}", self.body(this, "    "))
            }
            _ => self.declare(part.ty, &name),
        };
        let field = field.replace('\n', "\n    ");
        let bits = part.bits.map(|(_, bits)| format!(" : {bits}")).unwrap_or_default();
        format!("{indent}{field}{bits};\n")
    }

    /// The fields of a structure, each where the program has it, and what has to be said behind them.
    fn fields(&self, parts: &[Part], size: u64, indent: &str) -> (String, &'static str) {
        let Layout { gaps, packed } = layout(self.types, parts, size);
        let mut text = "{\n".to_owned();
        let gap = |at: usize| {
            let gap = gaps.iter().find(|(before, ..)| *before == at);
            gap.map(|(_, from, length)| format!("{indent}char unused_{from}[{length}];\n"))
                .unwrap_or_default()
        };
        for (at, part) in parts.iter().enumerate() {
            text.push_str(&gap(at));
            text.push_str(&self.field(part, indent));
        }
        text.push_str(&gap(parts.len()));
        (text, if packed { " __attribute__((packed))" } else { "" })
    }

    /// The type can be named, and pointers to it can be declared.
    pub(super) fn mention(&mut self, ty: TypeId) {
        let this = self.types.get(ty);
        match &this.shape {
            Shape::Pointer(target) => {
                let behind = self.types.get(self.types.behind(*target));
                match behind.shape {
                    _ if behind.system || self.is_endless(ty) => {}
                    Shape::Array(element, _) if this.foreign => self.mention(element),
                    _ => self.mention(*target),
                }
            }
            Shape::Array(element, _) => self.define(*element),
            Shape::Function { .. } if this.foreign => {}
            Shape::Function { returns, parameters } => {
                self.mention(*returns);
                parameters.iter().for_each(|ty| self.mention(*ty));
            }
            Shape::Named(target) if known(this).is_none() => {
                if this.system || this.foreign {
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
            Shape::Enumeration(constants) if this.name.is_some() && !this.foreign => {
                let tag = self.tag(this);
                if self.done.insert(tag.clone()) {
                    let list: Vec<String> =
                        constants.iter().map(|(name, number)| format!("{name} = {number}")).collect();
                    let _ = writeln!(self.text, "{tag} {{ {} }};\n", list.join(", "));
                }
            }
            Shape::Structure(parts) | Shape::Union(parts) if this.name.is_none() && !this.foreign => {
                self.parts(&parts.clone());
            }
            Shape::Structure(_) | Shape::Union(_) | Shape::Declared { .. } | Shape::Variants { .. } => {
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
            let this = self.types.get(self.types.behind(part.ty));
            match &this.shape {
                // It is written where it lies.
                Shape::Structure(inner) | Shape::Union(inner) if part.name.is_none() && this.foreign => {
                    self.parts(&inner.clone());
                }
                _ => self.define(part.ty),
            }
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
                if this.name.is_none() && !this.foreign {
                    self.parts(&parts.clone());
                } else if self.done.insert(tag.clone()) {
                    self.parts(&parts.clone());
                    let body = self.body(self.types.get(ty), "    ");
                    let _ = writeln!(self.text, "{tag} {body};\n");
                }
            }
            Shape::Variants { tag, all } => {
                let name = self.tag(this);
                if self.done.insert(name.clone()) {
                    let fields =
                        all.iter().flat_map(|(part, _)| self.types.variant_fields(tag.as_ref(), part));
                    self.parts(&fields.collect::<Vec<_>>());
                    let body = self.body(self.types.get(ty), "    ");
                    let _ = writeln!(self.text, "{name} {body};\n");
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

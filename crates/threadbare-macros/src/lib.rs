//! `#[threadbare::test]`. The function is not looked into, so that no parser of Rust is needed: what stands before its body stays, and the body goes into a closure.

use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// A test whose body is run many times by `cargo threadbare test`, and once by `cargo test`.
///
/// `#[threadbare::test(runs = 500, strategy = "pct:3")]` gives options of the command line, with `_` for `-`; the command line counts more. An `async fn` is run by
/// `threadbare::block_on`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(options, function).unwrap_or_else(|(message, span)| error(&message, span))
}

type Refused = (String, Span);

fn expand(options: TokenStream, function: TokenStream) -> Result<TokenStream, Refused> {
    let options = read_options(options)?;
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    let is_body =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let Some(body) = tokens.pop().filter(is_body) else {
        return Err(("a function with a body is expected".to_owned(), Span::call_site()));
    };
    // Attributes lie in groups, so that a word is the function's own.
    let is =
        |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident.to_string() == word);
    let Some(at) = tokens.iter().position(|token| is(token, "fn")) else {
        return Err(("a function is expected".to_owned(), Span::call_site()));
    };
    let is_async = tokens[..at].iter().position(|token| is(token, "async"));
    if let Some(at) = is_async {
        tokens.remove(at);
    }
    let mut text = String::from("::threadbare::Check::new()");
    for (name, value) in options {
        text += &format!(".option({name:?}, {value})");
    }
    let mut inside: TokenStream = text.parse().map_err(|_| ("options".to_owned(), Span::call_site()))?;
    inside.extend(call("run_whole", closure(body, is_async.is_some())));
    let mut out: TokenStream = parse("#[::core::prelude::v1::test]");
    out.extend(tokens);
    out.extend([TokenTree::Group(Group::new(Delimiter::Brace, inside))]);
    Ok(out)
}

/// `.name(argument)`.
fn call(name: &str, argument: TokenStream) -> TokenStream {
    let dot = TokenTree::Punct(Punct::new('.', Spacing::Alone));
    let name = TokenTree::Ident(Ident::new(name, Span::call_site()));
    [dot, name, TokenTree::Group(Group::new(Delimiter::Parenthesis, argument))].into_iter().collect()
}

/// `|| { body }`, or `|| ::threadbare::block_on(async move { body })`.
fn closure(body: TokenTree, is_async: bool) -> TokenStream {
    let mut closure = parse("move ||");
    if !is_async {
        closure.extend([body]);
        return closure;
    }
    let mut future = parse("async move");
    future.extend([body]);
    closure.extend(parse("::threadbare::block_on"));
    closure.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, future))]);
    closure
}

/// Names with `-` for `_`, and the literals as they stand.
fn read_options(options: TokenStream) -> Result<Vec<(String, String)>, Refused> {
    let mut list = Vec::new();
    let mut tokens = options.into_iter();
    while let Some(name) = tokens.next() {
        let TokenTree::Ident(ident) = &name else {
            return Err(("an option is expected, such as `runs = 500`".to_owned(), name.span()));
        };
        match (tokens.next(), tokens.next()) {
            (Some(TokenTree::Punct(is)), Some(TokenTree::Literal(value))) if is.as_char() == '=' => {
                list.push((ident.to_string().replace('_', "-"), value.to_string()));
            }
            _ => return Err((format!("`{ident}` needs a value: `{ident} = …`"), name.span())),
        }
        match tokens.next() {
            None => break,
            Some(TokenTree::Punct(comma)) if comma.as_char() == ',' => {}
            Some(other) => return Err(("a comma is expected".to_owned(), other.span())),
        }
    }
    Ok(list)
}

fn parse(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

/// `compile_error!`, where the mistake is.
fn error(message: &str, span: Span) -> TokenStream {
    let text = format!("::core::compile_error! {{ {message:?} }}");
    let spanned = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    parse(&text).into_iter().map(spanned).collect()
}

use proc_macro::TokenStream;

#[proc_macro_derive(Answer)]
pub fn answer(_input: TokenStream) -> TokenStream {
    "impl Asked { pub const ANSWER: i32 = 42; }".parse().unwrap()
}

#[test]
fn inside_the_proc_macro() {}

fn main() {
    cc::Build::new().file("native/answer.c").compile("answer");
    println!("cargo::rerun-if-changed=native/answer.c");
}

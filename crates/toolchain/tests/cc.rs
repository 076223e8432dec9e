//! `threadbare cc` and `threadbare c++` with every compiler that this machine has.

mod stub;

use std::fs;
use std::process::{Command, Output};

use stub::{Bench, hooks, needed, text, words};
use threadbare_toolchain::cc::CompilerCall;
use threadbare_toolchain::{Error, Language, check_program};

const RT: &str = "libthreadbare_rt.so";

const MAIN: &str = r#"
#include <stdio.h>
extern int helped(int *p);
int value = 40;
int main(void) { int got = helped(&value); __atomic_add_fetch(&value, 1, __ATOMIC_SEQ_CST); printf("%d\n", got + value); return 0; }
"#;
const HELPER: &str = "int helped(int *p) { *p += 1; return 0; }\n";
const ONE: &str = r#"
#include <stdio.h>
int value = 41;
int main(void) { int *volatile p = &value; *p += 1; printf("%d\n", value); return 0; }
"#;
const CXX: &str = r#"
#include <iostream>
#include <stdexcept>
struct Base { virtual ~Base() {} virtual int get() { return 1; } };
struct Derived : Base { int x = 42; int get() override { return x; } };
int main() {
    Base *b = new Derived;
    try { throw std::runtime_error("x"); } catch (const std::exception &) { std::cout << b->get() << std::endl; }
    delete b;
}
"#;

/// A compiler of this machine, by the values of `THREADBARE_CC` and `THREADBARE_CXX`.
struct Kit {
    c: &'static str,
    cxx: &'static str,
    clang: bool,
}

/// gcc must be there; clang is tried when it is.
fn kits() -> Vec<Kit> {
    let all = [
        Kit { c: "gcc", cxx: "g++", clang: false },
        Kit { c: "clang-19", cxx: "clang++-19", clang: true },
        Kit { c: "clang", cxx: "clang++", clang: true },
        Kit { c: "clang-14", cxx: "clang++-14", clang: true },
    ];
    let found = all.into_iter().filter(|kit| {
        let there = Command::new(kit.cxx).arg("--version").output().is_ok_and(|o| o.status.success());
        assert!(there || kit.clang, "the tests need gcc and g++");
        there
    });
    found.collect()
}

impl Kit {
    fn bench(&self) -> Bench {
        let mut bench = Bench::new();
        bench.env.set("THREADBARE_CC", self.c);
        bench.env.set("THREADBARE_CXX", self.cxx);
        bench.write("main.c", MAIN);
        bench.write("helper.c", HELPER);
        bench.write("one.c", ONE);
        bench.write("main.cc", CXX);
        bench
    }
}

impl Bench {
    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The names in the bench's own folder, the cache left out.
    fn files(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.contains("cache"))
            .collect();
        names.sort();
        names
    }

    /// Runs a program of this folder and gives what it printed.
    fn run(&self, program: &str) -> String {
        let output = Command::new(self.path(program)).current_dir(self.path("")).output().unwrap();
        assert!(output.status.success(), "{program}: {}", text(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn compile(bench: &Bench, language: Language, line: &str) -> Result<Output, Error> {
    let arguments = words(line);
    let folder = bench.path("");
    let call = CompilerCall {
        language,
        arguments: &arguments,
        folder: &folder,
        env: &bench.env,
        runtime: &bench.runtime,
    };
    Ok(call.command()?.output().unwrap())
}

/// Compiles and expects silence: no warning of an unused argument either.
fn cc(bench: &Bench, line: &str) {
    let output = compile(bench, Language::C, line).unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output));
    assert_eq!(text(&output), "", "{line}");
}

fn cxx(bench: &Bench, line: &str) {
    let output = compile(bench, Language::Cxx, line).unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output));
    assert_eq!(text(&output), "", "{line}");
}

/// The program has our runtime first, the sanitizer's nowhere, and calls the hooks.
fn is_ours(bench: &Bench, program: &str) {
    let path = bench.path(program);
    let libraries = needed(&path);
    assert_eq!(libraries.first().map(String::as_str), Some(RT), "{libraries:?}");
    assert!(!libraries.iter().any(|name| name.contains("tsan")), "{libraries:?}");
    assert!(!hooks(&path).is_empty());
    check_program(&path, &bench.env).unwrap();
}

#[test]
fn one_step_with_several_sources_leaves_no_stray_files() {
    for kit in kits() {
        let bench = kit.bench();
        cc(&bench, "-Wall -Werror -O1 -g main.c helper.c -o prog");
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "42\n");
        assert_eq!(bench.files(), ["helper.c", "main.c", "main.cc", "one.c", "prog"]);
        cc(&bench, "one.c");
        is_ours(&bench, "a.out");
        assert_eq!(bench.run("a.out"), "42\n");
    }
}

#[test]
fn fences_are_no_errors() {
    for kit in kits() {
        let bench = kit.bench();
        let fence =
            "#include <atomic>\nint main() { std::atomic_thread_fence(std::memory_order_seq_cst); }\n";
        std::fs::write(bench.path("fence.cc"), fence).unwrap();
        cxx(&bench, "-Wall -Wextra -Werror -O1 fence.cc -o prog");
        is_ours(&bench, "prog");
    }
}

#[test]
fn two_steps_and_a_link_of_objects_only() {
    for kit in kits() {
        let bench = kit.bench();
        cc(&bench, "-Werror -c main.c");
        cc(&bench, "-Werror -c helper.c -o helper.o");
        assert!(hooks(&bench.path("helper.o")).iter().any(|hook| hook.starts_with("__tsan_")));
        for flags in ["", "-Wl,--as-needed", "-no-pie", "-pie", "-O2 -s", "-pthread", "-Wl,--gc-sections"] {
            cc(&bench, &format!("-Werror {flags} main.o helper.o -o prog"));
            let libraries = needed(&bench.path("prog"));
            assert_eq!(libraries.first().map(String::as_str), Some(RT), "{flags}: {libraries:?}");
            check_program(&bench.path("prog"), &bench.env).unwrap();
            if flags != "-no-pie" {
                assert_eq!(bench.run("prog"), "42\n", "{flags}");
            }
        }
    }
}

#[test]
fn position_dependent_programs() {
    for kit in kits() {
        let bench = kit.bench();
        cc(&bench, "-fno-pie -no-pie main.c helper.c -o prog");
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "42\n");
    }
}

#[test]
fn cxx_programs() {
    for kit in kits() {
        let bench = kit.bench();
        cxx(&bench, "-Wall -Werror -std=c++17 -O2 main.cc -o prog");
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "42\n");
        cxx(&bench, "-x c++ one.c -o other");
        is_ours(&bench, "other");
    }
}

#[test]
fn preprocessing_and_assembly_see_the_pass() {
    for kit in kits() {
        let bench = kit.bench();
        bench.write("seen.c", "#if defined(__SANITIZE_THREAD__)\nyes\n#elif defined(__has_feature)\n#if __has_feature(thread_sanitizer)\nyes\n#endif\n#endif\n");
        cc(&bench, "-Werror -E -P seen.c -o seen.i");
        assert_eq!(fs::read_to_string(bench.path("seen.i")).unwrap().trim(), "yes");
        cc(&bench, "-Werror -S one.c");
        assert!(fs::read_to_string(bench.path("one.s")).unwrap().contains("__tsan_func_entry"));
        cc(&bench, "-Werror -c one.s -o one.o");
        cc(&bench, "-Werror one.s -o prog");
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "42\n");
    }
}

#[test]
fn assembler_sources_pass_through() {
    for kit in kits() {
        let bench = kit.bench();
        bench.write("answer.S", "#define A 42\n.globl answer\nanswer: mov $A, %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n");
        bench.write("ask.c", "#include <stdio.h>\nint answer(void);\nint main(void) { printf(\"%d\\n\", answer()); return 0; }\n");
        cc(&bench, "-Werror -c answer.S -o answer.o");
        cc(&bench, "-Werror ask.c answer.S -o prog");
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "42\n");
        // Only assembly: nothing calls a hook, and still the runtime stays.
        bench.write(
            "main.S",
            ".globl main\nmain: xor %eax, %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n",
        );
        cc(&bench, "-Werror main.S -o bare");
        assert_eq!(needed(&bench.path("bare"))[0], RT);
        check_program(&bench.path("bare"), &bench.env).unwrap();
    }
}

#[test]
fn dependency_files_have_the_names_they_always_have() {
    for kit in kits() {
        let bench = kit.bench();
        bench.write("head.h", "#define ANSWER 42\n");
        bench.write("uses.c", "#include \"head.h\"\nint main(void) { return ANSWER - 42; }\n");
        let plain = |line: &str| {
            let output = Command::new(kit.c)
                .args(line.split_whitespace())
                .current_dir(bench.path(""))
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", text(&output));
            output.stdout
        };
        for line in [
            "-MMD -c uses.c -o build.o",
            "-MD -MF named.d -MT target -c uses.c",
            "-MMD uses.c -o prog",
            "-M uses.c -MF only.d",
            "-MM uses.c",
            "-save-temps -c uses.c",
        ] {
            let list = |bench: &Bench| {
                let files = bench.files();
                let texts: Vec<_> = files
                    .iter()
                    .filter(|name| name.ends_with(".d"))
                    .map(|name| fs::read_to_string(bench.path(name)).unwrap())
                    .collect();
                (files, texts)
            };
            let clear = || {
                for name in bench.files() {
                    if !["uses.c", "head.h"].contains(&name.as_str()) {
                        fs::remove_file(bench.path(&name)).unwrap();
                    }
                }
            };
            clear();
            let stdout = plain(line);
            let expected = list(&bench);
            clear();
            let output = compile(&bench, Language::C, line).unwrap();
            assert!(output.status.success(), "{line}: {}", text(&output));
            assert_eq!(output.stdout, stdout, "{line}");
            assert_eq!(list(&bench), expected, "{} {line}", kit.c);
        }
    }
}

#[test]
fn shared_libraries_and_relocatable_objects() {
    for kit in kits() {
        let bench = kit.bench();
        cc(&bench, "-Werror -shared -fPIC -Wl,-z,defs helper.c -o libhelper.so");
        assert_eq!(needed(&bench.path("libhelper.so"))[0], RT);
        cc(&bench, "-Werror main.c libhelper.so -Wl,-rpath,$ORIGIN -o prog");
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "42\n");

        cc(&bench, "-c main.c helper.c");
        for flag in ["-r", "-Wl,-r"] {
            if flag == "-r" || !kit.clang {
                let nostd = if flag == "-r" { "" } else { "-nostdlib -no-pie" };
                cc(&bench, &format!("{flag} {nostd} main.o helper.o -o both.o"));
                assert!(needed(&bench.path("both.o")).is_empty());
                cc(&bench, "both.o -o joined");
                assert_eq!(bench.run("joined"), "42\n");
            }
        }
    }
}

#[test]
fn response_files() {
    for kit in kits() {
        let bench = kit.bench();
        bench.write("inner.rsp", "'-DX=1'\n-O1\n");
        bench.write("outer.rsp", "-Werror @inner.rsp main.c \"helper.c\" -o prog");
        cc(&bench, "@outer.rsp");
        is_ours(&bench, "prog");
        bench.write("static.rsp", "-static");
        let error = compile(&bench, Language::C, "@static.rsp one.c").unwrap_err();
        assert!(matches!(error, Error::StaticLink { .. }), "{error:?}");
        let output = compile(&bench, Language::C, "@missing.rsp").unwrap();
        assert!(!output.status.success());
        assert!(text(&output).contains("missing.rsp"), "{}", text(&output));
    }
}

#[test]
fn link_time_optimisation() {
    for kit in kits() {
        let bench = kit.bench();
        let linker = if kit.clang { lld() } else { Some("") };
        let Some(linker) = linker else { continue };
        cc(&bench, &format!("-flto -O2 {linker} main.c helper.c -o prog"));
        is_ours(&bench, "prog");
        cc(&bench, "-flto -O2 -c main.c helper.c");
        cc(&bench, &format!("-flto -O2 {linker} main.o helper.o -o prog"));
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "42\n");
    }
}

/// clang's LTO needs a linker that reads its bitcode.
fn lld() -> Option<&'static str> {
    let found = |name: &str| Command::new(name).arg("--version").output().is_ok();
    found("ld.lld").then_some("-fuse-ld=lld")
}

#[test]
fn the_users_own_sanitizer_flags() {
    for kit in kits() {
        let bench = kit.bench();
        cc(&bench, "-Werror -fsanitize=thread main.c helper.c -o prog");
        is_ours(&bench, "prog");
        cc(&bench, "-fsanitize=thread -c helper.c -fno-sanitize=thread");
        assert_eq!(hooks(&bench.path("helper.o")), [""; 0], "the last word is the user's");
        let output =
            compile(&bench, Language::C, "-fsanitize=undefined,thread main.c helper.c -o both").unwrap();
        // Debian has clang's own libraries in a package apart, which `cargo xtask test` asks for.
        if text(&output).contains("libclang_rt.ubsan") {
            eprintln!("note: clang's libraries are missing (Debian package libclang-rt-19-dev)");
        } else {
            assert!(output.status.success(), "{}", text(&output));
            is_ours(&bench, "both");
            assert_eq!(bench.run("both"), "42\n");
        }
        for name in ["address", "leak", "hwaddress", "memory"] {
            let error = compile(&bench, Language::C, &format!("-fsanitize={name} -c main.c")).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            assert!(error.help().is_some());
        }
        cc(&bench, "-fsanitize=address -fno-sanitize=address -c main.c");
    }
}

#[test]
fn static_and_narrow_programs_are_refused() {
    for kit in kits() {
        let bench = kit.bench();
        for flag in ["-static", "--static", "-static-pie"] {
            let error = compile(&bench, Language::C, &format!("{flag} one.c -o prog")).unwrap_err();
            assert!(matches!(error, Error::StaticLink { .. }), "{error:?}");
            assert!(error.help().unwrap().contains(flag));
        }
        assert!(matches!(compile(&bench, Language::C, "-m32 -c one.c"), Err(Error::WordSize { .. })));
        assert!(!bench.path("prog").exists());
        cc(&bench, "-static-libgcc one.c -o prog");
        is_ours(&bench, "prog");
    }
}

#[test]
fn questions_are_answered_as_ever() {
    for kit in kits() {
        let bench = kit.bench();
        for line in [
            "--version",
            "-dumpversion",
            "-dumpmachine",
            "-print-search-dirs",
            "-print-prog-name=ld",
            "-v",
            "",
        ] {
            let ours = compile(&bench, Language::C, line).unwrap();
            let theirs = Command::new(kit.c)
                .args(line.split_whitespace())
                .env_clear()
                .envs(bench.env.iter())
                .output()
                .unwrap();
            assert_eq!((ours.status, text(&ours)), (theirs.status, text(&theirs)), "{line}");
        }
        let output = compile(&bench, Language::C, "-### one.c -o prog").unwrap();
        assert!(
            text(&output).contains(RT) && text(&output).contains("-fsanitize=thread"),
            "{}",
            text(&output)
        );
        assert!(!bench.path("prog").exists());
    }
}

#[test]
fn standard_input_precompiled_headers_and_bare_links() {
    for kit in kits() {
        let bench = kit.bench();
        let arguments = words("-x c - -c -o stdin.o");
        let folder = bench.path("");
        let call = CompilerCall {
            language: Language::C,
            arguments: &arguments,
            folder: &folder,
            env: &bench.env,
            runtime: &bench.runtime,
        };
        let status =
            call.command().unwrap().stdin(fs::File::open(bench.path("helper.c")).unwrap()).status().unwrap();
        assert!(status.success());
        assert!(!hooks(&bench.path("stdin.o")).is_empty());

        bench.write("pre.h", "static inline int twice(int *p) { return *p * 2; }\n");
        let extension = if kit.clang { "pch" } else { "gch" };
        cc(&bench, &format!("-Werror pre.h -o pre.h.{extension}"));
        bench.write("usespre.c", "int main(void) { int x = 21; return twice(&x) - 42; }\n");
        cc(&bench, "-Werror -Winvalid-pch -include pre.h usespre.c -o prog");
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "");

        bench.write(
            "raw.c",
            "int g; void _start(void) { g = 1; __asm__ volatile(\"syscall\" :: \"a\"(60), \"D\"(0)); }\n",
        );
        cc(&bench, "-nostdlib -nostartfiles raw.c -o raw");
        assert_eq!(needed(&bench.path("raw")), [RT]);
    }
}

#[test]
fn errors_and_exit_codes_are_the_compilers() {
    for kit in kits() {
        let bench = kit.bench();
        bench.write("bad.c", "int main(void) { return undeclared; }\n");
        let output = compile(&bench, Language::C, "bad.c -o bad").unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output).contains("undeclared"));
        assert!(!bench.path("bad").exists());
        let output = compile(&bench, Language::C, "main.c -o prog").unwrap();
        assert!(!output.status.success() && text(&output).contains("helped"), "{}", text(&output));
    }
}

#[test]
fn a_makefile_flow_with_an_archive() {
    for kit in kits() {
        let bench = kit.bench();
        cc(&bench, "-O2 -c -fPIC helper.c");
        let status = Command::new("ar")
            .args(["rcs", "libhelper.a", "helper.o"])
            .current_dir(bench.path(""))
            .status()
            .unwrap();
        assert!(status.success());
        cc(&bench, "-O2 main.c -L. -lhelper -lm -pthread -o prog");
        is_ours(&bench, "prog");
        assert_eq!(bench.run("prog"), "42\n");
        assert_eq!(bench.env.get("THREADBARE_CC").unwrap(), kit.c);
    }
}

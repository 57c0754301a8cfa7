//! Lines that are generated, class by class: what lets a rule be fooled, put into every line that the rules
//! accept. None of them may be accepted.

use std::collections::BTreeSet;

/// A class of hostile lines.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    /// As many of its kind have been tried by hand.
    pub(crate) least: usize,
    pub(crate) lines: BTreeSet<String>,
}

/// All classes, made of lines that are accepted.
pub(crate) fn of(accepted: &[&str]) -> Vec<Class> {
    let class = |name, least, lines: BTreeSet<String>| Class { name, least, lines };
    let each = |parts: &[&str], put: fn(&str, &str) -> String| {
        let of_line = |line| parts.iter().map(move |part| put(line, part));
        accepted.iter().flat_map(|line| of_line(*line)).collect()
    };
    vec![
        class("operators", 828, each(OPERATORS, |line, part| format!("{line}{part}"))),
        class("options", 1491, each(OPTIONS, |line, part| format!("{line} {part}"))),
        class("paths", 1480, paths()),
        class("programs", 628, each(PROGRAMS, |line, part| format!("{part}{line}"))),
        class("assignments", 492, each(ASSIGNMENTS, |line, part| format!("{part} {line}"))),
        class("quoting", 3068, quoted(accepted)),
        class("other", 111, odd(accepted)),
    ]
}

const OPERATORS: &[&str] = &[
    ";id",
    " ; id",
    "&id",
    " & id",
    "&",
    " || id",
    "||id",
    " | sh",
    "|sh",
    " |& cat",
    " && id",
    "&&id",
    " && cd ..",
    " && sh",
    " && PATH=. ls",
    " &&& ls",
    " && ",
    " ;; ls",
    "\nid",
    "\r\nid",
    " &| cat",
    " &! ls",
    " > b.txt",
    ">b.txt",
    " >> b.txt",
    " >| b.txt",
    " &> b.txt",
    " 2> b.txt",
    " 2>&1 > b.txt",
    " 2>/dev/null > b.txt",
    " < a.txt",
    " <<< a",
    " << E",
    " <(id)",
    " $(id)",
    " `id`",
    " (id)",
    " { id; }",
    " # id",
    " | tee b.txt",
    " | xargs rm",
    " 2>&1 | sh",
    " 2>&1 && id",
];

/// None of these is a flag that a rule lists, for whatever program.
const OPTIONS: &[&str] = &[
    "--output=b.txt",
    "--output b.txt",
    "-ob.txt",
    "--exec=id",
    "-exec id",
    "-execdir id",
    "-ok id",
    "-delete",
    "-fprint b.txt",
    "-fls b.txt",
    "--pre=sh",
    "--pre sh",
    "--pager=id",
    "--config=x",
    "--config x",
    "--configuration",
    "--conf=x",
    "--exec-path=x",
    "--files0-from=a.txt",
    "--file=a.txt",
    "--to-command=id",
    "--use-compress-program=id",
    "--compress-program=id",
    "--checkpoint-action=exec=id",
    "--rootdir=/",
    "--basetemp=.",
    "--target-dir=/tmp/x",
    "--manifest-path=x",
    "--script-shell=id",
    "--prefix=..",
    "-toolexec=id",
    "-vettool=id",
    "-modfile=x",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager=id",
    "--no-index",
    "--upload-pack=id",
    "--fix",
    "--open",
    "--help",
    "'--exec=id'",
    "\"--output=b.txt\"",
    "--out'put'=b.txt",
    "-\u{e9}",
];

const PROGRAMS: &[&str] = &[
    "./",
    "bin/",
    "../bin/",
    "/usr/bin/",
    "~/",
    "$HOME/",
    "''",
    "\"\"",
    "\\",
    "=",
    "%",
    "@",
    "+",
    "-",
    "own ",
    "sudo ",
    "doas ",
    "env ",
    "env -S ",
    "timeout 5 ",
    "nice ",
    "nohup ",
    "xargs ",
    "watch ",
    "busybox ",
    "command ",
    "builtin ",
    "exec ",
    "eval ",
    "time ",
    "coproc ",
    "noglob ",
    "sh -c ",
    "bash -lc ",
    "python3 -c ",
    "ssh localhost ",
    "npx ",
    "! ",
    "if ",
    "cd src && ",
    "cd src; ",
    "pushd src && ",
];

const ASSIGNMENTS: &[&str] = &[
    "A=1",
    "A+=1",
    "a[0]=1",
    "PATH=.",
    "PATH=bin:$PATH",
    "LD_PRELOAD=./x.so",
    "BASH_ENV=./x",
    "GIT_DIR=x",
    "GIT_PAGER=id",
    "GIT_EXTERNAL_DIFF=id",
    "RUSTC_WRAPPER=./x",
    "PYTHONPATH=.",
    "NODE_OPTIONS=--require=./x",
    "GOFLAGS=-toolexec=id",
    "export A=1;",
    "env A=1",
];

/// Commands that take a path.
const COMMANDS: &[&str] = &[
    "cat",
    "cat -n",
    "cat a.txt",
    "head",
    "head -n 5",
    "tail",
    "tail -3",
    "wc",
    "wc -l",
    "ls",
    "ls -la",
    "grep x",
    "grep -rn x",
    "grep -A 3 x",
    "find",
    "find src",
    "find . -newer",
    "rg x",
    "sort",
    "sort -n",
    "uniq",
    "tar -tf",
    "git diff",
    "git diff --",
    "git diff a.txt",
    "git log --",
    "git log -p",
    "git show",
    "git blame",
    "git status",
    "git ls-files",
    "git grep x",
    "pytest",
    "pytest -q",
    "pytest -x a.txt",
    "go test",
    "go test -v",
    "go vet",
    "go build",
    "go list",
    "gofmt -l",
    "cargo test",
    "cargo nextest run",
];

/// Paths that lead out of the worktree.
const PLACES: &[&str] = &[
    "..",
    "/",
    "../secret",
    "/etc/passwd",
    "//etc/passwd",
    "/etc/../etc/passwd",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/dev/stdin",
    "/sys/kernel",
    "link",
    "./link",
    "src/../link",
    "src/../../secret",
    "folder",
    "folder/passwd",
    "dangling",
    "a.txt/../../secret",
    "nothing/../../secret",
];

/// Each command with each path.
fn paths() -> BTreeSet<String> {
    let spelt = |command: &str, place: &str| {
        [
            format!("{command} {place}"),
            format!("{command} '{place}'"),
            format!("{command} \"{place}\" 2>&1"),
            format!("ls && {command} {place}"),
            format!("{command} {place} | head -5"),
        ]
    };
    let of_command = |command| PLACES.iter().flat_map(move |place| spelt(command, place));
    COMMANDS.iter().copied().flat_map(of_command).collect()
}

/// A character that shells read in their own way, before every character that is not between quotes.
fn quoted(accepted: &[&str]) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for line in accepted {
        let bare = line.find(['\'', '"']).unwrap_or(line.len());
        for at in 0..bare {
            let (before, behind) = line.split_at(at);
            for mark in ["\\", "$", "`", "$'", "*", "!"] {
                lines.insert(format!("{before}{mark}{behind}"));
            }
        }
        // Between quotes, or joined from them, a program's name is still a name, and aliases are not.
        let name = line.find(' ').unwrap_or(line.len());
        for at in 0..=name {
            let (before, behind) = line.split_at(at);
            lines.extend(["''", "\"\""].map(|mark| format!("{before}{mark}{behind}")));
        }
    }
    lines
}

/// Characters that are not what they look like, and blanks that are none.
fn odd(accepted: &[&str]) -> BTreeSet<String> {
    let marks = [
        "\r",
        "\u{b}",
        "\u{c}",
        "\0",
        "\u{1}",
        "\u{1b}[2K",
        "\u{7f}",
        "\u{85}",
        "\u{a0}",
        "\u{200b}",
        "\u{202e}",
        "\u{2028}",
        "\u{feff}",
        "\u{e0041}",
        "\u{430}",
    ];
    let put = |line: &str, mark: &str| {
        let name = line.find(' ').unwrap_or(line.len());
        let (before, behind) = line.split_at(name);
        [format!("{mark}{line}"), format!("{line}{mark}"), format!("{before}{mark}{behind}")]
    };
    let of_line = |line| marks.iter().flat_map(move |mark| put(line, mark));
    accepted.iter().flat_map(|line| of_line(*line)).collect()
}

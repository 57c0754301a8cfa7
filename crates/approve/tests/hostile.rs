//! Lines that want to be more than they look like. Not one of them may be accepted, with the rules
//! that glis comes with and with some that a user might add.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

#[path = "hostile/classes.rs"]
mod classes;
#[path = "hostile/enemy.rs"]
mod enemy;
#[path = "hostile/sets.rs"]
mod sets;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use glis_approve::{Author, Edits, Judge, Place, Request, Rule, Set, Settings, Verdict, Why};

/// Rules of a user who is used to these programs, and has listed the flags that only read.
const USERS: &str = r#"
[[rule]]
program = "rg"
letters = "inl"
arguments = ["word"]
rest = "path"
match = ["rg -n main src"]

[[rule]]
program = "sort"
letters = "nru"
rest = "path"
match = ["sort -n a.txt"]

[[rule]]
program = "uniq"
letters = "c"
arguments = ["path"]
match = ["uniq -c a.txt"]

[[rule]]
program = "echo"
rest = "word"
match = ["echo hello"]

[[rule]]
program = "tar"
flags = ["-tf"]
arguments = ["path"]
match = ["tar -tf a.tar"]

[[rule]]
program = "curl"
flags = ["--head"]
arguments = ["word"]
match = ["curl --head http://localhost"]
"#;

/// Each group is one way to be fooled.
const HOSTILE: &[(&str, &[&str])] = &[
    (
        "quoting",
        &[
            "r''g --pre=sh x",
            "'rg' x",
            "\"rg\" x",
            "r\"\"g x",
            "''rg x",
            "\\rm x",
            "r\\m x",
            "$'\\x72m' x",
            "$\"rm\" x",
            "l's' x",
            "ca\\t a.txt",
            "cat $'a'",
            "cat a\\ b",
            "cat \"a\\\"b\"",
            "cat \"$HOME\"",
            "cat \"a`id`\"",
            "cat \"a!b\"",
            "cat 'a",
            "cat \"a",
            "cat a'",
            "cat '",
        ],
    ),
    (
        "escapes in options",
        &[
            "find . -ex\\ec id",
            "find . -e\"xec\" id",
            "find . '-exec' id",
            "rg \\-\\-pre=sh x",
            "rg --p're'=sh x",
            "rg '--pre=sh' x",
            "grep \"-f\" x a.txt",
            "sort '-o' a.txt b.txt",
            "find . -exec\\ id",
            "tail '-f' a.txt",
            "ls \"--hyperlink\"",
        ],
    ),
    (
        "braces, globs, tilde, zsh",
        &[
            "rg {--pre=sh,x}",
            "cat {a,b}",
            "rg ?-pre=x.sh y",
            "cat *",
            "cat ***",
            "cat a*",
            "cat [a]",
            "cat ~",
            "cat ~root/x",
            "cat =ls",
            "cat ''=ls",
            "cat \"\"=ls",
            "=ls",
            "ls -- =rm",
            "cat ^a",
            "cat a#b~c",
            "cat *(e:id:)",
            "cat <->",
            "cat a(N)",
            "cat !(a)",
            "cat @(a|b)",
            "cat +(a)",
            "cat ~+/x",
            "cat %1 =a",
            "noglob cat a.txt",
            "nocorrect cat a.txt",
            "repeat 3 ls",
            "- ls",
        ],
    ),
    (
        "odd characters",
        &[
            "cat a\rb",
            "cat\ra.txt",
            "cat\u{b}a.txt",
            "cat\u{c}a.txt",
            "cat\u{a0}a.txt",
            "cat \u{2028}id",
            "cat a\0b",
            "cat \u{202e}txt.a",
            "c\u{430}t a.txt",
            "\u{ff4c}s",
            "cat \u{200b}a.txt",
            "cat a\u{e0041}",
            "cat \u{1b}[2Ka.txt",
            "cat 'a\u{1b}[31m'",
            "cat \u{7f}",
            "cat '\u{2028}'",
            "ls\u{85}id",
            "ls \u{2212}la",
            "ls \u{2013}la",
            "\u{feff}ls",
        ],
    ),
    (
        "several commands",
        &[
            "ls\nid",
            "ls\\\nid",
            "ls;id",
            "ls ; id",
            "ls ;; id",
            "ls|sh",
            "ls | sh",
            "ls |& sh",
            "ls&id",
            "ls & id",
            "ls && id",
            "ls || id",
            "! ls",
            "coproc ls",
            "{ ls; }",
            "(ls)",
            "ls() { id; }",
            "function ls { id; }",
            "((1))",
            "[[ a ]]",
            "[ a ]",
            "if ls",
            "while ls",
            "for a in b",
            "case a in",
            "time ls",
            "ls; # comment",
            "ls # comment",
            "#ls",
            "select a in b",
            "until ls",
        ],
    ),
    (
        "substitution",
        &[
            "cat $(id)",
            "cat `id`",
            "cat <(id)",
            "cat >(id)",
            "cat $((1))",
            "cat $[1]",
            "cat ${x}",
            "cat $x",
            "cat \"$(id)\"",
            "cat \"${x}\"",
            "$(ls)",
            "`ls`",
            "$x",
            "${x}",
            "cat $'a'",
            "cat a$",
        ],
    ),
    (
        "redirects and here-documents",
        &[
            "cat a.txt > b.txt",
            "cat a.txt >b.txt",
            "cat a.txt >> b.txt",
            "cat a.txt >| b.txt",
            "cat a.txt &> b.txt",
            "cat a.txt >& b.txt",
            "cat a.txt 2> b.txt",
            "cat a.txt 2>&1 b.txt",
            "cat a.txt 2>&1>b.txt",
            "cat a.txt 2>&1 >b.txt",
            "cat a.txt2>&1",
            "cat a.txt 2>&2",
            "cat a.txt 1>&2",
            "cat a.txt 2>>/dev/null",
            "cat a.txt 2>/dev/nullx",
            "cat a.txt 2>/dev/null/../x",
            "cat a.txt 2>/dev/tcp/localhost/1",
            "cat a.txt &>/dev/null",
            "2>&1 cat a.txt",
            "2>&1",
            "cat < a.txt",
            "cat <> a.txt",
            "cat <<EOF\nx\nEOF",
            "cat <<-EOF",
            "cat <<< a",
            "> a.txt",
            "cat a.txt 3>b.txt",
            "cat a.txt {fd}>b.txt",
            "ls >&-",
            "echo x >/dev/tcp/localhost/1",
        ],
    ),
    (
        "assignments",
        &[
            "PATH=. ls",
            "PATH=.:$PATH ls",
            "LD_PRELOAD=./x.so ls",
            "BASH_ENV=./x ls",
            "ENV=./x ls",
            "GIT_PAGER=id git log",
            "GIT_EXTERNAL_DIFF=id git diff",
            "A=1",
            "A=1 ls",
            "A+=1 ls",
            "a[0]=1 ls",
            "IFS=/ ls",
            "env ls",
            "env -S 'ls -la'",
            "env A=1 ls",
            "export A=1",
            "declare A=1",
            "typeset A=1",
            "readonly A=1",
            "local A=1",
            "unset PATH",
            "set -x",
        ],
    ),
    (
        "wrappers",
        &[
            "timeout 5 ls",
            "nice ls",
            "nohup ls",
            "xargs ls",
            "parallel ls",
            "watch ls",
            "script -c ls",
            "flock a.txt ls",
            "setsid ls",
            "busybox ls",
            "sudo ls",
            "doas ls",
            "command ls",
            "command -p ls",
            "builtin pwd",
            "exec ls",
            "eval ls",
            "source a.txt",
            ". a.txt",
            "stdbuf -o0 ls",
            "ionice ls",
            "chroot . ls",
            "unshare ls",
            "strace ls",
            "time -p ls",
            "su -c ls",
            "ssh localhost ls",
            "runuser -u x ls",
            "systemd-run ls",
            "at now",
            "trap ls EXIT",
        ],
    ),
    (
        "interpreters",
        &[
            "sh -c id",
            "bash -c id",
            "sh a.txt",
            "bash a.txt",
            "python -c 'print(1)'",
            "python3 a.txt",
            "perl -e 'print 1'",
            "ruby -e 1",
            "node -e 1",
            "awk 'BEGIN{system(\"id\")}'",
            "awk 1 a.txt",
            "sed -n 1e a.txt",
            "sed 'w b.txt' a.txt",
            "sed -i s/a/b/ a.txt",
            "sed -n p a.txt",
            "vim -c ':!id'",
            "ex -c q",
            "ed a.txt",
            "emacs --batch",
            "php -r 1",
            "lua -e 1",
            "jq . a.txt",
            "make",
            "npm test",
            "cargo test",
            "go test",
            "pytest",
            "eslint .",
            "m4 a.txt",
            "bc",
        ],
    ),
    (
        "programs that run programs or write",
        &[
            "tar --checkpoint-action=exec=id a.tar",
            "tar -tf a.tar --to-command=id",
            "tar -xf a.tar",
            "tar -tfI id a.tar",
            "sort --compress-program=id a.txt",
            "sort -o b.txt a.txt",
            "sort -ob.txt a.txt",
            "sort --output=b.txt a.txt",
            "sort -T . a.txt",
            "uniq a.txt b.txt",
            "git -c core.pager=id log",
            "git log",
            "git diff --ext-diff",
            "git diff --output=b.txt",
            "git status",
            "git grep -O id",
            "man -P id ls",
            "find . -fprintf b.txt x",
            "find . -exec id",
            "find . -execdir id",
            "find . -ok id",
            "find . -okdir id",
            "find . -delete",
            "find . -fls b.txt",
            "find . -fprint b.txt",
            "find . -fprint0 b.txt",
            "find . -files0-from a.txt",
            "find -L .",
            "find -H .",
            "find . -follow",
            "rg --pre=sh x",
            "rg --pre sh x",
            "rg --hostname-bin=id x",
            "rg -z x",
            "rg -f a.txt",
            "rg --files",
            "curl -o b.txt http://localhost",
            "curl --output b.txt http://localhost",
            "curl --head -K a.txt",
            "curl -T a.txt http://localhost",
            "ssh -o ProxyCommand=id x",
            "less a.txt",
            "more a.txt",
            "view a.txt",
            "tee b.txt",
            "dd of=b.txt",
            "cp a.txt b.txt",
            "mv a.txt b.txt",
            "ln a.txt b.txt",
            "touch b.txt",
            "chmod +x a.txt",
            "mkdir x",
            "rmdir x",
            "truncate -s 0 a.txt",
            "split a.txt",
            "patch a.txt",
            "kill 1",
            "wc --files0-from=a.txt",
            "ls --color=always --time-style=+%s",
            "grep -f a.txt a.txt",
            "grep -e x /etc/passwd",
            "grep -R x .",
            "grep --file=a.txt x",
            "grep -rf a.txt",
            "grep --fil=a.txt x",
            "tail -f a.txt",
            "tail -F a.txt",
            "tail --follow a.txt",
            "tail --retry a.txt",
            "tail --foll a.txt",
            "head -n -5 a.txt",
        ],
    ),
    (
        "paths out of the worktree",
        &[
            "cat ../secret",
            "cat /etc/passwd",
            "cat //etc/passwd",
            "cat /proc/self/environ",
            "cat /proc/self/root/etc/passwd",
            "cat link",
            "cat folder/passwd",
            "cat ./link",
            "cat src/../link",
            "cat src/../../secret",
            "cat dangling",
            "ls ..",
            "ls /",
            "ls folder",
            "find / -name x",
            "find .. -name x",
            "find folder -name x",
            "find . -newer /etc/passwd",
            "grep x /etc/passwd",
            "grep -r x folder",
            "grep -r x ..",
            "head -n 1 link",
            "tail -n 1 link",
            "wc -l link",
            "cat a.txt link",
            "cat /dev/stdin",
            "cat /sys/kernel",
            "cat nothing/../../secret",
            "cat -",
            "cat a.txt/../../secret",
            "cat ''",
            "rg x link",
            "tar -tf link",
            "sort link",
            "cat -- a.txt",
        ],
    ),
    (
        "programs where the agent writes",
        &[
            "./ls",
            "./cat a.txt",
            "bin/ls",
            "../bin/ls",
            "/bin/ls",
            "/usr/bin/ls",
            "own a.txt",
            "own",
            "bin/own",
            "./bin/own a.txt",
            "LS",
            "Cat a.txt",
            "ls.",
            "cat. a.txt",
        ],
    ),
    ("too much", &["ls --all-of-it", "pwd x", "true x", "pwd -x", "true --help", "ls -la --sort"]),
];

/// Lines that a person would not want to be asked about.
const PLAIN: &[&str] = &[
    "ls",
    "ls -la",
    "ls -l -a src",
    "cat a.txt",
    "cat -n src/main.rs a.txt",
    "head -n 20 a.txt",
    "tail -n 3 src/main.rs",
    "wc -l a.txt",
    "grep -rn 'fn main' src",
    "grep -c x a.txt",
    "grep '$x\\(' a.txt",
    "find . -name '*.rs' -type f",
    "find src -maxdepth 2",
    "pwd",
    "true",
    "cat new.txt",
    "cat inner",
    "cat \"a.txt\"",
    "cat src/../a.txt",
    "rg -in main src",
    "sort -nr a.txt",
    "uniq -c a.txt",
    "echo hello 'a b'",
    "tar -tf a.tar",
    "echo a=b",
    "head -5 a.txt",
    "tail -20 src/main.rs",
    "cat a.txt 2>&1",
    "ls src 2>/dev/null",
];

/// Lines of plain commands behind each other, and the rules that accept them.
const PIPES: &[(&str, &str)] = &[
    ("cat a.txt | head -5", "cat | head"),
    ("cat a.txt|wc -l", "cat | wc"),
    (
        "grep -rn 'a|b' src | sort -u | uniq -c | sort -rn | head -n 3",
        "grep | sort | uniq | sort | head",
    ),
    ("ls -la | grep -v x", "ls | grep"),
    ("find . -name '*.rs' | wc -l", "find | wc"),
    ("rg -n main src | tail -20", "rg | tail"),
    ("cat a.txt 2>&1 | tail -n 3", "cat | tail"),
    ("ls && cat a.txt", "ls && cat"),
    ("ls -la 2>/dev/null | wc -l && rg main src 2>&1 | head -5", "ls | wc && rg | head"),
];

/// What may not stand before an `&&`: rules of a user's, which may change what is found behind it.
const BEFORE: &[&str] = &[
    "rg main src",
    "sort a.txt",
    "ls && sort a.txt",
    "rg main src | head -5",
    "tar -tf a.tar",
    "curl --head http://localhost",
];

/// What may not stand behind one.
const BEHIND: &[&str] = &[
    "sh",
    "bash",
    "cat a.txt",
    "head -n 5 a.txt",
    "grep x a.txt",
    "cat -",
    "tee b.txt",
    "xargs cat",
    "xargs",
    "rg x",
    "echo x",
    "tar -tf a.tar",
    "curl --head http://localhost",
    "find .",
    "ls",
    "pwd",
    "true",
    "sort -o b.txt",
    "sort a.txt",
    "uniq a.txt b.txt",
    "tail -f",
    "python3",
    "own",
    "./cat",
    "&& id",
    "| id",
    "& id",
    "cat > b.txt",
    "cat ; id",
    "cat $(id)",
    "cat\nid",
    "(cat)",
    "a=b cat",
    "'cat'",
    "eval id",
    "",
    "while read x",
];

#[derive(serde::Deserialize)]
struct Rules {
    rule: Vec<Rule>,
}

/// Programs that the sets are about.
const OF_SETS: [&str; 6] = ["git", "cargo", "npm", "pytest", "go", "gofmt"];

struct Ground {
    root: tempfile::TempDir,
    judge: Judge,
}

impl Ground {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(sets: &[Set]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("tree");
        fs::create_dir_all(tree.join("src")).unwrap();
        fs::create_dir_all(tree.join("bin")).unwrap();
        for file in ["a.txt", "b.txt", "a.tar", "src/main.rs", "../secret"] {
            fs::write(tree.join(file), "x").unwrap();
        }
        git(&tree, &["init", "-q"]);
        git(&tree, &["add", "src", "a.txt"]);
        // Programs that exist, whatever this machine has; and some that the agent has written.
        let programs = root.path().join("programs");
        fs::create_dir(&programs).unwrap();
        let rules: Rules = toml::from_str(USERS).unwrap();
        let listed = rules.rule.iter().map(|rule| rule.program.as_str());
        for name in listed
            .chain(["ls", "cat", "head", "tail", "wc", "grep", "find", "pwd", "true"])
            .chain(OF_SETS)
        {
            program(&programs.join(name));
        }
        program(&tree.join("bin/own"));
        symlink("../secret", tree.join("link")).unwrap();
        symlink("/etc", tree.join("folder")).unwrap();
        symlink("nowhere", tree.join("dangling")).unwrap();
        symlink("src/main.rs", tree.join("inner")).unwrap();
        for rule in &rules.rule {
            assert_eq!(rule.check(), Ok(()), "{}", rule.program);
        }
        // Without patterns: what they reject is not what keeps these lines out.
        let settings = Settings {
            rules: rules.rule,
            sets: sets.to_vec(),
            reject: Vec::new(),
            edits: Edits::Tracked,
            ..Settings::default()
        };
        Self { root, judge: Judge::new(settings).unwrap() }
    }

    fn place(&self) -> Place {
        let tree = self.root.path().join("tree");
        let programs =
            std::env::join_paths([self.root.path().join("programs"), tree.join("bin")]).unwrap();
        Place::new(&tree, &tree, &programs).unwrap()
    }

    fn verdict(&self, line: &str) -> Verdict {
        self.judge.verdict(Request::Command(line), Some(&self.place()))
    }
}

fn git(tree: &Path, words: &[&str]) {
    let done = Command::new("git").args(words).current_dir(tree).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn program(file: &Path) {
    fs::write(file, "x").unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn no_hostile_line_is_accepted() {
    let ground = Ground::new();
    let mut count = 0;
    let mut seen = BTreeSet::new();
    for (group, lines) in HOSTILE.iter().chain(enemy::LINES) {
        for line in *lines {
            let verdict = ground.verdict(line);
            assert!(matches!(verdict, Verdict::Manual(_)), "{group}: {line:?}: {verdict:?}");
            // The same line in two groups is one line.
            count += usize::from(seen.insert(*line));
        }
    }
    let parts = |count: usize| vec!["ls"; count].join(" ; ");
    for line in [parts(51), parts(5000), format!("cat {}", "a".repeat(1 << 20)), "ls ".repeat(9000)]
    {
        assert!(matches!(ground.verdict(&line), Verdict::Manual(_)), "{} bytes", line.len());
        count += 1;
    }
    println!("{count} hostile lines, none accepted");
    assert!(count >= 600, "{count}");
}

#[test]
fn plain_lines_are_accepted_by_the_rule_for_their_program() {
    let ground = Ground::new();
    for line in PLAIN {
        let rule = line.split(' ').next().unwrap().to_owned();
        let verdict = ground.verdict(line);
        assert!(matches!(&verdict, Verdict::Accept { rule: by, .. } if *by == rule), "{line}");
    }
}

#[test]
fn plain_commands_in_a_row_are_accepted_where_each_is() {
    let ground = Ground::new();
    for (line, rules) in PIPES {
        let verdict = ground.verdict(line);
        assert!(
            matches!(&verdict, Verdict::Accept { rule, .. } if rule == rules),
            "{line}: {verdict:?}"
        );
        for before in BEFORE {
            let longer = format!("{before} && {line}");
            let verdict = ground.verdict(&longer);
            assert!(matches!(verdict, Verdict::Manual(Why::NotLast { .. })), "{longer}");
        }
        // The place of every one of them counts.
        let unplaced = ground.judge.verdict(Request::Command(line), None);
        assert_eq!(unplaced, Verdict::Manual(Why::NoPlace), "{line}");
        for behind in BEHIND {
            let longer = format!("{line} | {behind}");
            let verdict = ground.verdict(&longer);
            assert!(matches!(verdict, Verdict::Manual(_)), "{longer:?}: {verdict:?}");
        }
        for (group, lines) in HOSTILE.iter().chain(enemy::LINES) {
            for hostile in *lines {
                for longer in [
                    format!("{line} | {hostile}"),
                    format!("{hostile} | {line}"),
                    format!("{line} && {hostile}"),
                    format!("{hostile} && {line}"),
                    format!("{hostile} 2>&1"),
                    format!("{line} 2>&1 {hostile}"),
                ] {
                    let verdict = ground.verdict(&longer);
                    assert!(
                        matches!(verdict, Verdict::Manual(_)),
                        "{group}: {longer:?}: {verdict:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_command_that_a_rule_reads_whole_is_not_rejected_for_its_words() {
    let ground = Ground::new();
    let judge = Judge::new(Settings::default()).unwrap();
    let place = ground.place();
    let verdict = |line: &str| judge.verdict(Request::Command(line), Some(&place));
    for line in ["grep -rn remove src", "grep -rn 'delete_user' src", "cat removed.txt | head -5"] {
        assert!(matches!(verdict(line), Verdict::Accept { .. }), "{line}: {:?}", verdict(line));
    }
    // Nobody has said no to this, and the rule does not say yes.
    assert!(matches!(verdict("grep -rn remove /etc"), Verdict::Manual(Why::PathOutside { .. })));
    // A pattern of the user's may have been meant for it.
    let settings = Settings { reject: vec!["secret".to_owned()], ..Settings::default() };
    let own = Judge::new(settings).unwrap();
    let asked = own.verdict(Request::Command("cat secret.txt"), Some(&place));
    assert_eq!(asked, Verdict::Manual(Why::Rejectable { pattern: "secret".to_owned() }));
    for line in ["rm -rf x", "grep -rn remove src; id", "grep --delete x", "git push --delete x"] {
        assert!(matches!(verdict(line), Verdict::Reject { .. }), "{line}: {:?}", verdict(line));
    }
}

#[test]
fn a_hostile_word_behind_a_plain_line_makes_it_one_to_ask_about() {
    let ground = Ground::new();
    for line in PLAIN {
        for word in [
            ";id",
            "; id",
            "| sh",
            "&& id",
            "$(id)",
            "`id`",
            "> b.txt",
            "\nid",
            "--=",
            "-\u{e9}",
            "../secret/..",
            "{a,b}",
            "=ls",
            "*",
            "~",
            "\\",
        ] {
            let longer = format!("{line} {word}");
            // Whatever an echo or a pattern may say, it says only to itself.
            if word == "../secret/.." && ["echo", "pwd", "true"].iter().any(|p| line.starts_with(p))
            {
                continue;
            }
            let verdict = ground.verdict(&longer);
            assert!(matches!(verdict, Verdict::Manual(_)), "{longer:?}: {verdict:?}");
        }
    }
}

#[test]
fn with_every_set_the_everyday_lines_are_accepted_and_no_hostile_one() {
    let (ground, without) = (Ground::with(&Set::ALL), Ground::new());
    for line in sets::EVERYDAY {
        let verdict = ground.verdict(line);
        assert!(matches!(verdict, Verdict::Accept { .. }), "{line}: {verdict:?}");
        let none = without.verdict(line);
        assert!(matches!(none, Verdict::Manual(_)), "{line}: {none:?}");
    }
    let mut count = 0;
    let mut ask = |group: &str, line: &str| {
        let verdict = ground.verdict(line);
        assert!(matches!(verdict, Verdict::Manual(_)), "{group}: {line:?}: {verdict:?}");
        count += 1;
    };
    for (group, lines) in sets::LINES {
        lines.iter().for_each(|line| ask(group, line));
    }
    // What is hostile without the sets is so with them, but for the very lines that they are for.
    for (group, lines) in HOSTILE.iter().chain(enemy::LINES) {
        let others = lines.iter().filter(|line| !sets::EVERYDAY.contains(line));
        others.for_each(|line| ask(group, line));
    }
    for line in sets::EVERYDAY {
        for behind in sets::BEHIND {
            ask("behind", &format!("{line} {behind}"));
        }
        for before in sets::BEFORE {
            ask("before", &format!("{before}{line}"));
        }
    }
    println!("{count} hostile lines with every set, none accepted");
    assert!(count >= 5000, "{count}");
}

/// What is accepted is no way in: whatever is put into such a line makes it one to ask about.
#[test]
fn with_every_set_no_line_of_any_class_is_accepted() {
    let ground = Ground::with(&Set::ALL);
    let joined = PIPES.iter().map(|(line, _)| *line);
    let accepted: Vec<&str> = PLAIN.iter().chain(sets::EVERYDAY).copied().chain(joined).collect();
    let mut all = 0;
    for class in classes::of(&accepted) {
        for line in &class.lines {
            let verdict = ground.verdict(line);
            assert!(matches!(verdict, Verdict::Manual(_)), "{}: {line:?}: {verdict:?}", class.name);
        }
        println!("{}: {} lines, none accepted", class.name, class.lines.len());
        assert!(class.lines.len() >= class.least, "{}: {}", class.name, class.lines.len());
        all += class.lines.len();
    }
    assert!(all >= 8098, "{all}");
}

/// Git is asked about wherever it could run what the agent has written.
#[test]
fn git_is_accepted_only_where_its_settings_are_not_the_agents() {
    let about = |change: &dyn Fn(&Path)| {
        let ground = Ground::with(&[Set::GitRead]);
        let tree = ground.root.path().join("tree");
        change(&tree);
        let verdict = ground.verdict("git status");
        if let Verdict::Manual(Why::Git { about }) = verdict {
            about
        } else {
            format!("{verdict:?}")
        }
    };
    assert!(about(&|_| ()).starts_with("Accept"));
    assert_eq!(
        about(&|tree| git(tree, &["config", "core.hooksPath", ".husky/_"])),
        "hooksPath = .husky/_"
    );
    assert_eq!(
        about(&|tree| git(tree, &["config", "core.fsmonitor", "./watch"])),
        "fsmonitor = ./watch"
    );
    assert!(about(&|tree| git(tree, &["config", "core.fsmonitor", "true"])).starts_with("Accept"));
    let submodule = |tree: &Path| {
        let commit = "160000,4b825dc642cb6eb9a060e54bf8d69288fbee4904,sub";
        git(tree, &["update-index", "--add", "--cacheinfo", commit]);
    };
    assert_eq!(about(&submodule), "submodule sub");
    assert_eq!(
        about(&|tree| git(tree, &["update-index", "--split-index"])),
        "its index cannot be read"
    );
    let moved = |tree: &Path| {
        fs::rename(tree.join(".git"), tree.join("src/git")).unwrap();
        fs::write(tree.join(".git"), "gitdir: src/git\n").unwrap();
    };
    assert_eq!(about(&moved), "the worktree has no repository");
    // A repository elsewhere, which the agent could have made, is not the one that the worktree is of.
    let ground = Ground::with(&[Set::GitRead]);
    let (main, evil) = (ground.root.path().join("tree"), ground.root.path().join("evil"));
    let other = ground.root.path().join("other");
    git(&main, &["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"]);
    git(&main, &["worktree", "add", "-q", other.to_str().unwrap()]);
    let programs = ground.root.path().join("programs");
    let status = || {
        let place = Place::new(&other, &other, programs.as_os_str()).unwrap().of_repository(&main);
        ground.judge.verdict(Request::Command("git status"), Some(&place))
    };
    assert!(matches!(status(), Verdict::Accept { .. }), "{:?}", status());
    fs::create_dir(&evil).unwrap();
    git(&evil, &["init", "-q"]);
    fs::write(other.join(".git"), format!("gitdir: {}\n", evil.join(".git").display())).unwrap();
    assert!(matches!(status(), Verdict::Manual(Why::Git { .. })), "{:?}", status());
    // Below the root another repository may be found first, a bare one among them.
    let ground = Ground::with(&[Set::GitRead]);
    let tree = ground.root.path().join("tree");
    let place =
        Place::new(&tree, &tree.join("src"), ground.root.path().join("programs").as_os_str())
            .unwrap();
    let below = ground.judge.verdict(Request::Command("git status"), Some(&place));
    assert!(matches!(below, Verdict::Manual(Why::Git { .. })), "{below:?}");
}

#[test]
fn a_prompt_is_judged_by_its_text_and_never_a_command_or_an_edit() {
    let ground = Ground::new();
    let judge = Judge::new(Settings::default()).unwrap();
    let place = ground.place();
    let accepted = |rule: &str| Verdict::Accept { rule: rule.to_owned(), author: Author::Glis };
    let rejected = |rule: &str| Verdict::Reject { rule: rule.to_owned(), author: Author::Glis };
    let verdict = |request| judge.verdict(request, Some(&place));
    let prompt = |text| verdict(Request::Prompt(text));
    assert_eq!(prompt("Do you want to proceed?"), accepted(r"Do you want to proceed\?"));
    assert_eq!(prompt("Overwrite? [Y/n]"), accepted(r"\[Y/n\]"));
    assert_eq!(prompt("Remove it? [Y/n]"), rejected("delete|remove|rm -rf"));
    assert!(matches!(prompt("Sure? (yes/no)"), Verdict::Manual(_)));
    for text in ["Do you want to proceed?", "Continue?", "[Y/n]", "Press Enter to continue"] {
        for request in [Request::Command(text), Request::Edit(text), Request::Other(text)] {
            assert!(matches!(verdict(request), Verdict::Manual(_)), "{request:?}");
        }
    }
    assert_eq!(verdict(Request::Command("rm -rf x")), rejected("delete|remove|rm -rf"));
    assert!(matches!(verdict(Request::Edit("a.txt")), Verdict::Manual(_)), "edits are off");
    let edit = ground.judge.verdict(Request::Edit("a.txt"), Some(&place));
    assert_eq!(edit, Verdict::Accept { rule: "edits".to_owned(), author: Author::User });
    assert!(Place::new(Path::new("/nonexistent"), Path::new("/"), OsStr::new("")).is_err());
}

#[test]
fn nothing_is_accepted_at_a_place_that_is_unknown_or_elsewhere() {
    let ground = Ground::new();
    let manual = |why| Verdict::Manual(why);
    for line in ["ls", "pwd", "cat a.txt", "grep -rn x"] {
        let verdict = ground.judge.verdict(Request::Command(line), None);
        assert_eq!(verdict, manual(Why::NoPlace), "{line}");
        let tree = ground.root.path().join("tree");
        let programs = ground.root.path().join("programs");
        let place = Place::new(&tree, ground.root.path(), programs.as_os_str()).unwrap();
        let verdict = ground.judge.verdict(Request::Command(line), Some(&place));
        assert_eq!(verdict, manual(Why::PathOutside { path: ".".to_owned() }), "{line}");
    }
    assert_eq!(ground.judge.verdict(Request::Edit("a.txt"), None), manual(Why::NoPlace));
}

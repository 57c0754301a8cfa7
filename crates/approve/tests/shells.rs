//! The lexer against the shells that are installed: a line that it reads has the same words in each.
//!
//! `GLIS_LINES=1000000 cargo test -p glis-approve --release --test shells` takes more of them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]
#![expect(clippy::print_stderr, reason = "a shell that was left out is named")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use glis_approve::{Joint, argv, commands};

/// Prints its words, a line each.
const PRINTF: &str = "[ $# = 0 ] || printf '>%s\\n' \"$@\"";

/// The same where `printf` is a program.
const PRINT: &str = "for w in \"$@\"; do print -r -- \">$w\"; done";

/// The shells, without what a user has configured, and how each prints the words it is given.
const SHELLS: &[(&str, &[&str], &str)] = &[
    ("bash", &["bash", "--norc", "--noprofile"], PRINTF),
    ("dash", &["dash"], PRINTF),
    ("zsh", &["zsh", "-f"], PRINTF),
    ("busybox", &["busybox", "ash"], PRINTF),
    ("mksh", &["mksh"], PRINT),
];

/// What a generated line calls; no shell has it built in.
const PROGRAM: &str = "probe";

/// What it calls behind a `|`: prints what it reads, and then its words.
const BEHIND: &str = "relay";

/// What lines are made of: mostly plain, so that many are read, and often not.
const PIECES: &[&str] = &[
    " ", " ", " ", "  ", "\t", "a", "b1", "-x", "--long", "--a=b", "=", "=ls", "/", ".", "..",
    "./", ":", "@", "%", "+", ",", "-", "_", "''", "\"\"", "'a b'", "\"c d\"", "'$x'", "'`id`'",
    "'\\n'", "'*'", "\"*\"", "\"?\"", "\"'\"", "'\"'", "\"~\"", "'!'", "\"#\"", "'#'", "1", "2",
    "%1", "a=b", "if", "then", "time", "ls", "\"", "'", "\\", "$x", "`", "*", "?", "[a]", "{a,b}",
    "~", "#", "!", "!!", "^", "&", "|", ";", "<", ">", "(", ")", "\n", "\r", "\u{b}", "\u{c}",
    "\u{a0}", "\u{1}", "\u{7f}", "\u{2028}", "***", "@(a)", "\"$x\"", "\"\\\\\"", "\"!\"", "\"`\"",
    "2>x", "&&", "=a", "2>&1",
];

/// Numbers that are the same for the same beginning (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }

    fn line(&mut self) -> String {
        let mut line = format!("{PROGRAM} ");
        for _ in 0..=self.below(6) {
            // The first half of the pieces is plain.
            let bound = if self.below(6) == 0 { PIECES.len() } else { PIECES.len() / 2 };
            line.push_str(PIECES[self.below(bound)]);
            match self.below(36) {
                0..=2 => line.push_str("|relay "),
                3 => line.push_str("&&probe "),
                4 => line.push_str(" 2>&1"),
                5 => line.push_str(" 2>/dev/null"),
                _ => {}
            }
        }
        line
    }
}

fn installed() -> Vec<&'static (&'static str, &'static [&'static str], &'static str)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    SHELLS.iter().filter(|(_, words, _)| is_there(words[0])).collect()
}

/// What a shell makes of all lines: each line's words, in order.
fn read_by(words: &[&str], print: &str, lines: &[String]) -> String {
    // A function is called with the words that a program would get, and costs no process.
    let copy = if print == PRINT { "print -r --" } else { "printf '%s\\n'" };
    let mut script = format!(
        "PATH=/nonexistent x=EXPANDED; probe() {{ echo '<'; {print}; }}\n\
         relay() {{ while IFS= read -r line; do {copy} \"$line\"; done; echo '<'; {print}; }}\n"
    );
    for line in lines {
        script.push_str(line);
        script.push('\n');
    }
    let (program, arguments) = words.split_first().unwrap();
    let mut shell = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = shell.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = shell.wait_with_output().unwrap();
    writer.join().unwrap().ok();
    let told = String::from_utf8_lossy(&output.stderr);
    format!("{}{told}", String::from_utf8_lossy(&output.stdout))
}

/// The same, by the lexer.
fn read_by_us(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        for command in commands(line).unwrap() {
            text.push_str("<\n");
            for word in command.words.iter().skip(1) {
                writeln!(text, ">{word}").ok();
            }
        }
    }
    text
}

#[test]
fn every_shell_reads_a_plain_line_as_we_do() {
    let shells = installed();
    let names: Vec<_> = shells.iter().map(|(name, ..)| *name).collect();
    let wanted = std::env::var("GLIS_LINES").ok().and_then(|text| text.parse().ok());
    let wanted: usize = wanted.unwrap_or(10_000);
    let fresh = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    for seed in [0x9e37_79b9_7f4a_7c15, u64::from(fresh) << 1 | 1] {
        println!("shells: {names:?}, seed: {seed}, lines: {wanted}");
        let mut chance = Chance(seed);
        let mut refused = BTreeSet::new();
        let (mut taken, mut joined, mut redirected) = (0, 0, 0);
        while taken < wanted {
            let mut lines = Vec::new();
            while lines.len() < 1000 {
                let line = chance.line();
                let Ok(commands) = commands(&line) else {
                    refused.insert(line);
                    continue;
                };
                // Whatever else stands behind a `|` or an `&&` is no function of this test.
                let ours = commands.iter().all(|command| match command.joint {
                    Joint::First | Joint::And => command.words[0] == PROGRAM,
                    Joint::Pipe => command.words[0] == BEHIND,
                });
                if ours {
                    joined += usize::from(commands.len() > 1);
                    redirected += usize::from(line.contains(" 2>"));
                    lines.push(line);
                }
            }
            taken += lines.len();
            for (name, words, print) in &shells {
                compare(name, &lines, |lines| read_by(words, print, lines));
            }
        }
        assert!(joined > wanted / 10, "hardly any line has a `|` or `&&`: {joined}");
        assert!(redirected > wanted / 100, "hardly any line is redirected: {redirected}");
        assert!(refused.len() > wanted / 10, "hardly any line is hostile: {}", refused.len());
    }
    let missing = SHELLS.iter().map(|(name, ..)| *name).filter(|name| !names.contains(name));
    missing.for_each(left_out);
}

/// Notes that a shell is not here; fails on a build server, where it could have been installed.
/// `cargo xtask test` counts these notes: a line each, its fields parted by tabs.
fn left_out(shell: &str) {
    let why = format!("{shell} is not installed");
    eprintln!("SKIPPED: {why}");
    if let Some(notes) = std::env::var_os("GLIS_SKIPS") {
        let mut file = std::fs::File::options().append(true).create(true).open(notes).unwrap();
        let line = format!("every_shell_reads_a_plain_line_as_we_do\t{shell}\t{why}\n");
        file.write_all(line.as_bytes()).unwrap();
    }
    let server = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    assert!(!server, "{why}, although CI is set");
}

/// Names the first line that a shell reads in another way.
fn compare(shell: &str, lines: &[String], read: impl Fn(&[String]) -> String) {
    if read(lines) == read_by_us(lines) {
        return;
    }
    for line in lines {
        let one = std::slice::from_ref(line);
        assert_eq!(read(one), read_by_us(one), "{shell} reads {line:?} in another way");
    }
    panic!("{shell} reads the lines together in another way than one by one");
}

#[test]
fn a_word_that_a_shell_keeps_for_itself_is_no_program() {
    // Words that are read as a program's name and call nothing of that name are found out by a
    // function of that name which is not called.
    for (shell, words, _) in installed() {
        for word in ["if", "while", "time", "coproc", "function", "repeat", "noglob", "foreach"] {
            let called = Command::new(words[0])
                .args(&words[1..])
                .arg("-c")
                .arg(format!("PATH=/nonexistent; {word} here"))
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&called.stderr);
            let a_program = told.contains("not found") && told.contains(word);
            assert!(a_program || argv(&format!("{word} here")).is_err(), "{shell}: {word}: {told}");
        }
    }
}

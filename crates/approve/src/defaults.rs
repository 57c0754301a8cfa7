//! The rules that glis comes with: programs that read, and read no configuration from where the
//! agent writes.
//!
//! git, rg, make, cargo and the like are not among them: each runs programs that a file in the
//! worktree names.

use crate::kind::Kind;
use crate::rule::Rule;

/// Programs of the rules below that print what they read, or some of it, and may stand behind a `|`.
pub(crate) const FILTERS: [&str; 7] = ["cat", "grep", "head", "sort", "tail", "uniq", "wc"];

/// The rules without any configuration.
pub(crate) fn rules() -> Vec<Rule> {
    vec![
        read("ls", "1AFRSadhilnrst", &["ls", "ls -la src"], &["ls --hyperlink", "ls /etc"]),
        read("cat", "AETbenstv", &["cat -n src/main.rs"], &["cat ../x", "cat /etc/passwd"]),
        lines("head", &["head -n 20 a.txt"], &["head -n -5 a.txt"]),
        lines("tail", &["tail -n 20 a.txt"], &["tail -f a.txt", "tail --pid=1 a.txt"]),
        read("wc", "Lclmw", &["wc -l a.txt"], &["wc --files0-from=a.txt"]),
        grep(),
        // A second file of `uniq` would be written, and `sort` sorts large ones in files of its own.
        plain("sort", "bdfghinruV", &["sort -rn"], &["sort -o a", "sort a"]),
        plain("uniq", "cdiu", &["uniq -c"], &["uniq a", "uniq a b"]),
        find(),
        alone("pwd", "LP"),
        alone("true", ""),
    ]
}

fn read(program: &str, letters: &str, allowed: &[&str], refused: &[&str]) -> Rule {
    Rule { rest: Some(Kind::Path), ..plain(program, letters, allowed, refused) }
}

fn lines(program: &str, allowed: &[&str], refused: &[&str]) -> Rule {
    let values = values(&["-", "-n", "-c", "--lines=", "--bytes="], Kind::Number).collect();
    Rule { values, ..read(program, "qv", allowed, refused) }
}

fn alone(program: &str, letters: &str) -> Rule {
    plain(program, letters, &[program], &[&format!("{program} x")])
}

/// `-e` would make a file of the first argument, `-f` reads patterns from one, `-R` follows links.
fn grep() -> Rule {
    let allowed = ["grep -rn 'fn main' src", "grep -c --include='*.rs' x a.rs", "grep -A 3 x a"];
    let refused = ["grep -f x a", "grep -e x a", "grep -R x .", "grep x /etc/passwd", "grep"];
    let numbers = values(&["-A", "-B", "-C", "-m"], Kind::Number);
    let words = values(&["--include=", "--exclude=", "--exclude-dir="], Kind::Word);
    Rule {
        values: numbers.chain(words).collect(),
        arguments: vec![Kind::Word],
        ..read("grep", "EFHchilnorsvwx", &allowed, &refused)
    }
}

/// Its tests, and none of its actions but printing.
fn find() -> Rule {
    let allowed = ["find . -name '*.rs' -type f", "find src -maxdepth 2 -not -empty -print"];
    let refused = ["find . -exec id", "find . -delete", "find -L .", "find . -fprint x", "find /"];
    let words = values(&["-name", "-iname", "-path", "-ipath", "-type", "-size"], Kind::Word);
    let numbers = values(&["-maxdepth", "-mindepth"], Kind::Number);
    let paths = values(&["-newer"], Kind::Path);
    let flags = ["-print", "-print0", "-not", "-a", "-o", "-and", "-or", "-empty"];
    Rule {
        values: words.chain(numbers).chain(paths).collect(),
        flags: flags.map(str::to_owned).to_vec(),
        ..read("find", "", &allowed, &refused)
    }
}

fn values(flags: &[&str], kind: Kind) -> impl Iterator<Item = (String, Kind)> {
    flags.iter().map(move |flag| ((*flag).to_owned(), kind.clone()))
}

fn plain(program: &str, letters: &str, allowed: &[&str], refused: &[&str]) -> Rule {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    Rule {
        program: program.to_owned(),
        letters: letters.to_owned(),
        flags: Vec::new(),
        values: values(&[], Kind::Word).collect(),
        arguments: Vec::new(),
        rest: None,
        r#match: lines(allowed),
        not_match: lines(refused),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_means_what_it_shows() {
        for rule in rules() {
            assert_eq!(rule.check(), Ok(()), "{}", rule.program);
            assert!(!rule.not_match.is_empty(), "{}", rule.program);
            assert_eq!(crate::barred::barred(&rule), None, "{}", rule.program);
        }
    }
}

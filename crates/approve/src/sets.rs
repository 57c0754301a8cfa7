//! Rules that come with glis and count where they are switched on: what people let an agent do who let it
//! work on their code at all.
//!
//! docs/auto-yes.md says of each what it may start, and which files of the worktree it trusts. A set lists
//! commands by name, and of their flags none that names a program, a file to be written or further settings.

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::rule::Rule;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Set {
    /// What git tells about the repository.
    GitRead,
    /// Builds and tests of Rust.
    Cargo,
    /// Scripts of a package of JavaScript.
    Npm,
    Pytest,
    /// Builds and tests of Go.
    Go,
}

impl Set {
    pub const ALL: [Self; 5] = [Self::GitRead, Self::Cargo, Self::Npm, Self::Pytest, Self::Go];

    pub(crate) fn rules(self) -> Vec<Rule> {
        let listed = match self {
            Self::GitRead => GIT_READ,
            Self::Cargo => CARGO,
            Self::Npm => NPM,
            Self::Pytest => PYTEST,
            Self::Go => GO,
        };
        listed.iter().map(Listed::rule).collect()
    }
}

/// What a rule lists, words apart by blanks.
#[derive(Clone, Copy)]
struct Listed {
    program: &'static str,
    /// For each argument, the words that it may be.
    arguments: &'static [&'static str],
    letters: &'static str,
    flags: &'static [&'static str],
    numbers: &'static str,
    words: &'static str,
    rest: Option<&'static Kind>,
    allowed: &'static [&'static str],
    refused: &'static [&'static str],
}

/// In the place of an argument that may be any word.
const ANY: &str = "";

const NOTHING: Listed = Listed {
    program: "",
    arguments: &[],
    letters: "",
    flags: &[],
    numbers: "",
    words: "",
    rest: None,
    allowed: &[],
    refused: &[],
};

impl Listed {
    fn rule(&self) -> Rule {
        let list = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let argument =
            |words: &&str| if *words == ANY { Kind::Word } else { Kind::OneOf(list(words)) };
        let numbers = list(self.numbers).into_iter().map(|flag| (flag, Kind::Number));
        let words = list(self.words).into_iter().map(|flag| (flag, Kind::Word));
        Rule {
            program: self.program.to_owned(),
            letters: self.letters.to_owned(),
            flags: self.flags.iter().flat_map(|flags| list(flags)).collect(),
            values: numbers.chain(words).collect(),
            arguments: self.arguments.iter().map(argument).collect(),
            rest: self.rest.cloned(),
            r#match: lines(self.allowed),
            not_match: lines(self.refused),
        }
    }
}

/// A name of git's that is no path of the worktree is a branch or a commit, and leads nowhere else; so both are
/// taken for a path.
const GIT: Listed = Listed { program: "git", rest: Some(&Kind::Path), ..NOTHING };

/// Of commands that would make, change or remove something with a further word.
const GIT_ALONE: Listed = Listed { rest: None, ..GIT };

/// Flags of everything that shows changes. Not among them: `--output`, `--ext-diff`, `--textconv`,
/// `--no-index`, `-O`, `--submodule`.
const CHANGES: &str = "-- --stat --shortstat --numstat --summary --name-only --name-status --raw --check \
    --no-color --color=never --word-diff --no-ext-diff --no-textconv --minimal --patience --histogram \
    --ignore-all-space --ignore-space-change --ignore-blank-lines --no-renames --no-patch --patch -M";

/// Formats that verify no signature: `%G?` would start a program for that.
const HISTORY: &str = "--oneline --graph --decorate --all --branches --tags --remotes --merges --no-merges \
    --first-parent --reverse --follow --abbrev-commit --date=short --date=iso --date=relative --pretty=oneline \
    --pretty=short --pretty=medium --pretty=full --pretty=fuller --format=oneline --format=short --format=medium \
    --format=full --format=fuller --format=%H --format=%h --format=%s --format=%B";

const GIT_READ: &[Listed] = &[
    Listed {
        arguments: &["status"],
        letters: "bs",
        flags: &[
            "-- --short --branch --porcelain --porcelain=v1 --porcelain=v2 --long --show-stash \
                --ignored -uno -uall -unormal --untracked-files=no --untracked-files=all",
        ],
        allowed: &["git status", "git status -sb", "git status --porcelain -- src"],
        refused: &[
            "git -c core.fsmonitor=x status",
            "git -C .. status",
            "git status ../x",
            "git -p status",
        ],
        ..GIT
    },
    Listed {
        arguments: &["diff"],
        letters: "Rbpsw",
        flags: &[CHANGES, "--cached --staged --exit-code --quiet --merge-base"],
        numbers: "--unified=",
        words: "--diff-filter=",
        allowed: &[
            "git diff",
            "git diff --stat main..HEAD -- src",
            "git diff --cached --name-only",
        ],
        refused: &[
            "git diff --output=x",
            "git diff --ext-diff",
            "git diff --no-index a /etc/passwd",
            "git diff /etc/passwd a",
            "git diff -Ox",
        ],
        ..GIT
    },
    Listed {
        arguments: &["log show"],
        letters: "bpsw",
        flags: &[CHANGES, HISTORY],
        numbers: "- -n --max-count= --skip= --unified=",
        words: "--since= --until= --after= --before= --author= --grep= --diff-filter= -S -G",
        allowed: &[
            "git log --oneline -10",
            "git show HEAD:src/main.rs",
            "git log -p -n 2 -- src",
            "git show --stat HEAD",
        ],
        refused: &[
            "git log --output=x",
            "git log --show-signature",
            "git show --format=%G?",
            "git show --textconv",
            "git log --ext-diff -p",
        ],
        ..GIT
    },
    Listed {
        arguments: &["blame"],
        letters: "elsw",
        flags: &["--"],
        words: "-L",
        allowed: &["git blame -L 1,20 src/main.rs"],
        refused: &["git blame --contents x a", "git blame ../x"],
        ..GIT
    },
    Listed {
        arguments: &["ls-files ls-tree"],
        letters: "dmorst",
        flags: &[
            "-- --cached --others --modified --deleted --stage --exclude-standard --name-only",
        ],
        allowed: &[
            "git ls-files src",
            "git ls-files -o --exclude-standard",
            "git ls-tree -r --name-only HEAD",
        ],
        refused: &["git ls-files --exclude-from=/etc/passwd", "git ls-files -X x"],
        ..GIT
    },
    Listed {
        arguments: &["rev-parse merge-base rev-list cat-file describe"],
        letters: "pqst",
        flags: &[
            "--show-toplevel --abbrev-ref --short --verify --git-dir --is-inside-work-tree --count \
                --all --tags --always --left-right",
        ],
        allowed: &[
            "git rev-parse --abbrev-ref HEAD",
            "git merge-base main HEAD",
            "git rev-list --count HEAD",
            "git cat-file -p HEAD",
        ],
        refused: &[
            "git cat-file --textconv HEAD:x",
            "git cat-file --filters HEAD:x",
            "git describe --dirty",
        ],
        ..GIT
    },
    Listed {
        arguments: &["grep", ANY],
        letters: "EFHIPhilnovw",
        flags: &["-- --count --name-only --ignore-case --line-number --word-regexp --cached"],
        numbers: "-A -B -C",
        allowed: &["git grep -n main", "git grep -in 'a b' -- src"],
        refused: &[
            "git grep -O x",
            "git grep -Oless x",
            "git grep --open-files-in-pager=id x",
            "git grep -f x",
            "git grep --no-index x /etc",
        ],
        ..GIT
    },
    Listed {
        arguments: &["branch"],
        letters: "arv",
        flags: &["--all --list --remotes --show-current --verbose --merged --no-merged"],
        allowed: &["git branch -vv", "git branch --show-current"],
        refused: &["git branch x", "git branch -D x", "git branch -D"],
        ..GIT_ALONE
    },
    Listed {
        arguments: &["remote"],
        letters: "v",
        flags: &["--verbose"],
        allowed: &["git remote -v"],
        refused: &["git remote update", "git remote add x y"],
        ..GIT_ALONE
    },
    Listed {
        arguments: &["tag"],
        letters: "l",
        flags: &["--list"],
        allowed: &["git tag", "git tag -l"],
        refused: &["git tag x", "git tag -d x"],
        ..GIT_ALONE
    },
    Listed {
        arguments: &["stash worktree", "list"],
        allowed: &["git stash list", "git worktree list"],
        refused: &["git stash", "git stash drop", "git stash pop", "git worktree add x"],
        ..GIT_ALONE
    },
    Listed {
        arguments: &["reflog"],
        numbers: "- -n",
        allowed: &["git reflog -5"],
        refused: &["git reflog expire", "git reflog delete x"],
        ..GIT_ALONE
    },
];

/// Not among the flags: `--config`, `-Z`, `--manifest-path`, `--target-dir`, `--fix`, `--open`.
const CARGO_FLAGS: &str = "-- --workspace --all --all-targets --all-features --no-default-features --release \
    --lib --bins --tests --examples --benches --doc --locked --offline --frozen --keep-going --quiet --verbose \
    --message-format=short --message-format=json --color=never --no-deps";

/// A part of a test's name is taken for a path, and leads nowhere.
const CARGO_BASE: Listed = Listed {
    program: "cargo",
    letters: "qv",
    numbers: "-j --jobs",
    words: "-p --package --exclude --features -F --bin --test --example --bench --profile",
    ..NOTHING
};

const CARGO: &[Listed] = &[
    Listed {
        arguments: &["build check doc"],
        flags: &[CARGO_FLAGS],
        allowed: &[
            "cargo check",
            "cargo build --release -p core",
            "cargo check --workspace --all-targets",
        ],
        refused: &[
            "cargo publish",
            "cargo install x",
            "cargo run",
            "cargo check --config x",
            "cargo build --target-dir x",
            "cargo +nightly check",
            "cargo -q check",
        ],
        ..CARGO_BASE
    },
    Listed {
        arguments: &["clippy"],
        flags: &[CARGO_FLAGS],
        words: "-p --package --features -F -A -D -W",
        allowed: &["cargo clippy --all-targets -- -D warnings"],
        refused: &["cargo clippy --fix", "cargo clippy --manifest-path x"],
        ..CARGO_BASE
    },
    Listed {
        arguments: &["test bench"],
        flags: &[
            CARGO_FLAGS,
            "--no-run --no-fail-fast --nocapture --ignored --include-ignored --exact --show-output",
        ],
        numbers: "-j --jobs --test-threads=",
        rest: Some(&Kind::Path),
        allowed: &[
            "cargo test",
            "cargo test -p core parses -- --nocapture",
            "cargo test --test e2e",
        ],
        refused: &["cargo test --config x", "cargo test -Z x", "cargo test --target-dir /tmp/x"],
        ..CARGO_BASE
    },
    Listed {
        arguments: &["nextest", "run list"],
        flags: &[CARGO_FLAGS, "--no-run --no-fail-fast --no-capture"],
        rest: Some(&Kind::Path),
        allowed: &["cargo nextest run -p core parses"],
        refused: &["cargo nextest run --config-file x", "cargo nextest self update"],
        ..CARGO_BASE
    },
    Listed {
        arguments: &["fmt"],
        flags: &["-- --all --check"],
        words: "-p --package",
        allowed: &["cargo fmt", "cargo fmt --all -- --check"],
        refused: &["cargo fmt -- --config-path x", "cargo fmt -- a.rs"],
        ..CARGO_BASE
    },
    Listed {
        arguments: &["metadata tree"],
        flags: &["--workspace --no-deps --locked --offline --duplicates"],
        numbers: "--depth --format-version",
        words: "-p --package -i --invert -e --edges",
        allowed: &["cargo tree --depth 1", "cargo metadata --no-deps --format-version 1"],
        refused: &["cargo metadata --config x"],
        ..CARGO_BASE
    },
];

const NPM_BASE: Listed = Listed {
    program: "npm",
    letters: "s",
    flags: &["--silent --if-present --workspaces"],
    words: "-w --workspace=",
    ..NOTHING
};

const NPM: &[Listed] = &[
    Listed {
        arguments: &["test"],
        allowed: &["npm test", "npm test --silent"],
        refused: &[
            "npm publish",
            "npm exec x",
            "npm install",
            "npm test --script-shell=x",
            "npm test -- x",
            "npm --prefix x test",
        ],
        ..NPM_BASE
    },
    Listed {
        arguments: &[
            "run run-script",
            "build check coverage format:check lint test test:unit tsc type-check typecheck",
        ],
        allowed: &["npm run lint", "npm run test:unit -w app"],
        refused: &["npm run deploy", "npm run", "npm run lint -- --fix", "npm run release"],
        ..NPM_BASE
    },
    Listed {
        arguments: &["ls"],
        flags: &["--all --json"],
        numbers: "--depth=",
        allowed: &["npm ls --depth=0"],
        refused: &["npm ls --global x", "npm link"],
        ..NPM_BASE
    },
];

/// Not among the flags: `-c`, `-p`, `-o`, `--rootdir`, `--basetemp` (which it empties), `--junitxml`, `@file`.
const PYTEST: &[Listed] = &[Listed {
    program: "pytest",
    letters: "lqsvx",
    flags: &[
        "--lf --ff --last-failed --failed-first --collect-only --co --no-header --exitfirst -ra -rA \
            --tb=short --tb=long --tb=line --tb=no --tb=native --quiet --verbose --stepwise",
    ],
    numbers: "-n --maxfail= --durations=",
    words: "-k -m",
    rest: Some(&Kind::Path),
    allowed: &[
        "pytest",
        "pytest -q tests/test_a.py::test_b",
        "pytest -x -k 'a and not b' --tb=short",
    ],
    refused: &[
        "pytest @x",
        "pytest -p x",
        "pytest -c x",
        "pytest --basetemp=x",
        "pytest --rootdir=/x",
        "pytest ../x",
        "pytest --pyargs x",
    ],
    ..NOTHING
}];

/// Not among the flags: `-exec`, `-toolexec`, `-vettool`, `-o`, `-C`, `-modfile`, `-overlay`, `-ldflags`, `-args`,
/// and those that write profiles.
const GO_BASE: Listed = Listed { program: "go", letters: "v", rest: Some(&Kind::Path), ..NOTHING };

const GO: &[Listed] = &[
    Listed {
        arguments: &["test"],
        flags: &["-race -short -cover -failfast -json -benchmem -mod=vendor -mod=readonly"],
        numbers: "-count= -count -p -p=",
        words: "-run -run= -bench -bench= -timeout -timeout= -tags -tags= -skip -skip=",
        allowed: &[
            "go test ./...",
            "go test -v -race -run TestA ./pkg/x",
            "go test -count=1 -timeout 30s ./...",
        ],
        refused: &[
            "go test -exec x ./...",
            "go test -c -o x",
            "go test ../x",
            "go test -coverprofile=x",
            "go test -toolexec x ./...",
            "go test ./... -args x",
        ],
        ..GO_BASE
    },
    Listed {
        arguments: &["build vet list fmt"],
        flags: &["-race -json -mod=vendor -mod=readonly"],
        words: "-tags -tags=",
        allowed: &["go build ./...", "go vet ./...", "go list ./...", "go fmt ./..."],
        refused: &[
            "go build -o /x",
            "go vet -vettool=x ./...",
            "go install ./...",
            "go run .",
            "go generate ./...",
            "go get x",
            "go build -toolexec=x",
            // It asks a server of the agent's choice.
            "go list -m example.org/x@v1",
        ],
        ..GO_BASE
    },
    Listed {
        arguments: &["version"],
        rest: None,
        allowed: &["go version"],
        refused: &["go env -w x", "go version x"],
        ..GO_BASE
    },
    Listed {
        program: "gofmt",
        letters: "dl",
        allowed: &["gofmt -l ."],
        refused: &["gofmt -w .", "gofmt -l ../x"],
        ..GO_BASE
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_means_what_it_shows() {
        for set in Set::ALL {
            let rules = set.rules();
            assert!(!rules.is_empty());
            for rule in rules {
                assert_eq!(rule.check(), Ok(()), "{rule:?}");
                assert_eq!(crate::barred::barred(&rule), None, "{rule:?}");
                assert!(!rule.not_match.is_empty(), "{rule:?}");
            }
        }
    }
}

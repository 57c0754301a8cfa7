//! What no rule may allow: programs that run whatever their words say, and any command of a program
//! that has some which cannot be undone.

use crate::commanded::{without_version, worst_command};
use crate::kind::Kind;
use crate::rule::Rule;

/// Why a rule is not used, however right its examples are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Barred {
    /// The program runs what its words say: what kind of program that is.
    Runner { kind: &'static str },
    /// Its first argument says what it does, and the rule takes any, this one at worst.
    AnyCommand { worst: &'static str },
    /// This command of it runs what the words behind it say.
    Command { command: String },
    /// This flag of it names a program that it runs.
    Flag { flag: String },
}

/// Programs for which a line of words is a program of its own, or the beginning of another line. A
/// number behind a name is its version: `python3.12`.
const RUNNERS: &[(&str, &[&str])] = &[
    (
        "a shell",
        &[
            "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh",
            "rbash", "sh", "tcsh", "toybox", "xonsh", "yash", "zsh",
        ],
    ),
    (
        "an interpreter",
        &[
            "awk",
            "bun",
            "clisp",
            "deno",
            "ed",
            "elixir",
            "emacs",
            "erl",
            "escript",
            "ex",
            "expect",
            "gawk",
            "gdb",
            "ghci",
            "groovy",
            "guile",
            "gvim",
            "iex",
            "ipython",
            "irb",
            "java",
            "jshell",
            "julia",
            "lldb",
            "lua",
            "luajit",
            "m4",
            "mawk",
            "mysql",
            "nawk",
            "node",
            "nodejs",
            "nvim",
            "ocaml",
            "octave",
            "osascript",
            "perl",
            "php",
            "psql",
            "pypy",
            "python",
            "racket",
            "Rscript",
            "ruby",
            "runghc",
            "rvim",
            "scala",
            "sed",
            "sqlite",
            "tclsh",
            "ts-node",
            "tsx",
            "vi",
            "view",
            "vim",
            "wish",
        ],
    ),
    (
        "a wrapper, which runs another program",
        &[
            "at",
            "batch",
            "bunx",
            "bwrap",
            "capsh",
            "chronic",
            "chroot",
            "chrt",
            "concurrently",
            "cpulimit",
            "crontab",
            "dbus-run-session",
            "direnv",
            "doas",
            "eatmydata",
            "emacsclient",
            "entr",
            "env",
            "fakeroot",
            "faketime",
            "firejail",
            "flock",
            "gosu",
            "hyperfine",
            "ionice",
            "ltrace",
            "mosh",
            "nice",
            "nix-shell",
            "nodemon",
            "nohup",
            "npx",
            "nsenter",
            "numactl",
            "parallel",
            "perf",
            "pkexec",
            "pnpx",
            "prlimit",
            "proot",
            "rlwrap",
            "rsh",
            "run-parts",
            "runcon",
            "runuser",
            "screen",
            "script",
            "sem",
            "setarch",
            "setpriv",
            "setsid",
            "sg",
            "socat",
            "ssh",
            "start-stop-daemon",
            "stdbuf",
            "strace",
            "su",
            "su-exec",
            "sudo",
            "systemd-nspawn",
            "systemd-run",
            "taskset",
            "time",
            "timeout",
            "tini",
            "tmux",
            "torsocks",
            "unbuffer",
            "unshare",
            "uvx",
            "valgrind",
            "watch",
            "watchexec",
            "xargs",
            "xvfb-run",
        ],
    ),
];

/// Commands of programs that run what the words behind them say.
const RUNNING: &[(&str, &[&str])] = &[
    ("bundle", &["exec"]),
    ("composer", &["exec"]),
    ("conda", &["run"]),
    ("docker", &["exec", "run"]),
    ("docker-compose", &["exec", "run"]),
    ("git", &["bisect", "config", "difftool", "filter-branch", "mergetool", "submodule"]),
    ("kubectl", &["debug", "exec", "run"]),
    ("mise", &["exec", "x"]),
    ("nerdctl", &["exec", "run"]),
    ("nix", &["develop", "run", "shell"]),
    ("npm", &["exec", "x"]),
    ("pipenv", &["run"]),
    ("pipx", &["run"]),
    ("pnpm", &["dlx", "exec"]),
    ("podman", &["exec", "run"]),
    ("poetry", &["run"]),
    ("rustup", &["run"]),
    ("uv", &["run", "tool"]),
    ("yarn", &["dlx", "exec"]),
];

/// Commands that have commands themselves, of which some run what the words behind them say.
const NESTED: &[(&str, &[&str])] =
    &[("docker", &["compose", "container"]), ("podman", &["compose", "container"])];

/// Flags of programs that otherwise only look, whose value is a program, a file to be written or a setting.
const RUNNING_FLAGS: &[(&str, &[&str])] = &[
    ("cargo", &["--config"]),
    ("cmake", &["-E", "-P"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("fzf", &["--bind", "--preview"]),
    ("git", &["-O", "--exec", "--ext-diff", "--extcmd", "--open-files-in-pager", "--output"]),
    ("git", &["--receive-pack", "--textconv", "--upload-pack"]),
    ("go", &["-exec", "-toolexec", "-vettool"]),
    ("man", &["-P", "--pager"]),
    ("rg", &["--hostname-bin", "--pre"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("sort", &["--compress-program"]),
    ("tar", &["-F", "-I", "--checkpoint-action", "--info-script", "--rsh-command", "--to-command"]),
    ("tar", &["--use-compress-program"]),
];

/// Why a rule may not be used, if it may not.
pub fn barred(rule: &Rule) -> Option<Barred> {
    let name = without_version(&rule.program);
    let runs = |names: &[&str]| names.contains(&name) || names.contains(&rule.program.as_str());
    if let Some((kind, _)) = RUNNERS.iter().find(|(_, names)| runs(names)) {
        return Some(Barred::Runner { kind });
    }
    let argument = |at: usize| rule.arguments.get(at).or(rule.rest.as_ref());
    if let Some(worst) = worst_command(&rule.program) {
        // The value of a flag that takes none is the command.
        let any = |kind: &Kind| matches!(kind, Kind::Word | Kind::Path);
        let choices = argument(0).map(Kind::choices);
        if choices == Some(None) || choices.is_none() && rule.values.values().any(any) {
            return Some(Barred::AnyCommand { worst });
        }
        let further = argument(1).map(|kind| kind.choices().unwrap_or_default());
        let runs = |command: &&String| {
            let within = |words: &[String]| {
                words.is_empty() || words.iter().any(|word| listed(RUNNING, name, word))
            };
            listed(RUNNING, name, command)
                || listed(NESTED, name, command) && further.is_some_and(within)
        };
        if let Some(command) = choices.flatten().unwrap_or_default().iter().find(runs) {
            return Some(Barred::Command { command: command.clone() });
        }
    }
    let letters = rule.letters.chars().map(|letter| format!("-{letter}"));
    let words = rule.arguments.iter().filter_map(Kind::choices).flatten();
    let flags = rule.flags.iter().chain(rule.values.keys()).chain(words);
    let runs = |flag: &String| {
        let name_of_it = flag.split_once('=').map_or(flag.as_str(), |(flag, _)| flag);
        listed(RUNNING_FLAGS, name, name_of_it)
    };
    let flag = flags.cloned().chain(letters).find(runs)?;
    Some(Barred::Flag { flag })
}

/// Whether what a program of this name does is said by its words, or by a file of the folder that it runs in.
pub(crate) fn is_told_what(program: &str) -> bool {
    let name = without_version(program);
    let runs = |names: &[&str]| names.contains(&name) || names.contains(&program);
    RUNNERS.iter().any(|(_, names)| runs(names)) || worst_command(program).is_some()
}

fn listed(table: &[(&str, &[&str])], program: &str, word: &str) -> bool {
    table.iter().any(|(name, words)| *name == program && words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(program: &str, arguments: &[Kind], rest: Option<Kind>, flags: &[&str]) -> Option<Barred> {
        barred(&rule(program, arguments, rest, flags))
    }

    fn rule(program: &str, arguments: &[Kind], rest: Option<Kind>, flags: &[&str]) -> Rule {
        Rule {
            program: program.to_owned(),
            letters: String::new(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            values: std::iter::empty().collect(),
            arguments: arguments.to_vec(),
            rest,
            r#match: Vec::new(),
            not_match: Vec::new(),
        }
    }

    fn literal(word: &str) -> Kind {
        Kind::OneOf(vec![word.to_owned()])
    }

    #[test]
    fn a_program_that_runs_its_words_is_barred_in_every_version() {
        for program in [
            "sh",
            "bash",
            "env",
            "xargs",
            "sudo",
            "python",
            "python3.12",
            "perl5",
            "lua5.4",
            "m4",
            "timeout",
        ] {
            let found = of(program, &[literal("x")], None, &[]);
            assert!(matches!(found, Some(Barred::Runner { .. })), "{program}: {found:?}");
        }
        for program in ["ls", "sort", "touch", "pytest", "md5sum", "g++"] {
            assert_eq!(of(program, &[Kind::Word], Some(Kind::Path), &[]), None, "{program}");
        }
    }

    #[test]
    fn a_program_with_commands_needs_them_named() {
        let any = |worst| Some(Barred::AnyCommand { worst });
        assert_eq!(of("cargo", &[Kind::Word], None, &[]), any("publish"));
        assert_eq!(of("git", &[], Some(Kind::Path), &[]), any("push"));
        assert_eq!(of("pip3", &[Kind::Word], None, &[]), any("uninstall"));
        assert_eq!(of("cargo", &[literal("test")], Some(Kind::Word), &[]), None);
        assert_eq!(of("cargo", &[], None, &["--version"]), None);
        let mut quiet = rule("cargo", &[], None, &[]);
        quiet.values = std::iter::once(("-q".to_owned(), Kind::Word)).collect();
        assert_eq!(barred(&quiet), any("publish"), "`-q publish` is a flag and a command");
        let command = |command: &str| Some(Barred::Command { command: command.to_owned() });
        assert_eq!(of("npm", &[literal("exec")], None, &[]), command("exec"));
        assert_eq!(of("git", &[literal("config")], Some(Kind::Word), &[]), command("config"));
        for further in [Kind::Word, literal("run")] {
            let words = [literal("compose"), further];
            assert_eq!(of("docker", &words, None, &[]), command("compose"));
        }
        assert_eq!(of("docker", &[literal("compose"), literal("ps")], None, &[]), None);
    }

    #[test]
    fn a_flag_that_names_a_program_is_barred() {
        let flag = |flag: &str| Some(Barred::Flag { flag: flag.to_owned() });
        assert_eq!(of("find", &[], Some(Kind::Path), &["-exec"]), flag("-exec"));
        assert_eq!(of("rg", &[], None, &["--pre="]), flag("--pre="));
        assert_eq!(of("git", &[literal("log")], None, &["--output="]), flag("--output="));
        let named = |word: &str| of("rg", &[literal(word), literal("x")], None, &[]);
        assert_eq!(named("--pre=sh"), flag("--pre=sh"));
        assert_eq!(named("--pretty"), None);
        assert_eq!(of("find", &[], Some(Kind::Path), &["-print"]), None);
    }
}

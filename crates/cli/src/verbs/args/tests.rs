//! How a typed line is understood.

use super::*;
use clap::CommandFactory as _;

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

/// What is typed, as the verb understands it.
fn parsed(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

#[test]
fn an_option_behind_free_words_is_an_option_and_behind_two_hyphens_a_word() {
    for line in [
        "glis search one two --json",
        "glis search --json one two",
        "glis search one --json two",
        "glis send x hello --json",
        "glis send x --json hello",
        "glis answer x allow --json",
        "glis answer x --json allow",
    ] {
        let cli = parsed(line).unwrap();
        assert!(cli.json, "{line}");
        let told = format!("{:?}", cli.verb);
        assert!(!told.contains("--json"), "{line}: {told}");
    }
    for line in ["glis search -- --json", "glis send x -- --json", "glis answer x -- --json"] {
        let cli = parsed(line).unwrap();
        assert!(!cli.json && format!("{:?}", cli.verb).contains("--json"), "{line}");
    }
    let Some(Verb::Search { words, most }) = parsed("glis search one --most 3").unwrap().verb
    else {
        panic!("no search");
    };
    assert_eq!((words, most), (vec!["one".to_owned()], 3));
    // An unknown option is not taken for an option, and not for a word either.
    assert!(parsed("glis search one --jsno").is_err());
    assert!(parsed("glis send x --json").is_err());
}

//! What of an agent at work is shown.

use super::*;

#[test]
fn half_a_word_is_not_shown() {
    let cases = [
        ("", ""),
        ("Hel", ""),
        ("Hello, wor", "Hello, "),
        ("Hello, world.\n", "Hello, world.\n"),
        ("the key is sk-ant-0123", "the key is "),
        ("\u{4f60}\u{597d}\u{ff0c}gl", "\u{4f60}\u{597d}\u{ff0c}"),
    ];
    for (saying, shown) in cases {
        assert_eq!(whole_words(saying), shown);
    }
}

#[test]
fn the_end_of_much_is_shown() {
    let much = format!("first\n{}\nlast", "x".repeat(PICTURE_CHARS));
    let shown = end_of(&much);
    assert!(shown.ends_with("x\nlast") && !shown.contains("first"), "{shown}");
    assert_eq!(end_of("\nall of it\n"), "all of it");
}

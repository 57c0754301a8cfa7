//! What terminals send, in whatever pieces.

use super::*;

fn keys(bytes: &[u8]) -> String {
    let mut reader = Reader::default();
    let mut found = reader.read(bytes);
    found.extend(reader.give_up());
    let told = |input: &Input| match input {
        Input::Key(chord) => chord.to_string(),
        Input::Meta(chord) => format!("esc or alt, {chord}"),
        Input::Pasted(text) => format!("paste {text:?}"),
        Input::Mouse(mouse) => format!("{:?} {},{}", mouse.what, mouse.column, mouse.row),
        Input::Background(r, g, b) => format!("background {r} {g} {b}"),
        Input::Focus(focus) => format!("{focus:?}"),
        Input::Answered => "answered".to_owned(),
    };
    found.iter().map(told).collect::<Vec<_>>().join(" | ")
}

#[test]
fn keys_of_every_spelling_are_understood() {
    for (bytes, wanted) in [
        ("jG?", "j | G | ?"),
        ("\r\t\x7f", "enter | tab | backspace"),
        ("\x03\x18p", "ctrl+c | ctrl+x | p"),
        ("\n\x1c\x1d\x1f", "ctrl+j | ctrl+\\ | ctrl+] | ctrl+_"),
        ("\x1bOP\x1b[15~\x1b[24;5~\x1b[1;2S", "f1 | f5 | ctrl+f12 | shift+f4"),
        ("\x1b[I\x1b[O", "Here | Elsewhere"),
        ("\x1b[A\x1bOB\x1b[1;5C", "up | down | ctrl+right"),
        ("\x1b[Z\x1b[5~\x1b[6;2~", "shift+tab | pgup | shift+pgdn"),
        ("\x1b", "esc"),
        ("\x1b\x1b[A", "esc | up"),
        ("\x1bx", "esc or alt, x"),
        ("\x1b\r", "alt+enter"),
        ("é日", "é | 日"),
        // kitty, also with a Cyrillic keyboard, a release, and a keypad.
        ("\x1b[113;5u\x1b[27u\x1b[9;2u", "ctrl+q | esc | shift+tab"),
        ("\x1b[1089::99;5u", "ctrl+c"),
        ("\x1b[97:65;2u\x1b[97;2u", "A | A"),
        ("\x1b[97;1:3u", ""),
        ("\x1b[27;5;120~", "ctrl+x"),
        ("\x1b[<0;5;3M\x1b[<64;1;1M\x1b[<65;1;1M", "Pressed 4,2 | WheelUp 0,0 | WheelDown 0,0"),
        ("\x1b[<4;5;3M\x1b[<32;6;3M\x1b[<0;6;3m", "Pressed 4,2 | Dragged 5,2 | Released 5,2"),
        (
            "\x1b[<2;1;1M\x1b[<2;1;1m\x1b[<35;2;1M",
            "OtherPressed 0,0 | OtherReleased 0,0 | Moved 1,0",
        ),
        ("\x1b]11;rgb:1e1e/ffff/0000\x1b\\\x1b[?62;c", "background 30 255 0 | answered"),
        ("\x1b]11;rgb:ff/80/0\x07", "background 255 128 0"),
        ("\x1b[200~a\x1b[Ab\rc\x1b[201~j", "paste \"a\\u{1b}[Ab\\nc\" | j"),
        ("\x1bP>|tmux 3.3a\x1b\\j", "j"),
    ] {
        assert_eq!(keys(bytes.as_bytes()), wanted, "{bytes:?}");
    }
}

#[test]
fn pieces_make_the_same_keys() {
    let bytes = "j\x1b[1;5Cé\x1b[200~a\u{e9}b\x1b[201~\x1b]11;rgb:1e/1e/1e\x1b\\k".as_bytes();
    let whole = Reader::default().read(bytes);
    for size in 1..bytes.len() {
        let mut reader = Reader::default();
        let found: Vec<_> = bytes.chunks(size).flat_map(|part| reader.read(part)).collect();
        assert_eq!(found, whole, "in pieces of {size}");
        assert!(!reader.waits());
    }
}

#[test]
fn nonsense_neither_panics_nor_grows() {
    let mut state = 7_u64;
    let mut reader = Reader::default();
    for _ in 0..200_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let byte = (state >> 33).to_le_bytes()[0];
        reader.read(&[if byte < 60 { 0x1b } else { byte }]);
        assert!(reader.held_back.len() <= SEQUENCE_BYTES_MAX + 1 || reader.paste.is_some());
    }
}

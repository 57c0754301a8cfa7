//! Texts as a network would get them: every bound is looked at again here.

use super::*;

const MOST: usize = 4096;

/// What a network refuses.
fn check(text: &Text) {
    assert!((1..=MOST).contains(&text.units()), "{} units", text.units());
    let utf16: Vec<u16> = text.text.encode_utf16().collect();
    let mut end = 0;
    for entity in &text.entities {
        assert!(entity.offset >= end && entity.length > 0, "{entity:?}");
        end = entity.offset + entity.length;
        assert!(end <= utf16.len(), "{entity:?}");
        let inner = String::from_utf16(&utf16[entity.offset..end]).unwrap();
        assert!(!inner.is_empty());
    }
}

fn shown(text: &Text) -> String {
    let utf16: Vec<u16> = text.text.encode_utf16().collect();
    let (mut out, mut at) = (String::new(), 0);
    for e in &text.entities {
        out += &String::from_utf16(&utf16[at..e.offset]).unwrap();
        let inner = String::from_utf16(&utf16[e.offset..e.offset + e.length]).unwrap();
        let shown = match e.style {
            Style::Bold => format!("<b>{inner}</b>"),
            Style::Code => format!("<c>{inner}</c>"),
            Style::Pre => format!("<p {:?}>{inner}</p>", e.language.as_deref().unwrap_or("")),
        };
        out += &shown;
        at = e.offset + e.length;
    }
    out + &String::from_utf16(&utf16[at..]).unwrap()
}

#[test]
fn the_few_marks_are_read_and_all_else_stays() {
    for (source, expected) in [
        ("a **b** `c` d", "a <b>b</b> <c>c</c> d"),
        ("# Title `x`\ntext", "<b>Title </b><c>x</c>\ntext"),
        ("**a `b` c**", "<b>a </b><c>b</c><b> c</b>"),
        ("```rust\nfn a() {}\n```\nend", "<p \"rust\">fn a() {}</p>\nend"),
        ("~~~\n```\n~~~", "<p \"\">```</p>"),
        ("```\nopen", "<p \"\">open</p>"),
        ("2 ** 3 ** 4, *x*, **open", "2 ** 3 ** 4, *x*, **open"),
        ("`open and ``two still``", "`open and <c>two still</c>"),
        ("#hash, ####### seven", "#hash, ####### seven"),
        ("😀 **fett** 😀", "😀 <b>fett</b> 😀"),
        ("``` a ``` b", "<c>a</c> b"),
    ] {
        let text = from_markdown(source);
        check(&text);
        assert_eq!(shown(&text), expected, "{source}");
    }
}

#[test]
fn what_is_cleaned_hides_nothing() {
    assert_eq!(clean("\u{1b}[31mred\u{1b}[0m\r\nx\u{7}\u{202e}y\u{0}"), "red\nxy");
    assert_eq!(clean("שלום 👩\u{200d}👩 e\u{301}"), "שלום 👩\u{200d}👩 e\u{301}");
    let token = format!("see 123456789:{}", "A".repeat(35));
    assert_eq!(clean(&token), "see 123456789:[redacted]");
}

fn whole(text: &Text) -> Vec<Text> {
    match parts(text, MOST) {
        Parts::Whole(parts) => {
            parts.iter().for_each(check);
            parts
        }
        Parts::First(first) => panic!("a file: {}", first.text),
    }
}

fn first(text: &Text) -> Text {
    match parts(text, MOST) {
        Parts::Whole(parts) => panic!("{} parts", parts.len()),
        Parts::First(first) => {
            check(&first);
            first
        }
    }
}

#[test]
fn a_short_text_is_one_part() {
    let text = from_markdown("hello **you**");
    assert_eq!(whole(&text), [text]);
    assert_eq!(whole(&Text::plain("x".repeat(MOST))).len(), 1);
}

#[test]
fn lines_stay_whole() {
    let line = format!("{}\n", "word ".repeat(19).trim_end());
    let text = Text::plain(line.repeat(100));
    let found = whole(&text);
    assert_eq!(found.len(), 3);
    for part in &found {
        assert!(part.text.lines().all(|one| format!("{one}\n") == line));
    }
    let lines: usize = found.iter().map(|part| part.text.lines().count()).sum();
    assert_eq!(lines, 100);
}

#[test]
fn no_character_is_cut() {
    let found = whole(&Text::plain("😀".repeat(MOST)));
    assert_eq!(found.iter().map(Text::units).collect::<Vec<_>>(), [MOST, MOST]);
    // One unit before, so that the limit lies inside of a pair.
    let text = format!("a{}", "😀".repeat(MOST));
    let found = whole(&Text::plain(text.clone()));
    assert_eq!(found.iter().map(|part| part.text.as_str()).collect::<String>(), text);
    let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦";
    let text = family.repeat(900);
    let found = whole(&Text::plain(text.clone()));
    for part in &found {
        assert!(part.text.starts_with('👩') && part.text.ends_with('👦'));
    }
    assert_eq!(found.iter().map(|part| part.text.as_str()).collect::<String>(), text);
    let flags = "🇫🇷".repeat(2500);
    whole(&Text::plain(flags));
}

#[test]
fn a_block_of_code_that_fits_is_not_cut() {
    let block = "let x = 1;\n".repeat(200);
    let source = format!("{}\n```rust\n{block}```\nafter\n", "before\n".repeat(400));
    let found = whole(&from_markdown(&source));
    assert_eq!(found.len(), 2);
    assert!(found[0].entities.is_empty());
    assert_eq!(found[1].entities[0].style, Style::Pre);
    assert_eq!(found[1].entities[0].length, block.len() - 1);
}

/// Each part is a block of its own, of whole lines with their indents.
#[test]
fn a_block_of_code_that_is_longer_than_a_message_comes_in_parts() {
    let lines: Vec<String> = (0..500).map(|n| format!("    line {n:04};")).collect();
    let found = whole(&from_markdown(&format!("Here:\n```rust\n{}\n```\nafter", lines.join("\n"))));
    assert!(found.len() == 2 || found.len() == 3, "{}", found.len());
    assert!(found[0].text.starts_with("Here:\n    line 0000;"), "{}", found[0].text);
    let mut inner = Vec::new();
    for part in &found {
        let [block] = part.entities.as_slice() else { panic!("{:?}", part.entities) };
        assert_eq!((block.style, block.language.as_deref()), (Style::Pre, Some("rust")));
        let utf16: Vec<u16> = part.text.encode_utf16().collect();
        let text = String::from_utf16(&utf16[block.offset..block.offset + block.length]).unwrap();
        inner.extend(text.lines().map(str::to_owned));
    }
    assert_eq!(inner, lines);
    // One of many messages is a first part and a file, and so is one that is a single line.
    let many = first(&from_markdown(&format!("```\n{}\n```", lines.join("\n").repeat(3))));
    assert!(many.text.starts_with("    line 0000;") && many.entities.len() == 1, "{}", many.text);
    let huge = first(&from_markdown(&format!("Here:\n```\n{}\n```", "y".repeat(50_000))));
    assert_eq!(huge.text, "Here:");
}

/// The first line of a block of code stands where it stood, also at the beginning of a message.
#[test]
fn a_block_keeps_its_first_indent() {
    let block = "    if a {\n        b\n    }";
    for source in [format!("```\n{block}\n```"), format!("\n\n  \n```\n{block}\n```\n\n")] {
        let [part] = whole(&from_markdown(&source)).try_into().unwrap();
        assert_eq!(shown(&part), format!("<p \"\">{block}</p>"), "{source:?}");
    }
    let source = format!("{}\n```\n{block}\n```\nafter", "before\n".repeat(584));
    let found = whole(&from_markdown(&source));
    assert_eq!(shown(&found[1]), format!("<p \"\">{block}</p>\nafter"));
}

/// All of a card is shown, in as many parts as it takes, and the last one has the buttons.
#[test]
fn a_card_is_shown_whole() {
    for (text, most) in [
        (Text::plain("one line of many\n".repeat(2000)), 4096),
        (Text::default().bold("blue").and("\n").block(&"x".repeat(9000)).and("\nend"), 3296),
        (Text::plain("\u{1f468}\u{200d}\u{1f469}".repeat(3000)), 4096),
        (Text::plain("short"), 4096),
    ] {
        let (before, last) = in_parts(&text, most);
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let mut joined = String::new();
        for part in before.iter().chain([&last]) {
            check(part);
            assert!(part.units() <= most);
            joined += &squeezed(&part.text);
        }
        assert_eq!(joined, squeezed(&text.text));
    }
}

#[test]
fn many_parts_become_a_first_part_and_a_file() {
    let text = Text::plain("line of a story\n".repeat(1000));
    let first = first(&text);
    assert!(first.units() > 4000 && text.text.starts_with(&first.text));
}

#[test]
fn what_looks_different_is_cut_along() {
    let mut text = Text::plain("x".repeat(4090)).and(" ");
    text = text.bold(&"bold ".repeat(10)).and("end");
    let found = whole(&text);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|part| part.entities.iter().all(|e| e.style == Style::Bold)));
}

/// Any text at all, cut anywhere: the network never has a reason to refuse.
#[test]
fn random_texts_keep_within_the_bounds() {
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let pieces =
        ["word ", "\n", "```\n", "**", "`", "😀", "\u{200d}", "e\u{301}", "ש", "\n\n", "# ", "```"];
    for _ in 0..2000 {
        let mut source = String::new();
        for _ in 0..random(60) {
            let piece = pieces[usize::try_from(random(12)).unwrap()];
            source += &piece.repeat(usize::try_from(1 + random(9)).unwrap());
        }
        let text = from_markdown(&clean(&source));
        for most in [16, 40, 200] {
            match parts(&text, most) {
                Parts::Whole(parts) => {
                    assert!(parts.len() <= 3);
                    for part in &parts {
                        assert!(part.units() <= most);
                        check(part);
                    }
                    let joined: String = parts.iter().map(|part| part.text.as_str()).collect();
                    let bare = |text: &str| text.split_whitespace().collect::<String>();
                    assert_eq!(bare(&joined), bare(&text.text), "{source:?} {most}");
                }
                Parts::First(first) => check(&first),
            }
        }
    }
}

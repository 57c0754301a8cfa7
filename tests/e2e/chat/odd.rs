//! Words that are hard to show: long blocks of code, escapes, what turns the writing around, secrets.

use crate::support::bot::{BotHouse, ME};
use crate::support::house::Outcome;

/// Shaped like the key of a bot, and none.
fn shaped_like_a_token() -> String {
    format!("987654321:{}", "AbCdEfG".repeat(5))
}

fn with_blue() -> Outcome<BotHouse> {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    Ok(bot)
}

/// The network takes no block of that length: it comes in blocks that it takes, and a very long one as its
/// beginning and a file.
#[test]
fn a_block_of_code_that_is_too_long_comes_in_parts_or_as_a_file() -> Outcome {
    let bot = with_blue()?;
    let lines: Vec<String> = (0..1000).map(|n| format!("line {n:04} {}", "x".repeat(40))).collect();
    let block = |lines: &[String]| format!("```\\n{}\\n```", lines.join("\\n"));
    let some = format!("say Before it.\\n\\n{}\\n\\nBehind it.", block(&lines[..150]));
    bot.house.ok(&["send", "blue", &some])?;
    bot.hear("Behind it.")?;
    let told = bot.api.messages().split_off(1);
    assert!(told.len() > 1 && told.iter().all(|it| it.file.is_none()), "{told:#?}");
    assert!(told.iter().all(|it| it.entities[0]["type"] == "pre"), "{told:#?}");
    let all: Vec<&str> = told.iter().map(|it| it.text.as_str()).collect();
    let all = all.join("\n");
    assert!(lines[..150].iter().all(|line| all.contains(line)), "{all}");
    let much = block(&lines);
    assert!(much.len() > 50_000, "{}", much.len());
    bot.house.ok(&["send", "blue", &format!("say Before all.\\n\\n{much}\\n\\nBehind all.")])?;
    bot.hear("Before all.\n\nline 0000")?;
    let file = bot.api.until(|all| all.iter().find_map(|message| message.file.clone()));
    let (name, bytes) = file.ok_or("no file")?;
    assert_eq!(name, "blue.md");
    let whole = String::from_utf8(bytes)?;
    assert!(whole.starts_with("Before all.") && whole.ends_with("Behind all."), "{whole}");
    assert!(lines.iter().all(|line| whole.contains(line)), "a line is missing");
    bot.ask("say short.", "short.")?;
    Ok(())
}

/// What an agent says moves no cursor and turns no words around, in a text and in the log. What it asks to be
/// allowed hides nothing.
#[test]
fn escapes_and_turned_words_are_shown_as_words() -> Outcome {
    let bot = with_blue()?;
    let odd = "\u{1b}[2J\u{1b}]52;c;ZWNobw==\u{7}\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\ \
               rm \u{202e}txt.fdp\u{202c} \u{2066}in\u{2069} \u{9b}31m\u{85}";
    let plain = |text: &str| {
        let bad = |c: char| {
            c.is_control() && c != '\n'
                || ('\u{202a}'..='\u{202e}').contains(&c)
                || ('\u{2066}'..='\u{2069}').contains(&c)
        };
        !text.contains(bad) && !text.contains("ZWNobw")
    };
    let said = bot.ask(&format!("say one {odd} end."), "end.")?;
    assert!(plain(&said.text), "{:?}", said.text);
    assert!(said.text.contains("link") && said.text.contains("txt.fdp"), "{:?}", said.text);
    let card = bot.ask(&format!("approve two {odd} end?"), "asks for approval")?;
    for shown in ["\\u{1b}[2J", "\\u{1b}]52;c;ZWNobw==\\u{7}", "\\u{202e}txt.fdp", "\\u{2066}in"] {
        assert!(card.text.contains(shown), "{shown}: {:?}", card.text);
    }
    assert!(!card.text.contains(|c: char| c.is_control() && c != '\n'), "{:?}", card.text);
    assert_eq!(card.buttons.len(), 3, "all of it is shown: {card:?}");
    bot.press("Deny")?;
    bot.hear("Denied")?;
    bot.ask("say three.", "three.")?;
    let log = bot.ask("/log", "three.")?;
    assert!(plain(&log.text), "{:?}", log.text);
    // Arabic and Hebrew, joined signs and flags come as they are.
    let natural = "\u{627}\u{644}\u{633}\u{644}\u{627}\u{645} \u{5e9}\u{5dc}\u{5d5}\u{5dd} \
                   \u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \
                   \u{1f3f4}\u{e0067}\u{e0062}\u{e007f}";
    bot.ask(&format!("say {natural} four."), &format!("{natural} four."))?;
    Ok(())
}

/// What looks like a secret is in no text, card, file, picture and answer.
#[test]
fn what_looks_like_a_token_is_not_shown() -> Outcome {
    let bot = with_blue()?;
    let token = shaped_like_a_token();
    bot.ask(&format!("say my token is {token} one."), "one.")?;
    bot.ask(&format!("approve send {token} two? ;; say done."), "two?")?;
    bot.press("Allow once")?;
    bot.hear("done.")?;
    bot.ask(&format!("write token.txt {token} ;; say three."), "three.")?;
    bot.say("/diff");
    let patch = bot.api.until(|all| all.iter().find_map(|message| message.file.clone()));
    assert!(!String::from_utf8(patch.ok_or("no patch")?.1)?.contains(&token));
    bot.ask("/log", "three.")?;
    bot.ask("/status", "blue")?;
    bot.ask(&format!("/new {token}"), "")?;
    let all = bot.api.messages();
    let told = all.iter().find(|message| message.chat == ME && message.text.contains(&token));
    assert_eq!(told, None);
    Ok(())
}

//! Sessions from a phone: made, talked to, looked at, put aside.

use crate::support::bot::{BotHouse, ME, STRANGER};
use crate::support::house::{House, Outcome, eventually};
use glis_bot_api::{Message, TOKEN};
use serde_json::json;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_session_is_made_and_talked_to() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/sessions", "No sessions found. Use /new to create one.")?;
    bot.ask("hello?", "No active session")?;
    bot.ask("/timeout", "No active session")?;
    let made = bot.ask("/new blue", "Session blue created.")?;
    assert_eq!(made.entities[0]["type"], "code");
    assert_eq!(bot.house.show("blue")?["mode"], "headless");
    let said = bot.ask("say **hello** there", "hello there")?;
    assert_eq!(said.entities[0]["type"], "bold");
    bot.ask("/timeout", "Current idle timeout: 10 minutes\n\nUsage: /timeout <minutes>")?;
    bot.ask("/timeout 0", "Timeout must be between 1 and 120 minutes")?;
    bot.ask("/timeout ten", "Invalid number. Usage: /timeout <minutes>")?;
    bot.ask("/timeout 5", "Idle timeout set to 5 minutes")?;
    assert_eq!(bot.house.show("blue")?["idle_timeout_secs"], 300);
    bot.ask("/status", "blue \u{b7} rehearsal")?;
    assert!(bot.api.commands() > 10);
    Ok(())
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/chat.md");
/// What a person says in the conversation of the page, and what has the rehearsal agent answer so.
const SAID: [(&str, &str); 2] = [
    (
        "Limit failed logins to five a minute.",
        "write login.rs fixed ;; approve cargo test -p web login ;; say All **41** tests pass.",
    ),
    ("Good morning.", "say Good morning. What is next?"),
];

/// The conversation of docs/chat.md, word by word.
#[test]
fn the_page_shows_a_true_conversation() -> Outcome {
    let bot = BotHouse::new()?;
    let page = std::fs::read_to_string(PAGE)?;
    let shown = page.split("```text\nyou   ").nth(1).and_then(|rest| rest.split("```").next());
    let shown = format!("you   {}", shown.ok_or("the page shows none")?);
    let mut lines = 0;
    for line in shown.lines() {
        lines += 1;
        let words = line.get(6..).ok_or("a short line")?;
        if let Some(said) = line.strip_prefix("you   ") {
            let label = said.strip_prefix('(').and_then(|label| label.strip_suffix(')'));
            if let Some(label) = label {
                bot.press(label)?;
            } else {
                let known = SAID.iter().find(|(words, _)| *words == said);
                bot.say(known.map_or(said, |(_, script)| script));
            }
        } else if let Some(labels) = words.strip_prefix('[') {
            let card = bot.hear("asks for approval")?;
            let labels: Vec<&str> = labels.trim_end_matches(']').split("] [").collect();
            let known: Vec<&str> = card.buttons.iter().map(|(label, _)| label.as_str()).collect();
            assert_eq!(known, labels);
        } else if words.strip_suffix(".patch").is_some() {
            let file = bot.api.until(|all| all.iter().find_map(|message| message.file.clone()));
            assert_eq!(file.ok_or("no file")?.0, words);
        } else {
            bot.hear(words)?;
        }
    }
    assert!(lines > 10);
    Ok(())
}

/// The steps of docs/chat.md, as somebody takes them who has nothing yet but a token and the program.
#[test]
fn from_a_fresh_token_to_the_first_answer_it_is_no_minute() -> Outcome {
    let mut house = House::new()?;
    let home = house.folder().join("newcomer");
    std::fs::create_dir(&home)?;
    house.surround("HOME", home.to_string_lossy());
    let mut bot = BotHouse::over(house, "rehearsal", "")?;
    let page = std::fs::read_to_string(PAGE)?;
    let steps = page.split("## Set it up in a minute").nth(1).ok_or("no such chapter")?;
    let install = steps.split('`').find(|part| part.starts_with("install ")).ok_or("no command")?;
    let mut shell = std::process::Command::new("sh");
    let mut shell = shell.args(["-c", install]).env("HOME", &home).stdin(Stdio::piped()).spawn()?;
    writeln!(shell.stdin.take().ok_or("no stdin")?, "{TOKEN}")?;
    assert!(shell.wait()?.success(), "{install}");
    let keys: Vec<&str> =
        steps.lines().map(str::trim).skip_while(|it| !it.starts_with('[')).collect();
    let keys = keys.split(|line| line.starts_with("```")).next().ok_or("no keys")?.join("\n");
    let keys = keys.replace("YOUR-NUMBER", &ME.to_string());
    let keys = keys.replace("~/code/app", &bot.house.repo().to_string_lossy());
    let (agent, network) = ("default_agent = \"rehearsal\"", bot.api.url());
    bot.house.configure(&format!("{agent}\n{keys}\napi_url = '{network}'\n"))?;
    let began = Instant::now();
    bot.start()?;
    bot.ask("/new fix-login", "Session fix-login created.")?;
    bot.ask("say Good morning.", "Good morning.")?;
    eprintln!("from `glis chat` to the first answer: {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    Ok(())
}

#[test]
fn what_was_changed_comes_as_a_list_and_a_file() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("write new.txt one two ;; say written", "written")?;
    bot.ask("/diff", "new.txt")?;
    let patch = bot.api.until(|all| all.iter().find_map(|message| message.file.clone()));
    let (name, bytes) = patch.ok_or("no file")?;
    assert_eq!(name, "blue.patch");
    assert!(String::from_utf8(bytes)?.contains("+one two"));
    bot.ask("/log", "agent: written")?;
    Ok(())
}

#[test]
fn what_was_used_today_is_told() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/cost", "Used today: nothing")?;
    bot.ask("/personas", "The configuration has no personas.")?;
    for (name, cost) in [("blue", "0.25"), ("green", "1")] {
        bot.ask(&format!("/new {name}"), &format!("Session {name} created."))?;
        bot.ask(&format!("cost {cost} ;; say done with {name}"), &format!("done with {name}"))?;
    }
    bot.ask("/cost", "together $1.25")?;
    bot.ask("/sessions", "idle")?;
    Ok(())
}

#[test]
fn a_session_is_stopped_woken_paused_and_resumed() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one", "one")?;
    bot.ask("/stop", "Session stopped. The next message resumes it.")?;
    bot.ask("say two", "two")?;
    bot.hear("Resuming session...")?;
    let said: Vec<String> = bot.api.messages().into_iter().map(|message| message.text).collect();
    let said = said.join("\n");
    assert!(said.find("Resuming session...") < said.find("two"), "{said}");
    bot.ask("/pause", "Session paused. /resume to continue.")?;
    bot.ask("say three", "Session is paused. /resume to continue.")?;
    assert_eq!(bot.house.show("blue")?["status"], "paused");
    bot.press("Resume")?;
    bot.hear("three")?;
    bot.house.until("blue", "idle")?;
    Ok(())
}

#[test]
fn a_restart_is_confirmed_and_an_archive_too() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one", "one")?;
    let before = bot.house.show("blue")?["agent_session_ref"].clone();
    let bare = |id: i64| {
        let is_bare = |all: &[Message]| {
            all.iter().any(|it| it.id == id && it.buttons.is_empty()).then_some(())
        };
        bot.api.until(is_bare).ok_or("its buttons stay")
    };
    let asked = bot.ask("/restart", "Restart blue?")?;
    assert_eq!(asked.buttons.len(), 2);
    bot.press("Leave it")?;
    bot.hear("Left as it is.")?;
    bare(asked.id)?;
    assert_eq!(bot.house.show("blue")?["agent_session_ref"], before);
    let asked = bot.ask("/restart", "Restart blue?")?;
    bot.press("Restart")?;
    bot.hear("Session restarted")?;
    bare(asked.id)?;
    assert_ne!(bot.house.show("blue")?["agent_session_ref"], before);
    let asked = bot.ask("/archive", "Put blue into the trash?")?;
    bot.press("Archive")?;
    bare(asked.id)?;
    bot.hear("Session blue is archived.")?;
    bot.ask("hello?", "No active session")?;
    assert_eq!(bot.count("is archived"), 1, "it is told once");
    // One that goes elsewhere is told of as well.
    bot.ask("/new red", "Session red created.")?;
    bot.house.ok(&["rm", "red"])?;
    bot.hear("Session red is archived. `glis trash restore` brings it back.")?;
    bot.ask("hello?", "No active session")?;
    // And one of which this chat did not hear.
    bot.house.ok(&["new", "green", "--headless"])?;
    bot.ask("/archive Green", "Put green into the trash?")?;
    bot.press("Archive")?;
    bot.hear("Session green is archived.")?;
    Ok(())
}

/// What is no word for an agent is not passed over in silence, and what to do is told as it is done here.
#[test]
fn a_phone_is_answered_in_its_own_words() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/New Gamma", "Session gamma created.")?;
    bot.ask("/Pause Force", "Session paused. /resume to continue.")?;
    let unknown = bot.ask("/switch nobody", "no session")?;
    assert!(unknown.text.contains("/sessions") && !unknown.text.contains("glis"), "{unknown:?}");
    let unfit = bot.ask("/new ../x", "for example: /new fix-login")?;
    assert!(!unfit.text.contains("glis"), "{unfit:?}");
    bot.ask("/tmp is full", "Unknown command, nothing was sent. /help lists all.")?;
    bot.api.update(json!({"message": {
        "message_id": 1, "date": 1, "sticker": {"file_id": "s"},
        "from": {"id": ME, "is_bot": false}, "chat": {"id": ME, "type": "private"},
    }}));
    bot.hear("This was not sent: an agent takes words, files, pictures and what is spoken.")?;
    Ok(())
}

/// More sessions than fit into one message are listed in several, and each can be switched to.
#[test]
fn many_sessions_are_listed_whole() -> Outcome {
    let bot = BotHouse::new()?;
    let name = |number: usize| format!("session-{number:02}-{}", "x".repeat(50));
    for number in 0..45 {
        bot.house.ok(&["new", &name(number), "--headless"])?;
    }
    bot.say("/sessions");
    let list = bot.api.until(|all| all.iter().find(|it| !it.buttons.is_empty()).cloned());
    let list = list.ok_or("no list")?;
    let all: String = bot.api.messages().into_iter().map(|message| message.text).collect();
    assert!((0..45).all(|number| all.contains(&name(number))), "{all}");
    assert!(bot.api.messages().len() > 1 && list.buttons.len() == 24, "{list:?}");
    Ok(())
}

#[test]
fn two_sessions_and_one_chat() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.say("work 1 ;; say late");
    bot.ask("/new red", "Session red created.")?;
    bot.ask("say quick", "quick")?;
    // One that is not the current one tells its name.
    bot.hear("blue\nlate")?;
    bot.ask("/sessions", "Sessions:")?;
    bot.press("blue")?;
    bot.hear("Switched to blue")?;
    bot.ask("say back", "back")?;
    bot.ask("/switch red", "Switched to red")?;
    bot.ask("/switch green", "no session")?;
    Ok(())
}

#[test]
fn what_an_agent_does_is_seen_while_it_does_it() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    // The budget of the chat is full again by then.
    bot.say("work 3 ;; say first ;; run true ;; work 1 ;; say second");
    eventually("it is seen", || !bot.api.previews().is_empty())?;
    let told = bot.hear("second")?;
    assert_eq!(told.text, "first\n\nsecond");
    eventually("the picture goes", || bot.api.previews().is_empty())?;
    Ok(())
}

/// An agent that says nothing is not taken for one that is still at work.
#[test]
fn a_turn_without_words_is_told() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("run true", "Done, without a word.\n\u{2699} ")?;
    let told = bot.ask("write new.txt one", "Done, without a word.")?;
    assert!(told.text.contains("new.txt"), "{}", told.text);
    // Words that were told with a question are not the end of the turn.
    bot.ask("say first. ;; approve go on? ;; run true", "blue asks for approval")?;
    let before = bot.count("Done, without a word.");
    bot.press("Allow once")?;
    eventually("the end is told", || bot.count("Done, without a word.") > before)?;
    // One with words is told by them alone.
    bot.ask("run true ;; say second.", "second.")?;
    bot.ask("say third.", "third.")?;
    assert_eq!(bot.count("Done, without a word."), before + 1, "{:#?}", bot.api.messages());
    Ok(())
}

/// A message is edited, and goes when the words are here.
#[test]
fn a_message_shows_what_goes_on() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    let began = bot.api.seen().len();
    bot.say(
        "work 3 ;; say first ;; run true ;; work 3 ;; run true ;; work 3 ;; run true ;; work 3 ;; run true ;; \
         work 1 ;; say second",
    );
    let has_tool = |it: &Message| it.text.contains('\u{2699}');
    eventually("it is seen", || bot.api.previews().iter().any(has_tool))?;
    let preview = bot.api.previews().pop().ok_or("no picture")?;
    assert!(preview.text.starts_with("first\n"), "{}", preview.text);
    let told = bot.hear("second")?;
    assert_eq!(told.text, "first\n\nsecond");
    assert!(bot.api.until_seen(|seen| seen.iter().any(|it| it.method == "deleteMessage")));
    let deleted = bot.api.deleted();
    assert_eq!(deleted.iter().map(|it| it.id).collect::<Vec<_>>(), [preview.id]);
    assert_eq!(bot.count("first"), 1, "the words are there once");
    let seen: Vec<_> = bot.api.seen().split_off(began);
    let at = |method: &str| {
        let times = seen.iter().filter(|it| it.method == method && it.status == 200);
        times.map(|it| it.at).collect::<Vec<_>>()
    };
    let (sent, edited) = (at("sendMessage"), at("editMessageText"));
    assert_eq!(sent.len(), 2, "the picture and the words");
    assert!(at("deleteMessage")[0] > sent[1], "first the words, then the picture goes");
    let shown: Vec<_> = sent[..1].iter().chain(&edited).collect();
    for pair in shown.windows(2) {
        assert!(*pair[1] - *pair[0] >= Duration::from_millis(1400), "{shown:?}");
    }
    assert!(!edited.is_empty());
    Ok(())
}

#[test]
fn everything_is_paused_and_resumed() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one", "one")?;
    bot.ask("/pauseall", "Everything is paused. /resumeall to continue.")?;
    assert_eq!(bot.house.json(&["daemon", "status"])?["gate"], "paused");
    bot.ask("/resumeall", "Everything is resumed: blue.")?;
    bot.ask("say two", "two")?;
    Ok(())
}

#[test]
fn what_cannot_be_resumed_with_everything_is_named() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one", "one")?;
    bot.ask("/pauseall", "Everything is paused. /resumeall to continue.")?;
    std::fs::rename(bot.house.file("blue", "")?, bot.house.repo().join("../away"))?;
    bot.house.forget_snapshots()?;
    let told = bot.ask("/resumeall", "Not resumed: ")?.text;
    assert!(told.contains("blue") && !told.contains("Everything is resumed"), "{told}");
    Ok(())
}

#[test]
fn strangers_get_no_answer_and_nothing_is_done_for_them() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.say(STRANGER, STRANGER, "/pauseall");
    bot.api.say(STRANGER, ME, "/pauseall");
    bot.api.say(ME, -100, "/pauseall");
    for alien in ["forward_origin", "via_bot", "sender_chat"] {
        bot.api.say_with(ME, ME, "/pauseall", &json!({ alien: {} }));
    }
    let mut edited = json!({"edited_message": {"message_id": 1, "date": 1, "text": "/pauseall"}});
    edited["edited_message"]["from"] = json!({"id": ME, "is_bot": false});
    edited["edited_message"]["chat"] = json!({"id": ME, "type": "private"});
    bot.api.update(edited);
    bot.api.say(ME, ME, "/pauseall@other_bot");
    // What comes behind all of it is answered: by then it was dealt with.
    bot.ask("say done", "done")?;
    assert_eq!(bot.house.json(&["daemon", "status"])?["gate"], "running");
    assert!(bot.api.messages().iter().all(|message| message.chat == ME));
    Ok(())
}

/// It serves one person; it need not be large.
#[test]
fn a_bot_is_small() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    let own = |file: &str, name: &str| -> Outcome<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/{file}", bot.pid()?))?;
        let line = text.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
        Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
    };
    let measured = |when: &str| -> Outcome {
        let (all, alone) = (own("status", "VmRSS:")?, own("status", "RssAnon:")?);
        let share = own("smaps_rollup", "Pss:")?;
        eprintln!("{when}: {all} kB resident, {share} kB its share, {alone} kB its own");
        // What is its own; the program's pages are shared with the daemon and the holders.
        assert!(alone < 15 * 1024, "{alone} kB");
        Ok(())
    };
    bot.ask("say one", "one")?;
    measured("after a turn")?;
    bot.say("stream 6000 100000");
    bot.hear("The whole text")?;
    measured("after a text of 6,000 words")?;
    // With everything, also the program's pages.
    let is_small = || own("status", "VmRSS:").is_ok_and(|all| all < 15 * 1024);
    eventually("it has given memory back", is_small)?;
    measured("when nothing was to be sent for a while")
}

#[test]
fn the_token_is_nowhere() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    // Whoever gets hold of it and says it does not say it in the chat.
    bot.ask(&format!("say the token is {TOKEN} ok"), "[redacted] ok")?;
    bot.ask("run env ;; say seen", "seen")?;
    let secret = TOKEN.split(':').nth(1).ok_or("no secret")?;
    for pid in bot.house.processes() {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        for bytes in [environ, line] {
            assert!(!String::from_utf8_lossy(&bytes).contains(secret), "process {pid}");
        }
    }
    for message in bot.api.messages() {
        assert!(!message.text.contains(secret));
    }
    assert!(!std::fs::read_to_string(bot.log())?.contains(secret));
    let diary = std::fs::read_to_string(bot.house.home().join("daemon.log")).unwrap_or_default();
    assert!(!diary.contains(secret));
    Ok(())
}

#[test]
fn a_bot_that_no_user_may_use_does_not_start() -> Outcome {
    let mut bot = BotHouse::still()?;
    bot.house.configure("[chat.telegram]\ntoken_file = \"/none\"\n")?;
    let refused = bot.house.glis().arg("chat").output()?;
    assert!(!refused.status.success());
    let told = String::from_utf8(refused.stderr)?;
    assert!(told.contains("no user may use the bot") && told.contains("allowed_users"), "{told}");
    bot.kill();
    assert_eq!(bot.api.seen(), []);
    Ok(())
}

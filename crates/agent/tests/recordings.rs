//! What the real agents said, and what it is understood to mean. The recordings were made from the
//! programs themselves.

use glis_agent::{Dialect, Heard, Said, ScreenPrompt, Shown, Source};
use glis_core::input::Sign;
use glis_core::spec::Mode;
use glis_core::talk::{Ask, AskKind};
use glis_wire::view::Voice;

/// Everything that a dialect makes of a recording, a line each. However it is chopped, it means the
/// same.
fn story(agent: &str, mode: Mode, recording: &str) -> String {
    let whole = told(agent, mode, recording.as_bytes(), usize::MAX);
    for size in [1, 61, 4096] {
        assert_eq!(told(agent, mode, recording.as_bytes(), size), whole, "in pieces of {size}");
    }
    whole
}

fn told(agent: &str, mode: Mode, bytes: &[u8], size: usize) -> String {
    let mut dialect = dialect(agent, mode);
    let mut told = String::new();
    let (mut at, mut last) = (1000, [0, 0]);
    for piece in bytes.chunks(size.min(bytes.len())) {
        let heard = feed(dialect.as_mut(), at, piece);
        for Heard { at, said, .. } in &heard {
            let last = &mut last[usize::from(said.is_some())];
            assert!(*at > *last, "two things have one place: {at}");
            *last = *at;
        }
        told_by(heard, &mut told);
        at += piece.len() as u64;
    }
    told
}

/// Adds what was heard to a story.
fn told_by(heard: Vec<Heard>, told: &mut String) {
    for Heard { sign, said, .. } in heard {
        if let Some(sign) = sign {
            told.push_str(&word(&sign));
            told.push('\n');
        }
        let tells = |said: &Said| !said.content.is_empty() || said.outcome.is_some();
        if let Some(said) = said.filter(tells) {
            let tool = said.tool.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
            let outcome = said.outcome.map_or(String::new(), |word| format!(" ({})", word.word()));
            let Said { voice, content, .. } = said;
            told.extend([format!("  {voice:?}{tool}{outcome}: {content}"), "\n".to_owned()]);
        }
    }
}

#[expect(clippy::expect_used, reason = "the tests name agents of the table")]
fn dialect(agent: &str, mode: Mode) -> Box<dyn Dialect> {
    glis_agent::find(agent).expect("an agent of the table").dialect(mode)
}

fn feed(dialect: &mut dyn Dialect, at: u64, bytes: &[u8]) -> Vec<Heard> {
    match dialect.source() {
        Source::Stream => dialect.hear(at, bytes),
        Source::Transcript | Source::Screen => dialect.read(at, bytes),
    }
}

fn word(sign: &Sign) -> String {
    match sign {
        Sign::RefKnown(id) => format!("id {id}"),
        Sign::Ready => "ready".to_owned(),
        Sign::TookMessage { .. } => "took".to_owned(),
        Sign::TurnBegan => "turn".to_owned(),
        Sign::ToolBegan { what, .. } => format!("tool {what}"),
        Sign::ToolEnded(_) => "tool ended".to_owned(),
        Sign::Background(running) => format!("background {running}"),
        Sign::TurnEnded => "turn ended".to_owned(),
        Sign::TurnCut => "turn cut off".to_owned(),
        Sign::TurnFailed(why) => format!("turn failed: {why}"),
        Sign::Asked(ask) => format!("asks ({:?}) {}", ask.kind, ask.text),
        Sign::AskGone(_) => "asks no more".to_owned(),
        Sign::LimitReached { reset_at } => format!("limit {reset_at}"),
        Sign::TurnLimited { reset_at } => format!("turn limited {reset_at}"),
        Sign::Screen(state) => format!("{state:?}"),
        Sign::RefRejected(why) => format!("rejected: {why}"),
        Sign::StartRefused(why) => format!("refused to begin: {why}"),
        Sign::MessageRefused(why) => format!("message refused: {why}"),
    }
}

/// Recordings have names of their own for the first request.
fn claude() -> String {
    include_str!("recordings/claude-headless-day.jsonl").replacen(
        "\"request_id\":\"init\"",
        "\"request_id\":\"glis-first\"",
        1,
    )
}

fn codex(recording: &str, id: &str) -> String {
    recording.replacen(id, "\"id\":\"glis-thread\"", 1)
}

/// Compares with what is written beside the recording, which a person has read.
#[expect(clippy::expect_used, clippy::panic, reason = "this is what fails")]
fn check(story: &str, written: &str, name: &str) {
    if story != written {
        let place = std::env::temp_dir().join(name);
        std::fs::write(&place, story).expect("a place for what was heard");
        panic!("{name} differs; what was heard is in {}", place.display());
    }
}

#[test]
fn a_day_of_claude_on_pipes() {
    let story = story("claude", Mode::Headless, &claude());
    check(&story, include_str!("recordings/claude-headless-day.story"), "claude-headless-day");
}

#[test]
fn a_day_of_codex_on_pipes() {
    let recording = codex(include_str!("recordings/codex-headless-day.jsonl"), "\"id\":2");
    let story = story("codex", Mode::Headless, &recording);
    check(&story, include_str!("recordings/codex-headless-day.story"), "codex-headless-day");
}

/// What is written down has its place whatever was heard of its hooks before: after a restart it is
/// read again, and counts once.
/// Whichever of the first requests it answers with an error, that is why it does not begin.
#[test]
fn codex_says_why_it_does_not_begin() {
    let (no, broken) = ("no rollout found", "failed to load configuration: config.toml:1:16");
    let refused = |why: &str| Sign::StartRefused(why.to_owned());
    for (request, message, sign) in [
        ("glis-greeting", no, refused(no)),
        ("glis-thread", no, refused(no)),
        // Whether it knows the conversation, it has not even looked.
        ("glis-thread:01a1de45", broken, refused(broken)),
        ("glis-thread:01a1de45", no, Sign::RefRejected(no.to_owned())),
    ] {
        let answer =
            serde_json::json!({"id": request, "error": {"code": -32600, "message": message}});
        let heard = dialect("codex", Mode::Headless).hear(0, format!("{answer}\n").as_bytes());
        let signs: Vec<_> = heard.into_iter().filter_map(|heard| heard.sign).collect();
        assert_eq!(signs, [sign], "{request}");
    }
}

/// When its conversation is made shorter, it tells what stays of it once more, under the same ids.
#[test]
fn what_claude_repeats_is_said_once() {
    let day = claude();
    let said = |recording: &str| {
        let mut dialect = dialect("claude", Mode::Headless);
        dialect
            .hear(0, recording.as_bytes())
            .into_iter()
            .filter(|heard| heard.said.is_some())
            .count()
    };
    let answers = |line: &&str| line.contains("\"type\":\"assistant\"");
    let again: String = day.split_inclusive('\n').filter(answers).collect();
    assert!(!again.is_empty());
    assert_eq!(said(&format!("{day}{again}")), said(&day));
}

#[test]
fn words_of_claude_have_the_same_place_whenever_they_are_read() {
    let hooks = include_bytes!("recordings/claude-hooks-day.jsonl");
    let transcript = include_bytes!("recordings/claude-transcript-terminal.jsonl");
    let places = |heard: Vec<Heard>| -> Vec<(u64, Said)> {
        heard.into_iter().filter_map(|heard| Some((heard.at, heard.said?))).collect()
    };
    let mut first = dialect("claude", Mode::Terminal);
    let before = places(first.read(0, transcript));
    let mut again = dialect("claude", Mode::Terminal);
    drop(again.overhear(0, hooks));
    let after = places(again.read(0, transcript));
    assert!(before.iter().any(|(_, said)| said.usage.is_some()));
    assert_eq!(before, after);
}

/// Words of a story, without what tools do and what the program says about itself.
fn words(heard: Vec<Heard>) -> Vec<String> {
    let said = heard.into_iter().filter_map(|heard| heard.said);
    let words = said.filter(|said| matches!(said.voice, Voice::User | Voice::Assistant));
    words.map(|said| format!("{:?}: {}", said.voice, said.content)).collect()
}

/// Where the output was lost, the transcript has the same words.
#[test]
fn what_was_said_is_in_the_transcript_in_the_same_words() {
    let mut stream = dialect("claude", Mode::Headless);
    let heard = words(stream.hear(0, claude().as_bytes()));
    let read = stream.read(0, include_bytes!("recordings/claude-transcript-day.jsonl"));
    let read: Vec<_> = words(read).into_iter().filter(|said| !said.starts_with("User")).collect();
    assert_eq!(read, heard);

    let recording = codex(include_str!("recordings/codex-headless-day.jsonl"), "\"id\":2");
    let mut server = dialect("codex", Mode::Headless);
    let mut heard = words(server.hear(0, recording.as_bytes()));
    let read = server.read(0, include_bytes!("recordings/codex-rollout-day.jsonl"));
    // Only whole answers are written down: the beginning of the last one is lost. The rollout goes on
    // with the next process.
    heard.pop();
    assert_eq!(words(read).get(..heard.len()), Some(&*heard));
}

/// In a terminal there are two files, which are written side by side.
fn in_terminal(order: Order) -> String {
    let hooks = include_str!("recordings/claude-hooks-day.jsonl");
    let mut transcript = include_str!("recordings/claude-transcript-terminal.jsonl")
        .split_inclusive('\n')
        .peekable();
    let mut dialect = dialect("claude", Mode::Terminal);
    let (mut story, mut hooks_at, mut at, mut known) = (String::new(), 0, 0, Vec::new());
    for hook in hooks.split_inclusive('\n') {
        let prompt = field(hook, "prompt_id");
        let next = !known.contains(&prompt) && hook.contains("\"UserPromptSubmit\"");
        let mut read = |known: &[String], story: &mut String, dialect: &mut dyn Dialect| {
            // A line belongs to the prompt before it; no prompt is written before it was given.
            while let Some(line) = transcript.next_if(|line| {
                let of = field(line, "promptId");
                of.is_empty() || known.contains(&of)
            }) {
                told_by(dialect.read(at, line.as_bytes()), story);
                at += line.len() as u64;
            }
        };
        if next && order == Order::TranscriptLate {
            read(&known, &mut story, dialect.as_mut());
        }
        known.push(prompt);
        told_by(dialect.overhear(hooks_at, hook.as_bytes()), &mut story);
        hooks_at += hook.len() as u64;
        if order == Order::TranscriptEarly || hooks_at == hooks.len() as u64 {
            read(&known, &mut story, dialect.as_mut());
        }
    }
    story
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Everything is in the transcript before the next hook is called.
    TranscriptEarly,
    /// Nothing is in the transcript before the next message is taken.
    TranscriptLate,
}

/// A field of a line, empty if it has none.
fn field(line: &str, name: &str) -> String {
    let words: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    words[name].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_day_of_claude_in_a_terminal() {
    let story = in_terminal(Order::TranscriptLate);
    check(&story, include_str!("recordings/claude-terminal-day.story"), "claude-terminal-day");
}

#[test]
fn whichever_file_is_written_first_every_turn_begins_and_ends_once() {
    for order in [Order::TranscriptEarly, Order::TranscriptLate] {
        let story = in_terminal(order);
        let of = |what: &str| story.lines().filter(|line| *line == what).count();
        let failed = story.lines().filter(|line| line.starts_with("turn failed: ")).count();
        let ended = (of("turn ended"), of("turn cut off"), failed);
        assert_eq!((of("turn"), ended), (7, (3, 2, 1)), "{story}");
    }
}

#[test]
fn codex_comes_back_in_its_own_conversation_or_not_at_all() {
    let recording = include_str!("recordings/codex-headless-resume.jsonl");
    let thread = "01a1dd8c-f69b-73b3-94be-bac72e0a3d33";
    let as_asked = |id: &str| {
        let request = format!("\"id\":\"glis-thread:{id}\",\"result\":{{\"thread\"");
        recording.replacen("\"id\":11,\"result\":{\"thread\"", &request, 1)
    };
    let story_of = |recording: &str| story("codex", Mode::Headless, recording);
    let same = story_of(&as_asked(thread));
    check(&same, include_str!("recordings/codex-headless-resume.story"), "codex-headless-resume");
    let other = story_of(&as_asked("0199c0de-0000-7000-8000-000000000001"));
    assert_eq!(other, format!("rejected: it came back in another conversation, {thread}\n"));
}

/// Everything else that Codex asks is a person's: no rule reads it.
#[test]
fn rules_are_asked_about_plain_commands_of_codex_alone() {
    let plain = "item/commandExecution/requestApproval";
    let beside = |key: &str| serde_json::json!({key: {"host": "example.org"}});
    let asked = [
        (plain, serde_json::json!({}), true),
        (plain, beside("networkApprovalContext"), false),
        (plain, beside("additionalPermissions"), false),
        ("item/fileChange/requestApproval", serde_json::json!({"grantRoot": "/"}), false),
        ("item/permissions/requestApproval", beside("permissions"), false),
        ("mcpServer/elicitation/request", serde_json::json!({"message": "Do it?"}), false),
    ];
    for (method, mut params, read) in asked {
        params["itemId"] = "i".into();
        params["command"] = "/bin/bash -lc 'cargo test'".into();
        let asks = serde_json::json!({"id": 0, "method": method, "params": params});
        let heard = dialect("codex", Mode::Headless).hear(0, format!("{asks}\n").as_bytes());
        let Some(Sign::Asked(ask)) = &heard[0].sign else { panic!("{method}: {heard:?}") };
        assert_eq!(ask.wants.is_some(), read, "{asks}");
    }
}

#[test]
fn codex_gets_an_answer_to_each_of_its_questions() {
    let mut dialect = dialect("codex", Mode::Headless);
    let asks = serde_json::json!({
        "id": 0,
        "method": "item/tool/requestUserInput",
        "params": {"itemId": "i", "questions": [
            {"id": "c", "question": "Colour?", "options": [{"label": "red"}]},
            {"id": "s", "question": "Size?"},
        ]},
    });
    let heard = dialect.hear(0, format!("{asks}\n").as_bytes());
    let Some(Sign::Asked(ask)) = &heard[0].sign else { panic!("{heard:?}") };
    let why = dialect.answer(ask, "red").unwrap_err();
    assert!(why.contains("\"Colour?\"") && why.contains("\"Size?\""), "{why}");
    let told = |answer: &str| {
        let told = dialect.answer(ask, answer).unwrap();
        serde_json::from_slice::<serde_json::Value>(&told).unwrap()["result"]["answers"].clone()
    };
    let both = serde_json::json!({"c": {"answers": ["red"]}, "s": {"answers": ["large"]}});
    assert_eq!(told(r#"{"Colour?": "red", "s": "large"}"#), both);
    assert_eq!(told("deny")["s"]["answers"][0], "none of these");
}

#[test]
fn what_is_asked_can_be_answered_after_everything_was_heard_again() {
    let ask = |text: &str, from: &str| {
        let at = from.find(text).expect("the question");
        from.get(..at + text.len()).expect("whole characters").to_owned()
    };
    let recording = claude();
    let until = ask("\"tool_name\":\"Write\"", &recording);
    let lines = recording.lines().take(until.lines().count()).collect::<Vec<_>>().join("\n");
    let mut dialect = dialect("claude", Mode::Headless);
    let heard = dialect.hear(0, format!("{lines}\n").as_bytes());
    let asked: Vec<&Ask> = heard
        .iter()
        .filter_map(|heard| match &heard.sign {
            Some(Sign::Asked(ask)) => Some(ask),
            _ => None,
        })
        .collect();
    let [asked] = asked.as_slice() else { panic!("{asked:?}") };
    let allowed = String::from_utf8(dialect.answer(asked, "allow").unwrap()).unwrap();
    assert!(allowed.contains("\"updatedInput\":{\"content\":\"x\""), "{allowed}");
    let denied = String::from_utf8(dialect.answer(asked, "deny").unwrap()).unwrap();
    assert!(denied.contains("\"behavior\":\"deny\""), "{denied}");
    let strange = Ask { id: glis_core::AskId("x".to_owned()), ..(*asked).clone() };
    assert!(dialect.answer(&strange, "allow").is_err());
}
/// The answers to our requests, under the names that we give them. In the recordings they are
/// numbered: a greeting, the conversation, messages.
fn opencode(recording: &str, first: u64, conversation: &str) -> String {
    let named = |line: &str| {
        let words: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let number = words["id"].as_u64().filter(|_| words.get("method").is_none());
        match number.map(|number| number - first) {
            None => line.to_owned(),
            Some(0) => as_named(words, "glis-greeting"),
            Some(1) => as_named(words, conversation),
            Some(_) => as_named(words, "glis-message"),
        }
    };
    recording.lines().map(|line| named(line) + "\n").collect()
}

fn as_named(mut words: serde_json::Value, name: &str) -> String {
    words["id"] = serde_json::json!(name);
    words.to_string()
}

#[test]
fn a_day_of_opencode_on_pipes() {
    let recording = include_str!("recordings/opencode-headless-day.jsonl");
    let recording = opencode(recording, 1, "glis-conversation");
    let story = story("opencode", Mode::Headless, &recording);
    check(&story, include_str!("recordings/opencode-headless-day.story"), "opencode-headless-day");
}

/// What it has written down means what its output would have meant. That a turn was over which was
/// ended by a refusal is the one thing that is not to be seen there.
#[test]
fn a_day_of_opencode_as_it_is_written_down() {
    let written = include_bytes!("recordings/opencode-written-day.json");
    let mut acp = dialect("opencode", Mode::Headless);
    let mut story = String::new();
    let heard = acp.read(0, written);
    let places: std::collections::BTreeSet<(u64, bool)> =
        heard.iter().map(|heard| (heard.at, heard.said.is_some())).collect();
    assert_eq!(places.len(), heard.len(), "two things have one place");
    told_by(heard, &mut story);
    check(&story, include_str!("recordings/opencode-written-day.story"), "opencode-written-day");
    let half = written.get(..written.len() / 2).unwrap();
    assert!(acp.read(0, half).is_empty(), "half a document means nothing");
}

#[test]
fn opencode_tells_its_history_again_and_it_is_not_taken_for_news() {
    const FIRST: u64 = 11;
    let recording = include_str!("recordings/opencode-headless-resume.jsonl");
    let recording = opencode(recording, FIRST, "glis-conversation:ses_1");
    let id = recording.split("\"sessionId\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let recording = recording.replace("ses_1", id.unwrap());
    let story = story("opencode", Mode::Headless, &recording);
    let written = include_str!("recordings/opencode-headless-resume.story");
    check(&story, written, "opencode-headless-resume");
    let unknown = r#"{"jsonrpc":"2.0","id":"glis-conversation:ses_1","error":{"code":-32603,"message":"Internal error: OpenCode service failure","data":{"service":"session"}}}"#;
    let heard = dialect("opencode", Mode::Headless).hear(0, format!("{unknown}\n").as_bytes());
    let why = "Internal error: OpenCode service failure".to_owned();
    assert_eq!(heard[0].sign, Some(Sign::RefRejected(why)));
}

#[test]
fn a_day_of_gemini_behind_a_relay() {
    let recording = include_str!("recordings/gemini-headless-day.jsonl");
    let day = story("gemini", Mode::Headless, recording);
    check(&day, include_str!("recordings/gemini-headless-day.story"), "gemini-headless-day");
    let recording = include_str!("recordings/gemini-headless-resume.jsonl");
    let later = story("gemini", Mode::Headless, recording);
    check(
        &later,
        include_str!("recordings/gemini-headless-resume.story"),
        "gemini-headless-resume",
    );
}

#[test]
fn a_gemini_that_never_looked_at_the_message_did_not_take_it() {
    let words = r#"{"type":"relay","event":"turn_over","status":42,"why":"Invalid session"}"#;
    let heard = dialect("gemini", Mode::Headless).hear(0, format!("{words}\n").as_bytes());
    let [said, refused] = heard.as_slice() else { panic!("{heard:?}") };
    assert_eq!(said.said.as_ref().map(|said| said.content.as_str()), Some("Invalid session"));
    assert_eq!(refused.sign, Some(Sign::MessageRefused("Invalid session".to_owned())));
}

#[test]
fn a_day_of_codex_in_a_terminal() {
    let recording = include_str!("recordings/codex-terminal-day.jsonl");
    let story = story("codex", Mode::Terminal, recording);
    check(&story, include_str!("recordings/codex-terminal-day.story"), "codex-terminal-day");
}

/// A screen, line by line.
fn screen(text: &str) -> Vec<String> {
    text.lines().map(ToOwned::to_owned).collect()
}

#[test]
fn the_screen_of_claude_says_whether_it_takes_a_message() {
    let dialect = dialect("claude", Mode::Terminal);
    let prompt = include_str!("recordings/claude-screen-prompt.txt");
    assert_eq!(dialect.shows(&screen(prompt)), Shown::Prompt);
    let busy = prompt.replace("(shift+tab to cycle)", "· esc to interrupt");
    assert_eq!(dialect.shows(&screen(&busy)), Shown::Other);
    let wheel = prompt.replace("✻ Worked for 1s · done 11:40 AM", "✻ Finagling… (2s · ↓ 1 tokens)");
    assert_eq!(dialect.shows(&screen(&wheel)), Shown::Other);
    // Words of a dialog that somebody says or types are none.
    let draft = include_str!("recordings/claude-screen-draft.txt");
    assert_eq!(dialect.shows(&screen(draft)), Shown::Draft);
    let trust = include_str!("recordings/claude-screen-trust.txt");
    let Shown::Dialog(asks) = dialect.shows(&screen(trust)) else { panic!("no dialog") };
    assert!(asks.starts_with("Quick safety check"), "{asks}");
    assert!(asks.contains("review what's in this folder first"), "{asks}");
    assert!(!asks.contains("No, exit"), "{asks}");
}

#[test]
fn the_screen_of_codex_says_whether_it_waits_and_its_rollout_for_what() {
    let day = include_str!("recordings/codex-terminal-day.jsonl");
    let prompt = screen(include_str!("recordings/codex-screen-prompt.txt"));
    let leave = screen(include_str!("recordings/codex-screen-leave.txt"));
    let trust = screen(include_str!("recordings/codex-screen-trust.txt"));
    let mut dialect = dialect("codex", Mode::Terminal);
    let called = |line: &&str| line.contains("\"function_call\"") && line.contains("cx2.txt");
    let until: Vec<&str> = day.split_inclusive('\n').take_while(|line| !called(line)).collect();
    let call = day.split_inclusive('\n').find(called).expect("the call");
    let end = until.concat().len() + call.len();
    drop(dialect.read(0, day.get(..end).expect("whole lines").as_bytes()));

    assert_eq!(dialect.shows(&prompt), Shown::Prompt);
    let Shown::Dialog(asks) = dialect.shows(&trust) else { panic!("{trust:?}") };
    let begins = "Folder access {cwd} Trust this folder? Codex can read, edit, and run files here,";
    assert!(asks.starts_with(begins), "{asks}");
    assert!(asks.ends_with("Your trust decision will be saved."), "{asks}");
    let draft = include_str!("recordings/codex-screen-prompt.txt")
        .replace("Ask Codex to do anything", "Sign in with ChatGPT")
        .replace("{cwd}", "~/work");
    assert_eq!(dialect.shows(&screen(&draft)), Shown::Draft);
    let Shown::Asking(ScreenPrompt { id: Some(id), text, choices, wants: _ }) =
        dialect.shows(&leave)
    else {
        panic!("{:?}", dialect.shows(&leave))
    };
    let whole = "run touch {cwd}/cx2.txt && echo a command that is longer than the screen is wide, \
                 so that it stands on two lines (because)";
    assert_eq!(text, whole);
    assert_eq!(choices, ["allow", "deny"]);
    let ask = Ask::new(id, AskKind::Approval, text);
    assert_eq!(dialect.shows_ask(&ask, &leave), Some(true));
    assert_eq!(dialect.shows_ask(&ask, &prompt), Some(false));
    let another = Ask { id: glis_core::AskId("call-another".to_owned()), ..ask.clone() };
    assert_eq!(dialect.shows_ask(&another, &leave), Some(false));

    // What the rollout knows nothing of is asked in the words of the screen.
    drop(dialect.read(end as u64, day.get(end..).expect("whole lines").as_bytes()));
    let Shown::Asking(ScreenPrompt { id: None, text, .. }) = dialect.shows(&leave) else {
        panic!("{:?}", dialect.shows(&leave))
    };
    assert!(text.contains("touch {cwd}/cx2.txt"), "{text}");
    assert_eq!(dialect.shows_ask(&ask, &leave), Some(false));
}

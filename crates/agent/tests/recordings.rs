//! What the real agents said, and what it is understood to mean. The recordings were made from the
//! programs themselves.

use glis_agent::{Dialect, Heard, Said, Source};
use glis_core::input::Sign;
use glis_core::spec::Mode;
use glis_core::talk::Ask;

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
    let (mut at, mut last) = (1000, 0);
    for piece in bytes.chunks(size.min(bytes.len())) {
        for Heard { at, sign, said } in feed(dialect.as_mut(), at, piece) {
            assert!(at > last, "two things have one place: {at}");
            last = at;
            if let Some(sign) = sign {
                told.push_str(&word(&sign));
                told.push('\n');
            }
            if let Some(said) = said.filter(|said| !said.content.is_empty()) {
                let tool = said.tool.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
                let Said { voice, content, .. } = said;
                told.extend([format!("  {voice:?}{tool}: {content}"), "\n".to_owned()]);
            }
        }
        at += piece.len() as u64;
    }
    told
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
        Sign::Asked(ask) => format!("asks ({:?}) {}", ask.kind, ask.text),
        Sign::AskGone(_) => "asks no more".to_owned(),
        Sign::LimitReached { reset_at } => format!("limit {reset_at}"),
        Sign::Screen(state) => format!("{state:?}"),
        Sign::RefRejected(why) => format!("rejected: {why}"),
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
    assert_eq!(other, format!("rejected: it came back with another one, {thread}\n"));
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
    assert_eq!(dialect.answer(&strange, "allow"), None);
}

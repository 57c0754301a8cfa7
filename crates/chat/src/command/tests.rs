//! What is typed, as it is read.

use super::*;

fn typed(text: &str) -> String {
    match read(text, "glis_bot") {
        Typed::Command(command) => format!("{:?}", command.does),
        Typed::Words => "words".to_owned(),
        Typed::NotForUs => "not for us".to_owned(),
    }
}

#[test]
fn a_bot_is_named_by_a_word_of_its_own() {
    for (text, told) in [
        ("@Glis_Bot, say hi", Some("say hi")),
        ("  @glis_bot\nsay\n hi", Some("say\n hi")),
        ("@glis_bot", Some("")),
        ("ask @glis_bot!", Some("ask @glis_bot!")),
        ("@glis_bots say hi", None),
        ("glis_bot me@glis_bot", None),
        ("", None),
    ] {
        assert_eq!(named(text, "glis_bot"), told, "{text}");
    }
}

#[test]
fn commands_are_read_as_they_are_typed_on_a_phone() {
    for (text, expected) in [
        ("/pause", "Pause { mode: None }"),
        ("/Pause force", "Pause { mode: Some(Force) }"),
        ("/Pause Force", "Pause { mode: Some(Force) }"),
        ("/New Gamma", "New { name: Some(\"gamma\"), persona: None, repo: None }"),
        ("/Switch Blue", "Switch { name: Some(\"blue\") }"),
        ("/plan Execute @Web", "Plan { verb: Execute, repo: Some(\"Web\") }"),
        ("/pause@glis_bot boundary", "Pause { mode: Some(Boundary) }"),
        ("/pause@GLIS_BOT", "Pause { mode: None }"),
        ("/pause@other_bot", "not for us"),
        ("/pause soon", "Unclear { usage: \"Usage: /pause [boundary|interrupt|force]\" }"),
        ("/new", "New { name: None, persona: None, repo: None }"),
        ("/new blue critic", "New { name: Some(\"blue\"), persona: Some(\"critic\"), repo: None }"),
        ("/new a @web", "New { name: Some(\"a\"), persona: None, repo: Some(\"web\") }"),
        ("/new a b c", "Unclear { usage: \"Usage: /new [name] [persona] [@repo]\" }"),
        ("/plan", "Plan { verb: Show, repo: None }"),
        ("/plan execute @web", "Plan { verb: Execute, repo: Some(\"web\") }"),
        ("/plan pause", "Plan { verb: Pause { mode: Interrupt }, repo: None }"),
        ("/plan pause force", "Plan { verb: Pause { mode: Force }, repo: None }"),
        ("/plan approve dust", "Plan { verb: Approve { task: \"dust\", said: None }, repo: None }"),
        ("/plan decline dust", "Plan { verb: Decline { task: \"dust\" }, repo: None }"),
        ("/plan skip dust", "Plan { verb: Rule { task: \"dust\", ruling: Skip }, repo: None }"),
        ("/plan resume dust", "Plan { verb: Resume { task: \"dust\" }, repo: None }"),
        (
            "/plan resume",
            "Unclear { usage: \"Usage: /plan [execute|pause|resume|restart|accept|judge|reject|skip|approve|decline TASK] [@repo]\" }",
        ),
        ("/timeout 5", "Timeout { minutes: Some(\"5\") }"),
        (
            "/frobnicate",
            "Unclear { usage: \"Unknown command, nothing was sent. /help lists all.\" }",
        ),
        ("/label", "Put { action: None }"),
        ("/label Auth -old", "Put { action: Some(Label { add: [\"auth\"], remove: [\"old\"] }) }"),
        ("/pin", "Put { action: Some(Pin { on: true }) }"),
        ("/pin off", "Put { action: Some(Pin { on: false }) }"),
        ("/pin maybe", "Unclear { usage: \"Usage: /pin [off]\" }"),
        ("/budget", "Budget { budget: None }"),
        ("/budget usd=5", "Budget { budget: Some(\"usd=5\") }"),
        ("/snooze 2h", "Put { action: Some(Snooze { until: \"2h\" }) }"),
        ("/start", "Help"),
        (" /help", "Help"),
        ("/etc/hosts is wrong", "words"),
        ("/ pause", "words"),
        ("/", "words"),
        ("pause /pause", "words"),
        ("", "words"),
    ] {
        assert_eq!(typed(text), expected, "{text}");
    }
}

/// Networks allow so much in a bot's list of commands.
#[test]
fn every_command_of_the_help_is_one() {
    for Known { verb, takes, about, .. } in COMMANDS {
        let text = format!("/{verb}");
        let Typed::Command(command) = read(&text, "b") else { panic!("{verb}") };
        assert!(!matches!(command.does, Does::Unclear { .. }), "{verb} {takes}");
        assert!(verb.len() <= 32 && (3..=256).contains(&about.len()), "{verb}");
    }
}

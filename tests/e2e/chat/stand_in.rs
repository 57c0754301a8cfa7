//! A second opinion: the bot on a Bot API that others have written.

use crate::support::bot::{BotHouse, ME};
use crate::support::house::{Background, Outcome};
use crate::support::skip::skip;
use glis_bot_api::TOKEN;
use glis_stub_model::browser;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_server_that_others_have_written_is_talked_on_as_well() -> Outcome {
    let (Some(modules), Some(node)) = (browser::modules(), browser::node()) else {
        let why = "telegram-test-api is not installed; `cargo xtask browser` does that";
        return skip(why, Some("node and npm"));
    };
    let mut bot = BotHouse::still()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bot-api/stand-in.mjs");
    let mut command = Command::new(node);
    // Found and ended with the house, should the conversation break off.
    bot.house.enter(&mut command);
    command.arg(script).env("GLIS_MODULES", modules).env("GLIS_TOKEN", TOKEN);
    command.env("GLIS_USER", ME.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = Background(command.spawn()?);
    let mut address = String::new();
    let output = server.0.stdout.take().ok_or("no stdout")?;
    BufReader::new(output).read_line(&mut address)?;
    bot.talk_on(address.trim())?;
    bot.start()?;
    writeln!(server.0.stdin.take().ok_or("no stdin")?, "the bot runs")?;
    let mut complaint = String::new();
    server.0.stderr.take().ok_or("no stderr")?.read_to_string(&mut complaint)?;
    let ended = server.0.wait()?;
    let log = std::fs::read_to_string(bot.log())?;
    assert!(ended.success(), "{complaint}\n--- the bot's log ---\n{log}");
    Ok(())
}

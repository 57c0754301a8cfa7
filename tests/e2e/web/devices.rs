//! Devices and tokens: paired once, revoked at once, kept over the end of the server.

use super::guard::{paired, ticket, token};
use crate::support::house::{House, Outcome, eventually, program};
use crate::support::skip::skip;
use crate::support::web::{Web, head};
use serde_json::{Value, json};
use std::io::{BufReader, Read};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn a_link_pairs_one_device_and_wrong_codes_are_told_and_shut_nobody_out() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let link = house.json(&["web", "pair", "--name", "phone", "--scope", "send"])?;
    let link = link["url"].as_str().ok_or("no link")?.to_owned();
    assert!(link.starts_with(&format!("http://{}/#pair=", web.host())), "{link}");
    let paired = web.pair(&link)?;
    assert_eq!((paired.status, &paired.json()?["scope"]), (200, &json!("send")));
    // A link that was used is no guess, however often it is opened.
    for _ in 0..6 {
        let again = web.pair(&link)?;
        assert_eq!((again.status, &again.json()?["error"]["kind"]), (409, &json!("used_code")));
    }
    let told = "wrong pairing codes since the last device was paired";
    assert!(!house.ok(&["web", "devices"])?.contains(told), "a used link is no wrong code");
    for _ in 0..20 {
        let wrong = web.pair("#pair=0")?;
        assert_eq!((wrong.status, &wrong.json()?["error"]["kind"]), (409, &json!("wrong_code")));
    }
    let said = house.ok(&["web", "devices"])?;
    assert!(said.contains(&format!("{told}: 16 or more")), "{said}");
    let listed = house.json(&["web", "devices"])?;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!((&listed[0]["name"], &listed[0]["kind"]), (&json!("phone"), &json!("device")));
    let fresh = house.json(&["web", "pair", "--name", "tablet"])?;
    let paired = web.pair(fresh["url"].as_str().ok_or("no link")?)?;
    assert_eq!(paired.status, 200, "{paired:?}");
    assert!(!house.ok(&["web", "devices"])?.contains(told), "it was paired since");
    Ok(())
}

#[test]
fn a_link_leads_to_a_server_that_answers_or_says_that_none_does() -> Outcome {
    let house = House::new()?;
    let first = Web::start(&house)?;
    let link = house.json(&["web", "pair", "--name", "one"])?;
    assert_eq!(link["answers"], true);
    first.kill()?;
    let link = house.json(&["web", "pair", "--name", "two"])?;
    assert_eq!(link["answers"], false);
    let said = house.ok(&["web", "pair", "--name", "three"])?;
    assert!(said.contains("run `glis web` first"), "{said}");
    let named = Web::start_at(&house, "localhost:0")?;
    let link = house.json(&["web", "pair", "--name", "four"])?;
    assert_eq!(link["answers"], true);
    assert_eq!(named.pair(link["url"].as_str().ok_or("no link")?)?.status, 200);
    Ok(())
}

#[test]
fn a_link_leads_to_the_server_that_lives_and_to_no_other_program() -> Outcome {
    let house = House::new()?;
    let first = Web::start(&house)?;
    let second = Web::start(&house)?;
    let link = |name: &str| house.json(&["web", "pair", "--name", name]);
    let leads_to =
        |link: &Value, url: &str| link["url"].as_str().is_some_and(|l| l.starts_with(url));
    let later = link("one")?;
    assert!(leads_to(&later, &second.url) && later["answers"] == true, "{later}");
    let (former, address) = (second.url.clone(), second.address);
    second.kill()?;
    let other = link("two")?;
    assert!(leads_to(&other, &first.url) && other["answers"] == true, "{other}");
    // Another program takes the port, and answers.
    let stranger = std::net::TcpListener::bind(address)?;
    let served = std::thread::spawn(move || -> std::io::Result<()> {
        for _ in 0..2 {
            let (mut stream, _) = stranger.accept()?;
            std::io::Write::write_all(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n{\"proof\":\"0\"}")?;
        }
        Ok(())
    });
    let other = link("three")?;
    assert!(leads_to(&other, &first.url) && other["answers"] == true, "{other}");
    first.kill()?;
    let none = link("four")?;
    assert!(leads_to(&none, &former) && none["answers"] == false, "{none}");
    served.join().map_err(|_| "the stranger broke")??;
    Ok(())
}

#[test]
fn who_is_let_in_or_revoked_is_so_at_once_also_in_the_middle_of_a_stream() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    for _ in 0..20 {
        assert_eq!(web.get("/api/v1/sessions", "wrong")?.status, 401);
    }
    let token = token(&house, "script", "watch")?;
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 200);
    let mut events = web.events(&token, None)?;
    events.until(|event| event["event"] == "session_created")?;
    house.ok(&["web", "revoke", "script"])?;
    while events.next()?.is_some() {}
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 401);
    let gone = house.fails(&["web", "revoke", "script"])?;
    assert_eq!(gone.0, 3);
    Ok(())
}

#[test]
fn a_killed_server_harms_nothing_and_its_devices_stay_and_its_tickets_do_not() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let paired = paired(&house, &web, "phone", "watch")?;
    let secret = paired["secret"].as_str().ok_or("no secret")?;
    let given = |web: &Web| -> Outcome<String> {
        let given = web.ticket(secret)?;
        Ok(given.json()?["ticket"].as_str().ok_or_else(|| format!("{given:?}"))?.to_owned())
    };
    let former = given(&web)?;
    assert_eq!(web.get("/api/v1/device", &former)?.status, 200);
    assert_eq!(web.get("/api/v1/device", secret)?.status, 401, "the secret is for tickets alone");
    let address = web.address.to_string();
    let session = house.turn("blue", "say one")?;
    web.kill()?;
    assert_eq!(house.show("blue")?["pid"], session["pid"]);
    let web = Web::start_at(&house, &address)?;
    // Whoever had the port meanwhile may have seen the ticket, and has nothing.
    assert_eq!(web.get("/api/v1/device", &former)?.status, 401);
    let fresh = given(&web)?;
    let who = web.get("/api/v1/device", &fresh)?;
    assert_eq!((who.status, &who.json()?["name"]), (200, &json!("phone")));
    // Nor does it count with another server of the same home.
    let other = Web::start(&house)?;
    assert_eq!(other.get("/api/v1/device", &fresh)?.status, 401);
    assert_eq!(web.post("/api/v1/device/forget", &fresh, &json!({}))?.status, 200);
    assert_eq!(web.get("/api/v1/device", &fresh)?.status, 401);
    assert_eq!(web.ticket(secret)?.status, 401);
    Ok(())
}

#[test]
fn a_file_of_devices_that_is_not_ours_lets_none_in() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let file = house.home().join("devices.json");
    let elsewhere = house.folder().join("elsewhere.json");
    std::fs::rename(&file, &elsewhere)?;
    std::os::unix::fs::symlink(&elsewhere, &file)?;
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 503);
    assert_eq!(house.fails(&["web", "token", "--name", "x", "--scope", "watch"])?.0, 1);
    std::fs::remove_file(&file)?;
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 401);
    std::fs::rename(&elsewhere, &file)?;
    assert_eq!(web.get("/api/v1/sessions", &token)?.status, 200);
    Ok(())
}

#[test]
fn a_state_folder_that_is_a_link_is_not_used() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    // Made beforehand by somebody else, it would lead to a folder that they choose.
    let linked = house.folder().join("linked");
    std::os::unix::fs::symlink(house.home(), &linked)?;
    for args in [&["token", "--name", "x", "--scope", "manage"][..], &["--listen", "127.0.0.1:0"]] {
        let refused = house.glis().arg("web").args(args).env("GLIS_HOME", &linked).output()?;
        assert!(!refused.status.success(), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("is a link"), "{refused:?}");
    }
    // And one that is put in its place while the server runs.
    let elsewhere = house.folder().join("elsewhere");
    std::fs::rename(house.home(), &elsewhere)?;
    std::os::unix::fs::symlink(&elsewhere, house.home())?;
    let answer = web.get("/api/v1/sessions", &token)?;
    std::fs::remove_file(house.home())?;
    std::fs::rename(&elsewhere, house.home())?;
    assert_eq!(answer.status, 503, "{answer:?}");
    // The daemon may be busy with finding its home again.
    eventually("it answers again", || {
        web.get("/api/v1/sessions", &token).is_ok_and(|answer| answer.status == 200)
    })
}

#[test]
fn another_user_of_the_machine_gets_to_the_port_and_no_further() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    token(&house, "script", "manage")?;
    let nobody = |args: &[&str]| {
        let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        Command::new("setpriv").args(ids).args(args).env("GLIS_HOME", house.home()).output()
    };
    match nobody(&["true"]) {
        Ok(output) if output.status.success() => {}
        Ok(_) => return skip("only root can act as another user", None),
        Err(fault) => return skip(&format!("setpriv: {fault}"), Some("util-linux")),
    }
    let copy = house.repo().join("glis-copy");
    std::fs::copy(program(), &copy)?;
    let copy = copy.to_str().ok_or("no path")?.to_owned();
    let home = house.home();
    let file = home.join("devices.json");
    let before = std::fs::read(&file)?;
    let steal = || -> Outcome {
        let read = nobody(&["cat", file.to_str().ok_or("no path")?])?;
        assert!(!read.status.success() && read.stdout.is_empty(), "{read:?}");
        for args in [&["pair", "--name", "x"][..], &["token", "--name", "x", "--scope", "manage"]] {
            let made = nobody(&[&[copy.as_str(), "web"], args].concat())?;
            assert!(!made.status.success(), "{made:?}");
        }
        assert_eq!(std::fs::read(&file)?, before);
        Ok(())
    };
    steal()?;
    // Even if somebody opened every folder on the way.
    let parent = home.parent().ok_or("no parent")?;
    for path in [parent, &home] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    }
    steal()?;
    let answer = web.ask("GET /api/v1/sessions", &[("Host", &web.host())], "")?;
    assert_eq!(answer.status, 401);
    Ok(())
}

/// Reads on to the end. A stream that does not end has its beats, so that no single read takes long.
fn ends(mut reader: impl Read) -> Outcome {
    let (began, mut bytes) = (Instant::now(), [0; 4096]);
    while reader.read(&mut bytes)? > 0 {
        if began.elapsed() > Duration::from_secs(40) {
            return Err("what was open goes on".into());
        }
    }
    Ok(())
}

#[test]
fn a_stolen_ticket_is_worth_nothing_after_the_revocation() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let ticket = ticket(&house, &web, "phone", "manage")?;
    let host = web.host();
    let headers = [("Host", host.as_str()), ("X-Glis-Ticket", ticket.as_str())];
    let upgrade = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let upgrade = [&headers[..], &upgrade].concat();
    let mut open = Vec::new();
    for (path, headers, wanted) in [
        ("GET /api/v1/events", &[&headers[..], &[("Connection", "close")]].concat(), 200),
        ("GET /api/v1/sessions/blue/terminal", &upgrade, 101),
    ] {
        let mut reader = BufReader::new(web.open(path, headers, "")?);
        assert_eq!(head(&mut reader)?.0, wanted, "{path}");
        open.push(reader);
    }
    house.ok(&["web", "revoke", "phone"])?;
    // What was open ends, for the thief as for the owner.
    for reader in open {
        ends(reader)?;
    }
    for (path, headers) in
        [("GET /api/v1/sessions", &headers[..]), ("GET /api/v1/sessions/blue/terminal", &upgrade)]
    {
        assert_eq!(web.ask(path, headers, "")?.status, 401, "{path}");
    }
    let meant = [&headers[..], &[("X-Glis", "1")]].concat();
    let sent = web.ask("POST /api/v1/sessions/blue/send", &meant, r#"{"text":"stolen"}"#)?;
    assert_eq!(sent.status, 401);
    assert!(house.talk("blue")?.is_empty());
    Ok(())
}

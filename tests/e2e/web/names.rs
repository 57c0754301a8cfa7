//! The page has a name of its own: devices are known there alone, and at the number stands the way to it.

use super::guard::{paired, ticket, token};
use crate::support::house::{Background, House, Outcome, program};
use crate::support::skip::skip;
use crate::support::web::{Web, credential};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;

/// Where it listens if nothing else is said.
const USUAL: &str = "127.0.0.1:7717";

#[test]
fn the_page_has_a_name_that_stays_and_the_number_shows_the_way() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let (url, host, number) = (web.url.clone(), web.host(), web.address.to_string());
    let letters = host.strip_prefix("glis-").and_then(|host| host.split_once(".localhost:"));
    let (letters, port) = letters.ok_or_else(|| url.clone())?;
    assert!(letters.len() == 4 && port == web.address.port().to_string(), "{url}");
    let ticket = ticket(&house, &web, "phone", "watch")?;
    let token = token(&house, "script", "watch")?;
    let asked = |host: &str, given: &str| -> Outcome<u16> {
        let (name, credential) = credential(given);
        let headers = [("Host", host), (name, &*credential)];
        Ok(web.ask("GET /api/v1/sessions", &headers, "")?.status)
    };
    let (local, newer) = (format!("localhost:{port}"), format!("[::1]:{port}"));
    assert_eq!(asked(&host, &ticket)?, 200);
    for name in [&host, &number, &local, &newer] {
        assert_eq!(asked(name, &token)?, 200, "{name}");
    }
    for name in [&number, &local, &newer] {
        assert_eq!(asked(name, &ticket)?, 401, "{name}");
        let page = web.ask("GET /", &[("Host", name)], "")?;
        assert_eq!(page.status, 200);
        assert!(page.body.contains(&format!("<a href=\"{url}/\">")), "{page:?}");
        assert!(!page.body.contains("<script") && !page.body.contains("blue"), "{page:?}");
        let link = house.json(&["web", "pair", "--name", name])?;
        let code = link["url"].as_str().and_then(|link| link.split_once("#pair="));
        let body = json!({"code": code.ok_or("no code")?.1}).to_string();
        let paired = web.ask("POST /pair", &[("Host", name), ("X-Glis", "1")], &body)?;
        assert_eq!(paired.status, 403, "{paired:?}");
        let body = json!({"secret": "x"}).to_string();
        let given = web.ask("POST /ticket", &[("Host", name), ("X-Glis", "1")], &body)?;
        assert_eq!(given.status, 403, "{given:?}");
    }
    web.kill()?;
    let again = Web::start_at(&house, &number)?;
    assert_eq!(again.url, url);
    Ok(())
}

#[test]
fn a_name_that_browsers_would_not_find_is_refused() -> Outcome {
    let house = House::new()?;
    let (status, told) = house.fails(&["web", "--listen", "127.0.0.2:0"])?;
    assert_eq!((status, &told["kind"]), (2, &json!("usage")), "{told}");
    Ok(())
}

#[test]
fn the_page_holds_both_addresses_of_this_machine_or_does_not_start() -> Outcome {
    let house = House::new()?;
    // Browsers try this one first for names that end in `.localhost`.
    let stranger = match TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
        Ok(stranger) => stranger,
        Err(fault) => return skip(&format!("no IPv6 on this machine: {fault}"), None),
    };
    let taken = stranger.local_addr()?;
    let place = format!("127.0.0.1:{}", taken.port());
    let (status, told) = house.fails(&["web", "--listen", &place])?;
    assert_eq!(status, 1, "{told}");
    let (message, hint) = (told["message"].to_string(), told["hint"].to_string());
    assert!(message.contains(&taken.to_string()) && hint.contains("--listen"), "{told}");
    drop(stranger);
    for place in [place, taken.to_string()] {
        let web = Web::start_at(&house, &place)?;
        let port = web.address.port();
        for at in ["127.0.0.1", "[::1]"] {
            let at: SocketAddr = format!("{at}:{port}").parse()?;
            assert!(TcpListener::bind(at).is_err(), "{at} is free");
            assert!(TcpStream::connect(at).is_ok(), "{at} does not answer");
        }
        web.kill()?;
    }
    Ok(())
}

#[test]
fn a_machine_without_ipv6_has_the_page_at_one_address() -> Outcome {
    let house = House::new()?;
    // A network of its own, in which the newer address is not there.
    let without =
        "ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/lo/disable_ipv6 && exec \"$@\"";
    let inside = |program: &OsStr| {
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", without, "sh"]).arg(program);
        command
    };
    match inside("true".as_ref()).output() {
        Ok(tried) if tried.status.success() => {}
        Ok(tried) => return skip(&format!("no network of its own: {tried:?}"), None),
        Err(fault) => return skip(&format!("unshare: {fault}"), Some("util-linux")),
    }
    let mut command = inside(program().as_os_str());
    let mut web = Background::start(house.enter(&mut command).args(["web", "--listen", USUAL]))?;
    let mut line = String::new();
    BufReader::new(web.0.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
    assert!(line.starts_with("http://glis-") && line.contains(USUAL), "{line:?}");
    Ok(())
}

#[test]
fn a_proof_is_for_one_page_and_of_use_to_no_other_server() -> Outcome {
    let house = House::new()?;
    let (first, second) = (Web::start(&house)?, Web::start(&house)?);
    let paired = paired(&house, &first, "phone", "watch")?;
    let id = paired["id"].as_str().ok_or("no id")?;
    let line = |id: &str| format!("GET /proof?device={id}&nonce=0123");
    let proof = |web: &Web, id: &str| -> Outcome<Value> {
        let answer = web.ask(&line(id), &[("Host", &web.host())], "")?;
        assert_eq!(answer.status, 200, "{answer:?}");
        Ok(answer.json()?["proof"].clone())
    };
    assert_eq!(proof(&first, id)?, proof(&first, id)?);
    assert_ne!(proof(&first, id)?, proof(&second, id)?, "what one says is good for the other");
    // Whether there is such a device is not told, nor is whether it was revoked.
    assert_ne!(proof(&first, "nobody")?, proof(&first, id)?);
    let before = proof(&first, id)?;
    house.ok(&["web", "revoke", "phone"])?;
    assert_eq!(proof(&first, id)?, before);
    // It is asked for by the page itself.
    let host = first.host();
    for (headers, status) in [
        ([("Host", second.host().as_str()), ("X-Glis", "1")], 421),
        ([("Host", first.address.to_string().as_str()), ("X-Glis", "1")], 403),
        ([("Host", &*host), ("Origin", second.url.as_str())], 403),
        ([("Host", &*host), ("Sec-Fetch-Site", "same-site")], 403),
    ] {
        let answer = first.ask(&line(id), &headers, "")?;
        assert_eq!(answer.status, status, "{headers:?}");
    }
    Ok(())
}

/// Changes what is kept of each device.
fn rewrite(house: &House, change: impl Fn(&mut Value)) -> Outcome {
    let file = house.home().join("devices.json");
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    kept["devices"].as_array_mut().into_iter().flatten().for_each(change);
    // Another file, as every change of ours makes it: a server knows it by that.
    let fresh = house.home().join("devices.json.test");
    std::fs::copy(&file, &fresh)?;
    std::fs::write(&fresh, kept.to_string())?;
    Ok(std::fs::rename(&fresh, &file)?)
}

#[test]
fn a_device_that_nobody_uses_for_a_month_expires_and_a_token_does_not() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let paired = paired(&house, &web, "phone", "watch")?;
    let secret = paired["secret"].as_str().ok_or("no secret")?;
    let given = web.ticket(secret)?.json()?;
    let ticket = given["ticket"].as_str().ok_or("no ticket")?;
    let token = token(&house, "script", "watch")?;
    let asked = || web.get("/api/v1/device", ticket);
    let listed = || -> Outcome<(Value, Value)> {
        let listed = house.json(&["web", "devices"])?;
        Ok((listed[0]["last_used"].clone(), listed[0]["expired"].clone()))
    };
    let day = |days: i64| -> Outcome<Value> {
        let at = jiff::Timestamp::now().as_second() - days * 24 * 60 * 60;
        Ok(json!(jiff::Timestamp::from_second(at)?.to_string()))
    };
    assert_eq!(listed()?, (Value::Null, json!(false)));
    assert_eq!(asked()?.status, 200);
    let (used, _) = listed()?;
    assert!(used.is_string());
    // Used again on the same day, nothing is written.
    assert_eq!(asked()?.status, 200);
    assert_eq!(listed()?.0, used);
    let old = day(29)?;
    rewrite(&house, |device| device["last_used"] = old.clone())?;
    assert_eq!(asked()?.status, 200);
    assert_ne!(listed()?.0, old, "the use is noted");
    let older = day(31)?;
    rewrite(&house, |device| device["last_used"] = older.clone())?;
    assert_eq!(listed()?, (older.clone(), json!(true)));
    for refused in [asked()?, web.ticket(secret)?] {
        assert_eq!((refused.status, &refused.json()?["error"]["kind"]), (401, &json!("expired")));
    }
    assert!(house.ok(&["web", "devices"])?.contains("expired: pair it again"));
    assert_eq!(web.get("/api/v1/device", &token)?.status, 200);
    // One that an older version has paired and never noted a use of counts from then.
    rewrite(&house, |device| {
        device["since"] = older.clone();
        device.as_object_mut().map(|device| device.remove("last_used"));
    })?;
    assert_eq!(asked()?.status, 401);
    Ok(())
}

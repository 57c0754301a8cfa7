//! The page has a name of its own: cookies count there alone, and at the number stands the way to it.

use super::guard::{cookie, token};
use crate::support::house::{House, Outcome};
use crate::support::skip::skip;
use crate::support::web::Web;
use serde_json::{Value, json};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};

#[test]
fn the_page_has_a_name_that_stays_and_the_number_shows_the_way() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let (url, host, number) = (web.url.clone(), web.host(), web.address.to_string());
    let letters = host.strip_prefix("glis-").and_then(|host| host.split_once(".localhost:"));
    let (letters, port) = letters.ok_or_else(|| url.clone())?;
    assert!(letters.len() == 4 && port == web.address.port().to_string(), "{url}");
    let cookie = cookie(&house, &web, "phone", "watch")?;
    let token = token(&house, "script", "watch")?;
    let bearer = format!("Bearer {token}");
    let asked = |host: &str, credential: (&str, &str)| -> Outcome<u16> {
        Ok(web.ask("GET /api/v1/sessions", &[("Host", host), credential], "")?.status)
    };
    let local = format!("localhost:{port}");
    assert_eq!(asked(&host, ("Cookie", &cookie))?, 200);
    for name in [&host, &number, &local] {
        assert_eq!(asked(name, ("Authorization", &bearer))?, 200, "{name}");
    }
    for name in [&number, &local] {
        assert_eq!(asked(name, ("Cookie", &cookie))?, 401, "{name}");
        let page = web.ask("GET /", &[("Host", name)], "")?;
        assert_eq!(page.status, 200);
        assert!(page.body.contains(&format!("<a href=\"{url}/\">")), "{page:?}");
        assert!(!page.body.contains("<script") && !page.body.contains("blue"), "{page:?}");
        let link = house.json(&["web", "pair", "--name", name])?;
        let code = link["url"].as_str().and_then(|link| link.split_once("#pair="));
        let body = json!({"code": code.ok_or("no code")?.1}).to_string();
        let paired = web.ask("POST /pair", &[("Host", name), ("X-Glis", "1")], &body)?;
        assert_eq!((paired.status, paired.header("set-cookie")), (403, None), "{paired:?}");
    }
    web.kill()?;
    let again = Web::start_at(&house, &number)?;
    assert_eq!(again.url, url);
    let who = [("Host", host.as_str()), ("Cookie", cookie.as_str())];
    assert_eq!(again.ask("GET /api/v1/device", &who, "")?.status, 200);
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
fn a_cookie_that_another_port_has_set_beside_ours_locks_nobody_out() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let cookie = cookie(&house, &web, "phone", "watch")?;
    let name = cookie.split('=').next().unwrap_or_default();
    for both in [format!("{name}=x; {cookie}"), format!("{cookie}; {name}=x")] {
        let headers = [("Host", &*web.host()), ("Cookie", &both)];
        assert_eq!(web.ask("GET /api/v1/device", &headers, "")?.status, 200, "{both}");
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
fn a_cookie_that_nobody_uses_for_a_month_expires_and_a_token_does_not() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let cookie = cookie(&house, &web, "phone", "watch")?;
    let token = token(&house, "script", "watch")?;
    let host = web.host();
    let asked = || web.ask("GET /api/v1/device", &[("Host", &host), ("Cookie", &cookie)], "");
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
    let refused = asked()?;
    assert_eq!((refused.status, &refused.json()?["error"]["kind"]), (401, &json!("expired")));
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

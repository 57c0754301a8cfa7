//! Devices and tokens: paired once, revoked at once, kept over the end of the server.

use super::guard::{cookie, token};
use crate::support::house::{House, Outcome};
use crate::support::web::Web;
use serde_json::json;

#[test]
fn a_link_pairs_one_device_and_five_wrong_codes_silence_all() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let link = house.json(&["web", "pair", "--name", "phone", "--scope", "send"])?;
    let link = link["url"].as_str().ok_or("no link")?.to_owned();
    assert!(link.starts_with(&format!("http://{}/#pair=", web.host())), "{link}");
    let paired = web.pair(&link)?;
    assert_eq!((paired.status, &paired.json()?["scope"]), (200, &json!("send")));
    let again = web.pair(&link)?;
    assert_eq!((again.status, &again.json()?["error"]["kind"]), (409, &json!("wrong_code")));
    for _ in 0..4 {
        assert_eq!(web.pair("#pair=0")?.status, 409);
    }
    let fresh = house.json(&["web", "pair", "--name", "tablet"])?;
    let silenced = web.pair(fresh["url"].as_str().ok_or("no link")?)?;
    assert_eq!(silenced.json()?["error"]["kind"], "silence");
    let listed = house.json(&["web", "devices"])?;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!((&listed[0]["name"], &listed[0]["kind"]), (&json!("phone"), &json!("device")));
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
fn a_killed_server_harms_nothing_and_its_devices_stay() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let cookie = cookie(&house, &web, "phone", "watch")?;
    let (host, address) = (web.host(), web.address.to_string());
    let session = house.turn("blue", "say one")?;
    web.kill()?;
    assert_eq!(house.show("blue")?["pid"], session["pid"]);
    let web = Web::start_at(&house, &address)?;
    let headers = [("Host", host.as_str()), ("Cookie", cookie.as_str())];
    let who = web.ask("GET /api/v1/device", &headers, "")?;
    assert_eq!((who.status, &who.json()?["name"]), (200, &json!("phone")));
    let meant = [&headers[..], &[("X-Glis", "1")]].concat();
    assert_eq!(web.ask("POST /api/v1/device/forget", &meant, "")?.status, 200);
    assert_eq!(web.ask("GET /api/v1/device", &headers, "")?.status, 401);
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

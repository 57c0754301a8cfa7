//! What stands at the address of the server for a browser that comes without the page's own name: the way there.

use crate::body::Body;
use crate::hosts::Hosts;
use crate::reply::Reply;
use hyper::http::header::CONTENT_TYPE;
use hyper::http::{HeaderValue, Response};

/// A page without data. No name of a host has a letter in it that HTML would take for its own.
pub(crate) fn reply(hosts: &Hosts) -> Reply {
    let url = hosts.url();
    let lost = hosts.own_name().map_or_else(String::new, |name| {
        let ip = hosts.ip();
        format!(
            "<p>If the browser does not find that name, add the line <code>{ip} {name}</code> to the file \
             <code>/etc/hosts</code> of the machine that the browser runs on.</p>\n"
        )
    });
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>glis</title>\n\
         <link rel=\"icon\" href=\"/icon.svg\">\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n\
         <body>\n<main class=\"main\">\n<h1>The page is at <a href=\"{url}\">{url}</a></h1>\n\
         <p>It has a name of its own, which it shares with no other program of this machine. Scripts with a token \
         may use either.</p>\n\
         <p>A browser that an older version has paired at this address is paired again there: \
         <code>glis web pair</code> prints a link.</p>\n{lost}</main>\n</body>\n</html>\n"
    );
    let mut reply = Response::new(Body::of(html));
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

//! The page: files that are part of the program, without any data in them.

use crate::body::Body;
use crate::packed;
use crate::reply::Reply;
use crate::secret::hex;
use flate2::Compression;
use hyper::body::Bytes;
use hyper::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use hyper::http::request::Parts;
use hyper::http::{HeaderValue, Response, StatusCode};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A file of the page.
struct Asset {
    path: &'static str,
    kind: &'static str,
    source: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! asset {
    ($path:literal, $kind:expr, $file:literal) => {
        Asset { path: $path, kind: $kind, source: include_str!(concat!("../page/", $file)) }
    };
}

const ASSETS: &[Asset] = &[
    asset!("/", "text/html; charset=utf-8", "index.html"),
    asset!("/style.css", STYLE, "style.css"),
    asset!("/app.js", SCRIPT, "app.js"),
    asset!("/api.js", SCRIPT, "api.js"),
    asset!("/asks.js", SCRIPT, "asks.js"),
    asset!("/changes.js", SCRIPT, "changes.js"),
    asset!("/conversation.js", SCRIPT, "conversation.js"),
    asset!("/dom.js", SCRIPT, "dom.js"),
    asset!("/draft.js", SCRIPT, "draft.js"),
    asset!("/goto.js", SCRIPT, "goto.js"),
    asset!("/inbox.js", SCRIPT, "inbox.js"),
    asset!("/kept.js", SCRIPT, "kept.js"),
    asset!("/keys.js", SCRIPT, "keys.js"),
    asset!("/lines.js", SCRIPT, "lines.js"),
    asset!("/list.js", SCRIPT, "list.js"),
    asset!("/markdown.js", SCRIPT, "markdown.js"),
    asset!("/new.js", SCRIPT, "new.js"),
    asset!("/notices.js", SCRIPT, "notices.js"),
    asset!("/outbox.js", SCRIPT, "outbox.js"),
    asset!("/past.js", SCRIPT, "past.js"),
    asset!("/places.js", SCRIPT, "places.js"),
    asset!("/plans.js", SCRIPT, "plans.js"),
    asset!("/resume.js", SCRIPT, "resume.js"),
    asset!("/session.js", SCRIPT, "session.js"),
    asset!("/source.js", SCRIPT, "source.js"),
    asset!("/state.js", SCRIPT, "state.js"),
    asset!("/store.js", SCRIPT, "store.js"),
    asset!("/stream.js", SCRIPT, "stream.js"),
    asset!("/tabs.js", SCRIPT, "tabs.js"),
    asset!("/tasks.js", SCRIPT, "tasks.js"),
    asset!("/terminal.js", SCRIPT, "terminal.js"),
    asset!("/wanted.js", SCRIPT, "wanted.js"),
    asset!("/work.js", SCRIPT, "work.js"),
    asset!("/manifest.webmanifest", "application/manifest+json", "manifest.webmanifest"),
    asset!("/icon.svg", "image/svg+xml", "icon.svg"),
];

/// The file as it is served. Comments, types and blanks are for whoever reads our source: a fifth of the bytes, which no phone has to
/// wait for. Their lines stay, empty, so that a fault in a browser names the line of the source.
fn served(kind: &str, text: &'static str) -> Cow<'static, str> {
    if ![SCRIPT, STYLE].contains(&kind) {
        return Cow::Borrowed(text);
    }
    let mut within = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let mut rest = line.trim();
        if !within && rest.starts_with("//") {
            rest = "";
        }
        // Types stand in the middle of lines as well.
        loop {
            let parts = rest.split_once(if within { "*/" } else { "/**" });
            let (before, after) = parts.unwrap_or((rest, ""));
            if !within {
                kept.push_str(before);
            }
            if parts.is_none() {
                break;
            }
            within = !within;
            rest = after.trim_start();
        }
        kept.push('\n');
    }
    if kind == STYLE {
        for tight in [":", ";", ",", "{"] {
            kept = kept.replace(&format!("{tight} "), tight);
        }
        kept = kept.replace(" {", "{").replace(" }", "}");
    }
    Cow::Owned(kept)
}

/// A file of the page as browsers get it.
pub(crate) struct Page {
    asset: &'static Asset,
    text: Cow<'static, str>,
    /// The same as small as it gets: it is made once and sent often.
    packed: Option<Bytes>,
    /// What a browser names it by that has it already.
    tag: String,
}

impl Page {
    /// Whether it is the one that loads the others.
    pub(crate) fn is_start(&self) -> bool {
        self.asset.path == "/"
    }
}

/// All of them, made ready once.
static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let ready = |asset: &'static Asset| {
        let text = served(asset.kind, asset.source);
        let digest = Sha256::digest(text.as_bytes());
        // Weak: packed and not, it has other bytes.
        let tag = format!("W/\"{}\"", hex(digest.get(..16).unwrap_or_default()));
        let packed = packed::packed(text.as_bytes(), Compression::best());
        Page { asset, text, packed, tag }
    };
    ASSETS.iter().map(ready).collect()
});

/// The file at this path.
pub(crate) fn find(path: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.asset.path == path)
}

/// The file, or that the browser has it already.
pub(crate) fn reply(page: &'static Page, head: &Parts) -> Reply {
    let Page { asset, text, packed, tag } = page;
    let known = head.headers.get(IF_NONE_MATCH);
    let known = known.is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let packed = packed.as_ref().filter(|_| !known && packed::is_wanted(&head.headers));
    let mut reply = Response::new(match packed {
        Some(packed) => Body::of(packed.clone()),
        None => Body::of(if known { "" } else { &**text }),
    });
    if packed.is_some() {
        reply.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(packed::GZIP));
    }
    if known {
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    // Always asked for again: another build of the program has other files.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(ETAG, tag);
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_client::labels;
    use std::path::Path;

    #[test]
    fn every_file_of_the_page_is_served_and_they_are_small() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let paths: Vec<_> =
            ASSETS.iter().map(|a| if a.path == "/" { "/index.html" } else { a.path }).collect();
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(paths.contains(&format!("/{name}").as_str()), "{name} is not served");
        }
        let bytes: usize = PAGES.iter().flat_map(|page| &page.packed).map(Bytes::len).sum();
        assert!(bytes <= 64 * 1024, "{bytes} bytes: the page is to load at once");
    }

    #[test]
    fn styles_are_served_without_blanks_that_mean_nothing() {
        let source = "/* a */\na > b, .c:hover { color: red; margin: 0 1px; }\n";
        assert_eq!(served(STYLE, source), "/* a */\na > b,.c:hover{color:red;margin:0 1px;}\n");
        // Nor would a string keep its own.
        let style = include_str!("../page/style.css");
        let mut strings = style.split('"').skip(1).step_by(2);
        let meant = [": ", "; ", ", ", "{ ", " {", " }"];
        assert!(strings.all(|text| !meant.iter().any(|blank| text.contains(blank))));
    }

    #[test]
    fn scripts_are_served_without_comments_and_with_all_their_lines() {
        let source = "/** One.\n * two */\nlet a = 1;\n  // three\n  a(\"// x\"); // four\n/** @type {A} */ (b)(/** @type {C} */ (c), d);\n";
        // A string over several lines would lose its margin.
        for asset in ASSETS.iter().filter(|asset| asset.kind == SCRIPT) {
            assert!(
                asset.source.lines().all(|line| line.matches('`').count() % 2 == 0),
                "{}",
                asset.path
            );
        }
        assert_eq!(
            served(SCRIPT, source),
            "\n\nlet a = 1;\n\na(\"// x\"); // four\n(b)((c), d);\n"
        );
    }

    /// The page has no crate to take its labels from.
    #[test]
    fn the_page_has_the_labels_of_the_other_faces() {
        let list = include_str!("../page/list.js");
        for status in glis_core::Status::ALL {
            let mark = match labels::mark(status) {
                plain if plain.is_ascii() => plain.to_string(),
                other => format!("\\u{:04x}", u32::from(other)),
            };
            let line = format!("{}: \"{mark}\"", status.word());
            assert!(list.contains(&line), "{line}");
        }
        assert!(list.contains(&format!(", {}`", labels::KEPT)));
    }

    /// What agents say is shown as text. No file of ours has a way to make it anything else.
    #[test]
    fn no_script_makes_markup_of_text() {
        let banned = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
            "javascript:",
        ];
        for asset in ASSETS {
            for word in banned {
                assert!(!asset.source.contains(word), "{} has {word}", asset.path);
            }
        }
    }
}

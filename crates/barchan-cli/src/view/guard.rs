//! Access checks: method, `Host` and origin of a request, and the headers of every response.
//!
//! A page of another site can make a browser send requests to the loopback address. It must neither read the responses
//! (no CORS header is ever sent) nor reach the server under a host name of its own (DNS rebinding). No request changes a result; a live
//! scene is controlled over a WebSocket, which is opened by a request that is checked here like any other.

use super::error::refusal;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use std::net::IpAddr;

/// Headers of every response.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// Refuses requests that fail the checks; adds the headers to all responses, including refusals.
pub(super) async fn guard(State(listen): State<IpAddr>, request: Request, next: Next) -> Response {
    let mut response = match objection(&request, listen) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

fn objection(request: &Request, listen: IpAddr) -> Option<Response> {
    if !host_is_ours(request, listen) {
        return Some(refusal(
            StatusCode::FORBIDDEN,
            "the viewer does not respond to this host name",
            "open the address that `barchan view` printed",
        ));
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut response = refusal(
            StatusCode::METHOD_NOT_ALLOWED,
            "the viewer is read-only",
            "use GET or HEAD",
        );
        response
            .headers_mut()
            .insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Some(response);
    }
    if request.uri().path().starts_with("/api/") && comes_from_elsewhere(request.headers()) {
        return Some(refusal(
            StatusCode::FORBIDDEN,
            "another site may not read this result",
            "open the address that `barchan view` printed",
        ));
    }
    None
}

/// Whether the request names the viewer by a loopback name or its listening address. The port is not compared, since it may be
/// forwarded.
fn host_is_ours(request: &Request, listen: IpAddr) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let Ok(host) = host.to_str() else {
        return false;
    };
    let target = request.uri().authority().map(|a| a.as_str());
    is_ours(host, listen) && target.is_none_or(|target| is_ours(target, listen))
}

fn is_ours(authority: &str, listen: IpAddr) -> bool {
    let name = without_port(authority);
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let literal = name
        .strip_prefix('[')
        .and_then(|n| n.strip_suffix(']'))
        .unwrap_or(name);
    match literal.parse::<IpAddr>() {
        // An address cannot be rebound: when listening on all addresses, any is accepted.
        Ok(address) => address.is_loopback() || address == listen || listen.is_unspecified(),
        Err(_) => false,
    }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => {
            name
        }
        _ => authority,
    }
}

fn comes_from_elsewhere(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    let site = text("sec-fetch-site");
    if site.is_some_and(|site| !["same-origin", "none"].contains(&site)) {
        return true;
    }
    match (text("origin"), text("host")) {
        (None, _) => false,
        (Some(origin), host) => origin.strip_prefix("http://") != host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_accepted() {
        let loopback = IpAddr::from([127, 0, 0, 1]);
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "127.0.0.1:8427",
            "[::1]:8427",
        ] {
            assert!(is_ours(host, loopback), "{host}");
        }
        let foreign = [
            "evil.example",
            "evil.example:8427",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "192.168.0.7",
            "",
            ":8427",
            "localhost:evil",
            "[::1",
            "127.0.0.1@evil.example",
            "0.0.0.0",
        ];
        for host in foreign {
            assert!(!is_ours(host, loopback), "{host}");
        }
    }

    #[test]
    fn the_listening_address_is_accepted() {
        let network = IpAddr::from([192, 168, 0, 7]);
        assert!(is_ours("192.168.0.7:8427", network));
        assert!(!is_ours("192.168.0.8:8427", network));
        let all = IpAddr::from([0, 0, 0, 0]);
        assert!(is_ours("192.168.0.8:8427", all));
        assert!(!is_ours("machine.example:8427", all));
    }

    #[test]
    fn other_sites_are_refused() {
        let headers = |list: &[(&'static str, &'static str)]| {
            let pairs = list
                .iter()
                .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)));
            pairs.collect::<HeaderMap>()
        };
        let host = ("host", "localhost:1");
        assert!(!comes_from_elsewhere(&headers(&[host])));
        assert!(!comes_from_elsewhere(&headers(&[
            host,
            ("origin", "http://localhost:1")
        ])));
        assert!(!comes_from_elsewhere(&headers(&[
            host,
            ("sec-fetch-site", "same-origin")
        ])));
        assert!(comes_from_elsewhere(&headers(&[
            host,
            ("sec-fetch-site", "cross-site")
        ])));
        assert!(comes_from_elsewhere(&headers(&[
            host,
            ("sec-fetch-site", "same-site")
        ])));
        assert!(comes_from_elsewhere(&headers(&[host, ("origin", "null")])));
        assert!(comes_from_elsewhere(&headers(&[
            host,
            ("origin", "http://localhost:2")
        ])));
    }
}

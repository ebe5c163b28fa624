//! The viewer's server: answers, access checks and refusals.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, entries, viewer::Viewer};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

impl Viewer {
    fn start(place: &Place, directory: &str) -> Self {
        Self::launch(place, &[directory])
    }

    /// Sends raw bytes.
    fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::of(&bytes)
    }

    fn get(&self, target: &str) -> Answer {
        self.get_with(target, "")
    }

    fn get_with(&self, target: &str, headers: &str) -> Answer {
        let host = &self.address;
        self.raw(&format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        ))
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let split = bytes
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..split]).to_lowercase();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|s| s.parse().ok())
            .unwrap_or(0);
        let body = bytes.get(split + 4..).unwrap_or_default().to_vec();
        Self { status, head, body }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let line = self
            .head
            .lines()
            .find(|l| l.starts_with(&format!("{name}:")))?;
        Some(line[name.len() + 1..].trim())
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {:?}", self.text()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Header and data of the binary form.
    fn binary(&self) -> (Value, &[u8]) {
        assert_eq!(&self.body[..8], b"BARCHAN1", "{}", self.text());
        let length = u32::from_le_bytes(self.body[8..12].try_into().unwrap()) as usize;
        let header = serde_json::from_slice(&self.body[12..12 + length]).unwrap();
        (header, &self.body[12 + length..])
    }
}

fn with_result() -> Place {
    let place = Place::new();
    let run = ["run", "block.toml", "-o", "r.barchan", "--frames", "3"];
    let outcome = place.run(&run);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    place
}

fn words(data: &[u8]) -> Vec<u16> {
    data.chunks_exact(2)
        .map(|b| u16::from_le_bytes([b[0], b[1]]))
        .collect()
}

#[test]
fn frames_come_in_the_binary_form_within_their_error_bound() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    let answer = viewer.get("/api/frames/3/grains");
    assert_eq!(answer.status, 200);
    let (header, data) = answer.binary();
    let grains = header["grains"].as_u64().unwrap() as usize;
    assert_eq!(data.len(), 8 * grains);
    let words = words(data);

    let result = barchan::frame::ResultDirectory::open(&place.path("r.barchan")).unwrap();
    let position = result.read_column(3, "position").unwrap();
    let position = position.data.as_f32().unwrap();
    let (mut worst, mut bound) = ([0.0_f64; 3], [0.0; 3]);
    for axis in 0..3 {
        let number = |key: &str| header[key][axis].as_f64().unwrap();
        bound[axis] = number("error_bound");
        for i in 0..grains {
            let step = f64::from(words[4 * i + axis]) / 65535.0;
            let shown = number("lower") + step * (number("upper") - number("lower"));
            worst[axis] = worst[axis].max((shown - f64::from(position[3 * i + axis])).abs());
        }
        assert!(worst[axis] <= bound[axis] + 1e-7, "{worst:?} {bound:?}");
        assert!(
            worst[axis] > 0.1 * bound[axis],
            "the bound is too loose: {worst:?} {bound:?}"
        );
    }
    assert_eq!(header["bodies"][0]["name"], "floor");
    assert!(
        words
            .iter()
            .skip(3)
            .step_by(4)
            .all(|w| w >> 8 == 0 && w & 255 < 3)
    );
}

#[test]
fn columns_are_encoded_over_the_requested_range() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    let range = viewer.get("/api/columns/velocity/range?part=y").json();
    assert!(
        range["min"].as_f64().unwrap() < range["max"].as_f64().unwrap(),
        "{range}"
    );
    let answer = viewer.get("/api/frames/3/columns/velocity?part=y&min=-1&max=1");
    let (header, data) = answer.binary();
    assert_eq!(
        (header["min"].as_f64(), header["max"].as_f64()),
        (Some(-1.0), Some(1.0))
    );
    let result = barchan::frame::ResultDirectory::open(&place.path("r.barchan")).unwrap();
    let velocity = result.read_column(3, "velocity").unwrap();
    let velocity = velocity.data.as_f32().unwrap();
    for (i, word) in words(data).iter().enumerate() {
        let shown = f32::from(*word) / 65534.0 * 2.0 - 1.0;
        assert!((shown - velocity[3 * i + 1].clamp(-1.0, 1.0)).abs() < 1e-4);
    }
    for missing in [
        "/api/frames/3/columns/color",
        "/api/frames/3/columns/velocity?part=q",
    ] {
        assert_eq!(viewer.get(missing).status, 404, "{missing}");
    }
}

#[test]
fn a_grain_has_the_numbers_that_measure_prints() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    let by_index = viewer.get("/api/frames/2/grains/17").json();
    let id = by_index["id"].as_u64().unwrap().to_string();
    assert_eq!(
        viewer.get(&format!("/api/frames/2/ids/{id}")).json(),
        by_index
    );
    let measured = place.json(&[
        "measure",
        "r.barchan",
        "--frame",
        "2",
        "--grain",
        &id,
        "--json",
    ]);
    assert_eq!(measured, by_index);
    let text = place
        .run(&["measure", "r.barchan", "--frame", "2", "--grain", &id])
        .stdout;
    assert!(text.contains("position") && text.contains("m/s"), "{text}");

    assert_eq!(
        viewer.get("/api/frames/2/ids/123456789").json(),
        Value::Null
    );
    let missing = place.run(&[
        "measure",
        "r.barchan",
        "--frame",
        "2",
        "--grain",
        "123456789",
    ]);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.message().contains("no grain with id 123456789"),
        "{missing:?}"
    );
}

#[test]
fn answers_carry_the_security_headers() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    for target in [
        "/",
        "/api/result",
        "/api/frames/0/grains",
        "/nothing",
        "/api/frames/99/grains",
    ] {
        let answer = viewer.get(target);
        let policy = answer
            .header("content-security-policy")
            .unwrap_or_default()
            .to_owned();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{target}: {policy}"
        );
        assert_eq!(
            answer.header("x-content-type-options"),
            Some("nosniff"),
            "{target}"
        );
        assert_eq!(
            answer.header("referrer-policy"),
            Some("no-referrer"),
            "{target}"
        );
        assert_eq!(
            answer.header("cross-origin-resource-policy"),
            Some("same-origin"),
            "{target}"
        );
        assert_eq!(
            answer.header("access-control-allow-origin"),
            None,
            "{target}"
        );
    }
    assert_eq!(viewer.get("/").status, 200);
}

#[test]
fn unchanged_frames_are_not_sent_again() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    let first = viewer.get("/api/frames/1/grains");
    let tag = first.header("etag").unwrap().to_owned();
    let again = viewer.get_with("/api/frames/1/grains", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((again.status, again.body.len()), (304, 0));
    let other = viewer.get_with("/api/frames/2/grains", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!(other.status, 200);
}

#[test]
fn hostile_paths_are_not_found() {
    let place = with_result();
    place.write("secret.txt", "secret");
    let viewer = Viewer::start(&place, "r.barchan");
    let paths = [
        "/../secret.txt",
        "/../../../../etc/passwd",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets/../../secret.txt",
        "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
        "//etc/passwd",
        "/api/frames/../manifest.json",
        "/manifest.json",
        "/scene.toml",
        "/api/frames/000001/../../scene.toml",
        "/api/frames/..%2f..%2fsecret.txt/grains",
        "/api/frames/0/columns/..%2f..%2f..%2fsecret.txt",
        "/api/frames/0/columns/%2e%2e",
        "/api/frames/-1/grains",
        "/api/frames/0x1/grains",
        "/api/frames/99999999999/grains",
        "/api/frames/1%00/grains",
        "/api/bodies/99/surface",
        "/api/columns/..%2fx/range",
        "/%00",
        "/assets/",
        "/index.html/..",
        "/frames/000000/zarr.json",
    ];
    for path in paths {
        let answer = viewer.get(path);
        assert!([404, 400].contains(&answer.status), "{path}: {answer:?}");
        assert!(
            !answer.text().contains("secret\n") && !answer.text().contains("root:"),
            "{path}"
        );
    }
    assert_eq!(viewer.get("/../secret.txt").status, 404);
    // Negative control: existing paths are found.
    assert_eq!(viewer.get("/api/frames/1/grains").status, 200);
}

#[test]
fn other_names_and_other_sites_are_refused() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    let ask = |host: &str, more: &str| {
        viewer.raw(&format!(
            "GET /api/result HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"
        ))
    };
    let rebound = ask("evil.example", "");
    assert_eq!(rebound.status, 403);
    assert!(
        rebound.json()["help"]
            .as_str()
            .unwrap()
            .contains("barchan view")
    );
    assert_eq!(ask("evil.example:8427", "").status, 403);
    assert_eq!(ask("localhost", "").status, 200);
    assert_eq!(ask("127.0.0.1:1", "").status, 200);
    assert_eq!(
        ask("localhost", "Sec-Fetch-Site: cross-site\r\n").status,
        403
    );
    assert_eq!(
        ask("localhost", "Origin: http://evil.example\r\n").status,
        403
    );
    assert_eq!(ask("localhost", "Origin: http://localhost\r\n").status, 200);
    assert_eq!(
        ask("localhost", "Host: evil.example\r\n").status / 100,
        4,
        "two hosts"
    );
    let nameless = viewer.raw("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(nameless.status, 403);
    let proxied = "GET http://evil.example/api/result HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(viewer.raw(proxied).status, 403);
    // Other sites may link to the page itself.
    let linked = "GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nConnection: close\r\n\r\n";
    assert_eq!(viewer.raw(linked).status, 200);
}

#[test]
fn no_request_changes_anything() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    let before = listing(&place.path("r.barchan"));
    for method in [
        "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND",
    ] {
        for target in ["/", "/api/result", "/api/frames/0/grains", "/scene.toml"] {
            let host = &viewer.address;
            let request = format!(
                "{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
            );
            let answer = viewer.raw(&request);
            assert_eq!(answer.status, 405, "{method} {target}");
            assert_eq!(answer.header("allow"), Some("get, head"));
        }
    }
    let head = format!(
        "HEAD /api/frames/0/grains HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        viewer.address
    );
    let head = viewer.raw(&head);
    assert_eq!((head.status, head.body.len()), (200, 0));
    let _ = viewer.get("/api/frames/0/grains");
    assert_eq!(listing(&place.path("r.barchan")), before);
}

/// Every file below a folder with its time of change.
fn listing(folder: &Path) -> Vec<String> {
    let mut list = Vec::new();
    for name in entries(folder) {
        let path = folder.join(name);
        let about = std::fs::symlink_metadata(&path).unwrap();
        list.push(format!(
            "{} {:?}",
            path.display(),
            about.modified().unwrap()
        ));
        if about.is_dir() {
            list.extend(listing(&path));
        }
    }
    list
}

#[cfg(unix)]
#[test]
fn links_that_leave_the_result_are_not_followed() {
    use std::os::unix::fs::symlink;
    let place = with_result();
    let copy = place.run(&[
        "run",
        "block.toml",
        "-o",
        "other.barchan",
        "--frames",
        "4",
        "--set",
        "seed=5",
    ]);
    assert_eq!(copy.code, Some(0), "{copy:?}");
    let frames = place.path("r.barchan/frames");
    // Links to a whole frame, a column and a file outside, and one to a frame inside.
    symlink(
        place.path("other.barchan/frames/000004"),
        frames.join("000004"),
    )
    .unwrap();
    std::fs::remove_dir_all(frames.join("000003/velocity")).unwrap();
    symlink(
        place.path("other.barchan/frames/000003/velocity"),
        frames.join("000003/velocity"),
    )
    .unwrap();
    std::fs::remove_file(frames.join("000002/zarr.json")).unwrap();
    symlink(
        place.path("other.barchan/frames/000002/zarr.json"),
        frames.join("000002/zarr.json"),
    )
    .unwrap();
    std::fs::rename(frames.join("000001/mass"), place.path("r.barchan/mass")).unwrap();
    symlink(place.path("r.barchan/mass"), frames.join("000001/mass")).unwrap();
    let viewer = Viewer::start(&place, "r.barchan");
    for frame in [2, 3, 4] {
        let answer = viewer.get(&format!("/api/frames/{frame}/grains"));
        assert_eq!(answer.status, 404, "{frame}: {}", answer.text());
        assert!(
            answer.text().contains("leaves the result directory"),
            "{}",
            answer.text()
        );
        assert_eq!(
            viewer.get(&format!("/api/frames/{frame}/grains/0")).status,
            404
        );
    }
    assert_eq!(viewer.get("/api/frames/1/grains/0").status, 200);
    assert_eq!(viewer.get("/api/frames/0/grains").status, 200);

    let manifest = place.path("other.barchan/manifest.json");
    std::fs::rename(&manifest, place.path("manifest.json")).unwrap();
    symlink(place.path("manifest.json"), &manifest).unwrap();
    let refused = place.run(&["view", "other.barchan", "--no-open", "--port", "0"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.message().contains("leaves the result directory"),
        "{refused:?}"
    );
}

#[test]
fn a_damaged_frame_is_reported_and_the_others_still_work() {
    let place = with_result();
    let shard = place.path("r.barchan/frames/000002/position/c/0/0");
    let content = std::fs::read(&shard).unwrap();
    std::fs::write(&shard, &content[..content.len() / 2]).unwrap();
    let viewer = Viewer::start(&place, "r.barchan");
    let answer = viewer.get("/api/frames/2/grains");
    let told = answer.json();
    let message = told["error"].as_str().unwrap();
    assert!(
        message.contains("frame 2") && message.contains("frames/000002/position/c/0/0"),
        "{told}"
    );
    assert!(
        !message.contains(&place.path("").display().to_string()),
        "{told}"
    );
    assert!(!told["help"].as_str().unwrap().is_empty());
    assert_eq!(viewer.get("/api/frames/1/grains").binary().0["frame"], 1);
    assert_eq!(viewer.get("/api/frames/3/grains").binary().0["frame"], 3);

    // Once written again, it is served again.
    std::fs::write(&shard, &content).unwrap();
    assert_eq!(viewer.get("/api/frames/2/grains").binary().0["frame"], 2);
}

#[test]
fn invalid_results_are_refused_before_anything_is_served() {
    let place = with_result();
    place.write("plain.txt", "text");
    std::fs::create_dir(place.path("empty")).unwrap();
    let view =
        |directory: &str| place.run(&["view", directory, "--no-open", "--port", "0", "--json"]);
    let expect = |directory: &str, words: &str| {
        let outcome = view(directory);
        assert_eq!(outcome.code, Some(2), "{directory}: {outcome:?}");
        assert!(
            outcome.message().contains(words),
            "{directory}: {outcome:?}"
        );
        assert!(
            outcome.json()["error"].as_str().unwrap().contains(words),
            "{outcome:?}"
        );
    };
    expect("missing.barchan", "no result directory");
    expect("plain.txt", "not a barchan result");
    expect("empty", "not a barchan result");
    let manifest = place.path("r.barchan/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    expect("r.barchan", "is broken");
    let version = format!("\"format\": {}", barchan::frame::FORMAT_VERSION);
    let newer = text.replacen(&version, "\"format\": 99", 1);
    std::fs::write(&manifest, newer).unwrap();
    expect("r.barchan", "format version 99");
    std::fs::write(&manifest, &text).unwrap();
    std::fs::rename(place.path("r.barchan/frames"), place.path("gone")).unwrap();
    expect("r.barchan", "lost its folder");
}

#[test]
fn a_result_without_its_scene_shows_grains_alone() {
    let place = with_result();
    std::fs::write(place.path("r.barchan/scene.toml"), "this is no scene").unwrap();
    let viewer = Viewer::start(&place, "r.barchan");
    let about = viewer.get("/api/result").json();
    assert!(
        about["notes"][0].as_str().unwrap().contains("scene"),
        "{about}"
    );
    assert_eq!(about["bodies"], serde_json::json!([{ "name": "floor" }]));
    assert_eq!(viewer.get("/api/frames/0/grains").status, 200);
}

#[test]
fn new_frames_and_statistics_are_announced() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    let mut stream = TcpStream::connect(&viewer.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let request = format!(
        "GET /api/events HTTP/1.1\r\nHost: {}\r\n\r\n",
        viewer.address
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut next = move || loop {
        let line = lines.next().unwrap().unwrap();
        if let Some(data) = line.strip_prefix("data:") {
            return serde_json::from_str::<Value>(data).unwrap();
        }
    };
    assert_eq!(next()["frames"], serde_json::json!([[0, 3]]));
    let result = barchan::frame::ResultDirectory::open(&place.path("r.barchan")).unwrap();
    let mut frame = result.read_frame(3).unwrap();
    frame.index = 4;
    result.write_frame(&frame).unwrap();
    let clock = Instant::now();
    while next()["frames"] != serde_json::json!([[0, 4]]) {
        assert!(clock.elapsed() < Duration::from_secs(15));
    }
    // Disappearance and return of the directory are announced.
    std::fs::rename(place.path("r.barchan"), place.path("away")).unwrap();
    while next()["trouble"].is_null() {
        assert!(clock.elapsed() < Duration::from_secs(20));
    }
    std::fs::rename(place.path("away"), place.path("r.barchan")).unwrap();
    while !next()["trouble"].is_null() {
        assert!(clock.elapsed() < Duration::from_secs(25));
    }
    loop {
        let known = viewer.get("/api/statistics").json();
        let complete = known["height_m"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|h| h.is_number())
            .count();
        if complete == 5 {
            assert_eq!(known["frames"], serde_json::json!([0, 1, 2, 3, 4]));
            assert!(
                known["kinetic_energy_j"][3].as_f64().unwrap() > 0.0,
                "{known}"
            );
            assert_eq!(known["forces_n"][3].as_array().unwrap().len(), 1);
            break;
        }
        assert!(clock.elapsed() < Duration::from_secs(40), "{known}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn only_the_loopback_address_is_used_and_a_taken_port_is_reported() {
    let place = with_result();
    let viewer = Viewer::start(&place, "r.barchan");
    assert!(
        viewer.address.starts_with("127.0.0.1:"),
        "{}",
        viewer.address
    );
    let port = viewer.address.rsplit(':').next().unwrap();
    let taken = place.run(&["view", "r.barchan", "--no-open", "--port", port]);
    assert_eq!(taken.code, Some(2), "{taken:?}");
    assert!(taken.message().contains("--port"), "{taken:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_cleanly() {
    let place = with_result();
    let mut viewer = Viewer::start(&place, "r.barchan");
    // A connected page must not prevent it.
    let mut stream = TcpStream::connect(&viewer.address).unwrap();
    let request = format!(
        "GET /api/events HTTP/1.1\r\nHost: {}\r\n\r\n",
        viewer.address
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut some = [0; 64];
    let _ = stream.read(&mut some).unwrap();
    let id = viewer.child.id().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status()
        .unwrap();
    assert!(killed.success());
    let clock = Instant::now();
    let status = loop {
        if let Some(status) = viewer.child.try_wait().unwrap() {
            break status;
        }
        assert!(clock.elapsed() < Duration::from_secs(10), "still running");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
}

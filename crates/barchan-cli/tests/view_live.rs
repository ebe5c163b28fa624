//! A live scene over its WebSocket: access checks, and slow readers.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, viewer::Viewer};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Many grains, so that pictures are large: 100 kB each.
const SCENE: [&str; 9] = [
    "block.toml",
    "--set",
    "frame_rate=60",
    "--set",
    "solver={ method = \"pbd\", resolution = 0.02, pbd = { iterations = 1 } }",
    "--set",
    "fill.block.shape.box.min=[-0.3, 0, -0.3]",
    "--set",
    "fill.block.shape.box.max=[0.3, 0.25, 0.3]",
];

impl Viewer {
    fn start(place: &Place, more: &[&str]) -> Self {
        Self::launch(place, &[&SCENE, more].concat())
    }

    /// Asks for the WebSocket, with more headers; the status, and the connection.
    fn connect(&self, host: &str, more: &str) -> (u16, TcpStream) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let request = format!(
            "GET /api/live HTTP/1.1\r\nHost: {host}\r\n{more}Sec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&head);
        (text.split(' ').nth(1).unwrap().parse().unwrap(), stream)
    }

    fn open(&self) -> Socket {
        let (status, stream) = self.connect(&self.address, "");
        assert_eq!(status, 101);
        Socket(stream)
    }

    /// Memory in use [kB].
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while Instant::now() < end {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

/// A minimal WebSocket client.
struct Socket(TcpStream);

impl Socket {
    /// The next message that is not a control message: whether it is text, and its bytes.
    fn read(&mut self) -> (bool, Vec<u8>) {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).unwrap();
            let length = match head[1] & 127 {
                126 => {
                    let mut bytes = [0; 2];
                    self.0.read_exact(&mut bytes).unwrap();
                    usize::from(u16::from_be_bytes(bytes))
                }
                127 => {
                    let mut bytes = [0; 8];
                    self.0.read_exact(&mut bytes).unwrap();
                    u64::from_be_bytes(bytes) as usize
                }
                short => usize::from(short),
            };
            let mut data = vec![0; length];
            self.0.read_exact(&mut data).unwrap();
            if head[0] & 15 < 8 {
                return (head[0] & 15 == 1, data);
            }
        }
    }

    fn picture(&mut self) -> Value {
        loop {
            let (is_text, data) = self.read();
            if !is_text {
                assert_eq!(&data[..8], b"BARCHAN1");
                let length = u32::from_le_bytes(data[8..12].try_into().unwrap()) as usize;
                return serde_json::from_slice(&data[12..12 + length]).unwrap();
            }
        }
    }

    /// Sends a message of a kind (1 text, 2 binary), masked with zeros.
    fn send(&mut self, kind: u8, data: &[u8]) {
        let mut bytes = vec![128 | kind];
        match data.len() {
            0..126 => bytes.push(128 | data.len() as u8),
            length => {
                bytes.push(128 | 126);
                bytes.extend((length as u16).to_be_bytes());
            }
        }
        bytes.extend([0; 4]);
        bytes.extend(data);
        self.0.write_all(&bytes).unwrap();
    }

    fn say(&mut self, text: &str) {
        self.send(1, text.as_bytes());
    }
}

#[test]
fn only_the_page_of_the_viewer_may_control() {
    let place = Place::new();
    let viewer = Viewer::start(&place, &["--set", "solver.resolution=0.1"]);
    let host = viewer.address.clone();
    let status = |host: &str, more: &str| viewer.connect(host, more).0;
    assert_eq!(status(&host, &format!("Origin: http://{host}\r\n")), 101);
    assert_eq!(status(&host, "Origin: http://evil.example\r\n"), 403);
    assert_eq!(status(&host, "Origin: null\r\n"), 403);
    assert_eq!(status(&host, "Sec-Fetch-Site: cross-site\r\n"), 403);
    assert_eq!(status("evil.example", ""), 403);
}

#[test]
fn invalid_messages_are_answered_without_harm() {
    let place = Place::new();
    let viewer = Viewer::start(&place, &["--set", "solver.resolution=0.1"]);
    let mut socket = viewer.open();
    socket.picture();
    for (kind, data) in [
        (1, b"{".as_slice()),
        (1, b"[]"),
        (2, b"\0\xff"),
        (1, br#"{"type":"motor","joint":0,"velocity":1}"#),
    ] {
        socket.send(kind, data);
        let answer = loop {
            let (is_text, data) = socket.read();
            if is_text {
                break data;
            }
            socket.say(r#"{"type":"seen"}"#);
        };
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["error"].is_string() && answer["help"].is_string());
    }
    // A message that is too long and not text closes the connection, not the program.
    socket.send(1, &[255; 30_000]);
    drop(socket);
    viewer.open().picture();
}

#[test]
fn a_slow_reader_gets_the_newest_picture_and_nothing_queues() {
    let place = Place::new();
    let viewer = Viewer::start(&place, &[]);
    let mut socket = viewer.open();
    let number = |picture: &Value| picture["frame"].as_u64().unwrap();
    let first = socket.picture();
    assert!(first["grains"].as_u64().unwrap() > 8000, "{first}");
    socket.say(r#"{"type":"seen"}"#);
    // Without acknowledgment, no more than two pictures are sent.
    std::thread::sleep(Duration::from_millis(1500));
    let before = viewer.memory();
    let mut late = Vec::new();
    let mut fresh = 0;
    for _ in 0..12 {
        let picture = socket.picture();
        late.push(number(&picture));
        std::thread::sleep(Duration::from_millis(250));
        socket.say(r#"{"type":"seen"}"#);
        fresh = number(&picture);
    }
    // Pictures made while the reader slept were dropped.
    let gaps: Vec<u64> = late.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(late.windows(2).all(|w| w[0] < w[1]), "{late:?}");
    assert!(gaps.iter().filter(|gap| **gap > 2).count() >= 6, "{gaps:?}");
    // The pictures are recent: at most two pictures behind those of a new reader.
    let newest = number(&viewer.open().picture());
    let steps = (newest - fresh) as f64;
    let mean = (late[11] - late[1]) as f64 / 10.0;
    assert!(steps < 4.0 * mean + 4.0, "{steps} behind, {mean} a picture");
    let after = viewer.memory();
    assert!(after < before + 20_000, "{before} kB, then {after} kB");
}

#[test]
fn it_ends_with_its_last_reader_unless_told_to_stay() {
    let place = Place::new();
    let small = ["--set", "solver.resolution=0.1"];
    let mut viewer = Viewer::start(&place, &small);
    let mut staying = Viewer::start(&place, &[small.as_slice(), &["--stay"]].concat());
    for viewer in [&viewer, &staying] {
        viewer.open().picture();
    }
    assert!(viewer.ends_within(Duration::from_secs(8)));
    assert!(!staying.ends_within(Duration::from_secs(1)));
}

//! A running viewer; ends with the test.

use super::Place;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

pub struct Viewer {
    pub child: Child,
    /// Host and port.
    pub address: String,
}

impl Viewer {
    /// `barchan view` with these arguments, on a free port and without a browser.
    pub fn launch(place: &Place, arguments: &[&str]) -> Self {
        let own = ["--no-open", "--json", "--port", "0"];
        let mut command = place.command(&[&["view"], arguments, &own].concat());
        let quiet = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = quiet.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        let url = said["url"].as_str().unwrap();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Self {
            child,
            address: address.to_owned(),
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

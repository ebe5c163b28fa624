//! The connection of a page: sends pictures, receives commands.
//!
//! A page acknowledges each picture that it has drawn; at most [`AHEAD`] are unacknowledged. Meanwhile newer pictures replace the
//! pending one, so a slow page gets fewer pictures, each of them recent, and none queue up.

use super::message::{self, Message};
use super::{ErrorMessage, Play, Shared};
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{self, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use barchan::sim::bodies::MotorTarget;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of unacknowledged pictures.
const AHEAD: u32 = 2;
/// Maximum length of a message of a page [bytes].
const LONGEST_MESSAGE: usize = 16 * 1024;

/// Opens the connection; requests other than for a WebSocket get an explanation.
pub(super) async fn connect(
    State(play): Shared,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    match upgrade {
        Ok(upgrade) => upgrade
            .max_message_size(LONGEST_MESSAGE)
            .max_frame_size(LONGEST_MESSAGE)
            .on_upgrade(move |socket| converse(socket, play)),
        Err(_) => super::super::error::refusal(
            StatusCode::BAD_REQUEST,
            "this address is a WebSocket",
            "open the page at /",
        )
        .into_response(),
    }
}

/// Motors and bodies that a page controls, released when it is closed.
#[derive(Debug, Default)]
struct Held {
    joints: BTreeSet<usize>,
    drags: bool,
}

impl Held {
    fn note(&mut self, message: &Message) {
        match message {
            Message::Motor { joint, velocity } if *velocity == 0.0 => {
                self.joints.remove(joint);
            }
            Message::Motor { joint, .. } => {
                self.joints.insert(*joint);
            }
            Message::Drag { .. } => self.drags = true,
            Message::Drop => self.drags = false,
            _ => {}
        }
    }

    fn release(self, play: &Play) {
        if self.joints.is_empty() && !self.drags {
            return;
        }
        play.inbox.add(|orders| {
            for joint in &self.joints {
                orders.motors.insert(*joint, MotorTarget::Velocity(0.0));
            }
            if self.drags {
                orders.drag = Some(None);
            }
        });
    }
}

async fn converse(mut socket: WebSocket, play: Arc<Play>) {
    let _page = play.page();
    let mut pictures = play.pictures.subscribe();
    pictures.mark_changed();
    let mut under_way = 0;
    let mut held = Held::default();
    loop {
        tokio::select! {
            changed = pictures.changed(), if under_way < AHEAD => {
                let picture = pictures.borrow_and_update().clone();
                if changed.is_err() {
                    break;
                }
                if picture.is_empty() {
                    continue;
                }
                under_way += 1;
                if socket.send(ws::Message::Binary(picture)).await.is_err() {
                    break;
                }
            }
            received = socket.recv() => {
                let Some(Ok(received)) = received else { break };
                match queue(&received, &play, &mut held) {
                    Ok(Some(Message::Seen)) => under_way = under_way.saturating_sub(1),
                    Ok(_) => {}
                    Err(refused) => {
                        let text = json!(refused).to_string();
                        if socket.send(ws::Message::Text(text.into())).await.is_err() {
                            break;
                        }
                    }
                }
            }
        }
    }
    held.release(&play);
}

/// Queues the command of a message; `None` for control frames.
fn queue(
    received: &ws::Message,
    play: &Play,
    held: &mut Held,
) -> Result<Option<Message>, ErrorMessage> {
    let text = match received {
        ws::Message::Text(text) => text.as_str(),
        ws::Message::Binary(_) => {
            return Err(ErrorMessage::new("messages are text", "send JSON"));
        }
        // Handled by the library.
        ws::Message::Ping(_) | ws::Message::Pong(_) | ws::Message::Close(_) => return Ok(None),
    };
    let message = message::read(text)?;
    if message == Message::Seen {
        return Ok(Some(message));
    }
    let mut outcome = Ok(());
    play.inbox
        .add(|orders| outcome = message.clone().order(&play.limits, orders));
    outcome?;
    held.note(&message);
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_of_a_page_are_tracked_for_their_release() {
        let mut held = Held::default();
        let motor = |joint, velocity| Message::Motor { joint, velocity };
        held.note(&motor(3, 0.5));
        held.note(&motor(4, -0.5));
        held.note(&motor(4, 0.0));
        held.note(&Message::Drag {
            body: 0,
            point: [0.0; 3],
            target: [0.0; 3],
        });
        assert!(held.drags && held.joints.iter().eq(&[3]));
        held.note(&Message::Drop);
        assert!(!held.drags);
    }
}

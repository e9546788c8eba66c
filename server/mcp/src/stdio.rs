//! One JSON-RPC message a line, in and out.
//!
//! The protocol library has a transport for this too, but it drops a line that it can't parse without a word, so that a
//! client that made a slip waits for ever.

use std::{io, sync::Arc};

use futures::StreamExt as _;
use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ClientRequest, JsonRpcError, ProtocolVersion, ServerJsonRpcMessage},
    transport::Transport,
};
use serde::Serialize;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::Mutex,
    task::JoinHandle,
};
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, FramedRead};

use crate::{
    json_rpc::{self, Fault, Input},
    params,
};

/// The greatest length of a line, in bytes.
const LINE_BYTES: usize = 16 << 20;

/// Messages by the lines of this input and output.
pub(crate) struct Lines<R, W> {
    input: FramedRead<R, AnyDelimiterCodec>,
    output: Arc<Mutex<W>>,
    /// A refusal that is being written. On a task of its own, because [`Transport::receive`] may be dropped at any moment.
    refusing: Option<JoinHandle<io::Result<()>>>,
}

impl<R: AsyncRead, W> Lines<R, W> {
    pub(crate) fn new(input: R, output: W) -> Self {
        let codec = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), b"\n".to_vec(), LINE_BYTES);
        Self { input: FramedRead::new(input, codec), output: Arc::new(Mutex::new(output)), refusing: None }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        write(Arc::clone(&self.output), message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                // A reader that went away will also close the input.
                let _ = refusing.await;
                self.refusing = None;
            }
            let message = match self.input.next().await? {
                Ok(line) if line.trim_ascii().is_empty() => continue,
                Ok(line) => message(line.into()),
                Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => {
                    // An error ends the stream once; then it goes on behind the line.
                    self.input.next().await;
                    Err(Fault::invalid(format!("The line is longer than {LINE_BYTES} bytes. Send less at once."))
                        .answer())
                }
                Err(AnyDelimiterCodecError::Io(error)) => {
                    tracing::warn!(%error, "standard input can't be read");
                    return None;
                }
            };
            match message {
                Ok(message) => return Some(message),
                Err(refusal) => self.refusing = Some(tokio::spawn(write(Arc::clone(&self.output), refusal))),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

async fn write<W: AsyncWrite + Unpin>(output: Arc<Mutex<W>>, message: impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

/// The message in a line, or the answer to what is none.
fn message(line: Vec<u8>) -> Result<ClientJsonRpcMessage, Value> {
    let message = match json_rpc::read(line, Some(ProtocolVersion::LATEST.as_str())).map_err(|fault| fault.answer())? {
        Input::Message(message) => message,
        Input::Batch(_) => return Err(Fault::invalid(json_rpc::NO_BATCH).answer()),
    };
    let message: ClientJsonRpcMessage = serde_json::from_slice(&message)
        .map_err(|error| Fault::invalid(format!("This is not a JSON-RPC message: {error}.")).answer())?;
    // The library gives up on a client whose handshake it can't read, without an answer.
    if let ClientJsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && custom.method == "initialize"
        && let Some(problem) = params::problem(custom)
    {
        return Err(serde_json::to_value(JsonRpcError::new(Some(request.id.clone()), problem)).unwrap_or_default());
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;
    use serde_json::json;
    use tokio::io::{AsyncBufReadExt as _, BufReader, duplex};

    use super::*;

    #[tokio::test]
    async fn what_is_no_message_is_answered_and_the_next_one_is_read() {
        let (mut client, input) = duplex(64 << 10);
        let (output, answers) = duplex(64 << 10);
        let mut answers = BufReader::new(answers).lines();
        let mut lines = Lines::new(input, output);
        for (line, code) in [
            ("{", -32_700),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} more"#, -32_700),
            ("{}", -32_600),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}"#, -32_602),
        ] {
            let half = r#"{"jsonrpc":"2.0","id":"half \ud83d","method":"ping"}"#;
            client.write_all(format!("{line}\r\n\n{half}\n").as_bytes()).await.unwrap();
            let Some(ClientJsonRpcMessage::Request(request)) = lines.receive().await else { panic!("{line}") };
            assert_eq!(request.id, RequestId::String("half \u{FFFD}".into()));
            let answer: Value = serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap();
            assert_eq!(answer["error"]["code"], code, "{line}");
            assert_eq!(answer["id"], if code == -32_602 { json!(7) } else { Value::Null }, "{line}");
        }
        drop(client);
        assert!(lines.receive().await.is_none());
    }

    #[tokio::test]
    async fn a_line_beyond_all_bounds_is_refused_and_the_next_one_is_read() {
        let (mut client, input) = duplex(64 << 10);
        let (output, answers) = duplex(64 << 10);
        let mut lines = Lines::new(input, output);
        let writing = tokio::spawn(async move {
            client.write_all(&vec![b' '; LINE_BYTES + 1]).await.unwrap();
            client.write_all(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
        });
        assert!(lines.receive().await.is_some());
        writing.await.unwrap();
        let answer = BufReader::new(answers).lines().next_line().await.unwrap().unwrap();
        assert!(answer.contains("-32600") && answer.contains("Send less at once"), "{answer}");
    }
}

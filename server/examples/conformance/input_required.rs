//! Tools that need something from the client before they can answer (revision 2026-07-28): the result
//! says what, and the client calls again with it.

use std::sync::LazyLock;

use rand::RngExt as _;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult, InputResponses,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::content::from_json;

/// The tools of this file.
pub(crate) const TOOLS: &[(&str, &str)] = &[
    ("test_input_required_result_elicitation", "Asks for the user's name"),
    ("test_input_required_result_sampling", "Asks the client's model a question"),
    ("test_input_required_result_list_roots", "Asks for the client's roots"),
    ("test_input_required_result_request_state", "Asks with a state to give back"),
    ("test_input_required_result_multiple_inputs", "Asks for three things at once"),
    ("test_input_required_result_multi_round", "Asks twice"),
    ("test_input_required_result_tampered_state", "Refuses a state that was changed"),
    ("test_input_required_result_capabilities", "Asks only what the client can answer"),
];

/// Signs states, for the life of the process.
static KEY: LazyLock<[u8; 32]> = LazyLock::new(|| rand::rng().random());

/// A question to the user.
pub(crate) fn elicitation(message: &str, field: &str, kind: &str) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "message": message,
        "requestedSchema": { "type": "object", "properties": { field: { "type": kind } }, "required": [field] },
    } })
}

fn sampling(question: &str, max_tokens: u32) -> Value {
    json!({ "method": "sampling/createMessage", "params": {
        "messages": [{ "role": "user", "content": { "type": "text", "text": question } }],
        "maxTokens": max_tokens,
    } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// A result that asks for these inputs.
pub(crate) fn ask(inputs: &Value, state: Option<&str>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": inputs });
    if let Some(state) = state {
        result["requestState"] = json!(sealed(state));
    }
    from_json(result)
}

fn done(text: impl Into<String>) -> Result<Option<CallToolResponse>, ErrorData> {
    Ok(Some(CallToolResult::success(vec![ContentBlock::text(text.into())]).into()))
}

/// The content of an accepted answer, if there is one of the right form.
pub(crate) fn accepted<'a>(responses: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    let response = responses?.get(key)?;
    (response["action"] == "accept").then(|| &response["content"])
}

/// Calls a tool of this file; `None` for any other one.
pub(crate) fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let responses = request.input_responses.as_ref();
    let response = |key: &str| responses.and_then(|responses| responses.get(key)).filter(|value| value.is_object());
    let state = request.request_state.as_deref().map(opened).transpose()?;
    let asks = |inputs: Value, state: Option<&str>| ask(&inputs, state).map(|result| Some(result.into()));
    match &*request.name {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            match accepted(responses, "user_name").and_then(|content| content["name"].as_str()) {
                Some(name) => done(format!("Hello, {name}!")),
                None => asks(json!({ "user_name": elicitation("What is your name?", "name", "string") }), None),
            }
        }
        "test_input_required_result_sampling" => match response("capital_question") {
            Some(answer) => done(format!("The model said: {}", answer["content"]["text"])),
            None => asks(json!({ "capital_question": sampling("What is the capital of France?", 100) }), None),
        },
        "test_input_required_result_list_roots" => match response("client_roots") {
            Some(answer) => done(format!("The roots are: {}", answer["roots"])),
            None => asks(json!({ "client_roots": roots() }), None),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            match (accepted(responses, "confirm"), state.as_deref()) {
                (Some(_), Some("confirm")) => done("state-ok"),
                _ => asks(json!({ "confirm": elicitation("Please confirm", "ok", "boolean") }), Some("confirm")),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            let all = ["user_name", "greeting", "client_roots"].iter().all(|key| response(key).is_some());
            match (all, state.as_deref()) {
                (true, Some("three")) => done("All three arrived."),
                _ => asks(
                    json!({
                        "user_name": elicitation("What is your name?", "name", "string"),
                        "greeting": sampling("Generate a greeting", 50),
                        "client_roots": roots(),
                    }),
                    Some("three"),
                ),
            }
        }
        "test_input_required_result_multi_round" => match state.as_deref() {
            Some("round 1") if accepted(responses, "step1").is_some() => asks(
                json!({ "step2": elicitation("Step 2: What is your favorite color?", "color", "string") }),
                Some("round 2"),
            ),
            Some("round 2") if accepted(responses, "step2").is_some() => done("Both answers arrived."),
            _ => asks(json!({ "step1": elicitation("Step 1: What is your name?", "name", "string") }), Some("round 1")),
        },
        "test_input_required_result_capabilities" => {
            let capabilities = context.client_capabilities().unwrap_or_default();
            let mut inputs = json!({});
            if capabilities.elicitation.is_some() {
                inputs["user_name"] = elicitation("What is your name?", "name", "string");
            }
            if capabilities.sampling.is_some() {
                inputs["greeting"] = sampling("Generate a greeting", 50);
            }
            asks(inputs, None)
        }
        _ => Ok(None),
    }
}

/// A state that only this process can have made: the client gives it back and could have changed it.
fn sealed(state: &str) -> String {
    format!("{state}.{}", signature(state))
}

fn opened(sealed: &str) -> Result<String, ErrorData> {
    let parts = sealed.rsplit_once('.');
    let genuine = parts.filter(|(state, given)| signature(state).as_bytes().ct_eq(given.as_bytes()).into());
    let refused = || ErrorData::invalid_params("requestState is not one that this server made", None);
    genuine.map(|(state, _)| state.to_owned()).ok_or_else(refused)
}

/// HMAC-SHA-256 in hexadecimal (RFC 2104); the key is shorter than a block.
fn signature(state: &str) -> String {
    let padded = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(KEY.iter()).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(state).finalize();
    let outer = Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize();
    hex::encode(outer)
}

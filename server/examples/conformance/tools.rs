//! The tools that the suite prescribes.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, JsonObject,
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::{
    content::{PNG, WAV, from_json},
    fixtures::{Changed, Fixtures},
    input_required, tasks,
};

const PAUSE: Duration = Duration::from_millis(50);

/// Every tool, in a fixed order.
pub(crate) fn list() -> Vec<Tool> {
    let nothing = || json!({ "type": "object", "properties": {} });
    let text =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let plain = [
        ("test_simple_text", "Returns a text"),
        ("test_image_content", "Returns an image"),
        ("test_audio_content", "Returns a sound"),
        ("test_embedded_resource", "Returns a resource"),
        ("test_multiple_content_types", "Returns a text, an image and a resource"),
        ("test_tool_with_logging", "Logs three messages"),
        ("test_logging_tool", "Logs a message if the request asks for it"),
        ("test_error_handling", "Always fails"),
        ("test_tool_with_progress", "Reports its progress"),
        ("test_elicitation_sep1034_defaults", "Asks the user on a server stream"),
        ("test_elicitation_sep1330_enums", "Asks the user on a server stream"),
        ("test_missing_capability", "Needs a client that can sample"),
        ("test_streaming_elicitation", "Asks the user"),
        ("test_trigger_tool_change", "Reports that the tools changed"),
        ("test_trigger_prompt_change", "Reports that the prompts changed"),
    ];
    let plain = plain.into_iter().chain(input_required::TOOLS.iter().copied()).chain(tasks::TOOLS.iter().copied());
    let mut tools: Vec<Tool> = plain.map(|(name, about)| tool(name, about, nothing())).collect();
    tools.push(tool("test_sampling", "Asks the client's model on a server stream", text("prompt")));
    tools.push(tool("test_elicitation", "Asks the user on a server stream", text("message")));
    tools.push(tool("test_custom_headers", "Has an argument that is repeated in a header", with_header()));
    tools.push(tool("json_schema_2020_12_tool", "Has a schema with many keywords", with_many_keywords()));
    tools
}

fn tool(name: &'static str, about: &'static str, schema: Value) -> Tool {
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, about, Arc::new(schema))
}

fn with_header() -> Value {
    json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    })
}

fn with_many_keywords() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

/// Calls a tool.
pub(crate) async fn call(
    fixtures: &Fixtures,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if let Some(response) = input_required::call(&request, &context)? {
        return Ok(response);
    }
    if let Some(response) = tasks::call(&fixtures.tasks, &request, &context).await? {
        return Ok(response);
    }
    let content = match &*request.name {
        "test_simple_text" => json!([{ "type": "text", "text": "This is a simple text response for testing." }]),
        "test_image_content" => json!([{ "type": "image", "data": PNG, "mimeType": "image/png" }]),
        "test_audio_content" => json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }]),
        "test_embedded_resource" => json!([{ "type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content.",
        } }]),
        "test_multiple_content_types" => json!([
            { "type": "text", "text": "Multiple content types test:" },
            { "type": "image", "data": PNG, "mimeType": "image/png" },
            { "type": "resource", "resource": {
                "uri": "test://mixed-content-resource", "mimeType": "application/json",
                "text": r#"{"test":"data","value":123}"#,
            } },
        ]),
        "test_tool_with_logging" => {
            for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                log(&context, message).await;
                tokio::time::sleep(PAUSE).await;
            }
            said("Three messages were logged.")
        }
        "test_logging_tool" => {
            // From 2026-07-28 on, a request that wants log messages says so.
            if context.meta.log_level().is_some() {
                log(&context, "A message that was asked for").await;
            }
            said("Done.")
        }
        "test_tool_with_progress" => {
            report_progress(&context).await;
            said("Done.")
        }
        "test_error_handling" => return Ok(failed("This tool intentionally returns an error for testing")),
        // These wait for the client's answer on a stream of the server's, which needs a session; this
        // server keeps none. A client of 2026-07-28 is asked by the result instead.
        "test_sampling"
        | "test_elicitation"
        | "test_elicitation_sep1034_defaults"
        | "test_elicitation_sep1330_enums" => {
            return Ok(failed("A stateless server can't ask a client of this revision"));
        }
        "test_missing_capability" => {
            let can_sample = context.client_capabilities().is_some_and(|capabilities| capabilities.sampling.is_some());
            if !can_sample {
                let required = ClientCapabilities::builder().enable_sampling().build();
                return Err(ErrorData::missing_required_client_capability(required));
            }
            said("The client can sample.")
        }
        "test_trigger_tool_change" => changed(fixtures, Changed::Tools),
        "test_trigger_prompt_change" => changed(fixtures, Changed::Prompts),
        "test_custom_headers" | "json_schema_2020_12_tool" => said("The arguments were accepted."),
        name => return Err(ErrorData::invalid_params(format!("unknown tool {name}"), None)),
    };
    Ok(CallToolResult::success(from_json(content)?).into())
}

fn said(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn failed(text: &str) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(text)]).into()
}

fn changed(fixtures: &Fixtures, change: Changed) -> Value {
    // It fails where nobody listens, which is fine.
    let _ = fixtures.changes.send(change);
    said("Reported.")
}

async fn log(context: &RequestContext<RoleServer>, message: &str) {
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message)).with_logger("conformance");
    // A client that is gone needs no messages.
    let _ = context.peer.notify_logging_message(message).await;
}

async fn report_progress(context: &RequestContext<RoleServer>) {
    for progress in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let report = ProgressNotificationParam::new(token, progress).with_total(100.0);
            let _ = context.peer.notify_progress(report).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

//! The prompts that the suite prescribes.

use rmcp::{
    ErrorData,
    model::{GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, PromptArgument},
};
use serde_json::json;

use crate::{
    content::{PNG, from_json},
    input_required::{accepted, ask, elicitation},
};

/// Every prompt.
pub(crate) fn list() -> Vec<Prompt> {
    let required = |name: &str| PromptArgument::new(name).with_description("A test argument").with_required(true);
    vec![
        Prompt::new("test_simple_prompt", Some("A prompt without arguments"), None),
        Prompt::new(
            "test_prompt_with_arguments",
            Some("A prompt with two arguments"),
            Some(vec![required("arg1"), required("arg2")]),
        ),
        Prompt::new(
            "test_prompt_with_embedded_resource",
            Some("A prompt with a resource"),
            Some(vec![required("resourceUri")]),
        ),
        Prompt::new("test_prompt_with_image", Some("A prompt with an image"), None),
        Prompt::new("test_input_required_result_prompt", Some("A prompt that asks the user first"), None),
    ]
}

/// Gets a prompt.
pub(crate) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        value.ok_or_else(|| ErrorData::invalid_params(format!("the argument {name} is missing"), None))
    };
    let user = |content| json!({ "role": "user", "content": content });
    let text = |text: &str| user(json!({ "type": "text", "text": text }));
    let messages = match request.name.as_str() {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            json!([text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))])
        }
        "test_prompt_with_embedded_resource" => json!([
            user(json!({ "type": "resource", "resource": {
                "uri": argument("resourceUri")?,
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            } })),
            text("Please process the embedded resource above."),
        ]),
        "test_prompt_with_image" => json!([
            user(json!({ "type": "image", "data": PNG, "mimeType": "image/png" })),
            text("Please analyze the image above."),
        ]),
        "test_input_required_result_prompt" => match accepted(request.input_responses.as_ref(), "user_context") {
            Some(context) => json!([text(&format!("Use this context: {}", context["context"]))]),
            None => {
                let question = elicitation("What context should the prompt use?", "context", "string");
                return Ok(ask(&json!({ "user_context": question }), None)?.into());
            }
        },
        name => return Err(ErrorData::invalid_params(format!("unknown prompt {name}"), None)),
    };
    Ok(GetPromptResult::new(from_json(messages)?).into())
}

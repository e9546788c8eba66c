//! Tools that answer with a task, which the client then asks about (the extension
//! `io.modelcontextprotocol/tasks` of revision 2026-07-28).

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult,
        InputRequest,
    },
    service::RequestContext,
    task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions},
};
use serde_json::{Value, json};

use crate::{
    content::from_json,
    input_required::{accepted, ask, elicitation},
};

/// The tools of this file.
pub(crate) const TOOLS: &[(&str, &str)] = &[
    ("greet", "Answers at once"),
    ("slow_compute", "Waits for some seconds"),
    ("failing_job", "Fails after a while"),
    ("protocol_error_job", "Ends with a protocol error"),
    ("confirm_delete", "Asks the user while it runs"),
    ("multi_input", "Asks the user two things at once while it runs"),
    ("test_tool_with_task", "Asks the user, then runs"),
];

/// Calls a tool of this file; `None` for any other one.
pub(crate) async fn call(
    tasks: &TaskManager,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    if !TOOLS.iter().any(|(name, _)| *name == request.name) {
        return Ok(None);
    }
    let argument = |name: &str| request.arguments.as_ref().and_then(|arguments| arguments.get(name)).cloned();
    if request.name == "greet" {
        let name = argument("name").unwrap_or_default();
        return Ok(Some(said(format!("Hello, {}!", name.as_str().unwrap_or("you"))).into()));
    }
    let knows_tasks = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
    let seconds = Duration::from_secs(argument("seconds").and_then(|seconds| seconds.as_u64()).unwrap_or(0));
    if !knows_tasks && request.name == "slow_compute" {
        // This one can do without a task; the client waits.
        tokio::time::sleep(seconds).await;
        return Ok(Some(said("Computed.").into()));
    }
    if !knows_tasks {
        let required = ClientCapabilities::builder().enable_tasks().build();
        return Err(ErrorData::missing_required_client_capability(required));
    }
    let name = accepted(request.input_responses.as_ref(), "user_name").and_then(|content| content["name"].as_str());
    if request.name == "test_tool_with_task" && name.is_none() {
        let question = json!({ "user_name": elicitation("What is your name?", "name", "string") });
        return Ok(Some(ask(&question, None)?.into()));
    }
    let job = Job { tool: request.name.to_string(), seconds, name: name.map(str::to_owned) };
    let options = TaskOptions::new().with_poll_interval_ms(100);
    let task = tasks.spawn(options, move |context| Box::pin(job.run(context)));
    Ok(Some(CreateTaskResult::new(task).into()))
}

struct Job {
    tool: String,
    seconds: Duration,
    name: Option<String>,
}

impl Job {
    async fn run(self, context: TaskContext) -> Result<CallToolResult, TaskExit> {
        let work = async {
            match self.tool.as_str() {
                "failing_job" => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Ok(CallToolResult::error(vec![ContentBlock::text("The job failed, as it always does.")]))
                }
                "protocol_error_job" => Err(ErrorData::internal_error("the job broke the protocol", None).into()),
                "confirm_delete" => {
                    let answer =
                        context.request_input("confirm", question("Delete the file?", "ok", "boolean")?).await?;
                    Ok(said(format!("The user answered {}.", answer["action"])))
                }
                "multi_input" => {
                    let name = context.request_input("name", question("What is your name?", "name", "string")?);
                    let colour = context.request_input("colour", question("What is your colour?", "colour", "string")?);
                    let (name, colour) = tokio::try_join!(name, colour)?;
                    Ok(said(format!("{} and {}", name["content"], colour["content"])))
                }
                "test_tool_with_task" => Ok(said(format!("Hello, {}!", self.name.as_deref().unwrap_or_default()))),
                _ => {
                    tokio::time::sleep(self.seconds).await;
                    Ok(said("Computed."))
                }
            }
        };
        tokio::select! {
            outcome = work => outcome,
            () = context.cancelled() => Err(TaskExit::Cancelled),
        }
    }
}

fn question(message: &str, field: &str, kind: &str) -> Result<InputRequest, ErrorData> {
    let request: Value = elicitation(message, field, kind);
    from_json(request)
}

fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}

use polymnemo_memory::{Ctx, Door, Grants, Identity};
use tokio_util::sync::CancellationToken;

use crate::{Error, Parts, config::Config, error::in_one_line, jobs, shutdown};

/// Serves one client over standard input and output, until the input ends or a signal comes. Only
/// messages of the protocol go to standard output; the log is on standard error.
pub(crate) async fn run(config: Config) -> Result<(), Error> {
    let identity = Identity::named(config.access.stdio_user()?);
    let (halt, at_once) = (CancellationToken::new(), CancellationToken::new());
    shutdown::on_signals(&halt, &at_once)
        .map_err(|error| Error::Failed(format!("signals can't be handled: {error}")))?;
    let Some(parts) = halt.run_until_cancelled(Parts::start(&config)).await.transpose()? else { return Ok(()) };
    let outcome = serve(&parts, &identity, &halt).await;
    parts.stop().await;
    outcome
}

async fn serve(parts: &Parts, identity: &Identity, halt: &CancellationToken) -> Result<(), Error> {
    let user = parts.service.user(identity).await.map_err(|error| Error::Database(in_one_line(&error)))?;
    let ctx = Ctx { user, door: Door::Stdio, client: None, app: None, grants: Grants::full() };
    let jobs_end = halt.child_token();
    let jobs = jobs::spawn(&parts.service, &jobs_end);
    let serving = polymnemo_mcp::serve_stdio(parts.service.clone(), ctx);
    let outcome = halt.run_until_cancelled(serving).await;
    jobs_end.cancel();
    jobs.wait().await;
    match outcome {
        None | Some(Ok(())) => Ok(()),
        Some(Err(error)) => Err(Error::Failed(in_one_line(&error))),
    }
}

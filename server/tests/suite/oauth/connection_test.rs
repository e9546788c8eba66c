//! The test of the connection, which takes the steps of an AI app.

use polymnemo_types::{ConnectionOutcome, ConnectionProblem, ConnectionReport, ConnectionStep};
use reqwest::{Method, StatusCode};

use crate::{
    oauth::{app, signed_in, text},
    support::{Browser, TestApp},
};

/// What the page's form gets.
async fn tested(browser: &Browser) -> Vec<ConnectionReport> {
    let request = browser.request(Method::POST, "/api/test_connection").header("accept", "application/json");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let response = browser.send(request.header("origin", browser.origin())).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.json().await.unwrap()
}

#[tokio::test]
async fn every_step_passes_and_nothing_is_left() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let reports = tested(&browser).await;
    for ConnectionReport { step, outcome } in &reports {
        // The server does not read documents from its own machine.
        let expected = match step {
            ConnectionStep::Document => &ConnectionOutcome::Skipped,
            _ => &ConnectionOutcome::Passed,
        };
        assert_eq!(outcome, expected, "{step:?}");
    }
    assert_eq!(reports.len(), ConnectionStep::ALL.len());
    for table in ["apps", "oauth_tokens", "app_calls", "oauth_clients"] {
        assert_eq!(text(&app, &format!("select count(*)::text from {table}")).await, "0", "{table}");
    }
}

/// The first step that fails is named, with what is wrong.
#[tokio::test]
async fn a_wrong_public_address_is_named() {
    let github = crate::support::GitHub::start().await;
    // Nothing listens there.
    let app = TestApp::builder().github(&github).setting("POLYMNEMO_PUBLIC_URL", "http://127.0.0.1:9").start().await;
    let browser = app.browser().behind("http://127.0.0.1:9");
    browser.sign_in_with_github("/").await;
    let reports = tested(&browser).await;
    let failed = &reports[0];
    assert_eq!(failed.step, ConnectionStep::Endpoint);
    let ConnectionOutcome::Failed { problem, .. } = &failed.outcome else { panic!("{failed:?}") };
    assert_eq!(*problem, ConnectionProblem::Unreachable);
    assert!(reports[1..].iter().all(|report| report.outcome == ConnectionOutcome::Skipped));
}

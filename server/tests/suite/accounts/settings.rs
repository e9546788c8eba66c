use polymnemo_types::{LanguageSetting, ListRequest, SettingsChange, Theme};

use super::{person, remember, text};
use crate::support::TestApp;

#[tokio::test]
async fn settings_are_changed_one_by_one_and_take_effect() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let settings = service.settings(&alice).await.unwrap();
    assert_eq!((settings.name.as_str(), settings.time_zone.as_str()), ("alice", "Europe/Berlin"));
    assert_eq!((settings.language, settings.theme), (LanguageSetting::Browser, Theme::System));
    assert_eq!(settings.default_namespace, "personal");

    let change =
        SettingsChange { time_zone: Some("asia/shanghai".into()), theme: Some(Theme::Dark), ..Default::default() };
    let settings = service.change_settings(&alice, change).await.unwrap();
    assert_eq!((settings.time_zone.as_str(), settings.theme), ("Asia/Shanghai", Theme::Dark));
    let change = SettingsChange {
        language: Some(LanguageSetting::Chinese),
        default_namespace: Some("diary".into()),
        ..Default::default()
    };
    let settings = service.change_settings(&alice, change).await.unwrap();
    assert_eq!((settings.language, settings.theme), (LanguageSetting::Chinese, Theme::Dark));
    let back = SettingsChange { language: Some(LanguageSetting::Browser), ..Default::default() };
    assert_eq!(service.change_settings(&alice, back).await.unwrap().language, LanguageSetting::Browser);

    // The next request of any client reads dates in the new zone and stores in the new namespace.
    let alice = app.ctx("alice").await;
    let request = polymnemo_types::RememberRequest { occurred_at: Some("2026-03-01".into()), ..text("It rained.") };
    remember(service, &alice, request).await;
    let stored = service.list_memories(&alice, ListRequest::default()).await.unwrap().items.remove(0);
    assert_eq!((stored.namespace.as_str(), stored.occurred_at.to_string().as_str()), ("diary", "2026-02-28T16:00:00Z"));
}

#[tokio::test]
async fn a_setting_that_is_not_valid_changes_nothing() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let before = service.settings(&alice).await.unwrap();
    for (change, expected) in [
        (SettingsChange { time_zone: Some("Mars/Olympus".into()), ..Default::default() }, "Europe/Berlin"),
        (SettingsChange { default_namespace: Some("<b>".into()), ..Default::default() }, "letters, digits"),
    ] {
        let change = SettingsChange { theme: Some(Theme::Light), ..change };
        let error = service.change_settings(&alice, change).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(service.settings(&alice).await.unwrap(), before);
    }
    let zones = polymnemo_memory::MemoryService::time_zones();
    assert!(zones.len() > 300 && zones.iter().any(|zone| zone == "Asia/Shanghai"), "{} zones", zones.len());
}

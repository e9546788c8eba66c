use std::time::Duration;

#[cfg(feature = "ssr")]
use jiff::Timestamp;
use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::i18n;

/// How often times on the page are told anew.
const TICK: Duration = Duration::from_secs(20);

/// The time now, in seconds since 1970, as everything on the page sees it. It goes on once the
/// page is alive.
#[derive(Clone, Copy)]
pub(crate) struct Now(RwSignal<i64>);

impl Now {
    /// Makes the time known to everything on the page.
    pub(crate) fn provide() {
        let now = RwSignal::new(seconds_now());
        provide_context(Self(now));
        Effect::new(move |_| {
            if let Ok(interval) = set_interval_with_handle(move || now.set(seconds_now()), TICK) {
                on_cleanup(move || interval.clear());
            }
        });
    }

    /// The time now, at the moment of asking.
    #[cfg(feature = "ssr")]
    pub(crate) fn seconds_once() -> i64 {
        use_context::<Self>().map_or_else(seconds_now, |now| now.0.get_untracked())
    }

    /// The time now; read reactively, it goes on.
    pub(crate) fn seconds() -> i64 {
        use_context::<Self>().map_or_else(seconds_now, |now| now.0.get())
    }
}

#[cfg(feature = "ssr")]
/// A time as people say it ("2 minutes ago"), with the exact one in the person's time zone under
/// the pointer.
#[component]
pub(crate) fn Time(at: Timestamp) -> impl IntoView {
    view! {
        <time datetime=at.to_string() title=exact(at)>
            {move || i18n::since(Now::seconds() - at.as_second())}
        </time>
    }
}

/// The time zone of who is signed in; UTC for strangers.
#[cfg(feature = "ssr")]
pub(crate) fn time_zone() -> jiff::tz::TimeZone {
    crate::api::signed_in().map_or(jiff::tz::TimeZone::UTC, |ctx| ctx.user.time_zone)
}

/// A time to the second, in the person's time zone, such as `2026-11-30 14:43:07`.
#[cfg(feature = "ssr")]
pub(crate) fn exact(at: Timestamp) -> String {
    at.to_zoned_datetime(time_zone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(feature = "ssr")]
fn seconds_now() -> i64 {
    Timestamp::now().as_second()
}

#[cfg(not(feature = "ssr"))]
fn seconds_now() -> i64 {
    (js_sys::Date::now() / 1000.0) as i64
}

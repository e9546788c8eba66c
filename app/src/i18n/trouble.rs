//! What stands where something was to be shown and could not be.

pub(crate) struct Trouble {
    pub(crate) try_again: &'static str,
    pub(crate) sign_in: &'static str,
}

pub(super) const ENGLISH: Trouble = Trouble { try_again: "Try again", sign_in: "Sign in" };

pub(super) const CHINESE: Trouble = Trouble { try_again: "重试", sign_in: "登录" };

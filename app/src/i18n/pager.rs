//! The way from one page of a list to the next.

pub(crate) struct Pager {
    pub(crate) label: &'static str,
    pub(crate) first: &'static str,
    pub(crate) next: &'static str,
}

pub(super) const ENGLISH: Pager = Pager { label: "Pages", first: "First page", next: "Next page" };

pub(super) const CHINESE: Pager = Pager { label: "分页", first: "第一页", next: "下一页" };

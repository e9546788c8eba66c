use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::future::AbortHandle;
use leptos::{
    prelude::{document, window},
    wasm_bindgen::JsCast as _,
    web_sys::{Element, HtmlElement, Node},
};

/// How much higher than the window what is loaded beyond it is, on each side.
const AHEAD: f64 = 1.0;
/// How many parts are kept that are not in the document any more: whoever comes back finds them as they were left.
const KEPT: usize = 12;
/// How high all the empty room may be, in pixels. Browsers can't show elements that are higher than some 17 million.
const HIGHEST: f64 = 8_000_000.0;
/// How high a message is taken to be before any was seen, in pixels.
const MESSAGE: f64 = 100.0;
/// From which difference on another height is taken for those that were not seen: the scroll bar is not to tremble.
const DIFFERENCE: f64 = 0.25;

/// The parts of a transcript: those that are loaded, and how high the others are taken to be.
pub(super) struct Parts {
    place: HtmlElement,
    messages: u32,
    /// The messages in each part but the last one.
    size: u32,
    /// The parts that are loaded.
    loaded: BTreeMap<u32, HtmlElement>,
    /// What stands in the document for those that are not, while they are near.
    waiting: BTreeMap<u32, HtmlElement>,
    /// How high parts were when they were last seen.
    heights: HashMap<u32, f64>,
    /// The parts that were asked for.
    asked: HashMap<u32, AbortHandle>,
    /// The parts that belong near the window.
    near: BTreeSet<u32>,
    /// What is in the document, from top to bottom.
    shown: Vec<Child>,
    width: f64,
    /// How high a message is taken to be.
    each: f64,
    /// How far the page was scrolled when that was done here the last time.
    scrolled_to: Option<i32>,
}

/// What is in the document: a part, what stands for one that is on its way, or room for others; heights are in pixels.
#[derive(PartialEq, Eq)]
enum Child {
    Room(u32),
    Part(u32),
    Waiting(u32, u32),
}

/// What stays where it is while other things come and go.
enum Anchor {
    /// A message, and how far below the top of the window it begins.
    Message(Element, f64),
    /// A share of a part that has passed the top of the window.
    Part(u32, f64),
    /// The end of the page.
    End,
}

impl Parts {
    /// The part that came with the page.
    pub(super) fn new(place: &HtmlElement, messages: u32, size: u32) -> Option<Self> {
        let first: HtmlElement = place.query_selector(".transcript-part").ok()??.dyn_into().ok()?;
        let from: u32 = first.get_attribute("data-from")?.parse().ok()?;
        let size = size.max(1);
        Some(Self {
            place: place.clone(),
            messages,
            size,
            loaded: BTreeMap::from([((from.max(1) - 1) / size, first)]),
            waiting: BTreeMap::new(),
            heights: HashMap::new(),
            asked: HashMap::new(),
            near: BTreeSet::new(),
            shown: Vec::new(),
            width: 0.0,
            each: 0.0,
            scrolled_to: None,
        })
    }

    /// Puts what is near the window into the document, and takes out what is not; says whether something is missing.
    pub(super) fn arrange(&mut self) -> bool {
        if !self.place.is_connected() || self.messages == 0 {
            return false;
        }
        self.measure();
        let heights = self.all_heights();
        if self.shown.is_empty() {
            // The part that came with the page stands where the first one belongs: it gets the room before it, and stays
            // in sight.
            let anchor = self.anchor(&heights);
            let came_with_page = self.loaded.keys().copied().collect();
            self.show(&came_with_page, &heights);
            self.hold(anchor);
        }
        let anchor = self.anchor(&heights);
        self.near = self.near_window(&heights);
        let wanted: BTreeSet<u32> = self.near.iter().copied().chain(self.in_use()).collect();
        self.asked.retain(|part, request| {
            let is_wanted = wanted.contains(part);
            if !is_wanted {
                request.abort();
            }
            is_wanted
        });
        if self.show(&wanted, &heights) {
            self.measure();
            self.hold(anchor);
        }
        self.drop_far();
        let is_busy = self.near.iter().any(|part| !self.loaded.contains_key(part));
        let _ = self.place.set_attribute("aria-busy", if is_busy { "true" } else { "false" });
        is_busy
    }

    /// The parts near the window that nobody has asked for, each with the number of its first message; the one in the
    /// middle of the window first.
    pub(super) fn missing(&self) -> Vec<(u32, u32)> {
        let is_missing = |part: &&u32| !self.loaded.contains_key(part) && !self.asked.contains_key(part);
        let mut missing: Vec<u32> = self.near.iter().filter(is_missing).copied().collect();
        let middle = self.near.iter().copied().nth(self.near.len() / 2).unwrap_or_default();
        missing.sort_by_key(|part| part.abs_diff(middle));
        missing.into_iter().map(|part| (part, part * self.size + 1)).collect()
    }

    /// Keeps in mind that a part was asked for.
    pub(super) fn ask(&mut self, part: u32, request: AbortHandle) {
        self.asked.insert(part, request);
    }

    /// Takes a part that was loaded.
    pub(super) fn put(&mut self, part: u32, html: &str) {
        self.asked.remove(&part);
        if let Some(element) = element_of("transcript-part", None) {
            let _ = element.set_attribute("data-from", &(part * self.size + 1).to_string());
            element.set_inner_html(html);
            self.loaded.insert(part, element);
        }
    }

    /// Says in its place that a part could not be loaded.
    pub(super) fn fail(&mut self, part: u32) {
        self.asked.remove(&part);
        if let (Some(waiting), Some(said)) = (self.waiting.get(&part), self.place.get_attribute("data-failed")) {
            let _ = waiting.set_attribute("role", "status");
            waiting.set_text_content(None);
            // In a line of its own, which stays in sight however high the room is.
            if let Ok(line) = document().create_element("p") {
                line.set_text_content(Some(&said));
                let _ = waiting.append_child(&line);
            }
        }
    }

    /// The number of the first message in the window.
    pub(super) fn first_in_sight(&self) -> Option<u32> {
        self.first_message()?.get_attribute("data-number")?.parse().ok()
    }

    /// Whether the page is where it was scrolled to here, not by the person.
    pub(super) fn is_own_scrolling(&self) -> bool {
        self.scrolled_to.is_some() && self.scrolled_to == scroller().map(|scroller| scroller.scroll_top())
    }

    /// Says that where the page is now is not what the person has scrolled to.
    pub(super) fn note_own_scrolling(&mut self) {
        self.scrolled_to = scroller().map(|scroller| scroller.scroll_top());
    }

    fn count(&self) -> u32 {
        self.messages.div_ceil(self.size)
    }

    fn messages_in(&self, part: u32) -> f64 {
        f64::from(self.size.min(self.messages - part * self.size))
    }

    /// Notes how high the parts are that are in the document.
    fn measure(&mut self) {
        let width = self.place.get_bounding_client_rect().width();
        if (width - self.width).abs() > 1.0 {
            // What was measured was measured in lines of another length.
            self.heights.clear();
            self.width = width;
            self.each = 0.0;
        }
        for (part, element) in &self.loaded {
            if element.is_connected() {
                self.heights.insert(*part, element.get_bounding_client_rect().height());
            }
        }
    }

    /// How high each part is, or is taken to be: like those that were seen.
    fn all_heights(&mut self) -> Vec<f64> {
        let seen: f64 = self.heights.values().sum();
        let messages: f64 = self.heights.keys().map(|part| self.messages_in(*part)).sum();
        let each = if messages > 0.0 { seen / messages } else { MESSAGE };
        if (each - self.each).abs() > DIFFERENCE * self.each {
            self.each = each;
        }
        let unseen = self.each * (f64::from(self.messages) - messages);
        let each = if unseen > HIGHEST { self.each * HIGHEST / unseen } else { self.each };
        let height = |part| self.heights.get(&part).copied().unwrap_or_else(|| each * self.messages_in(part));
        (0..self.count()).map(height).collect()
    }

    /// The parts in the window, and those that come into it soon.
    fn near_window(&self, heights: &[f64]) -> BTreeSet<u32> {
        let (top, bottom) = self.window();
        let ahead = AHEAD * (bottom - top);
        let mut near = BTreeSet::new();
        let mut end = 0.0;
        for (part, height) in (0..).zip(heights) {
            let start = end;
            end += height;
            if end >= top - ahead && start <= bottom + ahead {
                near.insert(part);
            }
        }
        if near.is_empty() {
            near.insert(if bottom < 0.0 { 0 } else { self.count() - 1 });
        }
        near
    }

    /// Where the window begins and ends, from the top of the transcript.
    fn window(&self) -> (f64, f64) {
        let top = -self.place.get_bounding_client_rect().top();
        (top, top + window_height())
    }

    /// The parts that hold the focus or the selection, which would be lost with them.
    fn in_use(&self) -> Vec<u32> {
        let selection = window().get_selection().ok().flatten().filter(|selection| !selection.is_collapsed());
        let nodes = [
            document().active_element().map(Node::from),
            selection.as_ref().and_then(|selection| selection.anchor_node()),
            selection.as_ref().and_then(|selection| selection.focus_node()),
        ];
        let holds = |element: &HtmlElement| nodes.iter().flatten().any(|node| element.contains(Some(node)));
        self.loaded.iter().filter(|(_, element)| holds(element)).map(|(part, _)| *part).collect()
    }

    /// Puts these parts into the document, in their order, with empty room for all others; says whether anything changed.
    fn show(&mut self, wanted: &BTreeSet<u32>, heights: &[f64]) -> bool {
        let room = |from: u32, to: u32| -> f64 { heights.iter().skip(from as usize).take((to - from) as usize).sum() };
        // In whole pixels, so that what differs by less is the same.
        let mut shown = Vec::new();
        let mut next = 0;
        for &part in wanted {
            shown.push(Child::Room(room(next, part).round() as u32));
            shown.push(if self.loaded.contains_key(&part) {
                Child::Part(part)
            } else {
                Child::Waiting(part, room(part, part + 1).round() as u32)
            });
            next = part + 1;
        }
        shown.push(Child::Room(room(next, self.count()).round() as u32));
        if shown == self.shown {
            return false;
        }

        let mut elements = Vec::new();
        for child in &shown {
            elements.extend(match child {
                Child::Room(0) => None,
                Child::Room(height) => element_of("transcript-room", Some(*height)),
                Child::Part(part) => self.loaded.get(part).cloned(),
                Child::Waiting(part, height) => {
                    let waiting = self.waiting.remove(part).or_else(|| element_of("transcript-part is-waiting", None));
                    if let Some(waiting) = &waiting {
                        set_height(waiting, *height);
                        self.waiting.insert(*part, waiting.clone());
                    }
                    waiting
                }
            });
        }
        self.waiting.retain(|part, _| wanted.contains(part) && !self.loaded.contains_key(part));
        self.shown = shown;
        self.set_children(&elements);
        true
    }

    /// Makes these the children of the transcript. What is there and stays is not moved: it would lose the focus, the
    /// selection and how far it was scrolled.
    fn set_children(&self, elements: &[HtmlElement]) {
        let mut at = self.place.first_element_child();
        while let Some(there) = at {
            at = there.next_element_sibling();
            if !elements.iter().any(|element| there.is_same_node(Some(element))) {
                there.remove();
            }
        }
        let mut at = self.place.first_element_child();
        for element in elements {
            match &at {
                Some(there) if there.is_same_node(Some(element)) => at = there.next_element_sibling(),
                _ => {
                    let _ = self.place.insert_before(element, at.as_deref());
                }
            }
        }
    }

    /// The first message in the window that begins or goes on below the bar.
    fn first_message(&self) -> Option<Element> {
        let bar = document().query_selector(".session-bar").ok().flatten();
        let start = bar.map_or(0.0, |bar| bar.get_bounding_client_rect().bottom().max(0.0));
        let end = window_height();
        let is_in_sight = |element: &Element| {
            let rect = element.get_bounding_client_rect();
            rect.bottom() > start && rect.top() < end
        };
        let parts = self.loaded.values().filter(|part| part.is_connected() && is_in_sight(part));
        let messages = parts.map(|part| part.children());
        messages
            .flat_map(|messages| (0..messages.length()).filter_map(move |index| messages.item(index)))
            .find(is_in_sight)
    }

    /// What is to stay where it is in the window.
    fn anchor(&self, heights: &[f64]) -> Anchor {
        if let Some(message) = self.first_message() {
            let top = message.get_bounding_client_rect().top();
            return Anchor::Message(message, top);
        }
        // Someone came here by the scroll bar: what was there is not known yet, only how far into it they are.
        if is_at_end() {
            return Anchor::End;
        }
        let (top, _) = self.window();
        let mut start = 0.0;
        for (part, height) in (0..).zip(heights) {
            if top < start + height {
                let share = if *height > 0.0 { (top - start) / height } else { 0.0 };
                return Anchor::Part(part, share);
            }
            start += height;
        }
        Anchor::End
    }

    /// Moves the window so that what is to stay where it is does.
    fn hold(&mut self, anchor: Anchor) {
        let distance = match anchor {
            Anchor::Message(message, top) if message.is_connected() => message.get_bounding_client_rect().top() - top,
            // The top of the transcript is below that of the window: it stays there.
            Anchor::Part(part, share) if share >= 0.0 => {
                let element = self.loaded.get(&part).or_else(|| self.waiting.get(&part));
                element.filter(|element| element.is_connected()).map_or(0.0, |element| {
                    let now = element.get_bounding_client_rect();
                    now.top() + share * now.height()
                })
            }
            Anchor::End => scroller().map_or(0.0, |scroller| f64::from(scroller.scroll_height())),
            Anchor::Message(..) | Anchor::Part(..) => 0.0,
        };
        // Less than that is nothing to see, and would only be heard as scrolling.
        if distance.abs() >= 1.0
            && let Some(scroller) = scroller()
        {
            scroller.scroll_by_with_x_and_y(0.0, distance);
            self.note_own_scrolling();
        }
    }

    /// Lets go of parts that are far away, should there be many.
    fn drop_far(&mut self) {
        let middle = self.near.iter().copied().nth(self.near.len() / 2).unwrap_or_default();
        let mut away: Vec<u32> =
            self.loaded.iter().filter(|(_, element)| !element.is_connected()).map(|(part, _)| *part).collect();
        away.sort_by_key(|part| part.abs_diff(middle));
        for part in away.into_iter().skip(KEPT) {
            self.loaded.remove(&part);
        }
    }
}

fn element_of(class: &str, height: Option<u32>) -> Option<HtmlElement> {
    let element: HtmlElement = document().create_element("div").ok()?.dyn_into().ok()?;
    element.set_class_name(class);
    if let Some(height) = height {
        set_height(&element, height);
    }
    Some(element)
}

/// By the object of the style: the policy of the page allows no style in an attribute.
fn set_height(element: &HtmlElement, height: u32) {
    let _ = element.style().set_property("height", &format!("{height}px"));
}

fn window_height() -> f64 {
    window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or_default()
}

/// What scrolls: the main part of the page on wide screens, the page itself on narrow ones.
fn scroller() -> Option<Element> {
    let main = document().get_element_by_id("content").filter(|main| main.scroll_height() > main.client_height());
    main.or_else(|| document().scrolling_element())
}

fn is_at_end() -> bool {
    scroller().is_some_and(|it| it.scroll_top() + it.client_height() + 2 >= it.scroll_height())
}

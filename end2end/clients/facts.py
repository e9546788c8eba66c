"""What the clients are told, and how they are asked for it later: in other words."""

from dataclasses import dataclass

# The long text is a dull report; only three sentences in it are about something else.
NEEDLES = [
    (0.05, "The spare key to the boathouse hangs behind the blue barometer in the hall."),
    (0.50, "Dr. Okafor has agreed to repaint the dome of the observatory in copper green next spring."),
    (0.95, "Grandmother's plum cake needs exactly two hundred grams of roasted hazelnuts."),
]


@dataclass(frozen=True)
class Question:
    """A paraphrase, and the words that the passage in the answer has to hold."""

    query: str
    expected: str


@dataclass(frozen=True)
class Fact:
    """A text to remember, and what is asked about it."""

    content: str
    questions: tuple[Question, ...]


def long_text(words: int) -> str:
    """A report of so many words, with the needles at their places."""
    subjects = ["The water board", "The road committee", "The council", "The district office", "The library board", "The auditor"]
    verbs = ["reviewed", "postponed", "approved", "discussed", "amended", "returned"]
    objects = [
        "the estimate for the drainage works",
        "the schedule of the street lighting",
        "the minutes of the previous meeting",
        "the tender for the gravel paths",
        "the lease of the market stalls",
        "the survey of the northern embankment",
        "the contract for clearing snow",
    ]
    endings = ["without further remarks.", "after a short debate.", "and asked for a second opinion.", "by a narrow majority.", "as proposed."]
    needles = list(NEEDLES)
    text: list[str] = []
    count = number = 0
    while count < words:
        if needles and count >= needles[0][0] * words:
            sentence = needles.pop(0)[1]
        else:
            parts = [subjects[number % 6], verbs[number * 5 % 6], objects[number * 3 % 7], endings[number * 2 % 5]]
            sentence = f"Item {number}: {' '.join(parts)}"
            number += 1
        # A paragraph now and then, as people write.
        text.append(sentence + ("\n\n" if number % 12 == 0 else " "))
        count += len(sentence.split())
    return "".join(text).strip()


FACTS = (
    Fact(
        "Maya is allergic to peanuts and always carries an adrenaline pen.",
        (Question("Which food must be kept away from Maya?", "peanuts"),),
    ),
    Fact(
        "The Lisbon office moved to Rua das Flores 41 in March 2026.",
        (Question("Where did our office in Portugal move to?", "Rua das Flores 41"),),
    ),
    Fact(
        "妈妈的生日是农历八月十五，她最喜欢喝茉莉花茶。",
        (Question("我母亲爱喝什么茶？", "茉莉花茶"),),
    ),
    Fact(
        "Copies of the production database are made every night at 02:30 and kept in Frankfurt.",
        (Question("When does the nightly backup of our data run?", "02:30"),),
    ),
    Fact(
        long_text(4_000),
        (
            Question("Where can I find the extra key for the boat shed?", "blue barometer"),
            Question("Who will give the roof of the observatory a new colour?", "Okafor"),
            Question("How many nuts go into grandma's cake with plums?", "two hundred grams"),
        ),
    ),
)

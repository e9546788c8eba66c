// Ends the run with one line that a program can read too.

import type { FullResult, Reporter, Suite } from "@playwright/test/reporter";

export default class Summary implements Reporter {
  private suite?: Suite;

  onBegin(_config: unknown, suite: Suite) {
    this.suite = suite;
  }

  onEnd(result: FullResult) {
    const outcomes = this.suite?.allTests().map((test) => test.outcome()) ?? [];
    const skipped = outcomes.filter((outcome) => outcome === "skipped").length;
    const passed = outcomes.filter((outcome) => outcome === "expected").length;
    const failed = outcomes.length - passed - skipped;
    console.log(`end2end: ${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
    if (result.status !== "passed") console.log(`end2end: the run ${result.status}`);
  }
}

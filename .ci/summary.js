/** Counts the reports of a CI run: `node .ci/summary.js <folder>`. Plain JavaScript, for whatever Node stands first.
 *  A folder holds, for each step, `<step>.exit` (its exit code, written when it ended), and for a test suite `<step>.json` (the report).
 *  `<step>.start` is written before a step begins. The last line is `N passed, N failed`; the exit code is 1 when anything failed or nothing passed. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2] ?? "";
const say = (text) => process.stdout.write(`${text}\n`);

/** Passed, failed and skipped tests of one suite's report; a file that could not be loaded is one failure. */
function countReport(path) {
  const report = JSON.parse(readFileSync(path, "utf8"));
  const brokenFiles = report.testResults.filter((file) => file.status === "failed" && !file.assertionResults.some((one) => one.status === "failed"));
  const skipped = report.numPendingTests + report.numTodoTests;
  return { passed: report.numPassedTests, failed: report.numFailedTests + brokenFiles.length, skipped };
}

/** A check counts as one test. A suite counts its tests, and one failure more when it ended badly though all it reported passed. */
function countStep(step) {
  const exitFile = join(folder, `${step}.exit`);
  const succeeded = existsSync(exitFile) && readFileSync(exitFile, "utf8").trim() === "0";
  const isSuite = existsSync(join(folder, `${step}.suite`));
  if (!isSuite) return { passed: succeeded ? 1 : 0, failed: succeeded ? 0 : 1, skipped: 0 };
  try {
    const count = countReport(join(folder, `${step}.json`));
    return !succeeded && count.failed === 0 ? { ...count, failed: 1 } : count;
  } catch {
    // No report, or half of one: the suite was killed or never began, which is a failure whatever it exited with.
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const steps = readdirSync(folder)
  .filter((name) => name.endsWith(".start"))
  .map((name) => name.slice(0, -".start".length));
const total = { passed: 0, failed: 0, skipped: 0 };
for (const step of steps.sort()) {
  const count = countStep(step);
  total.passed += count.passed;
  total.failed += count.failed;
  total.skipped += count.skipped;
  say(`${step}: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
}
say(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

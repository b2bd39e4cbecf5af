/** A release check of a git repository: what changed, do its tests pass, shall it go out? A person decides; then the release note is written, once.
 *  Run it: `pawl run examples/release-check/release-check.workflow.ts --input '{"repo":"/path/to/a/repository"}'` */
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NotApplied, action, choices, compute, humanDecision, shell, text, workflow, type DecisionBlock } from "pawl";
import { z } from "zod";

const verdict = choices({
  go: { label: "Go: write the release note" },
  stop: { label: "Stop: no release" },
  replan: { label: "Replan: change the note first", input: text("What should the note say differently?", { max: 2000 }) },
});

const Commit = z.object({ id: z.string(), subject: z.string() });
const Draft = z.object({ version: z.string(), round: z.number(), remarks: z.array(z.string()), text: z.string() });

const input = z.object({
  /** A git working tree. */
  repo: z.string().min(1),
  /** The command that tests it, read by /bin/sh; found in its package.json unless given. */
  test: z.string().optional(),
});

export default workflow({ name: "release-check", input })
  .later("decide", verdict)
  .later("draft", Draft)
  .node(
    "status",
    shell({
      command: "git",
      args: ["status", "--porcelain=v1", "--branch"],
      cwd: ({ input }) => input.repo,
      statusDetail: "Reading the working tree",
      parse: ({ stdout }) => {
        const [branch = "", ...changed] = stdout.trimEnd().split("\n");
        return { branch: branch.replace(/^## (No commits yet on )?/, "").replace(/\.\.\..*/, ""), changed };
      },
    }),
    "lastTag",
  )
  .node(
    "lastTag",
    shell({
      command: "git",
      args: ["describe", "--tags", "--abbrev=0"],
      cwd: ({ input }) => input.repo,
      allowNonZeroExit: true, // a repository without tags is no failure
      parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.trim() : null),
    }),
    "commits",
  )
  .node(
    "commits",
    shell({
      command: "git",
      args: ({ outputs }) => ["log", "--no-merges", "--format=%h%x09%s", outputs.lastTag === null ? "HEAD" : `${outputs.lastTag}..HEAD`],
      cwd: ({ input }) => input.repo,
      statusDetail: "Listing commits since the last tag",
      parse: ({ stdout }) =>
        stdout
          .trimEnd()
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => {
            const [id = "", subject = ""] = line.split("\t");
            return { id, subject };
          }),
    }),
    "testCommand",
  )
  .node(
    "testCommand",
    compute(async ({ input }) => input.test ?? (await testScript(input.repo))),
    "tests",
  )
  .node(
    "tests",
    shell({
      command: ({ outputs }) => outputs.testCommand ?? "echo 'no test command'",
      shell: true,
      cwd: ({ input }) => input.repo,
      statusDetail: "Running the tests",
      allowNonZeroExit: true, // failing tests are a finding for the person, not the end of the check
      parse: ({ exitCode, stdout, stderr }) => ({
        passed: exitCode === 0,
        exitCode,
        tail: lastLines(stderr.trim() === "" ? stdout : `${stdout}\n${stderr}`, 12),
      }),
    }),
    "draft",
  )
  .node(
    "draft",
    compute(
      async ({ input, outputs, results, now }) => {
        const answer = results.decide;
        const before = results.draft?.status === "accepted" ? results.draft.output : undefined;
        const remarks = [...(before?.remarks ?? []), ...(answer?.status === "accepted" && answer.output.choice === "replan" ? [answer.output.input] : [])];
        const version = nextVersion([outputs.lastTag, ...(await noteNames(input.repo))]);
        return { version, round: (before?.round ?? 0) + 1, remarks, text: noteText(version, new Date(now), outputs.commits, remarks) };
      },
      { output: Draft },
    ),
    "decide",
  )
  .node(
    "decide",
    humanDecision({
      audience: "operator",
      choices: verdict,
      request: ({ input, outputs: { status, lastTag, commits, testCommand, tests, draft } }) => ({
        title: `Release ${draft.version}?`,
        subject: { repo: input.repo, lastTag, commits, tests: { command: testCommand, passed: tests.passed }, draft },
        presentation: {
          summary: `${commits.length} commits since ${lastTag ?? "the beginning"}; tests ${testCommand === null ? "not found" : tests.passed ? "pass" : "FAIL"}; ${status.changed.length === 0 ? "nothing uncommitted" : `${status.changed.length} uncommitted files`}.`,
          blocks: [
            {
              kind: "fields",
              fields: [
                { label: "Repository", value: input.repo },
                { label: "Branch", value: status.branch },
                { label: "Last tag", value: lastTag ?? "none" },
                { label: "Next version", value: draft.version },
                {
                  label: "Tests",
                  value:
                    testCommand === null
                      ? "no test command found"
                      : `${testCommand}: ${tests.passed ? "passed" : `failed with exit code ${tests.exitCode ?? "none"}`}`,
                },
              ],
            },
            ...list("Uncommitted", status.changed),
            ...(tests.passed ? [] : preformatted("End of the test output", tests.tail)),
            ...list(
              "Commits",
              commits.map(({ id, subject }) => `${id} ${subject}`),
            ),
            ...preformatted(draft.round === 1 ? "Release note" : `Release note, round ${draft.round}`, draft.text),
          ],
        },
      }),
    }),
    { go: "write", stop: "stopped", replan: "draft" },
  )
  .node(
    "write",
    action({
      once: true, // if nobody can tell whether it was written, Pawl asks instead of writing it again
      statusDetail: "Writing the release note",
      run: async ({ input, outputs: { draft } }) => {
        const file = join(input.repo, "release-notes", `${draft.version}.md`);
        await mkdir(join(input.repo, "release-notes"), { recursive: true }).catch(notApplied);
        // "wx" fails when the file is there: then surely nothing was written by this attempt.
        await writeFile(file, draft.text, { flag: "wx" }).catch((error: unknown) => (isCode(error, "EEXIST") ? notApplied(error) : Promise.reject(error)));
        return { status: "released" as const, version: draft.version, note: file };
      },
    }),
  )
  .node(
    "stopped",
    compute(({ outputs }) => ({ status: "stopped" as const, version: outputs.draft.version })),
  )
  .build();

function notApplied(error: unknown): never {
  throw new NotApplied(`The release note was not written: ${String(error)}`);
}

const isCode = (error: unknown, code: string): boolean => error instanceof Error && "code" in error && error.code === code;

/** The repository's own test command, or null. */
async function testScript(repo: string): Promise<string | null> {
  const text = await readFile(join(repo, "package.json"), "utf8").catch(() => "{}"); // no package.json: no npm script to run
  const parsed = z.object({ scripts: z.object({ test: z.string() }) }).safeParse(JSON.parse(text));
  return parsed.success ? "npm test --silent" : null;
}

/** Versions that have a note already, released or not. */
const noteNames = async (repo: string): Promise<string[]> =>
  (await readdir(join(repo, "release-notes")).catch(() => [])).map((file) => file.replace(/\.md$/, "")); // no directory: no notes yet

/** The minor version after the highest of these; 0.1.0 when none reads like a version. */
function nextVersion(names: readonly (string | null)[]): string {
  const versions = names.flatMap((name) => {
    const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(name ?? "") ?? [];
    return major === undefined || minor === undefined ? [] : [{ major: Number(major), minor: Number(minor) }];
  });
  const [highest] = versions.toSorted((a, b) => b.major - a.major || b.minor - a.minor);
  return highest ? `${highest.major}.${highest.minor + 1}.0` : "0.1.0";
}

function noteText(version: string, date: Date, commits: readonly z.infer<typeof Commit>[], remarks: readonly string[]): string {
  const changes = commits.length === 0 ? ["No changes."] : commits.map(({ id, subject }) => `- ${subject} (${id})`);
  return [`# ${version}, ${date.toISOString().slice(0, 10)}`, "", ...remarks.flatMap((remark) => [remark, ""]), ...changes, ""].join("\n");
}

const lastLines = (text: string, count: number): string =>
  text
    .trimEnd()
    .split("\n")
    .slice(-count)
    .join("\n")
    .replace(/[^\P{Cc}\n\t]/gu, "");

const list = (title: string, items: readonly string[]): DecisionBlock[] => {
  if (items.length === 0) return [];
  const shown = items.slice(0, 200);
  return [
    { kind: "section", title: `${title} (${items.length})` },
    { kind: "bullets", items: items.length > shown.length ? [...shown, `and ${items.length - shown.length} more`] : shown },
  ];
};

const preformatted = (title: string, text: string): DecisionBlock[] => [
  { kind: "section", title },
  { kind: "preformatted", text },
];

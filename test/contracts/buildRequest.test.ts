import { expect, test } from "vitest";
import { digestsMatch, preparedDecision } from "../../machines/contracts/buildRequest.ts";
import { choiceContracts, textInput } from "../../machines/contracts/choices.ts";
import { channelRequest, DecisionChannelRequest, DecisionRequest } from "../../machines/contracts/decision.ts";
import { digest } from "../../src/digest.ts";
import { build, createdAt, facts, refusalOf, request } from "./decisionFixture.ts";

test("DEC-15 a request holds all that was asked and its three digests", () => {
  const { request: made, deadlineAt, defaultResponse } = build();
  expect(made).toMatchObject({
    schema: "pawl.human-decision-request.v1",
    decision: facts.decision,
    run: "r_1",
    node: "approve",
    visit: "r_1/graph/approve.3",
    title: request.title,
    subject: request.subject,
    revision: 1,
    audience: "operator",
    createdAt,
    expiresAt: null,
    default: null,
  });
  expect(made.presentation.schema).toBe("pawl.decision-presentation.v1");
  expect({ deadlineAt, defaultResponse }).toEqual({ deadlineAt: null, defaultResponse: null });
  expect(made.digests.subject).toBe(digest(request.subject));
  expect(made.digests.presentation).toBe(digest(made.presentation));
  expect(digestsMatch(made, digest)).toBe(true);
  expect(DecisionRequest.parse(JSON.parse(JSON.stringify(made)))).toEqual(made);
});

test("DEC-15 a request without a presentation shows its title", () => {
  expect(build({ request: { presentation: undefined } }).request.presentation).toEqual({
    schema: "pawl.decision-presentation.v1",
    summary: request.title,
    blocks: [],
  });
});

test("DEC-13 a change to anything but the derived id changes the request digest; the id alone does not", () => {
  const before = build().request.digests;
  expect(build({ facts: { decision: "r_1/graph/approve.3:a2/decision" } }).request.digests).toEqual(before);
  const relabelled = choiceContracts({
    go: { label: "Go!" },
    stop: { label: "Stop" },
    replan: { label: "Plan again", input: textInput("What should change?", { max: 40 }) },
  });
  const reprompted = choiceContracts({
    go: { label: "Go" },
    stop: { label: "Stop" },
    replan: { label: "Plan again", input: textInput("What else?", { max: 40 }) },
  });
  const changes: Parameters<typeof build>[0][] = [
    { request: { subject: { steps: ["a", "b"], cost: 4 } } },
    { request: { title: "Approve the plans" } },
    { request: { presentation: { summary: "Two steps!", blocks: [] } } },
    { request: { revision: 2 } },
    { request: { expiresAt: createdAt + 1 } },
    { onTimeout: { afterMs: 1, response: { choice: "stop" } } },
    { audience: "owner" },
    { facts: { choices: relabelled } },
    { facts: { choices: reprompted } },
    { facts: { choices: facts.choices.toReversed() } },
    { facts: { visit: "r_1/graph/approve.4" } },
    { facts: { run: "r_2" } },
    { facts: { node: "other" } },
    { facts: { createdAt: createdAt + 1 } },
  ];
  const digests = changes.map((change) => build(change).request.digests.request);
  expect(new Set([before.request, ...digests]).size).toBe(changes.length + 1);
  const subjectOnly = build({ request: { subject: 1 } }).request.digests;
  expect(subjectOnly.subject).not.toBe(before.subject);
  expect(subjectOnly.presentation).toBe(before.presentation);
});

test("DEC-13 the order of a subject's keys changes no digest", () => {
  expect(build({ request: { subject: { cost: 3, steps: ["a", "b"] } } }).request.digests).toEqual(build().request.digests);
});

test("DEC-15 a default sets its deadline from the creation, and stands in the request", () => {
  const { request: made, deadlineAt, defaultResponse } = build({ onTimeout: { afterMs: 600_000, response: { choice: "replan", input: "again" } } });
  expect(deadlineAt).toBe(createdAt + 600_000);
  expect(defaultResponse).toEqual({ choice: "replan", input: "again" });
  expect(made.default).toEqual({ response: defaultResponse, at: deadlineAt });
  expect(build({ onTimeout: { afterMs: 0.25, response: { choice: "go" } } }).deadlineAt).toBe(createdAt + 1);
  expect(build({ onTimeout: null }).deadlineAt).toBeNull();
});

test("DEC-15 an expiry is the deadline without a default, even one that has passed", () => {
  expect(build({ request: { expiresAt: createdAt - 5 } })).toMatchObject({ deadlineAt: createdAt - 5, defaultResponse: null });
  expect(build({ request: { expiresAt: null } }).deadlineAt).toBeNull();
});

test("DEC-15 whatever is invalid is refused with the visit and the path", () => {
  const response = { choice: "stop" };
  const cases: [Parameters<typeof build>[0], string][] = [
    [{ request: { title: undefined } }, "request.title"],
    [{ request: { title: "" } }, "request.title"],
    [{ request: { title: "   " } }, "request.title"],
    [{ request: { title: "x".repeat(257) } }, "request.title"],
    [{ request: { title: "a\nb" } }, "request.title"],
    [{ request: { title: 5 } }, "request.title"],
    [{ request: { subject: undefined } }, "request.subject"],
    [{ request: { subject: { at: new Date(0) } } }, "request.subject.at"],
    [{ request: { subject: [1, [undefined]] } }, "request.subject[1][0]"],
    [{ request: { presentation: { summary: "s", blocks: [{ kind: "paragraph", text: "\u0000" }] } } }, "request.presentation.blocks[0].text"],
    [{ request: { revision: 0 } }, "request.revision"],
    [{ request: { revision: 1.5 } }, "request.revision"],
    [{ request: { revision: "1" } }, "request.revision"],
    [{ request: { expiresAt: "2030-01-01T00:00:00Z" } }, "request.expiresAt"],
    [{ request: { expiresAt: Number.NaN } }, "request.expiresAt"],
    [{ request: { body: "old" } }, "request"],
    [{ request: { expiresAt: createdAt + 1 }, onTimeout: { afterMs: 1, response } }, "request.expiresAt"],
    [{ audience: "" }, "audience"],
    [{ audience: 5 }, "audience"],
    [{ onTimeout: { response } }, "onTimeout.afterMs"],
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5", null, 1e300].map((afterMs): [Parameters<typeof build>[0], string] => [
      { onTimeout: { afterMs, response } },
      "onTimeout.afterMs",
    ]),
    [{ onTimeout: { afterMs: 1 } }, "onTimeout.response"],
    [{ onTimeout: { afterMs: 1, response: { choice: "no" } } }, "onTimeout.response.choice"],
    [{ onTimeout: { afterMs: 1, response: { choice: "replan" } } }, "onTimeout.response.input"],
    [{ onTimeout: { afterMs: 1, response: { choice: "replan", input: "x".repeat(41) } } }, "onTimeout.response.input"],
    [{ onTimeout: { afterMs: 1, response: { choice: "go", input: "x" } } }, "onTimeout.response.input"],
    [{ onTimeout: { afterMs: 1, response, note: 1 } }, "onTimeout"],
    [{ onTimeout: 5 }, "onTimeout"],
    [{ facts: { choices: [] } }, "choices"],
  ];
  for (const [change, path] of cases) {
    const refusal = refusalOf(() => build(change));
    expect(refusal, path).toMatchObject({ code: "invalidValue", path, subject: facts.visit });
    expect(refusal?.message).toMatch(/^Decision "approve" cannot be asked: /);
  }
  expect(refusalOf(() => build({ request: { title: "x".repeat(256) } }))).toBeNull();
});

test("DEC-15 what channels and actors get holds everything but the subject", () => {
  const built = build();
  const { output, value } = preparedDecision(built, "ABCDEF0");
  expect(value).toBe(built.request);
  expect(output.request).toEqual(channelRequest(built.request));
  expect(DecisionChannelRequest.parse(JSON.parse(JSON.stringify(output.request)))).toEqual(output.request);
  expect(JSON.stringify(output)).not.toContain('"subject":{');
  expect(Object.keys(built.request).filter((key) => !(key in output.request))).toEqual(["subject"]);
  expect(DecisionRequest.safeParse({ ...built.request, extra: 1 }).success).toBe(false);
});

test("DEC-13 a stored request whose content was changed no longer matches its digests", () => {
  const made = build().request;
  expect(digestsMatch({ ...made, title: "Other" }, digest)).toBe(false);
  expect(digestsMatch({ ...made, subject: 1 }, digest)).toBe(false);
  expect(digestsMatch({ ...made, decision: "elsewhere" }, digest)).toBe(true);
});

import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { channelRequest, receiptOf, type DecisionResolution } from "../../machines/contracts/decision.ts";
import { build } from "./decisionFixture.ts";
import { contracts, jsonSchemaOf } from "./schemas.ts";

const directory = new URL("../../docs/schemas/", import.meta.url).pathname;
const ids = Object.keys(contracts);

const { request } = build({ onTimeout: { afterMs: 60_000, response: { choice: "stop" } } });
const { decision, run, node, visit, revision, digests } = request;
const source = { kind: "human", channel: "terminal", actor: "ann" } as const;
const resolution: DecisionResolution = {
  schema: "pawl.human-decision-resolution.v1",
  provenance: "human",
  decision,
  run,
  node,
  visit,
  revision,
  digests,
  response: { choice: "replan", input: "less" },
  at: 5,
  source,
  idempotencyKey: "k",
};

const examples: { readonly [id: string]: { readonly [field: string]: unknown } } = {
  "pawl.human-decision-request.v1": request,
  "pawl.human-decision-channel-request.v1": channelRequest(request),
  "pawl.decision-presentation.v1": {
    schema: "pawl.decision-presentation.v1",
    summary: "Build it?",
    blocks: [
      { kind: "section", title: "Plan" },
      { kind: "paragraph", text: "One\n\ttwo" },
      { kind: "bullets", items: ["a", "日本 👍"] },
      { kind: "fields", fields: [{ label: "Branch", value: "" }] },
      { kind: "preformatted", text: "x" },
    ],
  },
  "pawl.human-decision-submission.v1": {
    schema: "pawl.human-decision-submission.v1",
    decision,
    choice: "go",
    input: "x",
    idempotencyKey: "k",
    source,
    requestDigest: digests.request,
    revision: 1,
  },
  "pawl.human-decision-resolution.v1": resolution,
  "pawl.human-decision-receipt.v1": receiptOf(resolution),
  "pawl.human-decision-delivery.v1": {
    schema: "pawl.human-decision-delivery.v1",
    decision,
    run,
    revision: 1,
    requestDigest: digests.request,
    channel: "telegram:ops",
    state: "failed",
    attempt: 2,
    parts: { sent: 1, total: 3 },
    at: 5,
    problem: { code: "blocked", message: "The bot was blocked." },
  },
  "pawl.human-decision-settlement.v1": {
    schema: "pawl.human-decision-settlement.v1",
    decision,
    run,
    node,
    visit,
    revision: 1,
    state: "accepted",
    at: 5,
    receipt: receiptOf(resolution),
    replacedBy: null,
  },
};

/** Fields that may be left out. */
const optional = ["input", "requestDigest", "revision"];

const contractOf = (id: string): z.ZodType => contracts[id]?.schema ?? z.never();
/** What the written schema alone lets through. */
const writtenOf = (id: string): z.ZodType => z.fromJSONSchema(JSON.parse(jsonSchemaOf(id, contracts[id] ?? { schema: z.never(), description: "" })));

test.each(ids)("SCHEMA-1 %s stands in docs/schemas as it is", async (id) => {
  await expect(jsonSchemaOf(id, contracts[id] ?? { schema: z.never(), description: "" })).toMatchFileSnapshot(`${directory}${id}.json`);
});

test("SCHEMA-1 there is one for each contract and no other", () => {
  expect(
    readdirSync(directory)
      .filter((name) => name.endsWith(".json"))
      .sort(),
  ).toEqual(ids.map((id) => `${id}.json`).sort());
});

test.each(ids)("SCHEMA-2 %s, as it is written, lets a real one through and knows each field, its type and no other", (id) => {
  const whole = examples[id] ?? {};
  const both = (value: unknown): readonly boolean[] => [contractOf(id).safeParse(value).success, writtenOf(id).safeParse(value).success];
  expect(both(whole)).toEqual([true, true]);
  for (const field of Object.keys(whole)) {
    const { [field]: _gone, ...less } = whole;
    const mayGo = id === "pawl.human-decision-submission.v1" && optional.includes(field);
    expect(both(less), `without ${field}`).toEqual([mayGo, mayGo]);
    if (field === "subject") continue; // any JSON
    for (const wrong of [true, { nothing: "like it" }]) expect(both({ ...whole, [field]: wrong }), `${field} ${JSON.stringify(wrong)}`).toEqual([false, false]);
  }
  expect(both({ ...whole, stray: 1 }), "a stray field").toEqual([false, false]);
  expect(both({ ...whole, schema: `${id}0` }), "another schema").toEqual([false, false]);
});

/** Every object in a schema, with where it stands. */
function* objectsIn(schema: unknown, path = "#"): Generator<{ readonly path: string; readonly one: { readonly [key: string]: unknown } }> {
  if (typeof schema !== "object" || schema === null) return;
  if ("type" in schema && schema.type === "object") yield { path, one: { ...schema } };
  for (const [key, inner] of Object.entries(schema)) yield* objectsIn(inner, `${path}/${key}`);
}

test.each(ids)("SCHEMA-3 %s names its dialect and itself, and closes every object", (id) => {
  const text = jsonSchemaOf(id, contracts[id] ?? { schema: z.never(), description: "" });
  const schema = JSON.parse(text);
  expect(schema).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema", $id: id, description: expect.stringMatching(/\.$/) });
  const objects = [...objectsIn(schema)];
  expect(objects.length).toBeGreaterThan(0);
  for (const { path, one } of objects) {
    expect(one["additionalProperties"], path).toBe(false);
    expect(one["required"], path).toEqual(expect.arrayContaining(["schema"].filter((name) => Object.hasOwn(Object(one["properties"]), name))));
  }
});

test("SCHEMA-4 no channel's request, receipt or settlement has a place for the subject, an actor or a key", () => {
  for (const id of ["pawl.human-decision-channel-request.v1", "pawl.human-decision-receipt.v1", "pawl.human-decision-settlement.v1"]) {
    const text = jsonSchemaOf(id, contracts[id] ?? { schema: z.never(), description: "" });
    for (const field of ['"actor"', '"idempotencyKey"', '"source"']) expect(text, `${id} ${field}`).not.toContain(field);
    for (const { path, one } of objectsIn(JSON.parse(text)))
      if (!path.includes("digests") && Object.hasOwn(Object(one["properties"]), "presentation"))
        expect(Object.keys(Object(one["properties"])), path).not.toContain("subject");
  }
});

/** Who may answer: the private configuration, and what is told of it. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { channelsFileName, ConfiguredAudiences, localOnly, mayAnswer } from "../../src/host/channels/audiences.ts";
import { deliveryView } from "../../src/host/channels/deliveryView.ts";
import { examine } from "../../src/host/maintenance/doctor.ts";
import { askNode, openCode, person, Project } from "./kit.ts";

const terminal = { kind: "human", channel: "terminal", actor: "kim" } as const;
const telegram = { kind: "human", channel: "telegram:ops", actor: "77" } as const;

const profiles = { ops: { credential: "bot", users: [77], chats: [-100] }, more: { credential: "bot", users: [77], chats: [5], topic: 3 } };
const file = (audiences: unknown, more: object = {}): string => JSON.stringify({ schema: "pawl.channels.v1", audiences, telegram: profiles, ...more });

const workflow = `${askNode()}.node("after", compute(({ outputs }) => outputs.ask)).node("end", compute(() => "ended"))`;

function configure(project: Project, text: string, mode = 0o600): string {
  const path = join(project.home, channelsFileName);
  mkdirSync(project.home, { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
  return path;
}

test("DEC-23 case 37 without a configuration every terminal of this machine may answer, and nothing is said of channels", async () => {
  const project = new Project();
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow));
  expect(parked.decisions[0]?.delivery).toEqual({ local: true, deliver: "any", channels: [], isDelivered: true, problem: null });
  expect(await host.answer({ decision: openCode(parked), choice: "go", source: person })).toMatchObject({ status: "accepted" });
});

test("DEC-24 an audience that no terminal may answer: told so without content, audited, and the channel of its own may", async () => {
  const project = new Project();
  configure(project, file({ operator: { channels: ["telegram:ops"], local: false } }));
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow), { task: "secret plan" });
  const code = openCode(parked);
  for (const source of [terminal, { ...telegram, channel: "telegram:more" }, { ...terminal, channel: "pi" }]) {
    const refused = await host.answer({ decision: code, choice: "go", source });
    expect(refused).toEqual({ status: "refused", code: "unauthorised", message: "You are not allowed to answer this.", decision: null });
  }
  expect((await host.decision(code)).state).toBe("open");
  expect(await host.answer({ decision: code, choice: "go", source: telegram })).toMatchObject({ status: "accepted" });
  const late = await host.answer({ decision: parked.decisions[0]?.id ?? "", choice: "stop", source: terminal });
  expect(late).toMatchObject({ status: "refused", code: "unauthorised", decision: null });
  const audit = await host.audit(parked.decisions[0]?.id ?? "");
  expect(audit.candidates.map(({ kind, outcome, source }) => [kind, outcome, source?.channel])).toEqual([
    ["channel", "unauthorised", "terminal"],
    ["channel", "unauthorised", "telegram:more"],
    ["channel", "unauthorised", "pi"],
    ["human", "won", "telegram:ops"],
  ]);
  expect(await host.drive(parked.id)).toMatchObject({ state: "completed" });
});

test("DEC-24 a model is told that only people answer, whatever its channel", async () => {
  const project = new Project();
  configure(project, file({ operator: { channels: ["telegram:ops"], local: false } }));
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow));
  const answer = { decision: openCode(parked), choice: "go", source: { kind: "model", channel: "telegram:ops", actor: "m" } } as const;
  expect(await host.answer(answer)).toMatchObject({ status: "refused", code: "humanOnly" });
});

test("DEC-23 a changed configuration counts at once, and an audience that it does not name is for terminals, loudly", async () => {
  const project = new Project();
  const path = configure(project, file({ operator: { channels: ["telegram:ops"], local: false } }));
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow));
  const code = openCode(parked);
  expect(await host.answer({ decision: code, choice: "go", source: terminal })).toMatchObject({ code: "unauthorised" });
  configure(project, file({ somebody: {} }));
  expect((await host.decision(code)).delivery).toMatchObject({ local: true, problem: expect.stringContaining('Audience "operator" is not in channels.json') });
  expect(await host.answer({ decision: code, choice: "go", source: telegram })).toMatchObject({ code: "unauthorised" });
  rmSync(path);
  expect(await host.answer({ decision: code, choice: "go", source: terminal })).toMatchObject({ status: "accepted" });
});

describe("DEC-25 a configuration that cannot be trusted", () => {
  const good = file({ operator: {} });
  const bad: readonly (readonly [string, string, RegExp])[] = [
    ["no JSON", "{", /channels\.json is not used: .*JSON/],
    ["another schema", file({}, { schema: "pawl.channels.v2" }), /channels\.schema/],
    ["an unknown field", file({ operator: { chanels: [] } }), /channels\.audiences\.operator has the unknown field "chanels"/],
    ["a channel that is none", file({ operator: { channels: ["sms:1"] } }), /channels\.audiences\.operator\.channels\[0\].*"pi" or "telegram:"/],
    ["a profile that is missing", file({ operator: { channels: ["telegram:gone"] } }), /names the profile "gone", which telegram does not have/],
    ["nobody at all", file({ operator: { local: false } }), /nobody could answer/],
    ["a name that is lost", `{"schema":"pawl.channels.v1","audiences":{"__proto__":{"channels":["pi"],"local":false}}}`, /uses the name "__proto__"/],
    ["a channel twice", file({ operator: { channels: ["pi", "pi"] } }), /names a channel twice/],
    ["a chat by its name", file({}, { telegram: { ops: { credential: "bot", users: [1], chats: ["@team"] } } }), /telegram\.ops\.chats\[0\]/],
  ];

  test.each(bad)("%s", async (_, text, message) => {
    const project = new Project();
    const path = configure(project, text);
    await expect(new ConfiguredAudiences(project.home).policy("operator")).rejects.toMatchObject({
      code: "configurationRefused",
      subject: path,
      message: expect.stringMatching(message),
    });
  });

  test.each([0o640, 0o604, 0o620, 0o666])("mode %o", async (mode) => {
    const project = new Project();
    configure(project, good, mode);
    await expect(new ConfiguredAudiences(project.home).policy("operator")).rejects.toMatchObject({ message: expect.stringContaining("chmod 600") });
  });

  test("a link, a directory, and what is too large", async () => {
    const project = new Project();
    const path = configure(project, good);
    const audiences = new ConfiguredAudiences(project.home);
    expect(await audiences.policy("operator")).toEqual(localOnly);
    rmSync(path);
    writeFileSync(project.file("elsewhere.json"), good, { mode: 0o600 });
    symlinkSync(project.file("elsewhere.json"), path);
    await expect(audiences.policy("operator")).rejects.toMatchObject({ message: expect.stringContaining("it is a link") });
    rmSync(path);
    mkdirSync(path);
    await expect(audiences.policy("operator")).rejects.toMatchObject({ message: expect.stringContaining("it is no file") });
    rmSync(path, { recursive: true });
    configure(project, " ".repeat(1_100_000));
    await expect(audiences.policy("operator")).rejects.toMatchObject({ message: expect.stringContaining("the limit is 1048576") });
  });

  test("no answer counts meanwhile, the decision stays open and says so, as do lists and doctor; mended, it goes on", async () => {
    const project = new Project();
    configure(project, good, 0o644);
    const host = await project.open();
    const parked = await project.run(host, project.workflow(workflow));
    expect(parked.decisions[0]?.delivery).toMatchObject({ local: false, isDelivered: false, problem: expect.stringContaining("chmod 600") });
    await expect(host.answer({ decision: openCode(parked), choice: "go", source: person })).rejects.toMatchObject({
      code: "configurationRefused",
      kind: "environment",
    });
    expect((await host.decision(openCode(parked))).state).toBe("open");
    expect(await examine({ home: project.home })).toMatchObject({
      verdict: "stuck",
      checks: expect.arrayContaining([
        { name: "channels", looked: "channels.json", findings: [expect.objectContaining({ what: expect.stringContaining("chmod 600") })] },
      ]),
    });
    configure(project, good);
    expect(await host.answer({ decision: openCode(parked), choice: "go", source: person })).toMatchObject({ status: "accepted" });
  });
});

describe("DEC-26 case 37 what is not delivered", () => {
  const policy = { channels: ["telegram:ops", "pi"], deliver: "any", local: true, isNamed: true } as const;
  const sent = (channel: string, state: "delivered" | "failed" | "unsent") => ({
    channel,
    state,
    problem: state === "failed" ? { code: "blocked", message: "the bot was blocked." } : null,
  });

  test("any: one that shows it is enough; all: each must", () => {
    const one = [sent("telegram:ops", "delivered"), sent("pi", "failed")];
    expect(deliveryView("operator", policy, one)).toMatchObject({ isDelivered: true, problem: null });
    expect(deliveryView("operator", { ...policy, deliver: "all" }, one)).toMatchObject({
      isDelivered: false,
      problem: "Not delivered: pi (the bot was blocked). It can be answered at a terminal of this machine meanwhile.",
    });
    const both = [sent("telegram:ops", "delivered"), sent("pi", "delivered")];
    expect(deliveryView("operator", { ...policy, deliver: "all" }, both)).toMatchObject({ isDelivered: true, problem: null });
  });

  test("one that nobody can answer says so, and what to do", () => {
    const { problem, channels } = deliveryView("operator", { ...policy, local: false }, []);
    expect(channels).toEqual([
      { channel: "telegram:ops", state: "unsent" },
      { channel: "pi", state: "unsent" },
    ]);
    expect(problem).toMatch(/^Nobody can answer: .*"local": true/);
  });

  test("what is no channel of the configuration counts as a terminal", () => {
    expect(mayAnswer({ ...policy, channels: [] }, "web")).toBe(true);
    expect(mayAnswer({ ...policy, channels: [] }, "telegram:ops")).toBe(false);
    expect(mayAnswer({ ...policy, local: false }, "web")).toBe(false);
    expect(mayAnswer({ ...policy, local: false }, "pi")).toBe(true);
  });
});

test("DEC-27 a loop that asks again replaces the card before, which is told by which decision", async () => {
  const project = new Project();
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow));
  const [first] = parked.decisions;
  expect(first?.settlement).toBeNull();
  await host.answer({ decision: openCode(parked), choice: "replan", text: "again", source: person });
  const again = await host.drive(parked.id);
  const [old, next] = again.decisions;
  expect(old).toMatchObject({ id: first?.id, settlement: { schema: "pawl.human-decision-settlement.v1", state: "accepted", replacedBy: next?.id } });
  expect(next).toMatchObject({ state: "open", settlement: null });
  expect(await host.decision(old?.id ?? "")).toEqual(old);
  expect((await host.decisions({ state: ["accepted"] })).items).toEqual([old]);
  await host.cancel(parked.id, "user");
  const ended = await host.run(parked.id);
  expect(ended.decisions.map(({ settlement }) => [settlement?.state, settlement?.receipt?.response.choice ?? null, settlement?.replacedBy ?? null])).toEqual([
    ["accepted", "replan", next?.id],
    ["cancelled", null, null],
  ]);
});

test("DEC-29 an answer for another request than the one that is open is stale", async () => {
  const project = new Project();
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow));
  const decision = openCode(parked);
  const digest = parked.decisions[0]?.request.digests.request ?? "";
  expect(await host.answer({ decision, choice: "go", source: person, requestDigest: "0".repeat(64) })).toMatchObject({ status: "refused", code: "stale" });
  expect(await host.answer({ decision, choice: "go", source: person, requestDigest: digest, revision: 2 })).toMatchObject({ status: "refused", code: "stale" });
  expect(await host.answer({ decision, choice: "go", source: person, requestDigest: digest, revision: 1 })).toMatchObject({ status: "accepted" });
});

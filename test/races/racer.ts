/** A client process of a host: `racer.ts <home>` sends salvos as its parent says, each shot at its time, and reports what it was told. */
import { setTimeout as sleep } from "node:timers/promises";
import { dial } from "../../src/client/dial.ts";
import { HostClient } from "../../src/client/hostClient.ts";
import { isPawlError } from "../../src/errors.ts";
import type { Connection, ConnectionListener } from "../../src/host/protocol/connection.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { FromRacer, Salvo, Shot, Told } from "./talk.ts";

const [home = ""] = process.argv.slice(2);
const say = (what: FromRacer): void => void process.send?.(what);

const clientOn = (connect: () => Promise<Connection>): HostClient => new HostClient({ dial: connect, clock: systemClock, home, name: "racer", version: "0" });
const reach = (): Promise<Connection> => dial({ home, clock: systemClock, start: true });

/** Keeps the replies to answers from its client until there are `count`, and then cuts the connection; the one after it is a sound one. */
function losing(count: number, onLost: () => void): () => Promise<Connection> {
  let isFirst = true;
  return async () => {
    const connection = await reach();
    if (!isFirst) return connection;
    isFirst = false;
    let lost = 0;
    const listen = (listener: ConnectionListener): void =>
      connection.listen({
        line(line) {
          const { id, kind }: { id: string; kind: string } = JSON.parse(line);
          if (kind !== "reply" || !id.startsWith("answer:")) return listener.line(line);
          lost += 1;
          if (lost < count) return;
          onLost();
          connection.close();
        },
        drain: () => listener.drain(),
        fault: (error) => listener.fault(error),
        closed: () => listener.closed(),
      });
    // By prototype: what reads the connection's state must see the real one's.
    return Object.assign(Object.create(connection) as Connection, { listen }); // Object.create knows no type of its prototype
  };
}

async function fire(host: HostClient, { n, at, act }: Shot): Promise<Told> {
  await sleep(Math.max(0, at - Date.now()));
  const sentAt = Date.now();
  const told = (status: string, code: string | null, winner: string | null, state: string | null): Told => ({
    n,
    status,
    code,
    winner,
    state,
    sentAt,
    heardAt: Date.now(),
  });
  try {
    if (act.do !== "answer") {
      const view = await (act.do === "cancel" ? host.cancel(act.run, "user") : host[act.do](act.run));
      return told("done", null, null, view.state);
    }
    const { decision, choice, actor, key } = act;
    const {
      status,
      code,
      decision: view,
    } = await host.answer({
      decision,
      choice,
      idempotencyKey: key,
      source: { kind: "human", channel: "terminal", actor },
    });
    return told(status, code, view?.settlement?.receipt?.response.choice ?? null, view?.state ?? null);
  } catch (error) {
    return told("error", isPawlError(error) ? error.code : String(error), null, null);
  }
}

let lasting = clientOn(reach);

async function perform({ id, shots, client, lose }: Salvo): Promise<void> {
  if (client !== "lasting") {
    void lasting.close();
    lasting = clientOn(lose === "none" ? reach : losing(shots.length, () => say({ kind: "lost", id })));
  }
  const host = lasting;
  if (client === "met") await host.status();
  say({ kind: "told", id, told: await Promise.all(shots.map((shot) => fire(host, shot))) });
}

process.on("message", (message) => void perform(message as Salvo)); // test/races/ground.ts sends nothing else
process.on("disconnect", () => process.exit());
say({ kind: "ready" });

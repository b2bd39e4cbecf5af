/** SIM-1, SIM-2, SIM-12: what clients were told is what is stored, and what is stored was sent by somebody. */
import type { Receipt } from "../../../src/runtime/runtime.ts";
import { must, type Rule } from "../core/world.ts";
import type { Clients, Request } from "../parts/clients.ts";
import { isSame, type Origin } from "./chronicle.ts";
import type { Replay } from "./replay.ts";

export class Ledger implements Rule {
  private readonly clients: Clients;
  private readonly replay: Replay;
  /** Receipts of each request that were compared. */
  private readonly compared = new Map<Request, number>();
  private seen = 0;

  constructor(clients: Clients, replay: Replay) {
    this.clients = clients;
    this.replay = replay;
  }

  check(): void {
    for (const request of this.clients.requests.values()) {
      const known = this.compared.get(request) ?? 0;
      for (const receipt of request.heard.slice(known)) this.compare(request, receipt, this.replay.origins.get(request.id));
      this.compared.set(request, request.heard.length);
    }
    if (this.replay.origins.size === this.seen) return;
    this.seen = this.replay.origins.size;
    for (const origin of this.replay.origins.values()) this.wasSent(origin);
  }

  atEnd(): void {
    // What was told once holds for ever.
    for (const request of this.clients.requests.values())
      for (const receipt of request.heard) this.compare(request, receipt, this.replay.origins.get(request.id));
  }

  private compare(request: Request, receipt: Receipt, origin: Origin | undefined): void {
    const told = `${request.id} was answered ${JSON.stringify(receipt)}`;
    if (receipt.code !== undefined) {
      must(origin === undefined, receipt.status === "refused" ? "SIM-12" : "SIM-2", () => `${told}, yet row ${String(origin?.row.seq)} applied it`);
      return;
    }
    must(origin !== undefined, "SIM-1", () => `${told}, and no row of the journal has it`);
    must(origin.row.actor === request.content.to, "SIM-1", () => `${told}, and row ${origin.row.seq} is ${origin.row.actor}'s`);
    must(origin.row.revision === receipt.revision, "SIM-1", () => `${told}, and row ${origin.row.seq} is revision ${origin.row.revision}`);
    must(isSame(origin.reply ?? null, receipt.reply ?? null), "SIM-2", () => `${told}, and its machine replied ${JSON.stringify(origin.reply)}`);
  }

  private wasSent({ row, event }: Origin): void {
    if (!/^q\d+$/.test(row.eventId)) return;
    const request = this.clients.request(row.eventId);
    must(request !== undefined, "SIM-2", () => `row ${row.seq} applied ${row.eventId}, which nobody sent`);
    const { content } = request;
    const sent = content.kind === "send" ? content.event : { type: "xstate.init", input: content.input };
    must(isSame(event, sent), "SIM-2", () => `row ${row.seq} applied ${JSON.stringify(event)}, sent was ${JSON.stringify(sent)}`);
  }
}

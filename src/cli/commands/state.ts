/** Opens the state directory for a command and closes it whatever happens. */
import type { HostClient } from "../../client/hostClient.ts";
import type { EmbeddedHost, StateReader } from "../../host/api.ts";
import type { Environment } from "../environment.ts";

/** Reading works beside an owner. The host is loaded only here, so that help and version start fast and work without its native part. */
export async function reading<T>({ home }: Environment, work: (reader: StateReader) => Promise<T>): Promise<T> {
  const { openReader } = await import("../../host/openReader.ts");
  const reader = await openReader({ home });
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

/**
 * Changing goes through the host, which is started when none runs; embedded, this process owns the state directory meanwhile.
 * @throws ownedElsewhere when another process that is no host owns it, or embedded any other
 */
export async function owning<T>(environment: Environment, work: (host: EmbeddedHost) => Promise<T>): Promise<T> {
  const host = environment.embedded ? await embeddedHost(environment) : await clientOf(environment, true);
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}

async function embeddedHost({ home }: Environment): Promise<EmbeddedHost> {
  const { openEmbedded } = await import("../../host/embedded.ts");
  return openEmbedded({ home });
}

/** A client of the state directory's host; `start` says whether one is started when none runs. */
export async function clientOf({ home }: Environment, start: boolean): Promise<HostClient> {
  const { connectHost } = await import("../../client/connectHost.ts");
  return connectHost({ home, start, name: "pawl" });
}

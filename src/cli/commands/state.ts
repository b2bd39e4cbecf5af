/** Opens the state directory for a command and closes it whatever happens. */
import type { EmbeddedHost, StateReader } from "../../host/api.ts";
import type { Environment } from "../environment.ts";

/** Reading works beside an owner. The host is loaded only here, so that help and version start fast and work without its native part. */
export async function reading<T>({ home }: Environment, work: (reader: StateReader) => Promise<T>): Promise<T> {
  const { openReader } = await import("../../host/embedded.ts");
  const reader = await openReader({ home });
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

/** @throws ownedElsewhere when another process owns the state directory. */
export async function owning<T>({ home }: Environment, work: (host: EmbeddedHost) => Promise<T>): Promise<T> {
  const { openEmbedded } = await import("../../host/embedded.ts");
  const host = await openEmbedded({ home });
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}

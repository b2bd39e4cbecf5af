/** What a test and its racers say to each other. */

/** One thing that a racer asks its host for. */
export type Act =
  | { readonly do: "answer"; readonly decision: string; readonly choice: string; readonly actor: string; readonly key: string }
  | { readonly do: "cancel" | "pause" | "resume"; readonly run: string };

export interface Shot {
  /** Of the race. */
  readonly n: number;
  /** Epoch ms at which it is sent. */
  readonly at: number;
  readonly act: Act;
}

/** A salvo over one connection. */
export interface Salvo {
  readonly id: number;
  readonly shots: readonly Shot[];
  /** The racer's lasting client, or a new one that knows nothing of those before; `met`: a new one that was with the host before the first shot. */
  readonly client: "lasting" | "new" | "met";
  /** `each`: no reply to an answer reaches the client over its first connection, which is cut when the host has said all of them. */
  readonly lose: "none" | "each";
}

/** What the racer was told. Of an answer: status, code, and whom the reply names as the winner. */
export interface Told {
  readonly n: number;
  readonly status: string;
  readonly code: string | null;
  readonly winner: string | null;
  readonly state: string | null;
  /** Epoch ms, by the racer. */
  readonly sentAt: number;
  readonly heardAt: number;
}

export type FromRacer =
  | { readonly kind: "ready" }
  | { readonly kind: "lost"; readonly id: number }
  | { readonly kind: "told"; readonly id: number; readonly told: readonly Told[] };

/** The bounds of the protocol, in one place: what a host or a client may be made to hold by the other side. */

/** Versions this build speaks, both included. */
export const protocolVersions = { min: 1, max: 1 } as const;

/** Bytes of one line without its end. */
export const maxLineBytes = 8 * 1024 * 1024;

/** Characters of a message above which it travels in parts; a part of so many, escaped, stays far below a line's limit. */
export const partChars = 1024 * 1024;

/** Characters of a whole message that a host takes: a value of the allowed 64 MiB and what is around it. */
export const maxRequestChars = 80 * 1024 * 1024;

/** Characters of a whole message that a client takes: a run with many large outputs. */
export const maxReplyChars = 256 * 1024 * 1024;

/** Characters of unfinished messages that a host holds for all its clients together. */
export const maxHeldChars = 4 * maxRequestChars;

export const maxClients = 256;
export const maxOpenRequests = 64;

/** Time in which a client must have said hello. */
export const helloMs = 5_000;

/** Bytes that wait to be read by the other side, above which a connection counts as congested. */
export const congestedBytes = 1024 * 1024;

/** The first 48 bits of a request's digest (hex), in groups that can be read aloud: `1f3a-90bc-77e2`. Who compares it knows that two cards show the same request. */
export const fingerprintOf = (digest: string): string => digest.slice(0, 12).replace(/(....)(?=.)/g, "$1-");

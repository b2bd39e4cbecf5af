/** Declares that the outside effect surely did not happen: a `once` effect that throws it fails instead of being ambiguous. */
export class NotApplied extends Error {
  override readonly name = "NotApplied";
}

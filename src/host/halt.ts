import type { PawlError } from "../errors.ts";

/** The moment at which the store refused to go on, if it did. */
export class Halt {
  private error: PawlError | null = null;
  private readonly waiters = new Set<(error: PawlError) => void>();

  set(error: PawlError): void {
    this.error ??= error;
    for (const wake of this.waiters) wake(this.error);
  }

  isReason(error: unknown): boolean {
    return this.error !== null && error === this.error;
  }

  check(): void {
    if (this.error !== null) throw this.error;
  }

  onHalt(wake: (error: PawlError) => void): () => void {
    this.waiters.add(wake);
    return () => this.waiters.delete(wake);
  }
}

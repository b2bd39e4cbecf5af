/** The public API of Pawl. */

// Author: what workflow files import.
export * from "./workflow/authoring.ts";

// Operator: opening a state directory, starting, answering, watching.

// Expert: machines and nodes of your own.

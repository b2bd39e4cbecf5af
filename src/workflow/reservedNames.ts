/** Names that `/workflow <name>` would take for a command: no workflow, and no file of one, can have them. */
export const reservedNames: readonly string[] = [
  "answer",
  "adopt",
  "cancel",
  "clear",
  "list",
  "pause",
  "recover",
  "restart",
  "resume",
  "status",
  "then",
  "view",
];

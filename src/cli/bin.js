#!/usr/bin/env node
// The command's first file: it must run on any Node from 12 on, so that an old one gets a sentence instead of a crash
// (better-sqlite3 kills Node 20 without a word). Hence plain JavaScript, no static imports, no newer syntax.

const json = process.argv.includes("--json");

function refuse(code, message) {
  process.stderr.write(json ? JSON.stringify({ error: { code: code, message: message } }) + "\n" : "pawl: " + message + "\n");
  process.exitCode = 4;
}

function oldNode(version) {
  const parts = version.split(".");
  const major = Number(parts[0]);
  return major < 22 || (major === 22 && Number(parts[1]) < 19);
}

// Node's own notice about running TypeScript says nothing to a person who runs a workflow; every other warning stays.
function silenceTypeStripping() {
  const emitWarning = process.emitWarning;
  process.emitWarning = function (warning, ...rest) {
    const message = typeof warning === "string" ? warning : warning.message;
    if (message.startsWith("Type Stripping is an experimental feature")) return;
    emitWarning.call(process, warning, ...rest);
  };
}

async function start() {
  const module = await import("node:module");
  const fs = await import("node:fs");
  const url = await import("node:url");
  const path = await import("node:path");
  module.enableCompileCache();
  silenceTypeStripping();
  const here = path.dirname(fs.realpathSync(url.fileURLToPath(import.meta.url)));
  // The host is another program in the same package: it needs nothing of the command line.
  const isHost = process.argv[2] === "host" && process.argv[3] === "serve";
  const source = path.join(here, isHost ? "../host/daemon/main.ts" : "main.ts");
  // Node refuses TypeScript below a node_modules: there, and where stripping is switched off, the compiled tree runs.
  const runsSource = fs.existsSync(source) && !here.split(path.sep).includes("node_modules") && process.features.typescript !== false;
  const compiled = path.join(here, "..", "..", "dist", "src", isHost ? "host/daemon/main.js" : "cli/main.js");
  if (!runsSource && !fs.existsSync(compiled)) {
    refuse("internal", "the compiled command is missing at " + compiled + ". In a clone run `npm run build`; elsewhere install the package again.");
    return;
  }
  const main = await import(url.pathToFileURL(runsSource ? source : compiled).href);
  await (isHost ? main.runHost() : main.runCommandLine());
}

if (oldNode(process.versions.node)) {
  refuse(
    "nodeTooOld",
    "Node 22.19 or newer is needed, this is Node " +
      process.versions.node +
      " (" +
      process.execPath +
      "). " +
      "In a clone, `npm start` and `npm exec pawl` use the right one after `npm ci`; elsewhere install a newer Node and run this again.",
  );
} else if (process.platform === "win32") {
  refuse("refused", "plain Windows is not supported; run Pawl inside WSL (Windows Subsystem for Linux).");
} else {
  start().catch(function (error) {
    process.stderr.write("pawl: the command could not be loaded: " + (error && error.stack ? error.stack : error) + "\n");
    process.exitCode = 4;
  });
}

/** An open decision as a person sees it before answering: everything of it, nothing cut; pure. */
import { fingerprintOf } from "../../text/fingerprint.ts";
import { cellWidth, padCells, wrap } from "../../text/cells.ts";
import { renderPresentation } from "../../text/presentation.ts";
import { visibleLine } from "../../text/visible.ts";
import type { DecisionView } from "../../host/api.ts";
import type { Paint } from "../render/style.ts";
import { decisionFacts, deliveryLines } from "../render/attention.ts";

export type Choice = DecisionView["request"]["choices"][number];

/** Lines of at most `width` cells. `now` in epoch ms. */
export function decisionScreen(decision: DecisionView, now: number, width: number, paint: Paint): readonly string[] {
  const { request } = decision;
  return [
    ...tinted("attention", `Decision ${decision.code} · fingerprint ${fingerprintOf(request.digests.request)}`, width, paint),
    ...tinted("strong", visibleLine(decision.title), width, paint),
    ...tinted("quiet", decisionFacts(decision, now), width, paint),
    ...deliveryLines(decision, width).map((line) => paint("bad", line)),
    "",
    ...renderPresentation(request.presentation, width),
    "",
    ...tinted("strong", "Choices", width, paint),
    ...choiceLines(request.choices, width),
  ];
}

/** Each choice by its number, its id and its label; what asks for a text says so. */
export function choiceLines(choices: readonly Choice[], width: number): readonly string[] {
  const ids = Math.max(...choices.map((choice) => cellWidth(choice.id)));
  return choices.flatMap((choice, index) => {
    const number = `${index + 1}`.padStart(String(choices.length).length);
    const text = choice.input === null ? "" : `, then a text: ${visibleLine(choice.input.label)}`;
    const start = `  ${number}  ${padCells(choice.id, ids)}  `;
    const label = `${visibleLine(choice.label)}${text}`;
    const room = width - cellWidth(start);
    if (room < 16) return wrap(`${number} ${choice.id}: ${label}`, width);
    return wrap(label, room).map((line, at) => (at === 0 ? start : " ".repeat(cellWidth(start))) + line);
  });
}

const tinted = (tone: Parameters<Paint>[0], text: string, width: number, paint: Paint): readonly string[] => wrap(text, width).map((line) => paint(tone, line));

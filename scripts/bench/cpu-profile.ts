/** Reads a V8 CPU profile: microseconds per request, by function and by place. */

import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

interface ProfileNode {
  id: number;
  /** Lines and columns count from 0. */
  callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  children?: number[];
}

/** A profile as `node --cpu-prof` writes it. Times are in microseconds of the machine's monotonic clock. */
export interface CpuProfile {
  nodes: ProfileNode[];
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

export interface Cost {
  name: string;
  /** Microseconds per request in the function alone, and with all functions that it calls. */
  self: number;
  total: number;
}

/** @param window the part of the profile to read, in the profile's own clock */
export function readCosts(
  profile: CpuProfile,
  window: { from: number; to: number; requests: number },
): Cost[] {
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((id) => [id, node.id])));
  const names = new Map(profile.nodes.map((node) => [node.id, nameOf(node)]));
  const costs = new Map<string, Cost>();
  const costOf = (name: string): Cost => {
    const cost = costs.get(name) ?? { name, self: 0, total: 0 };
    costs.set(name, cost);
    return cost;
  };
  for (const [id, microseconds] of sampledTimes(profile, window)) {
    const share = microseconds / window.requests;
    costOf(names.get(id) ?? '').self += share;
    const stack = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at))
      stack.add(names.get(at) ?? '');
    for (const name of stack) costOf(name).total += share;
  }
  return [...costs.values()].sort((a, b) => b.self - a.self);
}

function sampledTimes(profile: CpuProfile, { from, to }: { from: number; to: number }): Map<number, number> {
  const times = new Map<number, number>();
  let now = profile.startTime;
  profile.samples.forEach((id, at) => {
    now += profile.timeDeltas[at] ?? 0;
    // A sample stands for the time until the next one.
    if (now >= from && now < to) times.set(id, (times.get(id) ?? 0) + (profile.timeDeltas[at + 1] ?? 0));
  });
  return times;
}

function nameOf({ callFrame: { functionName, url, lineNumber, columnNumber } }: ProfileNode): string {
  const origin = mapOf(url)?.findEntry(lineNumber, columnNumber);
  const isMapped = origin !== undefined && 'originalSource' in origin;
  const [source, line] = isMapped ? [origin.originalSource, origin.originalLine] : [url, lineNumber];
  const place = source
    .replace(/^file:\/\//, '')
    .replace(/^.*node_modules\//, '')
    .replace(/^.*\/src\//, 'src/');
  return `${functionName || '(anonymous)'}${place === '' ? '' : ` ${place}:${line + 1}`}`;
}

const maps = new Map<string, SourceMap | null>();

/** The source map of a file of the build; null for files that have none, such as Node's own. */
function mapOf(url: string): SourceMap | null {
  const known = maps.get(url);
  if (known !== undefined) return known;
  const path = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
  const map = existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : null;
  maps.set(url, map);
  return map;
}

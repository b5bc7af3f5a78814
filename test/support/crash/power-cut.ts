/**
 * Brings the folder of a killed server to a state that a power cut could have left. It relies only on what POSIX
 * promises: what was flushed is there. Each name that was not flushed may be as it was at any time since,
 * independently of the others. Content that was not flushed may be there, short, empty or different. A folder's move
 * happens completely or not at all.
 */

import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Before } from './journal.ts';
import type { Random } from './random.ts';
import type { Change, Unflushed } from './unflushed.ts';

/** @returns how many names and contents were not flushed, and could therefore be lost */
export function cutPower(unflushed: Unflushed, kept: string, random: Random): number {
  const { contents, grown, moves, changes } = unflushed;
  const atStake = contents.size + grown.size + moves.length + changes.length;
  // Half of all cuts lose everything that may be lost.
  const isHard = random.below(2) === 0;
  for (const path of contents) spoil(path, 0, random);
  for (const [path, size] of grown) spoil(path, size, random);
  for (const { from, to } of moves.toReversed()) {
    const isUndone = isHard || random.below(2) === 0;
    if (isUndone && existsSync(to) && !existsSync(from)) {
      renameSync(to, from);
      for (const change of changes) change.path = moved(change.path, to, from);
    }
  }
  for (const states of statesByPath(changes)) {
    // The index after the last state stands for the present one.
    const state = isHard ? 0 : random.below(states.length + 1);
    const chosen = states[state];
    if (chosen) restore(chosen, kept, random);
  }
  unflushed.clear();
  return atStake;
}

/** Orders the changes with outer folders first: when a folder is lost, everything in it is lost too. */
function statesByPath(changes: readonly Change[]): Change[][] {
  const byPath = new Map<string, Change[]>();
  for (const change of changes) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  return [...byPath.values()].sort((a, b) => depthOf(a) - depthOf(b));
}

const depthOf = ([change]: readonly Change[]) => change?.path.split('/').length ?? 0;

const moved = (path: string, from: string, to: string) =>
  path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;

function restore({ path, before }: Change, kept: string, random: Random): void {
  if (!existsSync(dirname(path))) return;
  if (isFolder(path) && before && 'folder' in before) return;
  rmSync(path, { recursive: true, force: true });
  place(path, before, kept, random);
}

function place(path: string, before: Before, kept: string, random: Random): void {
  if (before === null) return;
  if ('folder' in before) mkdirSync(path);
  else if ('file' in before) linkSync(join(kept, before.file), path);
  else if (existsSync(join(kept, before.tree))) {
    renameSync(join(kept, before.tree), path);
    for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && random.below(2) === 0) rmSync(join(entry.parentPath, entry.name));
    }
  }
}

/** The bytes from `size` on were never flushed. */
function spoil(path: string, size: number, random: Random): void {
  if (!existsSync(path) || isFolder(path)) return;
  const length = lstatSync(path).size;
  const fate = random.below(4);
  if (fate === 0 || length <= size) return;
  if (fate === 1) truncateSync(path, size);
  else if (fate === 2) truncateSync(path, size + random.below(length - size));
  else {
    const content = readFileSync(path);
    for (let at = size; at < length; at += 1) content[at] = random.below(256);
    writeFileSync(path, content);
  }
}

const isFolder = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

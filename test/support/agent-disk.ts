/** The disk of the agent as it is at a bad moment: the agent is killed in the middle of a change, or the disk is full or slow. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentUnderTest } from './agent.ts';

/** Is loaded before the agent. It replaces the calls by which the agent changes files, for its state alone. */
const PRELOAD = `
import { writeFileSync } from 'node:fs';
import disk from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
const { TEST_STATE: state, TEST_KILL_AT: killAt, TEST_IS_FULL: isFull, TEST_LOCK_DELAY: delay } = process.env;
let changes = 0;
for (const name of ['writeFile', 'rename', 'rm', 'unlink']) {
  const real = disk[name];
  disk[name] = async (path, ...more) => {
    if (delay && String(path).startsWith('agent.lock')) await sleep(Number(delay));
    if (!String(path).startsWith(state)) return real(path, ...more);
    changes += 1;
    if (changes === Number(killAt)) {
      if (name === 'writeFile') writeFileSync(path, more[0].slice(0, more[0].length / 2));
      process.kill(process.pid, 'SIGKILL');
    }
    if (isFull && name === 'writeFile') {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    }
    return real(path, ...more);
  };
}
syncBuiltinESMExports();
`;

/**
 * Kills the agent in its next starts before it makes this change to its state, counted from 1. A file that it writes is
 * then there by half.
 */
export function killAtChange(agent: AgentUnderTest, change: number): void {
  agent.variables = { ...preload(agent), TEST_KILL_AT: String(change) };
}

/** Lets the agent write no file in its next starts. */
export function fillDisk(agent: AgentUnderTest): void {
  agent.variables = { ...preload(agent), TEST_IS_FULL: 'yes' };
}

/** Lets the agent take this many milliseconds for each change of its lock in its next starts. */
export function slowDownLock(agent: AgentUnderTest, milliseconds: number): void {
  agent.variables = { ...preload(agent), TEST_LOCK_DELAY: String(milliseconds) };
}

/** Ends all this for the next starts. */
export function healDisk(agent: AgentUnderTest): void {
  agent.variables = {};
}

function preload({ folder, stateDir }: AgentUnderTest): Record<string, string> {
  const path = join(folder, 'disk.mjs');
  writeFileSync(path, PRELOAD);
  return { NODE_OPTIONS: `--import=${pathToFileURL(path)}`, TEST_STATE: stateDir };
}

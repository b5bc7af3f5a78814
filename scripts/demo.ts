/**
 * `npm run demo` plays Hawser's story against a temporary server. Exits with 0 only if every step held. With `--stay`,
 * the server stays afterwards with a small living fleet, so that a person can look at the console.
 */

import { stay } from './demo/stay.ts';
import { playStory } from './demo/story.ts';
import type { Tell } from './demo/telling.ts';
import { exitOnSignals } from './support/cleanup.ts';
import { startTemporaryServer, type TemporaryServer } from './support/temporary-server.ts';

const USAGE = `usage: npm run demo [-- --stay]
  --stay  keep the server after the story, with nodes that go on calling, until Ctrl-C`;

let steps = 0;
let current = 'The server starts';

const tell: Tell = async (what, step) => {
  steps += 1;
  current = what;
  console.log(`\n${String(steps).padStart(2)}. ${what}`);
  const { proof, result } = await step();
  for (const line of proof) console.log(`    ${line}`);
  return result;
};

async function stopCleanly(server: TemporaryServer): Promise<void> {
  current = 'The server stops';
  const code = await server.stop();
  if (code !== 0) throw new Error(`expected: exit code 0 after SIGTERM, not ${code}`);
}

async function main(stays: boolean): Promise<void> {
  const letSignalsBe = exitOnSignals();
  const server = await startTemporaryServer();
  try {
    await playStory(server, tell);
    if (stays) await stay(server, tell, letSignalsBe);
    await stopCleanly(server);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function tellAll(stays: boolean): Promise<void> {
  try {
    await main(stays);
    console.log(`\nAll ${steps} steps held; the server has stopped and its folders are gone.`);
  } catch (error) {
    console.error(`\nFailed at: ${current}\n    ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}

const args = process.argv.slice(2);
const unknown = args.find((arg) => arg !== '--stay');
if (unknown === undefined) {
  await tellAll(args.includes('--stay'));
} else {
  console.error(`demo: unknown argument "${unknown}"\n${USAGE}`);
  process.exitCode = 2;
}

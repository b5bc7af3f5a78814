/** `npm run demo` plays Hawser's story against a temporary server. Exits with 0 only if every step held. */

import { playStory, type Tell } from './demo/story.ts';
import { exitOnSignals } from './support/cleanup.ts';
import { startTemporaryServer, type TemporaryServer } from './support/temporary-server.ts';

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

async function main(): Promise<void> {
  const server = await startTemporaryServer();
  try {
    await playStory(server, tell);
    await stopCleanly(server);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

exitOnSignals();
try {
  await main();
  console.log(`\nAll ${steps} steps held; the server has stopped and its folders are gone.`);
} catch (error) {
  console.error(`\nFailed at: ${current}\n    ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

/**
 * `npm run fleet -- --nodes 2000 --seconds 60` simulates a whole fleet on this machine. Every node has its own
 * certificate and connection. Exits with 0 only if every answer was right.
 */

import { readOptions, USAGE } from './fleet/options.ts';
import { formatReport } from './fleet/report.ts';
import { runFleet } from './fleet/run.ts';
import { openServer } from './fleet/server.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const server = await openServer(options);
  try {
    // Progress goes to stderr, so that stdout contains only the results.
    const report = await runFleet(options, server, (message) => process.stderr.write(`fleet: ${message}\n`));
    console.log(formatReport(report));
    if (report.measurements.faultCount > 0) process.exitCode = 1;
  } finally {
    await server.close();
  }
}

if (process.platform !== 'linux') {
  console.error('fleet: it reads limits and CPU times from /proc, so it needs Linux');
  process.exitCode = 1;
} else if (process.argv.includes('--help')) {
  console.log(USAGE);
} else {
  main().catch((error: Error) => {
    console.error(`fleet: ${error.message}`);
    process.exitCode = 1;
  });
}

#!/usr/bin/env node
/** Entry of `hawserctl`. The build puts the check of Node's version before it (scripts/build-clients.js). */

import { runProgram } from './program.ts';

// Who reads may stop early, such as `head`. That is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
}

const { env, stdin, stdout, stderr } = process;
runProgram(process.argv.slice(2), { env, cwd: process.cwd(), stdin, stdout, stderr }).then((code) => {
  process.exitCode = code;
});

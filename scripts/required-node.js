/**
 * Checks the version of Node. The programs and scripts/build.js import this file before all else, and scripts/build.js
 * copies it beside the built programs. An old Node must be able to read it, so its syntax is that of Node 12.
 */

import { readFileSync } from 'node:fs';

/**
 * Ends the process with one sentence if this Node is older than `engines` in package.json demands.
 * @param {string} program the name of the program, for the sentence
 */
export function requireNode(program) {
  // package.json lies one folder above scripts/ and above .build/.
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  refuseOlderNode(program, engines.node.replace('>=', ''));
}

/**
 * Ends the process with one sentence if this Node is older than wanted. The text of this function also goes into the
 * clients, so it must not use anything from outside of itself.
 * @param {string} program the name of the program, for the sentence
 * @param {string} wanted the version, such as `20.19`
 */
export function refuseOlderNode(program, wanted) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = wanted.split('.').map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  process.stderr.write(`${program} needs Node ${wanted} or newer; this is ${process.version}\n`);
  process.exit(1);
}

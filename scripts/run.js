/** Runs a script of this project that is written in TypeScript: `node scripts/run.js scripts/demo.ts …`. */

import { relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transpile } from './transpile.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const [script = ''] = process.argv.slice(2);
const folder = await transpile().catch((error) => {
  // A fault of syntax, with its place.
  console.error(error.message);
  process.exit(1);
});
const program = resolve(folder, relative(ROOT, resolve(script)).replace(/\.ts$/, '.js'));
process.setSourceMapsEnabled(true);
// The script finds its own arguments where it would if it had been started itself.
process.argv.splice(1, 2, program);
await import(pathToFileURL(program).href);

/** How the tests start the programs of this project. */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const PROJECT = join(import.meta.dirname, '../..');

let isBuilt: boolean | undefined;

/**
 * The arguments for node that start a program from the folder `PROJECT`. The compiled program starts in half the time,
 * so it is taken if it was compiled after the last change of a source; `npm test` compiles first. Otherwise the sources
 * are run.
 */
export function programArguments(program: 'main' | 'agent/main'): string[] {
  isBuilt ??= builtAt() > changedAt();
  return isBuilt ? [`.build/${program}.js`] : ['--import', 'tsx', `src/${program}.ts`];
}

function builtAt(): number {
  return statSync(join(PROJECT, '.build/main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function changedAt(): number {
  const source = join(PROJECT, 'src');
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' });
  return Math.max(...names.map((name) => statSync(join(source, name)).mtimeMs));
}

/** The configurations of proxies that docs/reverse-proxy.md shows, as they are printed and as tests run them. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../scripts/support/project.ts';

const PAGE = join(PROJECT, 'docs/reverse-proxy.md');

/** What is shown on the page, and what stands in its place for a test. */
export type Replacement = readonly [shown: string, used: string];

/**
 * All blocks of a language.
 * @param language what stands behind the three signs that begin them
 */
export function readBlocks(language: string): string[] {
  const blocks = readFileSync(PAGE, 'utf8').matchAll(/^```([^\n]+)\n(.*?)^```$/gms);
  return [...blocks].filter(([, given]) => given === language).map(([, , block = '']) => block);
}

/** Changes what must be there exactly once. */
export function replaced(text: string, [shown, used]: Replacement): string {
  if (text.split(shown).length !== 2) throw new Error(`${PAGE} does not hold "${shown}" once`);
  return text.replace(shown, used);
}

/** The only block of a language. */
export function readBlock(language: string): string {
  const [block, ...more] = readBlocks(language);
  if (block === undefined || more.length > 0)
    throw new Error(`${PAGE} does not show one block of ${language}`);
  return block;
}

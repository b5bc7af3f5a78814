/** Looks for barriers in a page with axe-core. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  help: string;
  nodes: { target: (string | string[])[]; failureSummary: string }[];
}

/** What can differ between themes of one page, which change nothing but colours. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Rules of WCAG 2.2 are off unless they are named. */
const ALL = { runOnly: { type: 'tag', values: TAGS }, rules: { 'target-size': { enabled: true } } };

/**
 * @param rules of a page that was looked at in another theme before, the colours are enough
 * @returns a line for each barrier: the rule, the element, and what is wrong with it
 */
export async function axe(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  const options = rules === 'all' ? ALL : { runOnly: { type: 'rule', values: OF_COLOURS } };
  const wish = JSON.stringify({ ...options, resultTypes: ['violations'] });
  // The debugger's own way of running a program is open even where the page's policy allows no other one.
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('Runtime.evaluate', {
      expression: `globalThis.axe === undefined && (() => {${SOURCE}})()`,
    });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression: `axe.run(document, ${wish}).then(({ violations }) => JSON.stringify(violations))`,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(`axe failed: ${exceptionDetails.exception?.description}`);
    const violations: Violation[] = JSON.parse(result.value);
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => lineOf(id, node)));
  } finally {
    await session.detach();
  }
}

function lineOf(rule: string, { target, failureSummary }: Violation['nodes'][number]): string {
  const [, ...reasons] = failureSummary.split('\n').map((line) => line.trim());
  return `${rule}: ${target.flat().join(' ')}: ${reasons.join('; ')}`;
}

/** The colours of the console have the contrasts that WCAG 2.2 asks for (1.4.3, 1.4.11), in both themes. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../../scripts/support/project.ts';

const css = readFileSync(join(PROJECT, 'src/ui/theme.css'), 'utf8');
const documented = readFileSync(join(PROJECT, 'docs/console.md'), 'utf8');

type Theme = 'light' | 'dark';

const tokens = new Map(
  [...css.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }] as const,
  ),
);

function colour(name: string, theme: Theme): string {
  const token = tokens.get(name);
  if (token === undefined) throw new Error(`theme.css has no --${name}`);
  return token[theme];
}

/** WCAG 2.2, "relative luminance". */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const SURFACES = ['ground', 'surface', 'raised', 'hover', 'chosen'];
const TEXTS = ['text', 'muted', 'link', 'good', 'warn', 'bad', 'idle', 'info'];

for (const theme of ['light', 'dark'] as const)
  describe(`the colours of the ${theme} theme`, () => {
    it('can be read on every surface', () => {
      for (const text of TEXTS)
        for (const surface of SURFACES)
          expect(
            contrast(colour(text, theme), colour(surface, theme)),
            `${text} on ${surface}`,
          ).to.be.at.least(4.5);
    });

    it('can be read on messages and buttons', () => {
      for (const ground of ['good-ground', 'warn-ground', 'bad-ground', 'info-ground'])
        for (const text of ['text', 'muted', 'warn', 'bad'])
          expect(contrast(colour(text, theme), colour(ground, theme)), `${text} on ${ground}`).to.be.at.least(
            4.5,
          );
      for (const deed of ['accent', 'danger'])
        expect(contrast(colour(`on-${deed}`, theme), colour(deed, theme)), deed).to.be.at.least(4.5);
    });

    it('show where fields end and what has the focus', () => {
      for (const line of ['edge', 'focus'])
        for (const surface of ['ground', 'surface', 'raised'])
          expect(
            contrast(colour(line, theme), colour(surface, theme)),
            `${line} on ${surface}`,
          ).to.be.at.least(3);
    });

    it('are those of docs/console.md', () => {
      for (const name of [...TEXTS, 'ground', 'surface', 'raised', 'accent', 'danger', 'edge', 'focus'])
        expect(documented, name).to.contain(colour(name, theme));
    });
  });

/** `hawserctl composite diff`: what differs between the children of two versions. */

import type { Schemas } from '../../client/api-types.ts';
import { type Context, command } from '../declaration.ts';
import { childText } from './composite-children.ts';
import { checkVersion } from './config-kinds.ts';

type Child = Schemas['CompositeComparison']['children'][number];

export const diff = command({
  path: 'composite diff',
  summary: 'show what differs between the children of two versions',
  arguments: [
    { name: 'name', summary: 'the composite' },
    { name: 'version', summary: 'the version to compare from, or the only one' },
    {
      name: 'to',
      summary:
        'the version to compare with; without it, the first is compared with the published one below it',
      isOptional: true,
    },
  ],
  examples: ['hawserctl composite diff site 1.1.0 1.2.0', 'hawserctl composite diff site 1.2.0'],
  async run({ api, out, arguments: { name, version, to } }) {
    checkVersion(version);
    if (to !== undefined) checkVersion(to);
    const query = to === undefined ? { to: version } : { from: version, to };
    const found = await api.get('/api/v1/composite-configurations/{name}/compare', { path: { name }, query });
    out.answer(found, () => showChildren(found, out));
  },
});

/** Prints one line for what was and one for what is, as a unified diff does. */
export function showChildren(
  { from, to, entryPoint, children }: Schemas['CompositeComparison'],
  out: Context['out'],
): void {
  const changed = children.filter(({ change }) => change !== 'Unchanged');
  const isMoved = entryPoint.before !== null && entryPoint.before !== entryPoint.after;
  if (changed.length === 0 && !isMoved) {
    out.note(`The children of ${to.version} are those of ${from?.version ?? 'nothing'}.`);
    return;
  }
  const lines = [`--- ${from?.version ?? '/dev/null'}`, `+++ ${to.version}`];
  if (isMoved) lines.push(`-entry point ${entryPoint.before}`, `+entry point ${entryPoint.after}`);
  out.diff([...lines, ...children.flatMap(linesOf)].join('\n'));
}

function linesOf({ childConfigurationName: name, change, before, after }: Child): string[] {
  if (change === 'Unchanged') return [` ${textOf(name, after)}`];
  return [...(before ? [`-${textOf(name, before)}`] : []), ...(after ? [`+${textOf(name, after)}`] : [])];
}

function textOf(name: string, side: Child['before']): string {
  if (side === null) return name;
  return `${childText(name, side)} (order ${side.order})`;
}

/** What the pages of drafts of configurations and composites share. */

import { type Kind, links } from '../links.ts';
import type { Configuration } from '../types.ts';
import { Empty } from './empty.tsx';
import type { Crumb } from './page.tsx';

/** The way back to the configuration or composite. */
export function crumbsOf(kind: Kind, name: string): Crumb[] {
  return [
    { href: links.list(kind), label: kind === 'composites' ? 'Composites' : 'Configurations' },
    { href: links.named(kind, name), label: name },
  ];
}

const NEEDED = {
  change: ['Modify', 'Manage'],
  publish: ['Modify', 'Manage'],
  delete: ['Manage'],
} as const;

/** Why the user may not do this with drafts; null if nothing is against it. @param of null while it is not known */
export function reasonAgainst(
  kind: Kind,
  deed: keyof typeof NEEDED,
  of: Pick<Configuration, 'access'> | null,
): string | null {
  if (of === null) return null;
  const levels: readonly (string | null)[] = NEEDED[deed];
  if (levels.includes(of.access)) return null;
  const what = kind === 'composites' ? 'composite' : 'configuration';
  return `You may not ${deed} drafts of this ${what}. That needs ${levels[0]} on it; you have ${of.access ?? 'no grant'}.`;
}

/** Somebody has published the version meanwhile, or the address is an old one. */
export function PublishedNote({ kind, name, version }: { kind: Kind; name: string; version: string }) {
  return (
    <Empty>
      <p>{version} is published, so it cannot be changed any more.</p>
      <a href={links.version(kind, name, version)}>
        Show {name} {version}
      </a>
    </Empty>
  );
}

/** What the pages of a draft share. */

import { Empty } from '../../components/empty.tsx';
import type { Crumb } from '../../components/page.tsx';
import { links } from '../../links.ts';
import type { Configuration } from '../../types.ts';

/** The way back to the configuration. */
export function draftCrumbs(name: string): Crumb[] {
  return [
    { href: links.list('configurations'), label: 'Configurations' },
    { href: links.named('configurations', name), label: name },
  ];
}

const NEEDED = {
  change: ['Modify', 'Manage'],
  publish: ['Modify', 'Manage'],
  delete: ['Manage'],
} as const;

/** Why the user may not do this with drafts of the configuration; null if nothing is against it. */
export function reasonAgainst(
  deed: keyof typeof NEEDED,
  configuration: Pick<Configuration, 'access'> | null,
): string | null {
  if (configuration === null) return null;
  const levels: readonly (string | null)[] = NEEDED[deed];
  if (levels.includes(configuration.access)) return null;
  return `You may not ${deed} drafts of this configuration. That needs ${levels[0]} on it; you have ${configuration.access ?? 'no grant'}.`;
}

/** Somebody has published the version meanwhile, or the address is an old one. */
export function PublishedNote({ name, version }: { name: string; version: string }) {
  return (
    <Empty>
      <p>{version} is published, so it cannot be changed any more.</p>
      <a href={links.version('configurations', name, version)}>
        Show {name} {version}
      </a>
    </Empty>
  );
}

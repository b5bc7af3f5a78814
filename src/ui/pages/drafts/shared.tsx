/** What the pages of a draft of a configuration share. */

import * as parts from '../../components/draft-parts.tsx';
import type { Crumb } from '../../components/page.tsx';
import type { Configuration } from '../../types.ts';

const KIND = 'configurations';

/** The way back to the configuration. */
export function draftCrumbs(name: string): Crumb[] {
  return parts.crumbsOf(KIND, name);
}

/** Why the user may not do this with drafts of the configuration; null if nothing is against it. */
export function reasonAgainst(
  deed: 'change' | 'publish' | 'delete',
  configuration: Pick<Configuration, 'access'> | null,
): string | null {
  return parts.reasonAgainst(KIND, deed, configuration);
}

/** Somebody has published the version meanwhile, or the address is an old one. */
export function PublishedNote(props: { name: string; version: string }) {
  return <parts.PublishedNote kind={KIND} {...props} />;
}

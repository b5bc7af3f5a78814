/** What an archive says of itself, and the only paths that one may hold. */

import { z } from 'zod';
import { REPOSITORY_KINDS } from '../../git/types.ts';

/** Raised when an older program could not restore what a newer one writes. */
export const FORMAT = 1;
export const MANIFEST = 'manifest.json';
export const DATABASE_ENTRY = 'data/hawser.db';

const NAME = '[A-Za-z0-9][A-Za-z0-9._-]*';
/**
 * All that is ever written. None of it leads out of the two folders, and nothing else is taken from an archive,
 * whoever made it.
 */
const PATH = new RegExp(
  `^(?:data/(?:hawser\\.db|initial-admin-password|tls/${NAME})` +
    `|repos/(?:${REPOSITORY_KINDS.join('|')})/${NAME}\\.git/` +
    '(?:HEAD|config|description|packed-refs|shallow|objects/pack/pack-[0-9a-f]{40}\\.(?:pack|idx)))$',
);

const Entry = z.strictObject({
  path: z.string().max(300).regex(PATH),
  /** Bytes. */
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export const Manifest = z.strictObject({
  format: z.literal(FORMAT),
  /** The release that made it. */
  hawser: z.string(),
  createdAt: z.iso.datetime(),
  /** The newest migration that the database has been through. */
  migration: z.string(),
  counts: z.strictObject({ repositories: z.int(), refs: z.int() }),
  entries: z.array(Entry),
  /** Paths that the archive holds too, of repositories that went while it was written. They are not restored. */
  superseded: z.array(z.string()),
});

export type Manifest = z.output<typeof Manifest>;
export type ManifestEntry = z.output<typeof Entry>;

/** The format by itself, which any release can read. */
export const AnyManifest = z.looseObject({ format: z.int() });

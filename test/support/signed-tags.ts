/** Authors who sign tags, without ssh-keygen. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesSha256 } from '../../src/domain/signed-tag.ts';
import { signBySshKey } from '../../src/domain/ssh-signature.ts';
import { sha256Hex } from '../../src/lib/hash.ts';
import type { PushAuthor } from './push-author.ts';
import { type SshKey, type TagOf, tagPayload } from './ssh-keys.ts';

/** A line of `allowed_signers`. */
export const signerLine = ({ publicLine }: SshKey, principal = 'ada@example.com', options = '') =>
  `${principal} ${options}${options && ' '}${publicLine}\n`;

/** The digest of what is committed at HEAD. */
export async function headSha256({ ok, folder }: PushAuthor): Promise<string> {
  const listed = (await ok('ls-tree', '-r', '-z', 'HEAD')).split('\0').filter(Boolean);
  return filesSha256(
    listed.map((line) => {
      const [facts = '', path = ''] = line.split('\t');
      return {
        path,
        isExecutable: facts.startsWith('100755'),
        sha256: sha256Hex(readFileSync(join(folder, path))),
      };
    }),
  );
}

type SignedOf = Omit<TagOf, 'files'> & { namespace?: string };

/** Makes a signed tag of HEAD, as `git tag -s` would. @returns the id of the tag object */
export async function tagSigned(
  author: PushAuthor,
  key: SshKey,
  { namespace = 'git', version = '1.1.0', ...more }: SignedOf = {},
): Promise<string> {
  const commit = (await author.ok('rev-parse', 'HEAD')).trim();
  const digest = await headSha256(author);
  const { configurationName = author.name, entryPoint = 'main.dsc.yaml' } = more;
  const trailers = `Configuration: ${configurationName}\nEntry-Point: ${entryPoint}\nFiles-SHA256: ${digest}\n`;
  const message = `Release ${version}\n\n${trailers}`;
  const payload = tagPayload({ message, ...more, version }).replace(/^object .*/, `object ${commit}`);
  const signature = signBySshKey(key.key, Buffer.from(payload), namespace);
  return placeTag(author, version, Buffer.from(payload + signature));
}

/** Writes a raw tag object, and makes the ref of the version that names it. */
export async function placeTag(author: PushAuthor, version: string, raw: Buffer): Promise<string> {
  const file = join(author.folder, '.git', 'new-tag');
  writeFileSync(file, raw);
  const oid = (await author.ok('hash-object', '-t', 'tag', '-w', file)).trim();
  await author.ok('update-ref', `refs/tags/v${version}`, oid);
  return oid;
}

/** `hawserctl config sign`: an author signs a draft, whose files are read and hashed here, so that the server is not believed. */

import { filesSha256, type HashedFile, signingTrailers } from '../../domain/signed-tag.ts';
import { sha256Hex } from '../../lib/hash.ts';
import { command } from '../declaration.ts';
import { findDestination } from '../destination.ts';
import { Failure } from '../errors.ts';
import { findSigner } from '../ssh-signer.ts';
import { type StockGit, withStockGit } from '../stock-git.ts';
import { CONFIGURATION, checkVersion, MESSAGE, nameAndVersion } from './config-kinds.ts';

export const sign = command({
  path: 'config sign',
  summary: 'sign a draft by your SSH key, and keep the signed tag beside it',
  description:
    'Fetches the draft by git, hashes its files here, and makes the tag that publishing the draft then publishes it by: API, ' +
    'rollout or change set. Another commit on the draft ends that. git says who you are (user.name, user.email). Without ' +
    '--key the only key of ssh-agent signs. A key with a passphrase signs by ssh-agent too: name its .pub file.',
  arguments: nameAndVersion(CONFIGURATION),
  options: {
    ...MESSAGE,
    key: { value: 'FILE', summary: 'your private key, or the public one of a key that ssh-agent has' },
    publish: { summary: 'publish it at once' },
  },
  examples: [
    'hawserctl config sign web 1.2.0 --key id_ed25519',
    'hawserctl config sign web 1.2.0 --publish',
  ],
  async run(context) {
    const { api, out, options, env, cwd, hosts, arguments: path } = context;
    const { name, version } = path;
    checkVersion(version);
    const draft = await api.get(`${CONFIGURATION.base}/{name}/versions/{version}` as const, { path });
    if (draft.status !== 'Draft') throw new Failure(`${name} ${version} is published already.`);
    const signer = await findSigner(options.key, { env, cwd });
    const destination = findDestination({ env, cwd, hosts });
    const said = await withStockGit(destination, env, async (git) => {
      const url = git.url(`configurations/${encodeURIComponent(name)}`);
      await git.run(['fetch', '-q', '--depth=1', '--no-tags', url, `refs/heads/draft/${version}`]);
      const commit = (await git.run(['rev-parse', 'FETCH_HEAD'])).toString().trim();
      if (commit !== draft.commit)
        throw new Failure(
          `Somebody changes ${name} ${version} at this moment; look at it and sign it again.`,
        );
      const files = await filesOf(git, commit);
      const { entryPoint } = draft;
      if (!files.some((file) => file.path === entryPoint))
        throw new Failure(`The draft has no file ${entryPoint}, which the server takes for its entry point.`);
      const claims = { configurationName: name, entryPoint, filesSha256: filesSha256(files) };
      const payload = await payloadOf(git, {
        commit,
        version,
        message: options.message ?? `${name} ${version}`,
        claims,
      });
      const tag = Buffer.concat([payload, Buffer.from(await signer.sign(payload))]);
      const oid = (await git.run(['hash-object', '-t', 'tag', '-w', '--stdin'], tag)).toString().trim();
      out.note(
        `Signing ${name} ${version}: ${files.length} files, entry point ${entryPoint}, by ${signer.fingerprint}.`,
      );
      const push = options.publish ? ['push'] : ['push', '-o', 'keep'];
      return git.tell([...push, url, `${oid}:refs/tags/v${version}`]);
    });
    for (const line of said.split('\n')) {
      const told = /^remote: hawser: (.*)/.exec(line.trimEnd())?.[1];
      if (told !== undefined) out.note(told);
    }
    const shown = await api.get(`${CONFIGURATION.base}/{name}/versions/{version}` as const, { path });
    out.answer(shown, () => {
      out.text(`${name} ${version} is signed${options.publish ? ' and published' : ''}.`);
      const { signatureCheck: check } = shown;
      if (check !== null && check.status !== 'Valid')
        out.text(`The signature does not count at the server: ${check.reason ?? check.status}.`);
      if (!options.publish)
        out.note(`Next: "hawserctl config publish ${name} ${version}" publishes it by this tag.`);
    });
  },
});

/** The files of a commit with their digests. */
async function filesOf(git: StockGit, commit: string): Promise<HashedFile[]> {
  const listed = new TextDecoder('utf-8', { fatal: true }).decode(
    await git.run(['ls-tree', '-r', '-z', commit]),
  );
  const entries = listed.split('\0').filter((each) => each !== '');
  const found = entries.map((line) => {
    const at = line.indexOf('\t');
    const [mode = '', type, oid = ''] = line.slice(0, at).split(' ');
    const path = line.slice(at + 1);
    if (type !== 'blob' || !mode.startsWith('100')) throw new Failure(`${path} is a link or a submodule.`);
    return { path, oid, isExecutable: (Number.parseInt(mode, 8) & 0o100) !== 0 };
  });
  const content = await git.run(['cat-file', '--batch'], found.map(({ oid }) => `${oid}\n`).join(''));
  let at = 0;
  return found.map(({ path, oid, isExecutable }) => {
    const end = content.indexOf('\n', at);
    const [name, type, size = ''] = content.toString('latin1', at, end).split(' ');
    if (name !== oid || type !== 'blob') throw new Failure(`git cannot read ${path}.`);
    const bytes = content.subarray(end + 1, end + 1 + Number(size));
    at = end + 1 + bytes.length + 1;
    return { path, isExecutable, sha256: sha256Hex(bytes) };
  });
}

interface Tagging {
  commit: string;
  version: string;
  message: string;
  claims: Parameters<typeof signingTrailers>[0];
}

/** The bytes of the tag before its signature, as `git tag -s` would write them. */
async function payloadOf(git: StockGit, { commit, version, message, claims }: Tagging): Promise<Buffer> {
  const tagger = (await git.run(['var', 'GIT_COMMITTER_IDENT'])).toString().trim();
  const lines = message.replaceAll('\r\n', '\n').split('\n');
  if (lines.some((line) => line.startsWith('-----BEGIN ')))
    throw new Failure('A message with a line that begins a signature cannot be signed.');
  const trailers = Object.entries(signingTrailers(claims)).map(([key, value]) => `${key}: ${value}`);
  const text = [message.trim(), '', ...trailers, ''].join('\n');
  return Buffer.from(`object ${commit}\ntype commit\ntag v${version}\ntagger ${tagger}\n\n${text}`);
}

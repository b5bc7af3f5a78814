/** Answers the first request of a push: which refs there are, and what this server knows to do. */

import { sortByBytes } from '../../lib/byte-order.ts';
import { FLUSH, pktLine, ZERO_ID } from './pkt-lines.ts';

/** The media type of the answer. Without it a client takes the server for one without pushes (gitprotocol-http(5)). */
export const PUSH_ADVERTISEMENT_TYPE = 'application/x-git-receive-pack-advertisement';

/**
 * What gitprotocol-capabilities(5) calls so. A client uses nothing that is not named here: without `delete-refs` it
 * deletes nothing, and without `push-options` a push with options fails on its side.
 */
const CAPABILITIES = [
  'report-status',
  'report-status-v2',
  'delete-refs',
  'quiet',
  'atomic',
  'ofs-delta',
  'side-band-64k',
  'push-options',
  'object-format=sha1',
  'agent=hawser',
].join(' ');

/**
 * Makes the answer to `info/refs?service=git-receive-pack` in version 0 of the protocol, which is the only one that has
 * pushes, whatever a client asks for (gitprotocol-http(5), gitprotocol-pack(5)).
 * @param refs full names and the object ids of what they name, in any order, without `HEAD` and without peeled tags
 * @param shallow the ids of commits whose parents this repository does not have
 */
export function pushAdvertisement(
  refs: Iterable<readonly [name: string, oid: string]>,
  shallow: Iterable<string>,
): Buffer {
  const sorted = sortByBytes([...refs], ([name]) => name);
  // A repository without refs has to name its capabilities all the same.
  const listed = sorted.length > 0 ? sorted : [['capabilities^{}', ZERO_ID] as const];
  return Buffer.concat([
    pktLine('# service=git-receive-pack\n'),
    FLUSH,
    ...listed.map(([name, oid], index) =>
      pktLine(`${oid} ${name}${index === 0 ? `\0${CAPABILITIES}` : ''}\n`),
    ),
    ...[...shallow].map((oid) => pktLine(`shallow ${oid}\n`)),
    FLUSH,
  ]);
}

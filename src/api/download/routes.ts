/** `/download/`: the clients of this server, for anyone. They hold no secret, and fit the server because one build made both. */

import { namesValidator } from '../../http/answer.ts';
import { NOT_FOUND } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import type { ClientFiles, ClientName } from './files.ts';

interface Client {
  /** The operation id of its route. */
  id: string;
  name: ClientName;
  summary: string;
}

const CLIENTS: readonly Client[] = [
  { id: 'downloadHawserctl', name: 'hawserctl.mjs', summary: 'Download hawserctl, for people and pipelines' },
  { id: 'downloadAgent', name: 'hawser-agent.mjs', summary: 'Download the agent, for nodes' },
];

const CACHING = { 'Cache-Control': '`no-cache`' };

export function downloadRoutes(files: ClientFiles): Route[] {
  return CLIENTS.map((client) => downloadRoute(client, files));
}

function downloadRoute({ id, name, summary }: Client, files: ClientFiles): Route {
  return route({
    id,
    method: 'GET',
    bound: 'shared',
    path: `/download/${name}`,
    summary,
    description: 'One file, which needs Node 20.19 or later and nothing else.',
    tags: ['Downloads'],
    access: { kind: 'public' },
    answers: {
      200: {
        description: 'The program',
        mediaType: 'text/javascript',
        headers: {
          'Content-Disposition': `\`attachment; filename="${name}"\``,
          'Repr-Digest': 'SHA-256 of the bytes (RFC 9530)',
          ...CACHING,
        },
      },
      304: { description: 'The file in If-None-Match is still the one', headers: CACHING },
    },
    problems: [NOT_FOUND],
    handle({ facts }) {
      const file = files.get(name);
      if (file === undefined) throw notFound('This server was built without this client');
      const held = facts.header('if-none-match');
      const isHeld = held !== undefined && namesValidator(held, file.answer.etag ?? '');
      return isHeld ? file.unchanged : file.answer;
    },
  });
}

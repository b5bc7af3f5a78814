/** `hawserctl hosts` and `whoami`: the servers that were signed in to, and who one is there. */

import { command } from '../declaration.ts';
import { readUrl } from '../destination.ts';

export const hosts = command({
  path: 'hosts',
  summary: 'list the servers that you are signed in to, or choose the current one',
  description: 'Lists the servers that you are signed in to. With a URL it makes that one the current one.',
  arguments: [{ name: 'url', summary: 'the server that commands are for from now on', isOptional: true }],
  examples: ['hawserctl hosts', 'hawserctl hosts https://hawser.example:8443'],
  async run({ arguments: { url }, out, hosts }) {
    if (url !== undefined) await hosts.makeCurrent(readUrl(url, 'The URL').origin);
    const known = hosts.read();
    // Tokens stay in the file.
    const list = Object.entries(known.hosts).map(([origin, { username, trust }]) => {
      return { url: origin, username, isCurrent: origin === known.current, trust: trust.kind };
    });
    if (out.isJson) out.json(list);
    else
      out.table(
        list,
        [
          { title: '', cell: ({ isCurrent }) => (isCurrent ? '*' : ' ') },
          { title: 'URL', cell: ({ url }) => url },
          { title: 'USER', cell: ({ username }) => username },
          { title: 'TRUSTED BY', cell: ({ trust }) => TRUST[trust] },
        ],
        'You are signed in to no server. "hawserctl login <url>" does it.',
      );
  },
});

const TRUST = {
  system: "the system's authorities",
  authority: 'its authority',
  certificate: 'its own certificate',
} as const;

export const whoami = command({
  path: 'whoami',
  summary: 'show the server, the user, and what the token may do',
  examples: ['hawserctl whoami'],
  async run({ api, out }) {
    const me = await api.get('/api/v1/auth/me');
    out.answer(me, () => {
      out.fields({
        Server: api.url,
        User: me.username,
        Email: me.email,
        Roles: me.roles.join(', '),
        Groups: me.groups.join(', '),
        Permissions: me.permissions.join(', '),
      });
    });
  },
});

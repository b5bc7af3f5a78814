/** `hawserctl config list` and `composite list`. */

import { type Command, command } from '../declaration.ts';
import { applyFilters, FILTER } from '../filters.ts';
import type { Kind } from './config-kinds.ts';

export function listCommand(kind: Kind): Command {
  return command({
    path: `${kind.group} list`,
    summary: `list the ${kind.noun}s that you may read`,
    options: FILTER,
    examples: [`hawserctl ${kind.group} list --filter name=web*`, `hawserctl ${kind.group} list --json`],
    async run({ api, out, options }) {
      const all = await api.all(kind.base);
      const chosen = options.filter.length === 0 ? all : applyFilters(all, options.filter);
      out.answer(chosen, () => {
        out.table(
          chosen,
          [
            { title: 'NAME', cell: ({ name }) => name },
            { title: 'PUBLISHED', cell: ({ latestPublishedVersion }) => latestPublishedVersion },
            { title: 'HIGHEST', cell: ({ latestVersion }) => latestVersion },
            { title: 'VERSIONS', cell: ({ versionCount }) => versionCount },
            { title: 'ACCESS', cell: ({ access }) => access },
            { title: 'DESCRIPTION', cell: ({ description }) => description },
          ],
          `There are no such ${kind.noun}s that you may read.`,
        );
      });
    },
  });
}

/** `hawser backup` and `hawser restore`. */

import { rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Command } from '../command-line.ts';

/** As `nice` counts it; git, which does the most of it, inherits it. */
const NICENESS = 10;

export const backup: Command = {
  name: 'backup',
  help: 'write everything into one new archive, while the server may go on serving',
  positionals: ['file'],
  async run({ config, clock, positionals: [file = ''] }) {
    const { backUp } = await import('./backup.ts');
    standBack();
    const now = clock.now();
    const { repositories, refs, bytes } = await backUp({ config, file, now, onStaging: removeOnSignal });
    process.stdout.write(
      `${file}: the database and ${repositories} repositories with ${refs} refs, ${bytes} bytes\n`,
    );
    return 0;
  },
};

export const restoring: Command = {
  name: 'restore',
  help: 'bring what such an archive holds into HAWSER_DATA_DIR and HAWSER_REPOS_DIR, which must be empty',
  positionals: ['file'],
  async run({ config, positionals: [file = ''] }) {
    const { restore } = await import('./restore.ts');
    const { createdAt, hawser, counts } = await restore(config, file);
    process.stdout.write(
      `restored the database and ${counts.repositories} repositories as of ${createdAt} (Hawser ${hawser})\n`,
    );
    return 0;
  },
};

function standBack(): void {
  try {
    setPriority(NICENESS);
  } catch {
    // The machine does not allow it: then it runs like any other program.
  }
}

function removeOnSignal(staging: string): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      rmSync(staging, { recursive: true, force: true });
      process.stderr.write(`hawser: stopped by ${signal}; there is no archive\n`);
      process.exit(1);
    });
  }
}

/** `hawser reset-admin-password`: the way back in for an operator whom nobody else can let in. */

import type { Command } from './command-line.ts';

export const resetAdminPasswordCommand: Command = {
  name: 'reset-admin-password',
  help: 'give an administrator a new random password, shown once or written to a new file; the server may be running',
  options: { username: 'name', 'password-file': 'new file' },
  async run({ config, clock, options }) {
    const { resetAdminPassword } = await import('./password-reset.ts');
    const { username = 'admin', 'password-file': file = null } = options as Partial<Record<string, string>>;
    await resetAdminPassword({
      dataDir: config.dataDir,
      username,
      passwordFile: file,
      show: (password) => process.stdout.write(`${password}\n`),
      now: clock.now(),
    });
    const where = file === null ? 'above' : `in ${file}`;
    process.stderr.write(
      `The password ${where} is for "${username}" and must be changed at the next sign-in.\n`,
    );
    return 0;
  },
};

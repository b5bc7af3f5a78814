import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { fishCompletion, powershellCompletion } from '../../../src/cli/completion/other-shells.ts';
import { listPlaces } from '../../../src/cli/completion/places.ts';
import { bashCompletion, zshCompletion } from '../../../src/cli/completion/posix.ts';
import { COMMON_OPTIONS } from '../../../src/cli/declaration.ts';
import { describeWith } from '../../support/optional-tools.ts';

const places = listPlaces(COMMANDS);
const SCRIPTS = {
  bash: bashCompletion('hawserctl', places),
  zsh: zshCompletion('hawserctl', places),
  fish: fishCompletion('hawserctl', places),
  powershell: powershellCompletion('hawserctl', places),
};

describe('the completion of hawserctl', () => {
  for (const [shell, script] of Object.entries(SCRIPTS))
    it(`knows every command and every option in ${shell}`, () => {
      for (const { path, options } of COMMANDS) {
        expect(script).to.include(path.split(' ').at(-1));
        for (const name of Object.keys(options)) expect(script).to.include(name);
      }
    });
});

/** Runs a shell on a file with this text in a folder with a file. */
function runShell(shell: string, words: readonly string[], text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'hawserctl-completion-'));
  try {
    writeFileSync(join(folder, 'ca file.pem'), '');
    const path = join(folder, '.script');
    writeFileSync(path, text);
    const { status, stdout, stderr } = spawnSync(shell, [...words, path], { cwd: folder, encoding: 'utf8' });
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
    return stdout.split('\n').filter((line) => line !== '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describeWith(['bash'], 'the completion for bash', () => {
  const END = '== end of a line';
  /** Completes lines one after the other in one shell, because to start one takes longer than all the rest. */
  const completeAll = (lines: readonly (readonly string[])[]): string[][] => {
    const calls = lines.map(
      (words) => `COMP_WORDS=(hawserctl ${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_hawserctl
printf '%s\\n' "\${COMPREPLY[@]}" '${END}'
`,
    );
    const completed: string[][] = [[]];
    for (const line of runShell('bash', ['--norc'], [SCRIPTS.bash, ...calls].join('\n')))
      if (line === END) completed.push([]);
      else completed.at(-1)?.push(line);
    return completed.slice(0, -1);
  };
  const complete = (...words: string[]) => completeAll([words])[0];

  it('is a script that bash can read', () => {
    expect(runShell('bash', ['-n'], SCRIPTS.bash)).to.deep.equal([]);
  });

  it('offers every command and all its options, each where it belongs', () => {
    const commands = COMMANDS.map(({ path }) => path.split(' '));
    const completed = completeAll(commands.flatMap((words) => [words, [...words, '--']]));
    expect(completed).to.have.length(2 * COMMANDS.length);
    for (const [at, { path, options }] of COMMANDS.entries()) {
      expect(completed[2 * at], path).to.include(path.split(' ').at(-1));
      const offered = Object.keys({ ...options, ...COMMON_OPTIONS }).map((name) => `--${name}`);
      expect(completed[2 * at + 1], path).to.have.members(offered);
    }
  });

  it('completes commands, options, files and choices', () => {
    expect(complete('c')).to.deep.equal(['config', 'composite', 'change', 'completion']);
    expect(complete('config', '')).to.include.members(['list', 'show']);
    expect(complete('config', 'list', '--f')).to.deep.equal(['--filter']);
    expect(complete('config', 'list', '--filter', '')).to.deep.equal([]);
    expect(complete('login', 'https://x', '--ca-file', 'ca')).to.deep.equal(['ca file.pem']);
    expect(complete('login', '--user', 'config', '--fi')).to.deep.equal(['--fingerprint']);
    expect(complete('completion', '')).to.deep.equal(['bash', 'zsh', 'fish', 'powershell']);
    expect(complete('-')).to.include.members(['--help', '-h', '--version']);
  });
});

describeWith(['zsh'], 'the completion for zsh', () => {
  it('is a script that zsh can read, and that registers itself', () => {
    expect(runShell('zsh', ['-n'], SCRIPTS.zsh)).to.deep.equal([]);
    const text = `autoload -U compinit; compinit -u -D\n${SCRIPTS.zsh}\nprint $_comps[hawserctl]\n`;
    expect(runShell('zsh', ['-f'], text)).to.deep.equal(['_hawserctl']);
  });

  it('completes commands, options and choices', () => {
    const complete = (...words: string[]) =>
      runShell(
        'zsh',
        ['-f'],
        `compdef() { : }
_describe() { print -rl -- "\${(@P)\${@[-1]}}" }
${SCRIPTS.zsh}
words=(hawserctl ${words.map((word) => `'${word}'`).join(' ')})
CURRENT=\${#words}
_hawserctl
`,
      ).map((line) => line.split(':')[0]);
    expect(complete('')).to.include.members(['login', 'config', 'api']);
    expect(complete('config', '')).to.include.members(['list', 'show']);
    expect(complete('config', 'list', '--')).to.include.members(['--filter', '--json', '--help']);
    expect(complete('completion', '')).to.deep.equal(['bash', 'zsh', 'fish', 'powershell']);
  });
});

describeWith(['fish'], 'the completion for fish', () => {
  it('is a script that fish can read', () => {
    expect(runShell('fish', ['--no-execute'], SCRIPTS.fish)).to.deep.equal([]);
  });

  it('completes commands, options, files and choices', () => {
    const complete = (line: string) =>
      runShell('fish', ['--no-config'], `${SCRIPTS.fish}\ncomplete -C '${line}'\n`).map(
        (each) => each.split('\t')[0],
      );
    expect(complete('hawserctl c')).to.include.members(['config', 'completion']);
    expect(complete('hawserctl config ')).to.include.members(['list', 'show']).and.not.include('login');
    expect(complete('hawserctl config list --f')).to.deep.equal(['--filter']);
    expect(complete('hawserctl completion ')).to.deep.equal(['bash', 'fish', 'powershell', 'zsh']);
    expect(complete('hawserctl login --ca-file ca')).to.deep.equal(['ca file.pem']);
  });
});

describeWith(['pwsh'], 'the completion for PowerShell', () => {
  it('is a script that PowerShell can read', () => {
    const text = `${SCRIPTS.powershell}\n(TabExpansion2 'hawserctl conf' 14).CompletionMatches.CompletionText\n`;
    expect(runShell('pwsh', ['-NoProfile', '-File'], text)).to.deep.equal(['config']);
  });
});

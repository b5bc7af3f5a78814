import { expect } from 'chai';
import { type CommandOutcome, fillTemplate, runCommand, toResult } from '../../../src/agent/command.ts';

import { MINUTE } from '../../../src/lib/clock.ts';

const VALUES = {
  operation: 'set',
  entryPoint: '/b/main.yaml',
  parametersFile: '/b/parameters.yaml',
} as const;
const NONE = { ...VALUES, parametersFile: null };

describe('the command of the agent', () => {
  it('gets its values, and no shell sees them', () => {
    const template = [
      'dsc',
      'config',
      '--parameters-file',
      '{parametersFile}',
      '{operation}',
      '--file',
      '{entryPoint}',
    ];
    expect(fillTemplate(template, VALUES).join(' ')).to.equal(
      'dsc config --parameters-file /b/parameters.yaml set --file /b/main.yaml',
    );
  });

  it('loses the option for the parameters file where there is none', () => {
    const fill = (...template: string[]) => fillTemplate(template, NONE).join(' ');
    expect(fill('dsc', 'config', '--parameters-file', '{parametersFile}', 'set')).to.equal('dsc config set');
    expect(fill('apply', '--parameters={parametersFile}', '{entryPoint}')).to.equal('apply /b/main.yaml');
    expect(fill('apply', '{entryPoint}', '{parametersFile}')).to.equal('apply /b/main.yaml');
  });

  const run = (script: string, more: object = {}) =>
    runCommand([process.execPath, '-e', script], {
      cwd: '/',
      environment: { GREETING: 'hello' },
      timeout: MINUTE,
      outputLimit: 1_000,
      stop: new AbortController().signal,
      ...more,
    });

  it('is run with the environment and folder given, and its output comes back', async () => {
    const outcome = await run(
      'console.log(process.env.GREETING + process.cwd()); console.error("oh"); process.exit(4)',
    );
    expect(outcome).to.deep.equal({
      exitCode: 4,
      stdout: 'hello/\n',
      stderr: 'oh\n',
      fault: null,
      wasStopped: false,
    });
  });

  it('is ended with all it has started when it takes too long', async () => {
    const script =
      'require("child_process").spawn("sleep", ["600"], { stdio: "inherit" }); setInterval(() => {}, 1000)';
    const { fault, exitCode } = await run(script, { timeout: 500 });
    expect({ fault, exitCode }).to.deep.equal({ fault: 'it took longer than 0.5 s', exitCode: null });
  });

  it('is not waited for by the services that it leaves behind', async () => {
    const script =
      'require("child_process").spawn("sleep", ["8"], { stdio: "inherit", detached: true }).unref()';
    expect((await run(script)).exitCode).to.equal(0);
  });

  it('is told to end when the agent ends', async () => {
    const controller = new AbortController();
    const running = run('setInterval(() => {}, 1000)', { stop: controller.signal });
    controller.abort();
    expect((await running).wasStopped).to.equal(true);
  });

  it('may write too much, and runs to its end all the same', async () => {
    const { fault, exitCode, stdout } = await run('process.stdout.write("x".repeat(1e6))');
    expect({ fault, exitCode, stdout }).to.deep.equal({
      fault: 'it wrote more than 1000 bytes',
      exitCode: 0,
      stdout: '',
    });
  });

  it('may not be there', async () => {
    const outcome = await runCommand(['/nonexistent/dsc'], {
      cwd: '/',
      environment: {},
      timeout: MINUTE,
      outputLimit: 1,
      stop: new AbortController().signal,
    });
    expect(outcome.fault).to.equal('it could not be started (ENOENT)');
  });
});

describe('the result of a command', () => {
  const outcome = (more: Partial<CommandOutcome>): CommandOutcome => ({
    exitCode: 0,
    stdout: '',
    stderr: '',
    fault: null,
    wasStopped: false,
    ...more,
  });

  it('is what it wrote, to the letter', () => {
    const json = '{"hadErrors": false, "results": [], "big": 12345678901234567890}';
    expect(toResult(outcome({ stdout: `\ufeff${json}\n` }), 'dsc')).to.deep.equal({ json, hadErrors: false });
  });

  it('had errors when the command failed, whatever it wrote', () => {
    const { json, hadErrors } = toResult(
      outcome({ stdout: '{"hadErrors":false,"metadata":1}', exitCode: 2 }),
      'dsc',
    );
    expect(hadErrors).to.equal(true);
    expect(JSON.parse(json)).to.deep.equal({ hadErrors: true, metadata: 1 });
  });

  it('is a minimal one where the command wrote no result', () => {
    for (const stdout of [
      '',
      'done',
      '[]',
      '{"results":[]}',
      '{"hadErrors":false,"results":[1]}',
      '{"hadErrors":false,"results":{}}',
    ]) {
      expect(toResult(outcome({ stdout }), 'dsc').json, stdout).to.equal(
        '{"messages":[],"results":[],"hadErrors":false}',
      );
    }
  });

  it('says why there is none', () => {
    const { json } = toResult(
      outcome({ fault: 'it took longer than 3 s', exitCode: null, stderr: 'half way' }),
      'dsc',
    );
    const message = 'dsc: it took longer than 3 s\nhalf way';
    expect(JSON.parse(json)).to.deep.equal({
      messages: [{ name: 'dsc', type: 'hawser-agent', message, level: 'error' }],
      results: [],
      hadErrors: true,
    });
  });
});

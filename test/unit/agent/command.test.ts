import { expect } from 'chai';
import { type CommandOutcome, fillTemplate, runCommand, toResult } from '../../../src/agent/command.ts';
import { MINUTE } from '../../../src/lib/clock.ts';
import { words } from '../../support/words.ts';

const NONE = { operation: 'set', entryPoint: '/b/main.yaml', parametersFile: null } as const;
const VALUES = { ...NONE, parametersFile: '/b/parameters.yaml' };

describe('the command of the agent', () => {
  it('gets its values, and no shell sees them', () => {
    const template = words('dsc config --parameters-file {parametersFile} {operation} --file {entryPoint}');
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

  const run = (script: string, more: object = {}, command = [process.execPath, '-e', script]) =>
    runCommand(command, {
      cwd: '/',
      environment: { GREETING: 'hello' },
      timeout: MINUTE,
      outputLimit: 1_000,
      stop: new AbortController().signal,
      ...more,
    });

  it('is run with the environment and folder given, and its output comes back', async () => {
    const script = 'console.log(process.env.GREETING + process.cwd()); console.error("oh"); process.exit(4)';
    const written = { stdout: 'hello/\n', stderr: 'oh\n' };
    expect(await run(script)).to.deep.equal({ exitCode: 4, ...written, fault: null, wasStopped: false });
  });

  it('is ended with all it has started when it takes too long', async () => {
    const script =
      'require("child_process").spawn("sleep", ["600"], { stdio: "inherit" }); setInterval(() => {}, 1000)';
    const outcome = await run(script, { timeout: 500 });
    expect(outcome).to.include({ fault: 'it took longer than 0.5 s', exitCode: null });
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
    const outcome = await run('process.stdout.write("x".repeat(1e6))');
    expect(outcome).to.include({ fault: 'it wrote more than 1000 bytes', exitCode: 0, stdout: '' });
  });

  it('may not be there', async () => {
    const outcome = await run('', {}, ['/nonexistent/dsc']);
    expect(outcome.fault).to.equal('it could not be started (ENOENT)');
  });
});

describe('the result of a command', () => {
  const resultOf = (outcome: Partial<CommandOutcome>) =>
    toResult({ exitCode: 0, stdout: '', stderr: '', fault: null, wasStopped: false, ...outcome }, 'dsc');

  it('is what it wrote, to the letter', () => {
    const json = '{"hadErrors": false, "results": [], "big": 12345678901234567890}';
    expect(resultOf({ stdout: `\ufeff${json}\n` })).to.deep.equal({ json, hadErrors: false });
  });

  it('had errors when the command failed, whatever it wrote', () => {
    const { json, hadErrors } = resultOf({ stdout: '{"hadErrors":false,"metadata":1}', exitCode: 2 });
    expect(hadErrors).to.equal(true);
    expect(JSON.parse(json)).to.deep.equal({ hadErrors: true, metadata: 1 });
  });

  it('is a minimal one where the command wrote no result', () => {
    const none = '{"messages":[],"results":[],"hadErrors":false}';
    const others = ['{"hadErrors":false,"results":[1]}', '{"hadErrors":false,"results":{}}'];
    for (const stdout of ['', 'done', '[]', '{"results":[]}', ...others])
      expect(resultOf({ stdout }).json, stdout).to.equal(none);
  });

  it('says why there is none', () => {
    const { json } = resultOf({ fault: 'it took longer than 3 s', exitCode: null, stderr: 'half way' });
    const message = 'dsc: it took longer than 3 s\nhalf way';
    expect(JSON.parse(json)).to.deep.equal({
      messages: [{ name: 'dsc', type: 'hawser-agent', message, level: 'error' }],
      results: [],
      hadErrors: true,
    });
  });
});

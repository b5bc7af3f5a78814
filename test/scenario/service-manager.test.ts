// full: SQLite
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { describeWith } from '../support/optional-tools.ts';
import { spawnHawser } from '../support/spawned.ts';

/** Stands in for systemd: Node itself cannot receive datagrams on a unix socket. Prints each on a line of its own. */
const RECEIVER = `
import json, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("bound", flush=True)
while True: print(json.dumps(receiver.recv(4096).decode()), flush=True)
`;

describe('the service manager', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-notify-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  describeWith(['python3', 'systemd-notify'], 'that waits for it', () => {
    it('is told that the server is ready once it listens, and where', async () => {
      const socket = join(folder, 'notify');
      const receiver = spawn('python3', ['-c', RECEIVER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
      const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
      expect((await lines.next()).value).to.equal('bound');
      const hawser = await spawnHawser(folder, { NOTIFY_SOCKET: socket });
      try {
        const message: string = JSON.parse((await lines.next()).value);
        // The message comes after the line in the log, but through another pipe.
        const { port } = await hawser.listening();
        expect(message.trim().split('\n')).to.include.members([
          'READY=1',
          `STATUS=listening on https://localhost:${port}`,
        ]);
      } finally {
        hawser.child.kill('SIGTERM');
        // Which waits for systemd-notify, and that for who receives.
        await hawser.ended;
        receiver.kill();
        await once(receiver, 'close');
      }
      const { code, stdout } = await hawser.ended;
      expect(code).to.equal(0);
      expect(stdout).to.not.include('could not be told');
    });
  });

  it('keeps what a service says in a journal, so that the first password is not said', async () => {
    const settings = { NOTIFY_SOCKET: join(folder, 'nobody'), HAWSER_ADMIN_PASSWORD: '' };
    const hawser = await spawnHawser(folder, settings);
    await hawser.listening();
    hawser.child.kill('SIGTERM');
    const { stdout, stderr } = await hawser.ended;
    const password = readFileSync(join(folder, 'data/initial-admin-password'), 'utf8').trim();
    expect(stdout + stderr).to.not.include(password);
    expect(stderr).to.include('initial-admin-password');
  });

  it('that cannot be told is warned of, and the server goes on', async () => {
    const hawser = await spawnHawser(folder, { NOTIFY_SOCKET: join(folder, 'nobody') });
    try {
      await hawser.logged('systemd could not be told that the server is ready');
    } finally {
      hawser.child.kill('SIGTERM');
    }
    expect((await hawser.ended).code).to.equal(0);
  });
});

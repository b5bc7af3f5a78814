/** Shows a new registration key once, with the lines that join a machine by it, as the server makes them. */

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, send } from '../../client.ts';
import { CopyButton } from '../../components/copy-line.tsx';
import { RadioField } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { saveBlob } from '../../download.ts';
import { apiPath } from '../../links.ts';
import { leaveForSignIn } from '../../sign-in.ts';
import type { JoinLine, RegistrationKey } from '../../types.ts';
import { KEYS } from './new-key.tsx';

const WAYS = [
  {
    shell: 'sh',
    agent: 'hawser',
    label: "Linux or macOS: a shell, Hawser's agent",
    file: 'join-hawser.sh',
    hint:
      'Run it in a shell, in a folder of the user as whom the agent is to run. The machine needs Node 20.19 or later. ' +
      'The line compares the server and the agent with their digests before it runs anything, and puts the agent into ' +
      'the folder hawser-agent.',
  },
  {
    shell: 'powershell',
    agent: 'opendsc',
    label: "Windows: PowerShell, OpenDSC's agent",
    file: 'join-hawser.ps1',
    hint:
      "Run it in PowerShell 5.1 or 7, as administrator. The machine needs OpenDSC's agent, and no Node.js. The line " +
      'compares the authority of the server with its digest, trusts it for the whole machine, and starts the service ' +
      'OpenDscLcm.',
  },
] as const;

type Way = (typeof WAYS)[number];

export function Joining({ made, onClose }: { made: RegistrationKey; onClose: () => void }) {
  const [shell, setShell] = useState<Way['shell']>('sh');
  const way = WAYS.find((each) => each.shell === shell) ?? WAYS[0];
  const secret = made.key ?? '';
  return (
    <ShownOnce heading="New registration key" what="registration key" secret={secret} onClose={onClose}>
      <RadioField
        legend="Join a machine by one line"
        choices={WAYS.map(({ shell, label }) => ({ value: shell, label }))}
        value={way.shell}
        onChange={setShell}
      />
      <Line key={way.shell} way={way} keyId={made.id} secret={secret} />
      <p class="hint">
        Whoever has the line or the script has the key. Delete the script once the machine has joined.
      </p>
    </ShownOnce>
  );
}

/** The server does not keep the key, so it is sent along. */
function useJoinLine({ shell, agent }: Way, keyId: string, key: string) {
  const [made, setMade] = useState<JoinLine | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const ask = async () => {
    setProblem(null);
    try {
      const path = `${KEYS}${apiPath(keyId)}/join-line`;
      setMade((await send<JoinLine>('POST', path, { key, shell, agent })).data);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (error.status === 401) leaveForSignIn();
      setProblem(error);
    }
  };
  useEffect(() => void ask(), []);
  return { made, problem, ask };
}

function Line({ way, keyId, secret }: { way: Way; keyId: string; secret: string }) {
  const { made, problem, ask } = useJoinLine(way, keyId, secret);
  if (problem !== null) return <Problem problem={problem} onRetry={() => void ask()} />;
  if (made === null) return <p aria-busy="true">The server makes the line.</p>;
  const save = () => saveBlob(new Blob([made.script], { type: 'text/plain' }), way.file);
  return (
    <>
      <p class="hint">{way.hint}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, which must be possible by the keyboard */}
      <section class="join-line" aria-label="The line that joins a machine" tabIndex={0}>
        <code>{made.line}</code>
      </section>
      <div class="bar">
        <CopyButton text={made.line} label="that joins a machine" deed="Copy the line" />
        <button type="button" class="small" onClick={save}>
          Save as a script<span class="visually-hidden"> named {way.file}</span>
        </button>
      </div>
    </>
  );
}

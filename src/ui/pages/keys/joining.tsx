/** Shows a new registration key once, with lines that join a node. */

import { useState } from 'preact/hooks';
import { CopyButton, CopyLine } from '../../components/copy-line.tsx';
import { CheckField } from '../../components/field.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import type { RegistrationKey } from '../../types.ts';

/** The name under which browsers save the certificate of the server's authority. */
const CA_FILE = 'hawser-ca.pem';

export function Joining({ made, onClose }: { made: RegistrationKey; onClose: () => void }) {
  const secret = made.key ?? '';
  const server = location.origin;
  const settings = JSON.stringify({
    LCM: {
      ConfigurationSource: 'Pull',
      PullServer: { ServerUrl: server, RegistrationKey: secret },
    },
  });
  return (
    <ShownOnce heading="New registration key" what="registration key" secret={secret} onClose={onClose}>
      <h3>Join a node with Hawser's agent</h3>
      {made.joinCommand === undefined ? (
        <AgentLine server={server} secret={secret} />
      ) : (
        <JoinLine command={made.joinCommand} />
      )}
      <details>
        <summary>Join a node with OpenDSC's agent</summary>
        <p class="hint">
          Write this into <code>appsettings.json</code> of the agent, without a <code>NodeId</code>, and
          restart its service.
        </p>
        <CopyLine text={settings} label="settings for OpenDSC's agent" />
      </details>
      <p class="hint">
        {made.joinCommand === undefined ? 'The lines have' : "The settings for OpenDSC's agent have"} the
        address by which you reach the server. Change it where nodes reach the server by another name or port.
      </p>
    </ShownOnce>
  );
}

/** The server has made the line, which brings the agent along. */
function JoinLine({ command }: { command: string }) {
  return (
    <>
      <p class="hint">
        Run the line on the machine, in a shell, where Node 20.19 or later is installed. It checks the server
        and the agent, which it puts into a new folder <code>hawser-agent</code>, and registers the machine.
        The key is in the line.
      </p>
      <CopyButton text={command} label="that joins a machine" deed="Copy the line" />
      <details>
        <summary>Show the line</summary>
        <div class="copy-line">
          <code>{command}</code>
        </div>
      </details>
    </>
  );
}

/** The server does not know by which address machines reach it, so the agent must be there already. */
function AgentLine({ server, secret }: { server: string; secret: string }) {
  const [isTrusted, setTrusted] = useState(false);
  const trust = isTrusted ? '' : `HAWSER_AGENT_CA_FILE=${CA_FILE} `;
  const line = `HAWSER_AGENT_SERVER=${server} ${trust}HAWSER_AGENT_REGISTRATION_KEY=${secret} hawser-agent`;
  return (
    <>
      <CheckField
        label="The machine trusts the server's certificate already"
        checked={isTrusted}
        onChange={setTrusted}
      />
      {!isTrusted && (
        <p class="hint">
          Bring{' '}
          <a href="/api/v1/ca.pem" download={CA_FILE}>
            {CA_FILE}
          </a>
          , the certificate of the server's own authority, into the folder on the machine where you run the
          line.
        </p>
      )}
      <CopyLine text={line} label="line for Hawser's agent" />
    </>
  );
}

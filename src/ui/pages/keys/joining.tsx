/** Shows a new registration key once, with lines that join a node. */

import { useState } from 'preact/hooks';
import { CopyLine } from '../../components/copy-line.tsx';
import { CheckField } from '../../components/field.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';

/** The name under which browsers save the certificate of the server's authority. */
const CA_FILE = 'hawser-ca.pem';

export function Joining({ secret, onClose }: { secret: string; onClose: () => void }) {
  const [isTrusted, setTrusted] = useState(false);
  const server = location.origin;
  const trust = isTrusted ? '' : `HAWSER_AGENT_CA_FILE=${CA_FILE} `;
  const line = `HAWSER_AGENT_SERVER=${server} ${trust}HAWSER_AGENT_REGISTRATION_KEY=${secret} hawser-agent`;
  const settings = JSON.stringify({
    LCM: {
      ConfigurationSource: 'Pull',
      PullServer: { ServerUrl: server, RegistrationKey: secret },
    },
  });
  return (
    <ShownOnce heading="New registration key" what="registration key" secret={secret} onClose={onClose}>
      <h3>Join a node with Hawser's agent</h3>
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
      <details>
        <summary>Join a node with OpenDSC's agent</summary>
        <p class="hint">
          Write this into <code>appsettings.json</code> of the agent, without a <code>NodeId</code>, and
          restart its service.
        </p>
        <CopyLine text={settings} label="settings for OpenDSC's agent" />
      </details>
      <p class="hint">
        The lines have the address by which you reach the server. Change it where nodes reach the server by
        another name or port.
      </p>
    </ShownOnce>
  );
}

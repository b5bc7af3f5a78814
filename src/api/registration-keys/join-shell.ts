/** The line that joins a machine with Hawser's agent, for a POSIX shell, and the same as a script. */

import type { JoinFacts, JoinLine } from './join-facts.ts';
import { explainedProgram, joinProgram } from './join-program.ts';

/** The key goes by the environment, because everybody on the machine may read the arguments of its programs. */
export function shellJoin({ server, trust, digest, note, signers }: JoinFacts, key: string): JoinLine {
  const hasSigners = signers !== null;
  // In base64 no line of it ends the line, and no sign of it means anything to a shell.
  const more = hasSigners ? [note ?? '', Buffer.from(signers).toString('base64')] : [note ?? []].flat();
  const given = [server, trust, digest, ...more].map(quote).join(' ');
  const variable = `HAWSER_AGENT_REGISTRATION_KEY=${quote(key)}`;
  return {
    line: `${variable} node -e ${quote(joinProgram(hasSigners))} ${given}`,
    script: `#!/bin/sh
# Makes this machine a node of ${server} with the agent of Hawser. It needs Node 20.19 or newer. Run it in a folder of
# the user as whom the agent is to run: it makes the folder hawser-agent there.
# The registration key is in this file. Delete the file when the machine has joined.
${note === null ? '' : `# Note: ${note}.\n`}${variable}
export HAWSER_AGENT_REGISTRATION_KEY
# The address of the server, the SHA-256 of its authority and the SHA-256 of the agent${hasSigners ? ',\n# a note, and in base64 who may sign what the agent runs' : ''}.
set -- ${given}
exec node -e ${quote(`\n${explainedProgram(hasSigners)}\n`)} "$@"
`,
  };
}

/** A word of a shell. The name of a server may have a quote in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
